//! [`Change`]: what one step changed in the parts of a message.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::part::{Address, Notation, Origin};
use crate::diagnostic::Kind;
use crate::event::{self, Runner, Slot};
use crate::json::Value;
use crate::message::{self, CallEnd};

/// What one step changed in the parts of a message: enough to follow along.
///
/// Applied in order to an empty list ([`List::apply`](super::List::apply)), changes give the parts, also
/// after a trip through JSON. Growth carries the new text and the byte at which it goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change<'a> {
    /// A part began. It stands behind all parts with a smaller address.
    Opened {
        /// Its address.
        part: Address,
        /// The choice it belongs to.
        #[serde(default, skip_serializing_if = "is_default")]
        choice: u32,
        /// What it is.
        #[serde(flatten)]
        opening: Opening,
    },
    /// A call has this id and name now. A call in a text has both from the start.
    Named {
        /// Which part.
        part: Address,
        /// Its id.
        id: Cow<'a, str>,
        /// Its name.
        name: Cow<'a, str>,
    },
    /// The text, the thinking, or the JSON or free text of arguments grew.
    Grew {
        /// Which part.
        part: Address,
        /// How many bytes it had before.
        at: usize,
        /// What came behind them.
        text: Cow<'a, str>,
    },
    /// A parameter of a call began.
    ParamOpened {
        /// Which call.
        part: Address,
        /// Its name.
        name: Cow<'a, str>,
    },
    /// A parameter of a call grew.
    ParamGrew {
        /// Which call.
        part: Address,
        /// The number of the parameter in the call.
        param: usize,
        /// How many bytes it had before.
        at: usize,
        /// What came behind them.
        text: Cow<'a, str>,
    },
    /// A parameter of a call is whole.
    ParamClosed {
        /// Which call.
        part: Address,
        /// The number of the parameter in the call.
        param: usize,
        /// Its value, if that is not the text that came.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "given")]
        value: Option<Value>,
    },
    /// The signature of thinking grew.
    Signed {
        /// Which part.
        part: Address,
        /// How many bytes the signature had before.
        at: usize,
        /// What came behind them.
        signature: Cow<'a, str>,
    },
    /// A part is over.
    Closed {
        /// Which part.
        part: Address,
        /// How it ended; only a call can be malformed.
        end: CallEnd,
        /// The arguments of a call, if they are not what came of them.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "given")]
        input: Option<Value>,
        /// Where a call in a text ends, as a byte of the text of its block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<usize>,
    },
    /// Something in a text was odd.
    Noticed(Diagnostic),
    /// So many more things were odd in a text and only counted.
    Omitted {
        /// How many.
        count: u64,
    },
    /// The message changed in something that is no part of it, passed on as it is.
    Message(message::Change<'a>),
}

/// What a part is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Opening {
    /// Text for the reader.
    Text {
        /// Whether the model refuses with it.
        #[serde(default, skip_serializing_if = "is_default")]
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
        #[serde(default, skip_serializing_if = "is_default")]
        runner: Runner,
        /// How its arguments are written.
        #[serde(default, skip_serializing_if = "is_default")]
        notation: Notation,
        /// How it is written.
        #[serde(default, skip_serializing_if = "is_default")]
        origin: Origin,
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

/// Something in the text of a block that was dropped, repaired or not understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Plain", into = "Plain")]
pub struct Diagnostic {
    /// What sort of thing it is; callers match on this.
    pub kind: Kind,
    /// The block.
    pub block: Slot,
    /// The byte of the block's text at which it stands.
    pub at: u64,
    /// What happened, for people.
    pub message: String,
}

/// A change that does not fit the parts it was given to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// The part is not there.
    #[error("the change names part {} of block {}, which is not there", part.part, part.block.0)]
    NoPart {
        /// The part.
        part: Address,
    },
    /// The part is there already.
    #[error("the change opens part {} of block {}, which is there already", part.part, part.block.0)]
    PartThere {
        /// The part.
        part: Address,
    },
    /// The part cannot do that: it is over, or of another kind.
    #[error("part {} of block {} is over or of another kind than the change says", part.part, part.block.0)]
    WrongPart {
        /// The part.
        part: Address,
    },
    /// A change before this one is missing, or this one came twice.
    #[error("part {} of block {} has {has} bytes, the change goes on at {at}", part.part, part.block.0)]
    Gap {
        /// The part.
        part: Address,
        /// How much of it is there.
        has: usize,
        /// Where the change goes on.
        at: usize,
    },
}

impl Misfit {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "give a list every change of its parts, in order and once; or start again from a snapshot"
    }
}

impl Diagnostic {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        self.kind.hint()
    }
}

impl Change<'_> {
    /// The same change with nothing borrowed.
    pub fn into_owned(self) -> Change<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        match self {
            Self::Opened { part, choice, opening } => Change::Opened { part, choice, opening },
            Self::Named { part, id, name } => Change::Named { part, id: owned(id), name: owned(name) },
            Self::Grew { part, at, text } => Change::Grew { part, at, text: owned(text) },
            Self::ParamOpened { part, name } => Change::ParamOpened { part, name: owned(name) },
            Self::ParamGrew { part, param, at, text } => {
                Change::ParamGrew { part, param, at, text: owned(text) }
            }
            Self::ParamClosed { part, param, value } => Change::ParamClosed { part, param, value },
            Self::Signed { part, at, signature } => Change::Signed { part, at, signature: owned(signature) },
            Self::Closed { part, end, input, until } => Change::Closed { part, end, input, until },
            Self::Noticed(diagnostic) => Change::Noticed(diagnostic),
            Self::Omitted { count } => Change::Omitted { count },
            Self::Message(change) => Change::Message(change.into_owned()),
        }
    }
}

impl From<&event::Opening> for Opening {
    fn from(opening: &event::Opening) -> Self {
        match opening.clone() {
            event::Opening::Text { refusal } => Self::Text { refusal },
            event::Opening::Thinking { redacted } => Self::Thinking { redacted },
            event::Opening::ToolCall { id, name, runner, notation } => {
                let notation = match notation {
                    event::Notation::Json => Notation::Json,
                    event::Notation::Plain => Notation::Plain,
                };
                Self::ToolCall { id, name, runner, notation, origin: Origin::Native }
            }
            event::Opening::ToolResult { kind, call_id } => Self::ToolResult { kind, call_id },
            event::Opening::Other { kind } => Self::Other { kind },
        }
    }
}

/// The form of a diagnostic on the wire: with the hint, which reading back derives from the kind.
#[derive(Serialize, Deserialize)]
struct Plain {
    kind: Kind,
    block: Slot,
    at: u64,
    message: String,
    #[serde(skip_deserializing)]
    hint: &'static str,
}

impl From<Diagnostic> for Plain {
    fn from(d: Diagnostic) -> Self {
        Self { hint: d.kind.hint(), kind: d.kind, block: d.block, at: d.at, message: d.message }
    }
}

impl From<Plain> for Diagnostic {
    fn from(p: Plain) -> Self {
        Self { kind: p.kind, block: p.block, at: p.at, message: p.message }
    }
}

/// A value that may be absent, digit for digit; `null` is one that is there.
mod given {
    use serde::{Deserializer, Serialize, Serializer};

    use crate::json::{Value, exact};

    pub(super) fn serialize<S: Serializer>(value: &Option<Value>, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
        exact::deserialize(deserializer).map(Some)
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
