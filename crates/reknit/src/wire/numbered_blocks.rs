//! [`Numbered`]: the blocks of a message that its provider numbers, starts and ends itself.

use std::collections::BTreeMap;

use super::events::Events;
use super::slots::Slots;
use crate::diagnostic::Kind;
use crate::event::{Event, Opening, Slot};

#[derive(Clone, Debug, Default)]
pub(super) struct Numbered {
    slots: Slots,
    open: BTreeMap<Slot, Open>,
    /// A call that ended before any arguments came. Only the next event shows whether it has no arguments or
    /// the model was stopped before it could write them.
    bare: Option<Slot>,
}

/// A block that has not been closed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Open {
    Text,
    Thinking,
    Call(Arguments),
    /// A result or something else: it comes whole, or deltas bring its fields.
    Whole,
    /// An image of which some came in a delta.
    Image,
}

/// Where the arguments of a call come from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Arguments {
    /// The start of the call, if no delta brings any; empty if it had none.
    Start(String),
    Deltas,
}

impl Numbered {
    pub(super) fn open(&mut self, index: u64, opening: Opening, open: Open, events: &mut Events) -> Slot {
        let slot = self.slots.open(index);
        if u64::from(slot.number()) != index {
            events.notice(Kind::DuplicateBlock, format!("block {index} was opened a second time"));
        }
        events.push(Event::Opened { block: slot, choice: 0, opening });
        self.open.insert(slot, open);
        slot
    }

    /// The slot of a block, which may be closed.
    pub(super) fn slot(&self, index: u64) -> Option<Slot> {
        self.slots.get(index)
    }

    /// The block of this number, if it is open.
    pub(super) fn get(&mut self, index: u64) -> Option<&mut Open> {
        self.open.get_mut(&self.slots.get(index)?)
    }

    pub(super) fn end(&mut self, index: u64, events: &mut Events) {
        match self.slots.get(index).and_then(|slot| Some((slot, self.open.remove(&slot)?))) {
            Some((slot, Open::Call(Arguments::Start(input)))) if input.is_empty() => self.bare = Some(slot),
            Some((slot, open)) => close(slot, open, events),
            None => {
                events.notice(Kind::OrphanDelta, format!("block {index} was closed, but is not open"));
            }
        }
    }

    /// Closes a call that has no arguments after all.
    pub(super) fn close_bare(&mut self, events: &mut Events) {
        if let Some(slot) = self.bare.take() {
            events.closed(slot);
        }
    }

    /// Closes the blocks that are open when the message ends.
    pub(super) fn end_all(&mut self, events: &mut Events) {
        self.close_bare(events);
        while let Some((slot, open)) = self.open.pop_first() {
            events.notice(Kind::UnclosedBlock, format!("block {slot} was open when the message ended"));
            close(slot, open, events);
        }
    }
}

fn close(slot: Slot, open: Open, events: &mut Events) {
    if let Open::Call(Arguments::Start(input)) = open {
        events.grew_plain(slot, &input);
    }
    events.closed(slot);
}
