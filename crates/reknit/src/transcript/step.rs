//! [`Step`]: what one entry changed in a transcript.

use serde::{Deserialize, Serialize};

use super::change::{Change, Diagnostic};
use super::message::{Message, Status};
use crate::agent::TokenCounts;

/// What one entry changed in a transcript: enough to follow along.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step<'a> {
    /// The number of the entry.
    pub seq: u64,
    /// Its time.
    pub at: u64,
    /// The message that was left open and is over now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<usize>,
    /// A message that was added behind the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened: Option<Box<Message>>,
    /// What happened then.
    pub effect: Effect<'a>,
}

/// What an entry did to a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect<'a> {
    /// Its chunks changed.
    Chunk {
        /// Which message.
        message: usize,
        /// How.
        change: Change<'a>,
        /// How far the message is then.
        status: Status,
    },
    /// It is over.
    Ended {
        /// Which message.
        message: usize,
        /// How it ended.
        status: Status,
    },
    /// Tokens were counted.
    Usage {
        /// Which message.
        message: usize,
        /// All of its tokens so far.
        usage: TokenCounts,
    },
    /// Another model answers.
    Model {
        /// Which message.
        message: usize,
        /// The model.
        model: String,
    },
    /// The entry belongs to no message and was dropped.
    Dropped(Diagnostic),
    /// The entry shows nothing.
    Nothing {},
}

/// An entry, or what it changed, that is not the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutOfOrder {
    /// Some are missing before it.
    #[error("entry {found} came, entry {expected} is the next")]
    Gap {
        /// The one that is next.
        expected: u64,
        /// The one that came.
        found: u64,
    },
    /// The change is of other messages.
    #[error("the change of entry {seq} does not fit the messages")]
    Misfit {
        /// The entry.
        seq: u64,
    },
}

impl OutOfOrder {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "ask for the log from the entry that is next, or start again from a snapshot"
    }
}
