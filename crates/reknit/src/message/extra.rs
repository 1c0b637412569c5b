//! [`Extra`]: fields that are not part of the neutral form.

use std::ops::Deref;

use crate::event::Keep;
use crate::json::Object;

/// Fields under the provider's names.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Extra {
    fields: Object,
}

impl Extra {
    pub(super) fn keep(&mut self, key: &str, keep: &Keep<'_>) {
        match self.fields.get_mut(key) {
            Some(value) => keep.alter(value),
            None => drop(self.fields.insert(key, keep.first())),
        }
    }
}

impl Deref for Extra {
    type Target = Object;

    fn deref(&self) -> &Object {
        &self.fields
    }
}
