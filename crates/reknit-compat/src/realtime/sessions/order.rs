//! [`Order`]: the order in which sessions were added.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Ids in the order in which they were added. In JSON it is a list of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    numbers: BTreeMap<String, u64>,
    /// How many numbers were given.
    count: u64,
}

impl Order {
    /// Adds an id after all others, or moves it there.
    pub(super) fn add(&mut self, id: &str) {
        self.numbers.insert(id.to_owned(), self.count);
        self.count += 1;
    }

    pub(super) fn remove(&mut self, id: &str) {
        self.numbers.remove(id);
    }

    /// Smaller for an id that was added earlier.
    pub(super) fn number(&self, id: &str) -> Option<u64> {
        self.numbers.get(id).copied()
    }

    fn ids(&self) -> Vec<&str> {
        let mut ids: Vec<_> = self.numbers.iter().map(|(id, number)| (*number, id.as_str())).collect();
        ids.sort_unstable();
        ids.into_iter().map(|(_, id)| id).collect()
    }
}

/// Equal if the ids are, in the same order.
impl PartialEq for Order {
    fn eq(&self, other: &Self) -> bool {
        self.ids() == other.ids()
    }
}

impl Serialize for Order {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.ids().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Order {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut order = Self::default();
        Vec::<String>::deserialize(deserializer)?.iter().for_each(|id| order.add(id));
        Ok(order)
    }
}
