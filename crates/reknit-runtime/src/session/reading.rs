//! Reads a reply, in a task of its own.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::Timeouts;
use super::log::Synced;
use crate::provider::{Error, Pieces, Provider, Request};
use crate::store;

/// How many pieces wait at most. Once they do, the provider is not read any further.
const PIECES: usize = 32;

/// How often a request is sent again if nothing has come of it.
const RETRIES: u32 = 4;

/// How long to wait before the first retry; each later one waits twice as long.
const BACKOFF: Duration = Duration::from_millis(200);

/// A reply that is being read. Dropping it ends the connection.
pub(super) struct Reading {
    pieces: mpsc::Receiver<Piece>,
    task: JoinHandle<()>,
}

pub(super) enum Piece {
    Bytes(Vec<u8>),
    /// The request is sent again, after this error.
    Retry(Error),
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
    ) -> Self {
        let (sender, pieces) = mpsc::channel(PIECES);
        let task = tokio::spawn(async move {
            match synced.wait().await {
                Ok(()) => read(&*provider, request, timeouts, &sender).await,
                Err(error) => drop(sender.send(Piece::Lost(error)).await),
            }
        });
        Self { pieces, task }
    }

    /// The next piece, or `None` at the end of the stream.
    pub(super) async fn next(&mut self) -> Option<Piece> {
        self.pieces.recv().await
    }
}

async fn read(provider: &dyn Provider, request: Request, timeouts: Timeouts, out: &mpsc::Sender<Piece>) {
    let mut wait = BACKOFF;
    let mut attempt = 0;
    let (mut piece, mut reply) = loop {
        let error = match begin(provider, &request, timeouts).await {
            Ok((first, reply)) => break (Ok(first), reply),
            Err(error) => error,
        };
        if !error.can_retry || attempt == RETRIES {
            let _ = out.send(Piece::Failed(error)).await;
            return;
        }
        if out.send(Piece::Retry(error)).await.is_err() {
            return;
        }
        tokio::time::sleep(wait).await;
        wait *= 2;
        attempt += 1;
    };
    // Once something has come, the same request could do the same work twice, so it is not sent again. It is as long
    // as the session and takes a while to free: now, while the model writes, and not when the reply ends.
    drop(request);
    loop {
        let (next, is_last) = match piece {
            Ok(Some(bytes)) => (Piece::Bytes(bytes), false),
            Ok(None) => return,
            Err(error) => (Piece::Failed(error), true),
        };
        if out.send(next).await.is_err() || is_last {
            return;
        }
        piece = match timeout(timeouts.silence, reply.next()).await {
            Ok(piece) => piece,
            Err(_) => Err(late("nothing more of the reply came", timeouts.silence)),
        };
    }
}

/// Sends the request and waits for the first piece of the reply, which is `None` if there is nothing in it.
async fn begin(
    provider: &dyn Provider,
    request: &Request,
    timeouts: Timeouts,
) -> Result<(Option<Vec<u8>>, Box<dyn Pieces>), Error> {
    let mut reply = match timeout(timeouts.connect, provider.send(request)).await {
        Ok(sent) => sent?,
        Err(_) => return Err(late("the request was not answered", timeouts.connect)),
    };
    match timeout(timeouts.first_byte, reply.next()).await {
        Ok(piece) => Ok((piece?, reply)),
        Err(_) => Err(late("nothing of the reply came", timeouts.first_byte)),
    }
}

fn late(what: &str, limit: Duration) -> Error {
    Error::connection(format!("{what} within {} s", limit.as_secs()))
}
