//! [`Pace`]: how often a message that grows is told of.

use serde::{Deserialize, Serialize};

use crate::realtime::Time;

/// A message is told of at most ten times a second.
const INTERVAL: u64 = 100;

/// Text of this length is told of at once, if it is a good part of the message too.
const BURST: usize = 4096;

/// What of a message was told of, and when.
///
/// Who gets the message gets all of it, so a long message is told of less often the faster it grows: whenever
/// it is a quarter longer. However small the deltas, that is a constant number of times its length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Pace {
    last: Option<Time>,
    shown: usize,
    held: usize,
}

impl Pace {
    /// So many bytes came.
    pub(super) fn hold(&mut self, bytes: usize) {
        self.held += bytes;
    }

    /// How many bytes the message has.
    pub(super) fn length(&self) -> usize {
        self.shown + self.held
    }

    /// Whether something was not told of.
    pub(super) fn has_held(&self) -> bool {
        self.held > 0
    }

    /// Whether it is time to tell of the message.
    pub(super) fn is_due(&self, at: Time) -> bool {
        let Some(last) = self.last else { return true };
        at.since(last) >= INTERVAL || self.held >= BURST && self.held >= self.shown / 4
    }

    /// The message is told of, as it is now.
    pub(super) fn show(&mut self, at: Time) {
        self.last = Some(at);
        self.shown += std::mem::take(&mut self.held);
    }
}
