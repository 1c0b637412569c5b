//! [`ChangeStream`]: a [`Reply`] from an asynchronous stream of bytes.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::Reply;
use crate::message::Change;

/// The changes of a reply, from a stream of its pieces.
///
/// An error of the stream is passed on, and then ends it: the message is cut. Between two changes, the
/// [reply](ChangeStream::reply) is exactly as the first of them left it.
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
    pieces: Option<S>,
}

impl<S> ChangeStream<S> {
    /// Reads `pieces` into `reply`.
    pub fn new(reply: Reply, pieces: S) -> Self {
        Self { reply, pieces: Some(pieces) }
    }

    /// The reply, as far as it was read.
    pub fn reply(&self) -> &Reply {
        &self.reply
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
            if let Some((change, _)) = self.reply.next_change() {
                return Poll::Ready(Some(Ok(change.into_owned())));
            }
            let Some(pieces) = &mut self.pieces else { return Poll::Ready(None) };
            match Pin::new(pieces).poll_next(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(piece))) => self.reply.take(piece.as_ref()),
                Poll::Ready(end) => {
                    self.pieces = None;
                    self.reply.take_end();
                    if let Some(Err(error)) = end {
                        return Poll::Ready(Some(Err(error)));
                    }
                }
            }
        }
    }
}
