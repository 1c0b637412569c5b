//! [`Others`]: members that the neutral form has no place for.

use super::events::Events;
use super::fields::Raw;
use super::seen::Seen;
use crate::event::Owner;

/// The members of an object that are kept as they are, unless something takes them.
#[derive(Debug, Default)]
pub(super) struct Others<'a>(Vec<(String, Raw<'a>)>);

impl<'a> Others<'a> {
    pub(super) fn add(&mut self, key: &str, value: Raw<'a>) {
        self.0.push((key.to_owned(), value));
    }

    /// The last member of this name.
    pub(super) fn get(&self, key: &str) -> Option<Raw<'a>> {
        self.0.iter().rfind(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// The same; it is then not kept.
    pub(super) fn take(&mut self, key: &str) -> Option<Raw<'a>> {
        let at = self.0.iter().rposition(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn each(self, mut member: impl FnMut(&str, Raw<'a>)) {
        self.0.into_iter().for_each(|(key, value)| member(&key, value));
    }

    pub(super) fn keep(self, owner: Owner, events: &mut Events) {
        self.each(|key, value| events.keep(owner, key, value));
    }

    /// Keeps those that differ from what was seen of them before.
    pub(super) fn keep_new(self, owner: Owner, seen: &mut Seen, events: &mut Events) {
        self.each(|key, value| seen.keep(owner, key, value, events));
    }
}
