//! [`Provider`]: whoever answers a session's requests.

use std::sync::Arc;

use reknit::json::Value;
use reknit::tags::Tagger;
use reknit::{Dialect, Limits};

use crate::tool::{Definition, Work};

mod error;
mod price;
pub mod recorded;
mod replayed;
#[cfg(feature = "http")]
pub mod models;
#[cfg(feature = "http")]
pub mod http;

pub(crate) use error::seconds;
pub use error::{Error, ErrorKind};
#[cfg(feature = "http")]
pub use http::Http;
pub use price::Price;
pub use recorded::Recorded;
pub use replayed::Replayed;

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

    /// What its tokens cost, if that is known.
    fn price(&self) -> Option<Price> {
        None
    }

    /// How many tokens a request and its reply may have together, if that is known.
    fn context_window(&self) -> Option<u64> {
        None
    }

    /// What a reply may take.
    fn limits(&self) -> Limits {
        Limits::default()
    }

    /// Sends a request, and returns once the reply begins.
    fn send<'a>(&'a self, request: &'a Request) -> Work<'a, Result<Box<dyn Pieces>, Error>>;
}

/// So that a provider can be chosen while the program runs.
impl<P: Provider + ?Sized> Provider for Arc<P> {
    fn dialect(&self) -> Dialect {
        (**self).dialect()
    }

    fn model(&self) -> &str {
        (**self).model()
    }

    fn tagger(&self, ids: &str) -> Option<Tagger> {
        (**self).tagger(ids)
    }

    fn price(&self) -> Option<Price> {
        (**self).price()
    }

    fn context_window(&self) -> Option<u64> {
        (**self).context_window()
    }

    fn limits(&self) -> Limits {
        (**self).limits()
    }

    fn send<'a>(&'a self, request: &'a Request) -> Work<'a, Result<Box<dyn Pieces>, Error>> {
        (**self).send(request)
    }
}

/// A reply while it arrives.
pub trait Pieces: Send {
    /// The next bytes, cut anywhere; `None` at the end of the stream.
    fn next(&mut self) -> Work<'_, Result<Option<Vec<u8>>, Error>>;

    /// The provider's name for this exchange, which its support asks for.
    fn request_id(&self) -> Option<&str> {
        None
    }
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
