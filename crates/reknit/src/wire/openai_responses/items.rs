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
    stage: Stage,
    item: T,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stage {
    /// Events were about it, but its start is missing.
    Unstarted,
    Started,
    Done,
}

/// What an event says about which item it is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: Option<&'a str>,
}

/// What became of an item that was added, and its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Put {
    AtItsIndex(u32),
    AtTheEnd(u32),
    /// Other events about it came before.
    Late(u32),
    /// The same item was added before.
    Again(u32),
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
    fn find(&self, Address { index, id }: Address<'_>) -> Option<u32> {
        let newest = match index {
            Some(index) => self.by_index.get(&index).copied(),
            None => self.entries.keys().next_back().copied(),
        }?;
        if id.is_some() && self.id(newest) == id {
            return Some(newest);
        }
        let named = self.find_id(id).filter(|place| {
            index.is_none_or(|index| self.entries.get(place).is_some_and(|entry| entry.index == index))
        });
        named.or(Some(newest))
    }

    /// The place of an item that an event brings whole; without an index it is found by id.
    fn find_whole(&self, at: Address<'_>) -> Option<u32> {
        if at.index.is_some() { self.find(at) } else { self.find_id(at.id) }
    }

    pub(super) fn find_id(&self, id: Option<&str>) -> Option<u32> {
        self.by_id.get(id?).copied()
    }

    /// The place of the item that an event is about, even if no event has added it.
    pub(super) fn find_or_make(&mut self, at: Address<'_>, make: impl FnOnce(u32) -> T) -> u32 {
        self.find(at).unwrap_or_else(|| self.insert(at, Stage::Unstarted, make).place())
    }

    /// Takes the start of an item.
    pub(super) fn start(&mut self, at: Address<'_>, make: impl FnOnce(u32) -> T) -> Put {
        if let Some(place) = self.find_whole(at) {
            match self.entries.get(&place).map(|entry| entry.stage) {
                Some(Stage::Unstarted) => {
                    self.reach(Stage::Started, place, at.id);
                    return Put::Late(place);
                }
                Some(Stage::Started) if at.id.is_some() && self.id(place) == at.id => {
                    return Put::Again(place);
                }
                _ => {}
            }
        }
        self.add(at, make)
    }

    /// Takes the end of an item, which may not have been added.
    pub(super) fn finish(&mut self, at: Address<'_>, make: impl FnOnce(u32) -> T) -> u32 {
        let place = self.find_whole(at).unwrap_or_else(|| self.add(at, make).place());
        self.reach(Stage::Done, place, at.id);
        place
    }

    pub(super) fn add(&mut self, at: Address<'_>, make: impl FnOnce(u32) -> T) -> Put {
        self.insert(at, Stage::Started, make)
    }

    fn insert(&mut self, at: Address<'_>, stage: Stage, make: impl FnOnce(u32) -> T) -> Put {
        let next = self.entries.keys().next_back().map_or(0, |last| last.saturating_add(1));
        let index = at.index.unwrap_or(next.into());
        let wanted = u32::try_from(index).ok().filter(|_| index < Self::MAX_INDEX);
        let put = match wanted.filter(|place| !self.entries.contains_key(place)) {
            Some(place) => Put::AtItsIndex(place),
            None => Put::AtTheEnd(next),
        };
        let place = put.place();
        self.entries.insert(place, Box::new(Entry { index, id: None, stage, item: make(place) }));
        self.by_index.insert(index, place);
        self.reach(stage, place, at.id);
        put
    }

    /// Notes how far an item is, and its id.
    pub(super) fn reach(&mut self, stage: Stage, place: u32, id: Option<&str>) {
        let Some(entry) = self.entries.get_mut(&place) else { return };
        entry.stage = stage;
        if let Some(id) = id {
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
        let (Self::AtItsIndex(place) | Self::AtTheEnd(place) | Self::Late(place) | Self::Again(place)) = self;
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(index: Option<u64>, id: Option<&str>) -> Address<'_> {
        Address { index, id }
    }

    #[test]
    fn items_are_ordered_by_index() {
        let mut items = Items::default();
        assert_eq!(items.add(at(Some(2), None), |_| 'c'), Put::AtItsIndex(2));
        assert_eq!(items.add(at(Some(0), None), |_| 'a'), Put::AtItsIndex(0));
        assert_eq!(items.into_values().collect::<String>(), "ac");
    }

    #[test]
    fn an_id_distinguishes_items_with_the_same_index() {
        let mut items = Items::default();
        items.add(at(Some(0), Some("x")), |_| ());
        assert_eq!(items.add(at(Some(0), Some("y")), |_| ()), Put::AtTheEnd(1));
        assert_eq!(items.find(at(Some(0), Some("x"))), Some(0));
        assert_eq!(items.find(at(Some(0), Some("y"))), Some(1));
        assert_eq!(items.find(at(Some(0), Some("changed"))), Some(1), "the newest");
    }

    #[test]
    fn without_an_index_the_id_decides_and_then_the_newest() {
        let mut items = Items::default();
        items.add(at(None, Some("x")), |_| ());
        items.add(at(None, Some("y")), |_| ());
        assert_eq!(items.find(at(None, Some("x"))), Some(0));
        assert_eq!(items.find(at(None, None)), Some(1));
    }

    #[test]
    fn an_index_that_is_too_large_is_placed_after_all_others() {
        let mut items = Items::default();
        items.add(at(Some(3), None), |_| ());
        assert_eq!(items.add(at(Some(u64::MAX), None), |_| ()), Put::AtTheEnd(4));
        assert_eq!(items.find(at(Some(u64::MAX), None)), Some(4));
    }
}
