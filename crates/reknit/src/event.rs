//! [`Event`]: one step of a reply, the same for every provider.
//!
//! A [`Translator`](crate::wire::Translator) makes events from the frames of a provider, and
//! [`Message::apply`](crate::Message::apply) builds a message from them.

use std::borrow::Cow;
use std::fmt;
use std::mem;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::json::{self, Object, Value};

mod usage;

pub use crate::slot::Slot;
pub use usage::Usage;

/// One step of a reply, independent of the provider.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A message started.
    Started(Start),
    /// A block started.
    Opened {
        /// The address of the block.
        block: Slot,
        /// The choice that it belongs to; 0 unless the provider sends several.
        choice: u32,
        /// What kind of block it is.
        opening: Opening,
    },
    /// More of the id or name of a call arrived; some servers send the name in pieces, or the id late.
    Named {
        /// Which block.
        block: Slot,
        /// The id so far.
        id: CallId,
        /// The name so far.
        name: Cow<'a, str>,
    },
    /// More of the text, thinking or arguments of a block arrived.
    Grew {
        /// Which block.
        block: Slot,
        /// The new text.
        text: &'a str,
    },
    /// The signature of a thinking block arrived, or more of it.
    Signed {
        /// Which block.
        block: Slot,
        /// The new part of the signature.
        signature: &'a str,
    },
    /// A block ended.
    Closed {
        /// Which block.
        block: Slot,
        /// How it ended, if that is known independently of its content.
        end: Option<End>,
        /// The call as the model wrote it, if it was found in a text.
        raw: Option<&'a str>,
    },
    /// A field that the neutral form does not have, kept under its own name.
    Kept {
        /// What it belongs to.
        owner: Owner,
        /// Its name.
        key: Cow<'a, str>,
        /// What to do with it.
        keep: Keep<'a>,
    },
    /// Another model continues the message.
    Switched {
        /// The model from here on.
        model: Cow<'a, str>,
    },
    /// The number of tokens so far. Counts are totals: each one replaces the previous one.
    Usage(Usage),
    /// The stop reason of a choice arrived. More may follow: some providers send content after it.
    Stopped {
        /// Which choice.
        choice: u32,
        /// Why.
        stop: Stop,
    },
    /// The provider ended the message.
    Ended,
    /// The stream, or this message in it, ended early: the message is incomplete.
    Cut,
    /// The connection is alive; nothing else happened.
    Ping,
    /// The provider reported an error instead of continuing.
    Failed(Failure),
    /// Something in the stream was unexpected.
    Noticed(Diagnostic),
}

/// What is known about a message when it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The provider's id of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The model that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The role in the provider's word, nearly always `assistant`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

/// What kind of block starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Opening {
    /// Text for the reader.
    Text {
        /// Whether the model refuses the request with it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        refusal: bool,
    },
    /// The model's thinking.
    Thinking {
        /// A placeholder for thinking that the provider does not show; it has to be sent back unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        redacted: Option<String>,
    },
    /// A tool call.
    ToolCall {
        /// The id that the result has to refer to.
        #[serde(flatten)]
        id: CallId,
        /// The tool.
        name: String,
        /// Who runs it.
        #[serde(default, skip_serializing_if = "Runner::is_client")]
        runner: Runner,
        /// How its arguments are written.
        #[serde(default, skip_serializing_if = "Notation::is_json")]
        notation: Notation,
        /// Where it was found.
        #[serde(default, skip_serializing_if = "Origin::is_native")]
        origin: Origin,
    },
    /// The result of a call that the provider ran.
    ToolResult {
        /// The provider's word for the block.
        kind: String,
        /// The id of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
    },
    /// Anything else, kept as it came.
    Other {
        /// The provider's word for it.
        kind: String,
    },
}

/// The id of a call, which its result has to refer to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PlainId", into = "PlainId")]
pub enum CallId {
    /// The provider sent it.
    Given(String),
    /// It was made up here because the provider has not sent one. If one arrives later, it replaces this one.
    Invented(String),
}

impl CallId {
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Given(id) | Self::Invented(id) => id,
        }
    }
}

/// Dereferences to the id itself.
impl Deref for CallId {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The JSON form, next to the other fields of a call.
#[derive(Serialize, Deserialize)]
struct PlainId {
    id: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    invented: bool,
}

impl From<CallId> for PlainId {
    fn from(id: CallId) -> Self {
        match id {
            CallId::Given(id) => Self { id, invented: false },
            CallId::Invented(id) => Self { id, invented: true },
        }
    }
}

impl From<PlainId> for CallId {
    fn from(PlainId { id, invented }: PlainId) -> Self {
        if invented { Self::Invented(id) } else { Self::Given(id) }
    }
}

/// Where a call was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// The provider sent it as a block.
    #[default]
    Native,
    /// The model wrote it in its text.
    Tagged {
        /// Whether the tool is in the list of tools; true if there is no list.
        known: bool,
        /// The id of the call that contains it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<String>,
    },
}

impl Origin {
    pub(crate) fn is_native(&self) -> bool {
        *self == Self::Native
    }
}

/// How a block ended. Only a call can be malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// It is complete.
    Closed,
    /// The stream, the message or the block ended before it was complete.
    Cut,
    /// Its arguments are not valid.
    Malformed,
}

/// Who runs a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runner {
    /// The program that asked for the reply.
    #[default]
    Client,
    /// The provider, on its own machines. The client must not run it.
    Provider,
}

impl Runner {
    pub(crate) fn is_client(&self) -> bool {
        *self == Self::Client
    }
}

/// How the arguments of a call are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notation {
    /// JSON.
    #[default]
    Json,
    /// Free text.
    Plain,
}

impl Notation {
    fn is_json(&self) -> bool {
        *self == Self::Json
    }
}

/// What a kept field belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Owner {
    /// The message.
    Message,
    /// One of its choices.
    Choice(u32),
    /// One of its blocks.
    Block(Slot),
}

/// What to do with a kept field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Keep<'a> {
    /// Set it to this value.
    Set(#[serde(deserialize_with = "json::exact")] Value),
    /// Append this element; the field is a list.
    Push(#[serde(deserialize_with = "json::exact")] Value),
    /// Append this text; the field is a string.
    Grow(Cow<'a, str>),
    /// Set these members and keep the others; the field is an object.
    Merge(#[serde(deserialize_with = "json::exact")] Value),
}

impl Keep<'_> {
    /// Applies it to the field `key` of `fields`.
    pub(crate) fn store(&self, fields: &mut Object, key: &str) {
        match fields.get_mut(key) {
            Some(field) => self.alter(field),
            None => drop(fields.insert(key, self.first())),
        }
    }

    /// Applies it to a field that exists.
    pub(crate) fn alter(&self, field: &mut Value) {
        match (self, field) {
            (Self::Push(value), Value::Array(list)) => list.push(value.clone()),
            (Self::Push(value), single) if !single.is_null() => {
                *single = Value::from(vec![mem::replace(single, Value::Null), value.clone()]);
            }
            (Self::Grow(text), Value::String(before)) => before.push_str(text),
            (Self::Merge(Value::Object(members)), Value::Object(known)) => {
                for (key, value) in members.iter() {
                    known.insert(key, value.clone());
                }
            }
            (_, field) => *field = self.first(),
        }
    }

    /// The value of a field that did not exist before.
    pub(crate) fn first(&self) -> Value {
        match self {
            Self::Set(value) | Self::Merge(value) => value.clone(),
            Self::Push(value) => Value::from(vec![value.clone()]),
            Self::Grow(text) => Value::from(&**text),
        }
    }

    pub(crate) fn into_owned(self) -> Keep<'static> {
        match self {
            Self::Set(value) => Keep::Set(value),
            Self::Push(value) => Keep::Push(value),
            Self::Grow(text) => Keep::Grow(text.into_owned().into()),
            Self::Merge(members) => Keep::Merge(members),
        }
    }
}

/// Why a choice stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// The reason, in words that are the same for every provider.
    pub reason: StopReason,
    /// The provider's own word.
    pub detail: String,
}

/// Why a choice stopped, in words that are the same for every provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model was done.
    End,
    /// The limit on the length of the reply was reached: the reply is incomplete.
    Length,
    /// The model is waiting for the results of its calls.
    Tool,
    /// The model wrote one of the stop sequences of the request.
    StopSequence,
    /// The model refused.
    Refusal,
    /// A filter of the provider stopped it.
    Filter,
    /// The provider paused; send the conversation back to continue.
    Pause,
    /// Something else; the detail says what.
    Other,
}

/// An error that the provider reported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The provider's word for the kind of error, such as `overloaded_error`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The error message.
    pub message: String,
    /// The whole error, as it came.
    #[serde(deserialize_with = "json::exact")]
    pub raw: Value,
}
