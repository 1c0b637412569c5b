//! [`Items`]: the output items of a response by place.

use std::collections::BTreeMap;

/// Items in the order of their places.
///
/// The place of an item is its `output_index`, which may have gaps. If the index is taken, or larger than any
/// real one, the item is placed after all others.
#[derive(Clone, Debug)]
pub(super) struct Items<T> {
    entries: BTreeMap<u32, Box<Entry<T>>>,
    /// The newest item that came with an index.
    by_index: BTreeMap<u64, u32>,
    /// The newest item that came with an id.
    by_id: BTreeMap<String, u32>,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    index: u64,
    id: Option<String>,
    item: T,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Put {
    AtItsIndex(u32),
    AtTheEnd(u32),
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Self { entries: BTreeMap::new(), by_index: BTreeMap::new(), by_id: BTreeMap::new() }
    }
}

impl<T> Items<T> {
    /// Larger indexes are treated as mistakes.
    const MAX_INDEX: u64 = 1_000_000;

    /// The place of the item that an event is about.
    ///
    /// The index decides. The id helps if several items came with one index, or if no index is given.
    pub(super) fn find(&self, index: Option<u64>, id: Option<&str>) -> Option<u32> {
        let newest = match index {
            Some(index) => self.by_index.get(&index).copied(),
            None => self.entries.keys().next_back().copied(),
        }?;
        if self.has_id(newest, id) {
            return Some(newest);
        }
        let named = self.find_id(id).filter(|place| {
            index.is_none_or(|index| self.entries.get(place).is_some_and(|entry| entry.index == index))
        });
        named.or(Some(newest))
    }

    /// The place of an item that an event brings whole; without an index it is found by id.
    pub(super) fn find_whole(&self, index: Option<u64>, id: Option<&str>) -> Option<u32> {
        if index.is_some() { self.find(index, id) } else { self.find_id(id) }
    }

    pub(super) fn find_id(&self, id: Option<&str>) -> Option<u32> {
        self.by_id.get(id?).copied()
    }

    pub(super) fn has_id(&self, place: u32, id: Option<&str>) -> bool {
        id.is_some() && self.entries.get(&place).is_some_and(|entry| entry.id.as_deref() == id)
    }

    pub(super) fn add(&mut self, index: Option<u64>, id: Option<&str>, make: impl FnOnce(u32) -> T) -> Put {
        let next = self.entries.keys().next_back().map_or(0, |last| last.saturating_add(1));
        let index = index.unwrap_or(next.into());
        let wanted = u32::try_from(index).ok().filter(|_| index < Self::MAX_INDEX);
        let put = match wanted.filter(|place| !self.entries.contains_key(place)) {
            Some(place) => Put::AtItsIndex(place),
            None => Put::AtTheEnd(next),
        };
        let place = put.place();
        self.entries.insert(place, Box::new(Entry { index, id: None, item: make(place) }));
        self.by_index.insert(index, place);
        self.set_id(place, id);
        put
    }

    pub(super) fn set_id(&mut self, place: u32, id: Option<&str>) {
        if let (Some(entry), Some(id)) = (self.entries.get_mut(&place), id) {
            entry.id = Some(id.to_owned());
            self.by_id.insert(id.to_owned(), place);
        }
    }

    pub(super) fn id(&self, place: u32) -> Option<&str> {
        self.entries.get(&place)?.id.as_deref()
    }

    pub(super) fn get(&self, place: u32) -> Option<&T> {
        self.entries.get(&place).map(|entry| &entry.item)
    }

    pub(super) fn get_mut(&mut self, place: u32) -> Option<&mut T> {
        self.entries.get_mut(&place).map(|entry| &mut entry.item)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &T> {
        self.entries.values().map(|entry| &entry.item)
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.values_mut().map(|entry| &mut entry.item)
    }

    pub(super) fn into_values(self) -> impl Iterator<Item = T> {
        self.entries.into_values().map(|entry| entry.item)
    }

    pub(super) fn places(&self) -> Vec<u32> {
        self.entries.keys().copied().collect()
    }
}

impl Put {
    pub(super) fn place(self) -> u32 {
        match self {
            Self::AtItsIndex(place) | Self::AtTheEnd(place) => place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_ordered_by_index() {
        let mut items = Items::default();
        assert_eq!(items.add(Some(2), None, |_| 'c'), Put::AtItsIndex(2));
        assert_eq!(items.add(Some(0), None, |_| 'a'), Put::AtItsIndex(0));
        assert_eq!(items.into_values().collect::<String>(), "ac");
    }

    #[test]
    fn an_id_distinguishes_items_with_the_same_index() {
        let mut items = Items::default();
        items.add(Some(0), Some("x"), |_| ());
        assert_eq!(items.add(Some(0), Some("y"), |_| ()), Put::AtTheEnd(1));
        assert_eq!(items.find(Some(0), Some("x")), Some(0));
        assert_eq!(items.find(Some(0), Some("y")), Some(1));
        assert_eq!(items.find(Some(0), Some("changed")), Some(1), "the newest");
    }

    #[test]
    fn without_an_index_the_id_decides_and_then_the_newest() {
        let mut items = Items::default();
        items.add(None, Some("x"), |_| ());
        items.add(None, Some("y"), |_| ());
        assert_eq!(items.find(None, Some("x")), Some(0));
        assert_eq!(items.find(None, None), Some(1));
    }

    #[test]
    fn an_index_that_is_too_large_is_placed_after_all_others() {
        let mut items = Items::default();
        items.add(Some(3), None, |_| ());
        assert_eq!(items.add(Some(u64::MAX), None, |_| ()), Put::AtTheEnd(4));
        assert_eq!(items.find(Some(u64::MAX), None), Some(4));
    }
}
