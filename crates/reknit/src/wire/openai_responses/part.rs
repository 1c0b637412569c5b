//! [`Part`]: what of an item is a block, and the slot that it has.

use crate::event::Slot;

/// A part of an item that is a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// The item itself.
    Whole,
    /// What came of a call.
    Result,
    Content(u64),
    Summary(u64),
    /// Thinking that is not shown.
    Encrypted,
}

/// Which end of a part an event tells of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Moment {
    Begin,
    End,
}

/// Room for the parts of one item.
///
/// Blocks stand in the order of their slots, and a slot is `1000 * place + part`, because an item may get
/// another part when later items have begun. A number that does not fit is refused, never bent.
const PARTS: u32 = 1000;

/// Room for the parts of the content. Those of a summary stand behind them: it is made of what is there.
const CONTENT: u32 = 500;

impl Part {
    /// The slot of the part, if there is room for it in the item at `place`.
    pub(super) fn slot(self, place: u32) -> Option<Slot> {
        let (index, first, room) = match self {
            Self::Whole => (0, 0, 1),
            Self::Result => (0, 1, 1),
            Self::Content(index) => (index, 0, CONTENT),
            Self::Summary(index) => (index, CONTENT, PARTS - 1 - CONTENT),
            Self::Encrypted => (0, PARTS - 1, 1),
        };
        let number = u32::try_from(index).ok().filter(|index| *index < room)? + first;
        place.checked_mul(PARTS)?.checked_add(number).map(Slot::new)
    }
}
