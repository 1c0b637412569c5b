//! Reads a reply, in a task of its own.

use std::sync::Arc;
use std::time::Duration;

use reknit::{Message, Reply};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tracing::{Instrument as _, Span};

use super::Timeouts;
use super::log::Synced;
use crate::provider::{Error, ErrorKind, Pieces, Provider, Request, seconds};
use crate::store;

/// How many pieces wait at most. Once they do, the provider is not read any further.
const PIECES: usize = 32;

/// How often a request is sent again if nothing has come of it.
const RETRIES: u32 = 4;

/// How long to wait before the first retry, unless the provider says how long; each later one waits twice as long.
const BACKOFF: Duration = Duration::from_millis(500);

/// How long a provider may ask to wait. If it asks for more, whoever waits for the reply should know.
const LONGEST_WAIT: Duration = Duration::from_secs(120);

/// How many bytes may come before the model says anything: several times what a provider sends about a reply before it.
const LONGEST_HEAD: usize = 256 * 1024;

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
    let mut wait = BACKOFF;
    let mut attempt = 0;
    let Begun { first, mut reply, mut failed } = loop {
        let error = match begin(provider, &request, timeouts).await {
            Ok(begun) => break begun,
            Err(error) => error,
        };
        let pause = error.retry_after.unwrap_or(wait);
        if !error.can_retry || attempt == RETRIES || pause > LONGEST_WAIT {
            let _ = out.send(Piece::Failed(error)).await;
            return;
        }
        if out.send(Piece::Retry(error, pause)).await.is_err() {
            return;
        }
        tokio::time::sleep(pause).await;
        wait *= 2;
        attempt += 1;
    };
    let id = reply.request_id().map(str::to_owned);
    if out.send(Piece::Begins(id)).await.is_err() {
        return;
    }
    // Once something has come, the same request could do the same work twice, so it is not sent again. It is as long
    // as the session and takes a while to free: now, while the model writes, and not when the reply ends.
    drop(request);
    let mut piece = Ok(first);
    loop {
        let (next, is_last) = match piece {
            Ok(Some(bytes)) => (Piece::Bytes(bytes), false),
            Ok(None) => return,
            Err(error) => (Piece::Failed(error), true),
        };
        if out.send(next).await.is_err() || is_last {
            return;
        }
        piece = match failed.take() {
            Some(error) => Err(error),
            None => more(&mut *reply, timeouts).await,
        };
    }
}

async fn more(reply: &mut dyn Pieces, timeouts: Timeouts) -> Result<Option<Vec<u8>>, Error> {
    match timeout(timeouts.silence, reply.next()).await {
        Ok(piece) => piece,
        Err(_) => Err(late("nothing more of the reply came", timeouts.silence)),
    }
}

/// A reply of which something has come.
struct Begun {
    /// Everything up to the first thing that the model says; `None` if there is nothing in it.
    first: Option<Vec<u8>>,
    reply: Box<dyn Pieces>,
    /// Why it broke off after that.
    failed: Option<Error>,
}

/// Sends the request and waits for the first thing that the model says.
///
/// One limit is good for both: some providers answer at once and then think, others think before they answer. A reply
/// that says nothing but an error, before the model has said anything, is an error: some providers answer first and
/// look afterwards whether they have the time. Where its pieces end does not matter.
async fn begin(provider: &dyn Provider, request: &Request, timeouts: Timeouts) -> Result<Begun, Error> {
    let sent = async {
        let mut reply = provider.send(request).await?;
        let piece = reply.next().await?;
        Ok((piece, reply))
    };
    let (mut piece, mut reply) = match timeout(timeouts.first_byte, sent).await {
        Ok(sent) => sent?,
        Err(_) => return Err(late("nothing of the reply came", timeouts.first_byte)),
    };
    let mut read = Reply::new(provider.dialect());
    let mut first: Option<Vec<u8>> = None;
    let mut failed = None;
    while let Some(bytes) = piece {
        let mut changes = read.push(&bytes);
        while changes.next().is_some() {}
        drop(changes);
        if let Some(mut error) = failure(read.message()) {
            error.request_id = reply.request_id().map(str::to_owned);
            return Err(error);
        }
        let first = first.get_or_insert_default();
        first.extend(bytes);
        let message = read.message();
        if message.blocks().len() > 0 || message.is_over() || first.len() > LONGEST_HEAD {
            break;
        }
        piece = more(&mut *reply, timeouts).await.unwrap_or_else(|error| {
            failed = Some(error);
            None
        });
    }
    Ok(Begun { first, reply, failed })
}

/// The error of a reply that says nothing else.
fn failure(message: &Message) -> Option<Error> {
    let failure = message.failure().filter(|_| message.blocks().len() == 0)?;
    let word = failure.kind.as_deref().unwrap_or_default();
    let kind = ErrorKind::of_word(word).or_else(|| ErrorKind::of_word(&failure.message));
    let separator = if word.is_empty() { "" } else { ": " };
    let message = format!("{word}{separator}{}", failure.message);
    Some(Error::new(kind.unwrap_or(ErrorKind::ProviderFailed), message))
}

fn late(what: &str, limit: Duration) -> Error {
    Error::new(ErrorKind::TimedOut, format!("{what} within {}", seconds(limit)))
}
