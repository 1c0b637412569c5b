//! [`Provider`]: whoever answers a session's requests.

use reknit::json::Value;
use reknit::tags::Tagger;
use reknit::{Dialect, Limits};

use crate::tool::{Definition, Work};

pub mod recorded;

pub use recorded::Recorded;

/// Whoever answers a session's requests: a model on a network, or a recording.
pub trait Provider: Send + Sync + 'static {
    /// The dialect of its requests and replies.
    fn dialect(&self) -> Dialect;

    /// The model that answers.
    fn model(&self) -> &str;

    /// The stage that finds calls in the text of the next reply, for models without calls of their own. Ids of
    /// calls begin with `ids`.
    fn tagger(&self, ids: &str) -> Option<Tagger> {
        let _ = ids;
        None
    }

    /// What a reply may take.
    fn limits(&self) -> Limits {
        Limits::default()
    }

    /// Sends a request, and returns once the reply begins.
    fn send<'a>(&'a self, request: &'a Request) -> Work<'a, Result<Box<dyn Pieces>, Error>>;
}

/// A reply while it arrives.
pub trait Pieces: Send {
    /// The next bytes, cut anywhere; `None` at the end of the stream.
    fn next(&mut self) -> Work<'_, Result<Option<Vec<u8>>, Error>>;
}

/// A request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// The system prompt: what the model should know about its work.
    pub system: String,
    /// The conversation, in the form of the provider's dialect.
    pub messages: Vec<Value>,
    /// The tools that the model may call.
    pub tools: Vec<Definition>,
}

impl Request {
    /// A request.
    pub fn new(system: String, messages: Vec<Value>, tools: Vec<Definition>) -> Self {
        Self { system, messages, tools }
    }
}

/// Why a request was not answered, or a reply broke off.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Error {
    /// What happened, with the provider's own words if there are any.
    pub message: String,
    /// The HTTP status code, if there was one.
    pub status: Option<u16>,
    /// Whether the same request may succeed later.
    pub can_retry: bool,
}

impl Error {
    /// The connection failed. The same request may succeed later.
    pub fn connection(message: impl Into<String>) -> Self {
        Self { message: message.into(), status: None, can_retry: true }
    }

    /// The request cannot succeed.
    pub fn refused(message: impl Into<String>) -> Self {
        Self { message: message.into(), status: None, can_retry: false }
    }
}
