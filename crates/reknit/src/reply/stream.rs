//! [`ChangeStream`]: a [`Reply`] over any asynchronous stream of bytes.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::Reply;
use crate::message::Change;

/// The changes of a reply, from a stream of its pieces.
///
/// An error of the stream below is passed on; behind it the message is cut, as at any early end.
///
/// ```
/// use futures_util::{StreamExt, stream};
/// use reknit::{Reply, reply::ChangeStream};
///
/// # futures_executor::block_on(async {
/// let pieces = stream::iter([Ok::<_, std::io::Error>("data: {\"choices\":[{\"delta\":{\"con"), Ok("tent\":\"Hi\"}}]}\n\n")]);
/// let mut changes = ChangeStream::new(Reply::detect(), pieces);
/// while let Some(change) = changes.next().await {
///     println!("{:?}", change?);
/// }
/// assert_eq!(changes.reply().message().text(), "Hi");
/// # Ok::<(), std::io::Error>(()) });
/// ```
#[derive(Debug)]
pub struct ChangeStream<S> {
    reply: Reply,
    changes: VecDeque<Change<'static>>,
    pieces: Option<S>,
}

impl<S> ChangeStream<S> {
    /// Reads `pieces` into `reply`.
    pub fn new(reply: Reply, pieces: S) -> Self {
        Self { reply, changes: VecDeque::new(), pieces: Some(pieces) }
    }

    /// The reply as far as it was read.
    pub fn reply(&self) -> &Reply {
        &self.reply
    }

    /// The reply, to keep.
    pub fn into_reply(self) -> Reply {
        self.reply
    }

    fn take_piece(&mut self, piece: Option<&[u8]>) {
        let mut changes = match piece {
            Some(piece) => self.reply.push(piece),
            None => self.reply.finish(),
        };
        while let Some((change, _)) = changes.next() {
            self.changes.push_back(change.into_owned());
        }
    }
}

impl<S, B, E> Stream for ChangeStream<S>
where
    S: Stream<Item = Result<B, E>> + Unpin,
    B: AsRef<[u8]>,
{
    type Item = Result<Change<'static>, E>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(change) = self.changes.pop_front() {
                return Poll::Ready(Some(Ok(change)));
            }
            let Some(pieces) = &mut self.pieces else { return Poll::Ready(None) };
            match Pin::new(pieces).poll_next(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(piece))) => self.take_piece(Some(piece.as_ref())),
                Poll::Ready(end) => {
                    self.pieces = None;
                    self.take_piece(None);
                    if let Some(Err(error)) = end {
                        return Poll::Ready(Some(Err(error)));
                    }
                }
            }
        }
    }
}
