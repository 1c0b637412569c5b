//! Reads a reply, in a task of its own.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tracing::{Instrument as _, Span};

use super::Timeouts;
use super::log::Synced;
use super::retry::{Begun, send};
use crate::provider::{Error, ErrorKind, Pieces, Provider, Request, seconds};
use crate::store;

/// How many pieces wait at most. Once they do, the provider is not read any further.
const PIECES: usize = 32;

/// A reply that is being read. Dropping it ends the connection.
pub(super) struct Reading {
    pieces: mpsc::Receiver<Piece>,
    task: JoinHandle<()>,
}

pub(super) enum Piece {
    /// The reply begins. This is the provider's name for the exchange.
    Begins(Option<String>),
    Bytes(Vec<u8>),
    /// The request is sent again, so long after this error.
    Retry(Error, Duration),
    /// The stream broke off.
    Failed(Error),
    /// The store has failed.
    Lost(store::Error),
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Reading {
    /// Sends a request once everything that it follows from is on the disk.
    pub(super) fn start(
        provider: Arc<dyn Provider>,
        request: Request,
        timeouts: Timeouts,
        synced: Synced,
        span: &Span,
    ) -> Self {
        let (sender, pieces) = mpsc::channel(PIECES);
        let work = async move {
            match synced.wait().await {
                Ok(()) => read(&*provider, request, timeouts, &sender).await,
                Err(error) => drop(sender.send(Piece::Lost(error)).await),
            }
        };
        let task = tokio::spawn(work.instrument(span.clone()));
        Self { pieces, task }
    }

    /// The next piece, or `None` at the end of the stream.
    pub(super) async fn next(&mut self) -> Option<Piece> {
        self.pieces.recv().await
    }
}

async fn read(provider: &dyn Provider, request: Request, timeouts: Timeouts, out: &mpsc::Sender<Piece>) {
    let Some(Begun { first, mut reply, mut failed }) = send(provider, &request, timeouts, out).await else {
        return;
    };
    let id = reply.request_id().map(str::to_owned);
    if out.send(Piece::Begins(id)).await.is_err() {
        return;
    }
    let Some(first) = first else { return };
    if out.send(Piece::Bytes(first)).await.is_err() {
        return;
    }
    // Once something has come, the same request could do the same work twice, so it is not sent again. It is as long
    // as the session and takes a while to free: now, while the model writes, and not when the reply ends.
    drop(request);
    loop {
        let piece = match failed.take() {
            Some(error) => Err(error),
            None => more(&mut *reply, timeouts).await,
        };
        let (piece, is_last) = match piece {
            Ok(Some(bytes)) => (Piece::Bytes(bytes), false),
            Ok(None) => return,
            Err(error) => (Piece::Failed(error), true),
        };
        if out.send(piece).await.is_err() || is_last {
            return;
        }
    }
}

/// The next piece of a reply, if it comes in time.
pub(super) async fn more(reply: &mut dyn Pieces, timeouts: Timeouts) -> Result<Option<Vec<u8>>, Error> {
    match timeout(timeouts.silence, reply.next()).await {
        Ok(piece) => piece,
        Err(_) => Err(late("nothing more of the reply came", timeouts.silence)),
    }
}

pub(super) fn late(what: &str, limit: Duration) -> Error {
    Error::new(ErrorKind::TimedOut, format!("{what} within {}", seconds(limit)))
}
