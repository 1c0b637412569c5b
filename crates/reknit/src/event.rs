//! [`Event`]: the neutral vocabulary of one reply, data only.
//!
//! A [`Translator`](crate::wire::Translator) makes these from a provider's frames;
//! [`Message::apply`](crate::Message::apply) folds them.

use std::borrow::Cow;
use std::mem;

use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::json::{self, Object, Value};

/// One provider-independent step of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<'a> {
    /// A message begins.
    Started(Start),
    /// A block begins.
    Opened {
        /// The block's address from now on.
        block: Slot,
        /// The choice that it belongs to; 0 unless the provider sends several.
        choice: u32,
        /// What it is.
        opening: Opening,
    },
    /// More became known of who a call is; some servers send its name in pieces, or its id late.
    Named {
        /// Which block.
        block: Slot,
        /// Its id now.
        id: Cow<'a, str>,
        /// Its name now.
        name: Cow<'a, str>,
    },
    /// The text, thinking or arguments of a block went on.
    Grew {
        /// Which block.
        block: Slot,
        /// What came.
        text: &'a str,
    },
    /// A thinking block's signature came, or more of it.
    Signed {
        /// Which block.
        block: Slot,
        /// What came of the signature.
        signature: &'a str,
    },
    /// A block is over.
    Closed {
        /// Which block.
        block: Slot,
    },
    /// Something that the neutral form has no field for, kept under its own name.
    Kept {
        /// What it belongs to.
        owner: Owner,
        /// Its name.
        key: Cow<'a, str>,
        /// What to do with it.
        keep: Keep<'a>,
    },
    /// Another model goes on with the message.
    Switched {
        /// The one that answers from here on.
        model: Cow<'a, str>,
    },
    /// Tokens counted so far. Counts are totals: one that is given replaces the one before.
    Usage(Usage),
    /// A choice has its reason to stop. More may follow: some providers go on behind it.
    Stopped {
        /// Which choice.
        choice: u32,
        /// Why.
        stop: Stop,
    },
    /// The provider says that the message is over.
    Ended,
    /// The connection is alive, nothing else.
    Ping,
    /// The provider reports an error instead of going on.
    Failed(Failure),
    /// Something in the stream was odd.
    Noticed(Diagnostic),
}

/// The address of a block in its message. Blocks stand in the order of their slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slot(pub u32);

/// What is known of a message when it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The provider's id of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The model that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whose message it is, in the provider's word; nearly always `assistant`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

/// What a block is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Opening {
    /// Text for the reader.
    Text {
        /// Whether the model refuses with it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        refusal: bool,
    },
    /// The model's thinking.
    Thinking {
        /// What stands for thinking that the provider does not show; must go back to it unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        redacted: Option<String>,
    },
    /// A call that the model asks for.
    ToolCall {
        /// The id that the result has to name.
        id: String,
        /// The tool.
        name: String,
        /// Who carries it out.
        #[serde(default, skip_serializing_if = "Runner::is_client")]
        runner: Runner,
        /// How its arguments are written.
        #[serde(default, skip_serializing_if = "Notation::is_json")]
        notation: Notation,
    },
    /// The result of a call that the provider carried out.
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

/// Who carries out a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runner {
    /// The program that asked for the reply.
    #[default]
    Client,
    /// The provider, on its own machines: the client must not.
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
    /// As JSON.
    #[default]
    Json,
    /// As free text.
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
pub enum Keep<'a> {
    /// It has this value now.
    Set(#[serde(with = "json::exact")] Value),
    /// It is a list, and this is its next element.
    Push(#[serde(with = "json::exact")] Value),
    /// It is a text, and this comes behind it.
    Grow(Cow<'a, str>),
    /// It is an object, and these are members of it now; its others stay.
    Merge(#[serde(with = "json::exact")] Value),
}

impl Keep<'_> {
    /// Does it to the field `key` of `fields`.
    pub(crate) fn store(&self, fields: &mut Object, key: &str) {
        match fields.get_mut(key) {
            Some(field) => self.alter(field),
            None => drop(fields.insert(key, self.first())),
        }
    }

    /// Does it to a field that is there.
    pub(crate) fn alter(&self, field: &mut Value) {
        match (self, field) {
            (Self::Push(value), Value::Array(list)) => list.push(value.clone()),
            (Self::Push(value), single) if !single.is_null() => {
                *single = Value::Array(vec![mem::replace(single, Value::Null), value.clone()]);
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

    /// The value of a field that was not there.
    pub(crate) fn first(&self) -> Value {
        match self {
            Self::Set(value) | Self::Merge(value) => value.clone(),
            Self::Push(value) => Value::Array(vec![value.clone()]),
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

/// Tokens, as the provider counts them; what it did not say is `None`.
///
/// Providers differ in what a count includes: Anthropic's `input` leaves out cached tokens, OpenAI's has
/// them in it; Gemini's `output` leaves out thinking, that of the others has it in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Tokens of the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Tokens of the request that were read from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Tokens of the request that were written to a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// Tokens of the reply that were thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Takes over the counts that `newer` has.
    pub fn update(&mut self, newer: Self) {
        self.input = newer.input.or(self.input);
        self.output = newer.output.or(self.output);
        self.cache_read = newer.cache_read.or(self.cache_read);
        self.cache_write = newer.cache_write.or(self.cache_write);
        self.reasoning = newer.reasoning.or(self.reasoning);
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Why a choice stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// The reason, the same word for every provider.
    pub reason: StopReason,
    /// The provider's own word.
    pub detail: String,
}

/// Why a choice stopped, in one vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model was done.
    End,
    /// A limit on length was reached: the reply is not whole.
    Length,
    /// The model waits for the results of its calls.
    Tool,
    /// One of the request's stop sequences came.
    StopSequence,
    /// The model refused.
    Refusal,
    /// The provider's filter stepped in.
    Filter,
    /// The provider paused; the conversation can be sent back to go on.
    Pause,
    /// Something else; the detail says what.
    Other,
}

/// An error that the provider reported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The provider's word for the sort of error, such as `overloaded_error`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What it says.
    pub message: String,
    /// The whole of it, as it came.
    #[serde(with = "json::exact")]
    pub raw: Value,
}
