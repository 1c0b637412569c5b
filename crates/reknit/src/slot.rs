//! [`Slot`]: the address of a block in its message.

use std::fmt;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

/// The address of a block in its message: a number, followed by a second one for a block that was found in
/// the text of another block.
///
/// The slot of a block never changes, and a message sorts its blocks by slot. In JSON a slot is `3`, or
/// `[3,1]` for the second block that was found in the text of block 3.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(
    /// The number in the upper half. In the lower half 0 for the block itself, otherwise one more than the second
    /// number: that way the block itself sorts before those that were found in it.
    u64,
);

impl Slot {
    /// The slot of a block that the provider sent.
    pub const fn new(number: u32) -> Self {
        Self((number as u64) << 32)
    }

    /// The slot of a block that was found in the text of this one, by its number, counted from 0.
    #[must_use]
    pub(crate) const fn below(self, number: u32) -> Self {
        Self(Self::new(self.number()).0 | number.saturating_add(1) as u64)
    }

    /// The number of the block that the provider sent, and the second number if the block was found in a text.
    pub const fn numbers(self) -> (u32, Option<u32>) {
        (self.number(), self.number_below())
    }

    pub(crate) const fn number(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub(crate) const fn number_below(self) -> Option<u32> {
        (self.0 as u32).checked_sub(1)
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, below) = (self.number(), self.0 as u32);
        f.debug_struct("Slot").field("number", &number).field("below", &below).finish()
    }
}

/// Writes the same as in JSON.
impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.numbers() {
            (number, None) => write!(f, "{number}"),
            (number, Some(below)) => write!(f, "[{number},{below}]"),
        }
    }
}

impl Serialize for Slot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.numbers() {
            (number, None) => number.serialize(serializer),
            (number, Some(below)) => (number, below).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Slot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum Form {
            Sent(u32),
            Found(u32, u32),
        }
        Ok(match Form::deserialize(deserializer)? {
            Form::Sent(number) => Self::new(number),
            Form::Found(number, below) => Self::new(number).below(below),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_ordered_and_written_as_documented() -> Result<(), serde_json::Error> {
        let slots = [
            Slot::new(0),
            Slot::new(2),
            Slot::new(2).below(0),
            Slot::new(2).below(11),
            Slot::new(3),
            Slot::new(3).below(1),
        ];
        assert!(slots.is_sorted());
        let json = serde_json::to_string(&slots)?;
        assert_eq!(json, "[0,2,[2,0],[2,11],3,[3,1]]");
        assert_eq!(serde_json::from_str::<Vec<Slot>>(&json)?, slots);
        assert_eq!(slots.map(|slot| slot.to_string()).join(","), "0,2,[2,0],[2,11],3,[3,1]");
        Ok(())
    }
}
