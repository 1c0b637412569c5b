//! [`Seen`]: kept fields without repetitions.

use std::collections::BTreeMap;

use super::fields::Raw;

/// The latest text of each kept field. Most servers repeat these fields in every chunk.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen(BTreeMap<String, String>);

impl Seen {
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
