//! [`Change`]: what an event changed in a message.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::event::{CallId, End, Failure, Keep, Opening, Owner, Slot, Start, Stop, Usage};

/// What an event changed in a message, as a patch.
///
/// Applying all changes in order to an empty message, with [`Message::follow`](super::Message::follow), gives
/// the same message, also if the changes were sent as JSON. A change that adds text has only the new text,
/// and the byte at which it continues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Change<'a> {
    /// The message started. If one had already started, this is the next message of the stream: apply it and
    /// the following changes to a new, empty message.
    Started(Start),
    /// A block started. It comes after all blocks with a smaller slot.
    Opened {
        /// Its address.
        block: Slot,
        /// The choice that it belongs to.
        #[serde(default, skip_serializing_if = "is_zero")]
        choice: u32,
        /// What kind of block it is.
        #[serde(flatten)]
        opening: Opening,
    },
    /// The id and name of a call, as far as they are known.
    Named {
        /// Which block.
        block: Slot,
        /// Its id.
        #[serde(flatten)]
        id: CallId,
        /// Its name.
        name: Cow<'a, str>,
    },
    /// The text, thinking or arguments of a block grew.
    Grew {
        /// Which block.
        block: Slot,
        /// How many bytes it had before.
        at: usize,
        /// The new text.
        text: Cow<'a, str>,
    },
    /// The signature of a block grew.
    Signed {
        /// Which block.
        block: Slot,
        /// How many bytes the signature had before.
        at: usize,
        /// The new part of the signature.
        signature: Cow<'a, str>,
    },
    /// A block ended.
    Closed {
        /// Which block.
        block: Slot,
        /// How it ended, if it is a call or incomplete.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        end: Option<End>,
        /// What is wrong with its arguments.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notice: Option<Diagnostic>,
        /// The call as the model wrote it, if it was found in a text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<Cow<'a, str>>,
    },
    /// A field that is not part of the neutral form was kept.
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
    /// New numbers of tokens; the others stay as they are.
    Usage(Usage),
    /// The stop reason of a choice arrived.
    Stopped {
        /// Which choice.
        #[serde(default, skip_serializing_if = "is_zero")]
        choice: u32,
        /// Why.
        #[serde(flatten)]
        stop: Stop,
    },
    /// The message is over, and complete.
    Ended {
        /// What is wrong with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notice: Option<Diagnostic>,
    },
    /// The message is over, and incomplete.
    Cut {},
    /// The provider reported an error: the message is over.
    Failed(Failure),
    /// Nothing changed but the diagnostics.
    Noticed(Diagnostic),
    /// Nothing changed: the connection is alive.
    Ping {},
}

impl Change<'_> {
    /// The same change, without borrowed data.
    pub fn into_owned(self) -> Change<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        match self {
            Self::Started(start) => Change::Started(start),
            Self::Opened { block, choice, opening } => Change::Opened { block, choice, opening },
            Self::Named { block, id, name } => Change::Named { block, id, name: owned(name) },
            Self::Grew { block, at, text } => Change::Grew { block, at, text: owned(text) },
            Self::Signed { block, at, signature } => {
                Change::Signed { block, at, signature: owned(signature) }
            }
            Self::Closed { block, end, notice, raw } => {
                Change::Closed { block, end, notice, raw: raw.map(owned) }
            }
            Self::Kept { owner, key, keep } => {
                Change::Kept { owner, key: owned(key), keep: keep.into_owned() }
            }
            Self::Switched { model } => Change::Switched { model: owned(model) },
            Self::Usage(usage) => Change::Usage(usage),
            Self::Stopped { choice, stop } => Change::Stopped { choice, stop },
            Self::Ended { notice } => Change::Ended { notice },
            Self::Cut {} => Change::Cut {},
            Self::Failed(failure) => Change::Failed(failure),
            Self::Noticed(diagnostic) => Change::Noticed(diagnostic),
            Self::Ping {} => Change::Ping {},
        }
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}
