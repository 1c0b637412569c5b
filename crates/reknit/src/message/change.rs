//! [`Change`]: what one step changed in a message.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::block::CallEnd;
use crate::diagnostic::Diagnostic;
use crate::event::{Failure, Keep, Opening, Owner, Slot, Start, Stop, Usage};

/// What one step changed in a message: enough to follow along.
///
/// Applied in order to an empty message ([`Message::follow`](super::Message::follow)), changes give the message, also after a trip
/// through JSON. Growth carries the new text and the byte of the block at which it goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change<'a> {
    /// The message began. Behind one that had begun already, it is the next message of the stream, and
    /// whoever follows goes on with an empty one.
    Started(Start),
    /// A block began. It stands behind all blocks with a smaller slot.
    Opened {
        /// Its address.
        block: Slot,
        /// The choice it belongs to.
        #[serde(default, skip_serializing_if = "is_zero")]
        choice: u32,
        /// What it is.
        #[serde(flatten)]
        opening: Opening,
    },
    /// A call has this id and name now.
    Named {
        /// Which block.
        block: Slot,
        /// Its id.
        id: Cow<'a, str>,
        /// Its name.
        name: Cow<'a, str>,
    },
    /// The text, thinking or arguments of a block grew.
    Grew {
        /// Which block.
        block: Slot,
        /// How many bytes it had before.
        at: usize,
        /// What came behind them.
        text: Cow<'a, str>,
    },
    /// The signature of a block grew.
    Signed {
        /// Which block.
        block: Slot,
        /// How many bytes the signature had before.
        at: usize,
        /// What came behind them.
        signature: Cow<'a, str>,
    },
    /// A block is over.
    Closed {
        /// Which block.
        block: Slot,
        /// How the arguments ended, if it is a call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        end: Option<CallEnd>,
        /// What is odd about its arguments.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notice: Option<Diagnostic>,
    },
    /// A field outside the neutral form was kept.
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
    /// These counts are new; the others stay.
    Usage(Usage),
    /// A choice has its reason to stop.
    Stopped {
        /// Which choice.
        #[serde(default, skip_serializing_if = "is_zero")]
        choice: u32,
        /// Why.
        #[serde(flatten)]
        stop: Stop,
    },
    /// The message is over, and whole.
    Ended {
        /// What is odd about that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notice: Option<Diagnostic>,
    },
    /// The message is over, and not whole.
    Cut {},
    /// The provider reported an error: the message is over.
    Failed(Failure),
    /// Nothing changed but the diagnostics.
    Noticed(Diagnostic),
    /// Nothing changed: the connection is alive.
    Ping {},
}

/// A change that does not fit the message it was given to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// The block is not there.
    #[error("the change names block {}, which the message does not have", block.0)]
    NoBlock {
        /// The block.
        block: Slot,
    },
    /// The block is there already.
    #[error("the change opens block {}, which the message has already", block.0)]
    BlockThere {
        /// The block.
        block: Slot,
    },
    /// The block cannot do that: it is over, or of another kind.
    #[error("block {} is over or of another kind than the change says", block.0)]
    WrongBlock {
        /// The block.
        block: Slot,
    },
    /// A change before this one is missing, or this one came twice.
    #[error("block {} has {has} bytes, the change goes on at {at}", block.0)]
    Gap {
        /// The block.
        block: Slot,
        /// How much of it is there.
        has: usize,
        /// Where the change goes on.
        at: usize,
    },
}

impl Misfit {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "give a message every change of its reply, in order and once; or start again from a snapshot"
    }
}

impl Change<'_> {
    /// The same change with nothing borrowed.
    pub fn into_owned(self) -> Change<'static> {
        match self {
            Self::Started(start) => Change::Started(start),
            Self::Opened { block, choice, opening } => Change::Opened { block, choice, opening },
            Self::Named { block, id, name } => {
                Change::Named { block, id: id.into_owned().into(), name: name.into_owned().into() }
            }
            Self::Grew { block, at, text } => Change::Grew { block, at, text: text.into_owned().into() },
            Self::Signed { block, at, signature } => {
                Change::Signed { block, at, signature: signature.into_owned().into() }
            }
            Self::Closed { block, end, notice } => Change::Closed { block, end, notice },
            Self::Kept { owner, key, keep } => {
                Change::Kept { owner, key: key.into_owned().into(), keep: keep.into_owned() }
            }
            Self::Switched { model } => Change::Switched { model: model.into_owned().into() },
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
