//! [`Seen`]: fields that are kept, without their repetitions.

use std::collections::BTreeMap;

use super::fields::Raw;

/// The latest text of every field that is kept, since most servers repeat them in every chunk.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen(BTreeMap<String, String>);

impl Seen {
    /// Whether a field says something that it did not say before.
    pub(super) fn is_news(&mut self, key: &str, value: Raw<'_>) -> bool {
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
