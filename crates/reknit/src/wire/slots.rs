//! [`Slots`]: the slots of blocks that their provider numbers itself.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::Slot;

#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    by_index: BTreeMap<u64, Slot>,
    used: BTreeSet<Slot>,
}

impl Slots {
    /// The slot of a new block: its index, or the first after all others if that is taken.
    pub(super) fn open(&mut self, index: u64) -> Slot {
        let wanted = u32::try_from(index).ok().map(Slot::new).filter(|slot| !self.used.contains(slot));
        let next = self.used.last().map_or(0, |last| last.number().saturating_add(1));
        let slot = wanted.unwrap_or(Slot::new(next));
        self.by_index.insert(index, slot);
        self.used.insert(slot);
        slot
    }

    pub(super) fn get(&self, index: u64) -> Option<Slot> {
        self.by_index.get(&index).copied()
    }
}
