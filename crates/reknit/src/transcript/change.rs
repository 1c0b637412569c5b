//! [`Change`]: what one event changed in the chunks of a message.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::chunk::{Approval, Call, Chunk};
use crate::agent::Stream;
use crate::diagnostic::Kind;
use crate::json::{Value, exact};

/// What one event changed in the chunks of a message: enough to follow along.
///
/// Applied in order to empty [`Chunks`](super::Chunks), changes give the same chunks, also after a trip
/// through JSON. Growth carries the new text and the byte at which it goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change<'a> {
    /// A chunk was added behind the others.
    Opened {
        /// Its number.
        chunk: usize,
        /// The chunk.
        value: Chunk,
    },
    /// A text or thinking grew.
    Grew {
        /// Which chunk.
        chunk: usize,
        /// How many bytes it had before.
        at: usize,
        /// What came behind them.
        text: Cow<'a, str>,
    },
    /// Thinking is over.
    Sealed {
        /// Which chunk.
        chunk: usize,
        /// What the provider wants back with it.
        #[serde(with = "exact")]
        metadata: Value,
    },
    /// A batch has one call more.
    Called {
        /// Which chunk.
        chunk: usize,
        /// The call's number in it.
        call: usize,
        /// The call.
        value: Box<Call>,
    },
    /// The text of a call's arguments grew.
    InputGrew {
        /// Which chunk.
        chunk: usize,
        /// The call's number in it.
        call: usize,
        /// How many bytes it had before.
        at: usize,
        /// What came behind them.
        text: Cow<'a, str>,
    },
    /// A call's arguments are whole.
    InputWhole {
        /// Which chunk.
        chunk: usize,
        /// The call's number in it.
        call: usize,
        /// The tool, by its last name.
        name: String,
        /// The arguments.
        #[serde(with = "exact")]
        arguments: Value,
    },
    /// A call's arguments will never be whole.
    InputBroken {
        /// Which chunk.
        chunk: usize,
        /// The call's number in it.
        call: usize,
        /// Why.
        error: Cow<'a, str>,
    },
    /// A call has its result.
    Answered {
        /// Which chunk.
        chunk: usize,
        /// The call's number in it.
        call: usize,
        /// What came out.
        #[serde(with = "exact")]
        result: Value,
        /// Whether it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    },
    /// The command of a call wrote something.
    Wrote {
        /// Which chunk.
        chunk: usize,
        /// The call's number in it.
        call: usize,
        /// Where to.
        stream: Stream,
        /// How many bytes were there before.
        at: usize,
        /// What came behind them.
        text: Cow<'a, str>,
    },
    /// Whether a call may run is asked or answered.
    Approval {
        /// Which chunk.
        chunk: usize,
        /// The call's number in it.
        call: usize,
        /// How it stands now.
        approval: Approval,
    },
    /// More of the new content of a file is shown.
    Previewed {
        /// Which chunk.
        chunk: usize,
        /// The call's number in it.
        call: usize,
        /// The file.
        path: Cow<'a, str>,
        /// From which byte on what was shown is replaced.
        at: usize,
        /// By what.
        text: Cow<'a, str>,
    },
    /// The event has no place and was dropped, or is not known.
    Dropped(Diagnostic),
    /// The event shows nothing.
    Nothing {},
}

/// An event that could not be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Plain", into = "Plain")]
pub struct Diagnostic {
    /// What sort of thing it is; callers match on this.
    pub kind: Kind,
    /// The number of the event, counted from 0.
    pub event: u64,
    /// What happened, for people.
    pub message: String,
}

/// A change that does not fit the chunks it was given to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// The chunk is not there, or not the next one.
    #[error("the change names chunk {chunk}, there are {has}")]
    NoChunk {
        /// The chunk.
        chunk: usize,
        /// How many there are.
        has: usize,
    },
    /// The chunk cannot do that: it is of another kind, sealed, or has no such call.
    #[error("chunk {chunk} is of another kind than the change says, or lacks the call that it names")]
    WrongChunk {
        /// The chunk.
        chunk: usize,
    },
    /// A change before this one is missing, or this one came twice.
    #[error("chunk {chunk} has {has} bytes, the change goes on at {at}")]
    Gap {
        /// The chunk.
        chunk: usize,
        /// How much of it is there.
        has: usize,
        /// Where the change goes on.
        at: usize,
    },
}

impl Misfit {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "give a copy every change of the chunks, in order and once; or start again from a snapshot"
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
            Self::Opened { chunk, value } => Change::Opened { chunk, value },
            Self::Grew { chunk, at, text } => Change::Grew { chunk, at, text: owned(text) },
            Self::Sealed { chunk, metadata } => Change::Sealed { chunk, metadata },
            Self::Called { chunk, call, value } => Change::Called { chunk, call, value },
            Self::InputGrew { chunk, call, at, text } => {
                Change::InputGrew { chunk, call, at, text: owned(text) }
            }
            Self::InputWhole { chunk, call, name, arguments } => {
                Change::InputWhole { chunk, call, name, arguments }
            }
            Self::InputBroken { chunk, call, error } => {
                Change::InputBroken { chunk, call, error: owned(error) }
            }
            Self::Answered { chunk, call, result, is_error } => {
                Change::Answered { chunk, call, result, is_error }
            }
            Self::Wrote { chunk, call, stream, at, text } => {
                Change::Wrote { chunk, call, stream, at, text: owned(text) }
            }
            Self::Approval { chunk, call, approval } => Change::Approval { chunk, call, approval },
            Self::Previewed { chunk, call, path, at, text } => {
                Change::Previewed { chunk, call, path: owned(path), at, text: owned(text) }
            }
            Self::Dropped(diagnostic) => Change::Dropped(diagnostic),
            Self::Nothing {} => Change::Nothing {},
        }
    }
}

/// The form on the wire: with the hint, which reading back derives from the kind.
#[derive(Serialize, Deserialize)]
struct Plain {
    kind: Kind,
    event: u64,
    message: String,
    #[serde(skip_deserializing)]
    hint: &'static str,
}

impl From<Diagnostic> for Plain {
    fn from(Diagnostic { kind, event, message }: Diagnostic) -> Self {
        Self { hint: kind.hint(), kind, event, message }
    }
}

impl From<Plain> for Diagnostic {
    fn from(Plain { kind, event, message, .. }: Plain) -> Self {
        Self { kind, event, message }
    }
}
