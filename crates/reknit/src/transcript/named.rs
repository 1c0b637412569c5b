//! [`Named`]: places by name.

use std::collections::{BTreeMap, BTreeSet};

/// Places by name. Several places may have the same name; the last of them counts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Named<P>(BTreeMap<String, BTreeSet<P>>);

impl<P: Copy + Ord> Named<P> {
    pub(super) fn last(&self, name: &str) -> Option<P> {
        self.0.get(name)?.last().copied()
    }

    pub(super) fn insert(&mut self, name: &str, place: P) {
        self.0.entry(name.to_owned()).or_default().insert(place);
    }

    pub(super) fn remove(&mut self, name: &str, place: P) {
        let Some(places) = self.0.get_mut(name) else { return };
        places.remove(&place);
        if places.is_empty() {
            self.0.remove(name);
        }
    }
}

impl<P> Default for Named<P> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}
