//! [`Others`]: members that the neutral form has no place for.

use std::borrow::Cow;

use super::events::Events;
use super::fields::Raw;
use super::seen_members::Seen;
use crate::event::Owner;

/// The members of an object that are kept as they are, unless something takes them.
#[derive(Debug, Default)]
pub(super) struct Others<'a>(Vec<(Cow<'a, str>, Raw<'a>)>);

impl<'a> Others<'a> {
    pub(super) fn add(&mut self, key: Cow<'a, str>, value: Raw<'a>) {
        self.0.push((key, value));
    }

    pub(super) fn append(&mut self, mut more: Self) {
        self.0.append(&mut more.0);
    }

    /// The last member of this name.
    pub(super) fn get(&self, key: &str) -> Option<Raw<'a>> {
        self.iter().rfind(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// The same; it is then not kept.
    pub(super) fn take(&mut self, key: &str) -> Option<Raw<'a>> {
        let taken = self.get(key)?;
        self.0.retain(|(name, _)| name != key);
        Some(taken)
    }

    /// The same, if it is a string and not empty.
    pub(super) fn take_string(&mut self, key: &str) -> Option<String> {
        self.take(key)?.owned_string()
    }

    pub(super) fn retain(&mut self, keeps: impl Fn(&Raw<'a>) -> bool) {
        self.0.retain(|(_, value)| keeps(value));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, Raw<'a>)> {
        self.0.iter().map(|(key, value)| (&**key, *value))
    }

    pub(super) fn keep(&self, owner: Owner, events: &mut Events) {
        self.iter().for_each(|(key, value)| events.keep(owner, key, value));
    }

    /// Keeps those that differ from what was seen of them before.
    pub(super) fn keep_new(&self, owner: Owner, seen: &mut Seen, events: &mut Events) {
        self.iter().for_each(|(key, value)| seen.keep(owner, key, value, events));
    }
}
