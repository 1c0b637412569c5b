//! Turns a session's entries into the messages of its next request, and such messages into entries.
//!
//! A log may end anywhere: inside a reply, or between a call and its result. Providers refuse that: each call
//! needs exactly one result, thinking needs its signature, no text may be blank. [`request`] turns entries into
//! messages that the provider accepts, and lists each [`Repair`] that it made.
//!
//! ```
//! use reknit::agent::Entry;
//! use reknit::{Dialect, history};
//!
//! let log = r#"{"v":1,"seq":1,"at":0,"body":{"type":"user-message","content":[{"type":"text","text":"Tidy up."}]}}
//! {"v":1,"seq":2,"at":0,"body":{"type":"request","dialect":"anthropic","model":"claude"}}
//! {"v":1,"seq":3,"at":0,"body":{"type":"text-delta","delta":"I look."}}
//! {"v":1,"seq":4,"at":0,"body":{"type":"tool-call","toolCall":{"id":"c1","name":"ls","arguments":{}}}}
//! {"v":1,"seq":5,"at":0,"body":{"type":"tool-started","toolCallId":"c1"}}"#;
//! let entries: Vec<Entry> = log.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
//!
//! let request = history::request(Dialect::Anthropic, &entries)?;
//! assert_eq!(request.messages.len(), 3);
//! assert_eq!(
//!     request.messages[2].to_string(),
//!     concat!(
//!         r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","#,
//!         r#""content":"This call was interrupted. It had begun to run; what it did is not known.","#,
//!         r#""is_error":true}]}"#,
//!     )
//! );
//! assert_eq!(request.repairs[0].kind.name(), "call-interrupted");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What was sent does not change later: a `request` entry settles everything before it, so the messages of an
//! earlier request are the beginning of those of a later one, until a condensation replaces them. Only a reply
//! that its provider has paused (`turn-paused`) continues after the next request.

use crate::agent::{Body, Entry, Misread};
use crate::diagnostic::Hint;
use crate::json::Value;
use crate::wire::Dialect;
use crate::wire::request::Conversation;
use std::borrow::Cow;

mod unanswered;
mod reply;
mod close;
mod fold;
mod bodies;

pub use crate::wire::request::{Repair, RepairKind};

/// The messages of a request, and the repairs that were necessary.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// The messages in the provider's form: its `messages`, `input` or `contents`. System messages are up to
    /// the caller.
    ///
    /// They end with a user message, or with a reply that the provider has paused and will continue. They are
    /// empty if nothing was said yet.
    pub messages: Vec<Value>,
    /// What the provider would have refused, in the order in which it was found.
    pub repairs: Vec<Repair>,
}

/// Why messages could not be written or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The form of the dialect's requests is not known.
    #[error("requests in `{dialect}` are not supported")]
    NoRequests {
        /// The dialect.
        dialect: Dialect,
    },
    /// A message does not have the form of the dialect.
    #[error("message {message}: {misread}")]
    Unreadable {
        /// Its number, counted from 0.
        message: usize,
        /// What is wrong with it.
        misread: Misread,
    },
}

impl Hint for Error {
    fn hint(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::NoRequests { .. } => "use `openai-chat`, which such servers understand",
            Self::Unreadable { .. } => "check that the messages are a request of this dialect",
        })
    }
}

/// Builds the messages of the next request from all entries of a session.
///
/// Thinking, blocks of the provider and calls that it runs are sent back only in the dialect in which they
/// came, which the `request` entry before them names. Calls in tags are sent back as the text that the model
/// wrote, and are answered in text. If a call has two results, the first counts: the model has already seen it.
pub fn request(dialect: Dialect, entries: &[Entry]) -> Result<Request, Error> {
    let form = dialect.form().ok_or(Error::NoRequests { dialect })?;
    let (messages, repairs) = fold::fold(dialect, form, entries);
    Ok(Request { messages: (form.write)(&messages), repairs })
}

/// Builds the bodies of the entries that these messages amount to, for a history that came from elsewhere.
///
/// `model` is recorded as the one that answered. System messages are left out. Messages do not say that the
/// last reply is paused; a caller who knows it adds that event.
///
/// ```
/// use reknit::{Dialect, history};
///
/// let messages = [
///     r#"{"role":"user","content":"Are you there?"}"#.parse()?,
///     r#"{"role":"assistant","content":"Yes."}"#.parse()?,
/// ];
/// let bodies = history::bodies(Dialect::Anthropic, "claude", &messages)?;
/// let lines: Vec<_> = bodies.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
/// assert_eq!(lines, [
///     r#"{"type":"user-message","content":[{"type":"text","text":"Are you there?"}]}"#,
///     r#"{"type":"request","dialect":"anthropic","model":"claude"}"#,
///     r#"{"type":"text-delta","delta":"Yes."}"#,
/// ]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn bodies(dialect: Dialect, model: &str, messages: &[Value]) -> Result<Vec<Body>, Error> {
    let form = dialect.form().ok_or(Error::NoRequests { dialect })?;
    let mut conversation = Conversation::default();
    for (number, message) in messages.iter().enumerate() {
        (form.read)(message.clone(), &mut conversation)
            .map_err(|misread| Error::Unreadable { message: number, misread })?;
    }
    let said = conversation.into_said().into_iter();
    Ok(said.flat_map(|said| bodies::of(said, dialect.name(), model)).collect())
}
