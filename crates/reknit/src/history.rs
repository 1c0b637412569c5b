//! A session's entries to the messages of its next request, and such messages back.
//!
//! A log may end anywhere: inside a reply, between a call and its result, in the middle of a crash. A provider
//! takes none of that: each call needs exactly one result, thinking needs its signature, no text may be blank.
//! [`request`] folds entries to messages that the provider takes, and says each [`Repair`] that it had to
//! make.
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
//! What was sent stays as it was sent: a `request` entry settles all before it, so that the messages of an
//! earlier request are the beginning of those of a later one, until a condensation replaces them. Only a reply
//! that its provider has paused (`turn-paused`) goes on behind the next request.

use crate::agent::{Body, Entry, Misread};
use crate::json::Value;
use crate::wire::Dialect;
use crate::wire::request::Conversation;

mod reply;
mod close;
mod fold;
mod bodies;

pub use crate::wire::request::{Repair, RepairKind};

/// The messages of a request, and what had to be repaired for it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// The messages as the provider takes them: its `messages`, `input` or `contents`. What it is told as the
    /// system's is the caller's.
    ///
    /// They end with the user's, or with a reply that the provider has paused and goes on with; they are empty if
    /// nothing was said yet.
    pub messages: Vec<Value>,
    /// What a provider would have refused, in the order in which it was met.
    pub repairs: Vec<Repair>,
}

/// Why there are no messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The dialect's requests are not known.
    #[error("no requests are made in `{dialect}`")]
    NoRequests {
        /// The dialect.
        dialect: Dialect,
    },
    /// A message is not one of the dialect.
    #[error("message {message}: {misread}")]
    Unreadable {
        /// Its number, counted from 0.
        message: usize,
        /// What is wrong with it.
        misread: Misread,
    },
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoRequests { .. } => "ask it in `openai-chat`, which such servers understand",
            Self::Unreadable { .. } => "check that the messages are a request of this dialect",
        }
    }
}

/// The messages of the next request, out of all entries of a session.
///
/// Thinking, blocks of the provider and what it runs itself go back only in the dialect that they came in,
/// which the `request` entry before them names. Calls in tags stand in the text as the model wrote them and
/// are answered in text. Of two results of a call the first counts: the model was told that one.
pub fn request(dialect: Dialect, entries: &[Entry]) -> Result<Request, Error> {
    let form = dialect.form().ok_or(Error::NoRequests { dialect })?;
    let (messages, repairs) = fold::fold(dialect, form, entries);
    Ok(Request { messages: (form.write)(&messages), repairs })
}

/// What entries would say to make these messages: the transcript of a history that came from elsewhere.
///
/// `model` is the one that is said to have answered. Messages of the system are left out. That the last reply is
/// paused is in no message; whoever knows it adds the event.
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
