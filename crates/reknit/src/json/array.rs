//! [`Array`]: the elements of a JSON array.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::Value;

/// The elements of a JSON array. It can be used like the [`Vec`] that it is made from.
///
/// ```
/// use reknit::json::{Array, Value};
///
/// let mut array: Array = ["a", "b"].into_iter().collect();
/// array.push(Value::Null);
/// assert_eq!(array.len(), 3);
/// assert_eq!(Value::from(array).to_string(), r#"["a","b",null]"#);
/// ```
#[derive(Clone, Default)]
#[expect(
    clippy::box_collection,
    reason = "one pointer, so that a value takes 16 bytes; without elements none"
)]
pub struct Array(Option<Box<Vec<Value>>>);

static NO_ELEMENTS: Vec<Value> = Vec::new();

impl Array {
    /// Adds an element. Unlike a [`Vec`], a large array does not double when it is full.
    pub(crate) fn push(&mut self, element: Value) {
        let elements = &mut **self;
        reserve_for_one(elements);
        elements.push(element);
    }

    /// Gives back the memory that was kept for more elements.
    pub(super) fn shrink(&mut self) {
        if let Some(elements) = &mut self.0 {
            elements.shrink_to_fit();
        }
    }
}

/// From here on a list grows by a quarter instead of doubling.
const LARGE: usize = 1 << 14;

/// Makes space for one more element.
///
/// A list that doubles needs three times its size while it is moved. For a large one that is what decides how
/// much memory a value takes, and moving it more often costs little, because most systems move large
/// allocations without copying them.
pub(super) fn reserve_for_one<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() && list.len() >= LARGE {
        list.reserve_exact(list.len() / 4);
    }
}

impl Deref for Array {
    type Target = Vec<Value>;

    fn deref(&self) -> &Vec<Value> {
        self.0.as_deref().unwrap_or(&NO_ELEMENTS)
    }
}

impl DerefMut for Array {
    fn deref_mut(&mut self) -> &mut Vec<Value> {
        self.0.get_or_insert_default()
    }
}

impl PartialEq for Array {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl From<Vec<Value>> for Array {
    fn from(elements: Vec<Value>) -> Self {
        Self((!elements.is_empty()).then(|| Box::new(elements)))
    }
}

impl From<Array> for Vec<Value> {
    fn from(array: Array) -> Self {
        array.0.map_or_else(Vec::new, |elements| *elements)
    }
}

impl<V: Into<Value>> FromIterator<V> for Array {
    fn from_iter<I: IntoIterator<Item = V>>(elements: I) -> Self {
        elements.into_iter().map(Into::into).collect::<Vec<_>>().into()
    }
}

impl IntoIterator for Array {
    type Item = Value;
    type IntoIter = std::vec::IntoIter<Value>;

    fn into_iter(self) -> Self::IntoIter {
        Vec::from(self).into_iter()
    }
}

impl<'a> IntoIterator for &'a Array {
    type Item = &'a Value;
    type IntoIter = std::slice::Iter<'a, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
