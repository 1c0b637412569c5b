//! [`Part`]: a part of an item that is a block, and its slot.

use crate::event::Slot;

/// A part of an item that is a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// The item itself.
    Whole,
    /// The result of a call.
    Result,
    Content(u64),
    Summary(u64),
    /// Thinking that is not shown.
    Encrypted,
}

/// Whether an event begins or ends a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Moment {
    Begin,
    End,
}

/// The number of slots reserved for the parts of one item.
///
/// Blocks are ordered by slot, and an item may get another part after later items have begun, so a slot is
/// `1000 * place + part`. A part that does not fit has none.
const PARTS: u32 = 1000;

/// The number of slots reserved for the parts of the content. Those of the summary follow.
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
