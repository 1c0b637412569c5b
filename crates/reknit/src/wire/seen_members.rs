//! [`Seen`]: kept fields without repetitions.

use std::collections::BTreeMap;

use super::events::Events;
use super::fields::Raw;
use crate::event::Owner;

/// The latest text of each kept field. Most servers repeat these fields in every chunk.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen(BTreeMap<String, String>);

impl Seen {
    /// Keeps a field, if it is new.
    pub(super) fn keep(&mut self, owner: Owner, key: &str, value: Raw<'_>, events: &mut Events) {
        if self.is_new(key, value) {
            events.keep(owner, key, value);
        }
    }

    pub(super) fn is_new(&mut self, key: &str, value: Raw<'_>) -> bool {
        match self.0.get_mut(key) {
            _ if value.is_null() => false,
            Some(before) if before == value.text() => false,
            Some(before) => {
                value.text().clone_into(before);
                true
            }
            None => {
                self.0.insert(key.to_owned(), value.text().to_owned());
                true
            }
        }
    }
}
