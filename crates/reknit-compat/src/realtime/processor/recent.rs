//! [`Recent`]: the events of the last seconds, by what tells them apart.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::realtime::Time;

/// How long an event is remembered.
const WINDOW: u64 = 5000;

/// How many events are remembered, should there be more in that time.
const KEPT: usize = 4096;

/// What came a moment ago.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Recent {
    queue: VecDeque<(Time, String)>,
    known: BTreeSet<String>,
}

impl Recent {
    /// Whether this did not come a moment ago; it has now.
    pub(super) fn is_news(&mut self, fingerprint: String, at: Time) -> bool {
        while let Some((time, _)) = self.queue.front()
            && (at.since(*time) >= WINDOW || self.queue.len() >= KEPT)
            && let Some((_, old)) = self.queue.pop_front()
        {
            self.known.remove(&old);
        }
        let is_news = self.known.insert(fingerprint.clone());
        if is_news {
            self.queue.push_back((at, fingerprint));
        }
        is_news
    }
}
