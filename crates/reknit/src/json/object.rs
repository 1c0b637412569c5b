//! [`Object`]: the members of a JSON object, in order.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::mem;

use super::Value;
use super::array::reserve_for_one;

/// The members of a JSON object, in the order they were written.
///
/// Every key occurs once. Inserting a key again replaces its value but not its position. The cost of a lookup
/// hardly depends on the number of members.
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
// A pointer, so that a value takes 16 bytes; without members there is nothing to point to.
#[derive(Clone, Default)]
pub struct Object(Option<Box<Contents>>);

#[derive(Clone, Default)]
struct Contents {
    members: Vec<Member>,
    /// With more than [`FEW`] members there is one, unless a member was removed since the last was added.
    index: Option<Box<Index>>,
}

pub(super) type Member = (Box<str>, Value);

/// Up to this many, comparing keys one by one is faster than an index.
const FEW: usize = 16;

/// Where a member was inserted.
pub(super) struct Inserted {
    pub(super) at: usize,
    /// The previous value, if the object already had the key.
    pub(super) replaced: Option<Value>,
}

impl Object {
    /// Creates an object without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.members().len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.members().is_empty()
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.position(key).and_then(|at| self.value_at(at))
    }

    /// The value of `key`, mutably.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.position(key).and_then(|at| self.value_at_mut(at))
    }

    /// Sets the value of `key` and returns the previous one.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.insert_at(key.into().into(), value.into()).replaced
    }

    /// Sets the value of `key`.
    pub(super) fn insert_at(&mut self, key: Box<str>, value: Value) -> Inserted {
        if let Some(at) = self.position(&key) {
            let replaced = self.value_at_mut(at).map(|old| mem::replace(old, value));
            return Inserted { at, replaced };
        }
        let Contents { members, index } = &mut **self.0.get_or_insert_default();
        let at = members.len();
        if at >= FEW {
            index.get_or_insert_with(|| Box::new(Index::of(members))).add(&key, at);
        }
        reserve_for_one(members);
        members.push((key, value));
        Inserted { at, replaced: None }
    }

    /// Removes `key` and returns its value. The other members keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.position(key)?;
        let contents = self.0.as_mut()?;
        // Those after it have other positions now.
        contents.index = None;
        Some(contents.members.remove(at).1)
    }

    /// The members, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Value)> + ExactSizeIterator {
        self.members().iter().map(|(key, value)| (&**key, value))
    }

    /// The members, in order, with mutable values.
    pub(crate) fn iter_mut(
        &mut self,
    ) -> impl DoubleEndedIterator<Item = (&str, &mut Value)> + ExactSizeIterator {
        let members = self.0.as_mut().map_or(&mut [][..], |contents| &mut contents.members);
        members.iter_mut().map(|(key, value)| (&**key, value))
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.members().iter().map(|(key, _)| &**key)
    }

    /// The member at a position.
    pub(super) fn at(&self, at: usize) -> Option<(&str, &Value)> {
        self.members().get(at).map(|(key, value)| (&**key, value))
    }

    pub(super) fn value_at(&self, at: usize) -> Option<&Value> {
        self.members().get(at).map(|(_, value)| value)
    }

    pub(super) fn value_at_mut(&mut self, at: usize) -> Option<&mut Value> {
        self.0.as_mut()?.members.get_mut(at).map(|(_, value)| value)
    }

    /// The position of the member with this key.
    pub(super) fn position(&self, key: &str) -> Option<usize> {
        let contents = self.0.as_ref()?;
        match &contents.index {
            Some(index) => index.position(&contents.members, key),
            None => contents.members.iter().position(|(name, _)| **name == *key),
        }
    }

    /// Gives back the memory that was kept for more members.
    pub(super) fn shrink(&mut self) {
        if let Some(contents) = &mut self.0 {
            contents.members.shrink_to_fit();
        }
    }

    pub(super) fn members(&self) -> &[Member] {
        self.0.as_ref().map_or(&[], |contents| &contents.members)
    }
}

/// The positions of members, ordered by the hashes of their keys.
///
/// It needs 8 bytes per member instead of a copy of its key, and is a tree and not a table: the hash is known to
/// whoever writes the keys, and keys that collide in the few bits that a table looks at are easy to find.
#[derive(Clone, Default)]
struct Index {
    /// The hash in the upper half, the position in the lower.
    entries: BTreeSet<u64>,
}

impl Index {
    fn of(members: &[Member]) -> Self {
        let mut index = Self::default();
        members.iter().enumerate().for_each(|(at, (key, _))| index.add(key, at));
        index
    }

    fn add(&mut self, key: &str, at: usize) {
        let at = u32::try_from(at).expect("four billion members do not fit into memory");
        self.entries.insert(hash(key) | u64::from(at));
    }

    fn position(&self, members: &[Member], key: &str) -> Option<usize> {
        let hash = hash(key);
        let same = self.entries.range(hash..=hash | u64::from(u32::MAX));
        same.map(|entry| *entry as u32 as usize).find(|at| *members[*at].0 == *key)
    }
}

/// The hash of a key, with zeros in the lower half.
fn hash(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish() & !u64::from(u32::MAX)
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.members() == other.members()
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        let mut object = Self::new();
        for (key, value) in members {
            object.insert(key, value);
        }
        object
    }
}

impl IntoIterator for Object {
    type Item = (String, Value);
    type IntoIter = std::iter::Map<std::vec::IntoIter<Member>, fn(Member) -> (String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        let members = self.0.map_or_else(Vec::new, |contents| contents.members);
        members.into_iter().map(|(key, value)| (key.into(), value))
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
    fn every_key_is_found_whatever_was_removed() {
        let mut object: Object = (0..100u32).map(|i| (i.to_string(), i)).collect();
        for removed in ["50", "0", "99", "17"] {
            assert!(object.remove(removed).is_some() && object.get(removed).is_none());
            assert!(object.iter().all(|(key, value)| object.get(key) == Some(value)));
            object.insert("new", removed);
            assert!(object.iter().all(|(key, value)| object.get(key) == Some(value)));
        }
        assert_eq!(object.len(), 97);
        assert_eq!(object.keys().last(), Some("new"));
    }

    #[test]
    fn removing_keeps_the_order() {
        let mut object: Object = [("a", 1), ("b", 2), ("c", 3)].into_iter().collect();
        assert_eq!(object.remove("b"), Some(Value::from(2)));
        assert_eq!(object.remove("b"), None);
        assert_eq!(object.keys().collect::<Vec<_>>(), ["a", "c"]);
    }
}
