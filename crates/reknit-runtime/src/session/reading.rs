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
                Ok(()) => read(&*provider, &request, timeouts, &sender).await,
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

async fn read(provider: &dyn Provider, request: &Request, timeouts: Timeouts, out: &mpsc::Sender<Piece>) {
    let mut wait = BACKOFF;
    for attempt in 0..=RETRIES {
        let (error, began) = match attempt_once(provider, request, timeouts, out).await {
            Ok(()) => return,
            Err(failed) => failed,
        };
        // Once something has come, the same request could do the same work twice.
        if began || !error.can_retry || attempt == RETRIES {
            let _ = out.send(Piece::Failed(error)).await;
            return;
        }
        if out.send(Piece::Retry(error)).await.is_err() {
            return;
        }
        tokio::time::sleep(wait).await;
        wait *= 2;
    }
}

/// Sends the request and passes the reply on. An error says whether something had come.
async fn attempt_once(
    provider: &dyn Provider,
    request: &Request,
    timeouts: Timeouts,
    out: &mpsc::Sender<Piece>,
) -> Result<(), (Error, bool)> {
    let late =
        |what: &str, limit: Duration| Error::connection(format!("{what} within {} s", limit.as_secs()));
    let sent = timeout(timeouts.connect, provider.send(request)).await;
    let mut reply: Box<dyn Pieces> = match sent {
        Ok(sent) => sent.map_err(|error| (error, false))?,
        Err(_) => return Err((late("the request was not answered", timeouts.connect), false)),
    };
    let (mut began, mut limit) = (false, timeouts.first_byte);
    loop {
        let piece = match timeout(limit, reply.next()).await {
            Ok(piece) => piece.map_err(|error| (error, began))?,
            Err(_) if began => return Err((late("nothing more of the reply came", limit), began)),
            Err(_) => return Err((late("nothing of the reply came", limit), began)),
        };
        let Some(bytes) = piece else { return Ok(()) };
        (began, limit) = (true, timeouts.silence);
        if out.send(Piece::Bytes(bytes)).await.is_err() {
            return Ok(());
        }
    }
}
