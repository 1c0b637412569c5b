//! [`Extra`]: fields that are not part of the neutral form.

use std::ops::Deref;

use crate::event::Keep;
use crate::json::{KeyIndex, Object};

/// Fields under the provider's names, with an index so that lookups are fast however many there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Extra {
    fields: Object,
    keys: KeyIndex,
}

impl Extra {
    pub(super) fn keep(&mut self, key: &str, keep: &Keep<'_>) {
        match self.keys.position(&self.fields, key) {
            Some(at) => keep.alter(self.fields.value_at_mut(at)),
            None => drop(self.keys.insert(&mut self.fields, key.to_owned(), keep.first())),
        }
    }
}

impl Deref for Extra {
    type Target = Object;

    fn deref(&self) -> &Object {
        &self.fields
    }
}

impl PartialEq for Extra {
    fn eq(&self, other: &Self) -> bool {
        self.fields == other.fields
    }
}
