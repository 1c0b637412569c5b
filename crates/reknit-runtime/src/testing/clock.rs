//! [`ManualClock`]: a clock that is set by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::clock::Clock;

/// A clock that shows what it was set to. Clones show the same time.
#[derive(Clone, Debug, Default)]
pub struct ManualClock {
    now: Arc<AtomicU64>,
}

impl ManualClock {
    /// A clock that shows the beginning of 1970.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets it, in milliseconds since the Unix epoch.
    pub fn set(&self, now: u64) {
        self.now.store(now, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }
}
