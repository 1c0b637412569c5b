//! Sends a request, and sends it again if that may help, until the model says something.

use std::time::Duration;

use reknit::{Message, Reply};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::Timeouts;
use super::reading::{Piece, late, more};
use crate::provider::{Error, ErrorKind, Pieces, Provider, Request};

/// How often a request is sent again if nothing has come of it.
const RETRIES: u32 = 4;

/// How long to wait before the first retry, unless the provider says how long; each later one waits twice as long.
const BACKOFF: Duration = Duration::from_millis(500);

/// How long a provider may ask to wait. If it asks for more, whoever waits for the reply should know.
const LONGEST_WAIT: Duration = Duration::from_secs(120);

/// How many bytes may come before the model says anything: several times what a provider sends about a reply before it.
const LONGEST_HEAD: usize = 256 * 1024;

/// A reply of which something has come.
pub(super) struct Begun {
    /// Everything up to the first thing that the model says; `None` if there is nothing in it.
    pub(super) first: Option<Vec<u8>>,
    pub(super) reply: Box<dyn Pieces>,
    /// Why it broke off after that.
    pub(super) failed: Option<Error>,
}

/// Sends a request until something of its reply comes. Returns `None` if that fails, after saying so, or if nobody
/// listens any more.
pub(super) async fn send(
    provider: &dyn Provider,
    request: &Request,
    timeouts: Timeouts,
    out: &mpsc::Sender<Piece>,
) -> Option<Begun> {
    let mut wait = BACKOFF;
    let mut attempt = 0;
    loop {
        let error = match begin(provider, request, timeouts).await {
            Ok(begun) => return Some(begun),
            Err(error) => error,
        };
        let pause = error.retry_after.unwrap_or(wait);
        if !error.can_retry || attempt == RETRIES || pause > LONGEST_WAIT {
            let _ = out.send(Piece::Failed(error)).await;
            return None;
        }
        out.send(Piece::Retry(error, pause)).await.ok()?;
        tokio::time::sleep(pause).await;
        wait *= 2;
        attempt += 1;
    }
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
