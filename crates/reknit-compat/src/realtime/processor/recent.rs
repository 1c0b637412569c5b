//! [`Recent`]: the events of the last seconds, by what identifies them.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::realtime::Time;

/// How long an event is remembered.
const WINDOW: u64 = 5000;

/// How many events are remembered at most.
const KEPT: usize = 4096;

/// Recent events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Recent {
    queue: VecDeque<(Time, String)>,
    known: BTreeSet<String>,
}

impl Recent {
    /// Remembers an event, and returns whether it is new.
    pub(super) fn is_new(&mut self, fingerprint: String, at: Time) -> bool {
        while let Some((time, _)) = self.queue.front()
            && (at.since(*time) >= WINDOW || self.queue.len() >= KEPT)
            && let Some((_, old)) = self.queue.pop_front()
        {
            self.known.remove(&old);
        }
        let is_new = self.known.insert(fingerprint.clone());
        if is_new {
            self.queue.push_back((at, fingerprint));
        }
        is_new
    }
}
