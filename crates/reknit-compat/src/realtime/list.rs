//! [`List`]: what is added to a message after its text, cheap to clone.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use triomphe::Arc;

/// A list that grows at its end. A clone costs one reference count.
///
/// While there is no clone, adding to it costs what [`Vec::push`] does: a message to which a hundred calls are
/// attached one by one, and that is shown each time, is not copied a hundred times.
#[derive(Clone)]
pub struct List<T>(Arc<Vec<T>>);

impl<T: Clone> List<T> {
    /// Appends elements.
    pub fn extend(&mut self, more: impl IntoIterator<Item = T>) {
        Arc::make_mut(&mut self.0).extend(more);
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Arc::new(Vec::new()))
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Self(Arc::new(elements.into_iter().collect()))
    }
}

impl<T: PartialEq> PartialEq for List<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Serialize> Serialize for List<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(|elements| Self(Arc::new(elements)))
    }
}
