//! [`Change`]: what an event changed in the chunks of a message.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::chunk::{Approval, Call, Chunk};
use crate::agent::Stream;
use crate::diagnostic::Diagnostic;
use crate::json::{Value, exact};

/// What an event changed in the chunks of a message, as a patch.
///
/// Applying all changes in order to empty [`Chunks`](super::Chunks) gives the same chunks, also if the
/// changes were sent as JSON. A change that adds text has only the new text, and the byte at which it
/// continues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Change<'a> {
    /// A chunk was added at the end.
    Opened {
        /// Its number, counted from 0.
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
        /// The new text.
        text: Cow<'a, str>,
    },
    /// Thinking was sealed.
    Sealed {
        /// Which chunk.
        chunk: usize,
        /// What has to be sent back to the provider with it.
        #[serde(deserialize_with = "exact")]
        metadata: Value,
    },
    /// A call was added to a batch.
    Called {
        /// Which chunk.
        chunk: usize,
        /// The number of the call in the chunk.
        call: usize,
        /// The call.
        value: Box<Call>,
    },
    /// The text of a call's arguments grew.
    InputGrew {
        /// Which chunk.
        chunk: usize,
        /// The number of the call in the chunk.
        call: usize,
        /// How many bytes it had before.
        at: usize,
        /// The new text.
        text: Cow<'a, str>,
    },
    /// The arguments of a call are complete.
    InputWhole {
        /// Which chunk.
        chunk: usize,
        /// The number of the call in the chunk.
        call: usize,
        /// The tool.
        name: String,
        /// The arguments.
        #[serde(deserialize_with = "exact")]
        arguments: Value,
    },
    /// The arguments of a call will never be complete.
    InputBroken {
        /// Which chunk.
        chunk: usize,
        /// The number of the call in the chunk.
        call: usize,
        /// Why.
        error: Cow<'a, str>,
    },
    /// The result of a call arrived.
    Answered {
        /// Which chunk.
        chunk: usize,
        /// The number of the call in the chunk.
        call: usize,
        /// The result.
        #[serde(deserialize_with = "exact")]
        result: Value,
        /// Whether it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    },
    /// The command of a call wrote some output.
    Wrote {
        /// Which chunk.
        chunk: usize,
        /// The number of the call in the chunk.
        call: usize,
        /// Where it was written to.
        stream: Stream,
        /// How many bytes there were before.
        at: usize,
        /// The new text.
        text: Cow<'a, str>,
    },
    /// Approval of a call was requested or answered.
    Approval {
        /// Which chunk.
        chunk: usize,
        /// The number of the call in the chunk.
        call: usize,
        /// Its state now.
        approval: Approval,
    },
    /// More of the new content of a file arrived.
    Previewed {
        /// Which chunk.
        chunk: usize,
        /// The number of the call in the chunk.
        call: usize,
        /// The file.
        path: Cow<'a, str>,
        /// The byte from which on the content is replaced.
        at: usize,
        /// The new text.
        text: Cow<'a, str>,
    },
    /// The event was dropped because it has no place or an unknown type.
    Dropped(Diagnostic),
    /// The event does not change the chunks.
    Nothing {},
}

impl Change<'_> {
    /// The same change, without borrowed data.
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
