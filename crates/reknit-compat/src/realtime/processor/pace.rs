//! [`Pace`]: how often a growing message is reported.

use serde::{Deserialize, Serialize};

use crate::realtime::Time;

/// A message is reported at most ten times a second.
const INTERVAL: u64 = 100;

/// Text of this length is reported at once, if it is also a good part of the message.
const BURST: usize = 4096;

/// How much of a message was reported, and when.
///
/// Each report contains the whole message, so a long message that grows fast is reported less often: whenever
/// it is a quarter longer. However small the deltas are, all reports together are a constant multiple of its
/// length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Pace {
    last: Option<Time>,
    shown: usize,
    held: usize,
}

impl Pace {
    /// This many bytes arrived.
    pub(super) fn hold(&mut self, bytes: usize) {
        self.held += bytes;
    }

    /// The length of the message in bytes.
    pub(super) fn length(&self) -> usize {
        self.shown + self.held
    }

    /// Whether some of it was not reported.
    pub(super) fn has_held(&self) -> bool {
        self.held > 0
    }

    /// Whether it is time to report the message.
    pub(super) fn is_due(&self, at: Time) -> bool {
        let Some(last) = self.last else { return true };
        at.since(last) >= INTERVAL || self.held >= BURST && self.held >= self.shown / 4
    }

    /// The message is reported as it is now.
    pub(super) fn show(&mut self, at: Time) {
        self.last = Some(at);
        self.shown += std::mem::take(&mut self.held);
    }
}
