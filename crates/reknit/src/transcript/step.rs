//! [`Step`]: what an entry changed in a transcript.

use serde::{Deserialize, Serialize};

use super::change::Change;
use super::message::{Message, Status};
use crate::agent::tokens;
use crate::diagnostic::Diagnostic;
use crate::event::Usage;

/// What an entry changed in a transcript, as a patch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Step<'a> {
    /// The number of the entry.
    pub seq: u64,
    /// The time of the entry.
    pub at: u64,
    /// The open message that ends because of this entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<usize>,
    /// A message that was added at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened: Option<Box<Message>>,
    /// What else changed.
    pub effect: Effect<'a>,
}

/// What an entry changed in a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect<'a> {
    /// Its chunks changed.
    Chunk {
        /// Which message.
        message: usize,
        /// What changed.
        change: Change<'a>,
        /// The state of the message after it.
        status: Status,
    },
    /// It ended.
    Ended {
        /// Which message.
        message: usize,
        /// How it ended.
        status: Status,
    },
    /// The number of tokens changed.
    Usage {
        /// Which message.
        message: usize,
        /// All tokens of the message so far.
        #[serde(with = "tokens")]
        usage: Usage,
    },
    /// Another model answers.
    Model {
        /// Which message.
        message: usize,
        /// The model.
        model: String,
    },
    /// The entry was dropped because it belongs to no message.
    Dropped(Diagnostic),
    /// The entry does not change any message.
    Nothing {},
}
