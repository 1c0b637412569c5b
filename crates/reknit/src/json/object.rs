//! [`Object`]: the members of a JSON object, in order.

use std::collections::BTreeMap;

use super::Value;

/// The members of a JSON object, in the order they were written.
///
/// Every key occurs once. Inserting a key again replaces its value but not its position. Lookup is a linear
/// search, which is the fastest for the few members that most objects have.
///
/// Two objects are equal if they have equal members in the same order.
///
/// ```
/// use reknit::json::{Object, Value};
///
/// let mut object = Object::new();
/// object.insert("b", 1);
/// object.insert("a", 2);
/// assert_eq!(object.insert("b", 3), Some(Value::from(1)));
/// assert_eq!(Value::from(object).to_string(), r#"{"b":3,"a":2}"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object {
    pub(super) members: Vec<(String, Value)>,
}

impl Object {
    /// Creates an object without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.position(key).map(|at| &self.members[at].1)
    }

    /// The value of `key`, mutably.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.position(key).map(|at| &mut self.members[at].1)
    }

    /// Sets the value of `key` and returns the previous one.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        let (key, value) = (key.into(), value.into());
        if let Some(old) = self.get_mut(&key) {
            return Some(std::mem::replace(old, value));
        }
        self.members.push((key, value));
        None
    }

    /// Removes `key` and returns its value. The other members keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.position(key).map(|at| self.members.remove(at).1)
    }

    /// The members, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Value)> + ExactSizeIterator {
        self.members.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The members, in order, with mutable values.
    pub(crate) fn iter_mut(
        &mut self,
    ) -> impl DoubleEndedIterator<Item = (&str, &mut Value)> + ExactSizeIterator {
        self.members.iter_mut().map(|(key, value)| (key.as_str(), value))
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.members.iter().map(|(key, _)| key.as_str())
    }

    /// The value of the member at a position.
    pub(crate) fn value_at_mut(&mut self, at: usize) -> &mut Value {
        &mut self.members[at].1
    }

    fn position(&self, key: &str) -> Option<usize> {
        self.members.iter().position(|(name, _)| name == key)
    }
}

/// Finds keys in an object that is being built.
///
/// As long as there are fewer than [`FEW`], the object is searched. After that the keys are also indexed
/// here, because building an object of a hundred thousand keys would otherwise be quadratic.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyIndex {
    positions: BTreeMap<String, usize>,
}

/// Below this, comparing keys one by one is faster than an index.
const FEW: usize = 16;

/// Where a member was inserted.
pub(crate) struct Inserted {
    pub(crate) at: usize,
    /// The previous value, if the object already had the key.
    pub(crate) replaced: Option<Value>,
}

impl KeyIndex {
    /// The position of a key in the object, which must be the one of all earlier calls.
    pub(crate) fn position(&mut self, object: &Object, key: &str) -> Option<usize> {
        if object.len() < FEW {
            return object.position(key);
        }
        if self.positions.is_empty() {
            self.positions = object.keys().map(str::to_owned).zip(0..).collect();
        }
        self.positions.get(key).copied()
    }

    /// Inserts a member into the object, which must be the one of all earlier calls.
    pub(crate) fn insert(&mut self, object: &mut Object, key: String, value: Value) -> Inserted {
        let end = object.len();
        let position = self.position(object, &key);
        match position {
            Some(at) => {
                let replaced = Some(std::mem::replace(&mut object.members[at].1, value));
                Inserted { at, replaced }
            }
            None => {
                if end >= FEW {
                    self.positions.insert(key.clone(), end);
                }
                object.members.push((key, value));
                Inserted { at: end, replaced: None }
            }
        }
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        let (mut object, mut keys) = (Self::new(), KeyIndex::default());
        for (key, value) in members {
            keys.insert(&mut object, key.into(), value.into());
        }
        object
    }
}

impl IntoIterator for Object {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_keeps_its_first_place_and_its_last_value() {
        for count in [1, FEW - 1, FEW, FEW + 1, 300] {
            let names = (0..count).map(|i| i.to_string());
            let object: Object = names.clone().chain(names).zip(0u32..).collect();
            assert_eq!(object.len(), count);
            for (i, (key, value)) in object.iter().enumerate() {
                assert_eq!(key, i.to_string());
                assert_eq!(value.as_u64(), Some((count + i) as u64));
            }
        }
    }

    #[test]
    fn removing_keeps_the_order() {
        let mut object: Object = [("a", 1), ("b", 2), ("c", 3)].into_iter().collect();
        assert_eq!(object.remove("b"), Some(Value::from(2)));
        assert_eq!(object.remove("b"), None);
        assert_eq!(object.keys().collect::<Vec<_>>(), ["a", "c"]);
    }
}
