//! [`Text`]: the type of everything that grows.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Text that grows at its end and is cheap to keep a copy of.
///
/// While nobody holds a copy it is one string, and appending to it is what [`String::push_str`] costs.
/// A clone shares everything that is there; the next append then opens a new segment beside the shared
/// ones, and neighbours of like size are joined, so a text of `n` bytes has at most about `log2(n)`
/// segments and a clone costs that many reference counts.
///
/// ```
/// use reknit::Text;
///
/// let mut text = Text::from("half a ");
/// let before = text.clone();
/// text.push_str("sentence");
/// assert_eq!(before, "half a ");
/// assert_eq!(text, "half a sentence");
/// ```
#[derive(Clone, Default)]
pub struct Text {
    /// None is empty. Each is at least twice as long as the next, but for the last, which is open.
    segments: Vec<Arc<String>>,
}

impl Text {
    /// An empty text, without an allocation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends `piece`.
    pub fn push_str(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        if let Some(open) = self.segments.last_mut().and_then(Arc::get_mut) {
            open.push_str(piece);
            return;
        }
        self.join_neighbours();
        self.segments.push(Arc::new(piece.to_owned()));
    }

    /// How many bytes the text has.
    pub fn len(&self) -> usize {
        self.segments.iter().map(|segment| segment.len()).sum()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// The text as the strings it is kept in, first to last; no character is cut between two.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().map(|segment| segment.as_str())
    }

    /// The text as one string; copied only if it is in several segments.
    pub fn to_str(&self) -> Cow<'_, str> {
        match self.segments.as_slice() {
            [] => Cow::Borrowed(""),
            [whole] => Cow::Borrowed(whole),
            many => Cow::Owned(many.iter().map(|segment| segment.as_str()).collect()),
        }
    }

    /// Joins shared segments from the end until each is clearly longer than the one behind it.
    ///
    /// A byte is copied only into a segment at least half as long again, so a copy held after every
    /// append costs each byte a logarithmic number of copies, not a linear one.
    fn join_neighbours(&mut self) {
        while let [.., first, second] = self.segments.as_slice()
            && first.len() < 2 * second.len()
        {
            let mut joined = String::with_capacity(first.len() + second.len());
            joined.push_str(first);
            joined.push_str(second);
            self.segments.truncate(self.segments.len() - 2);
            self.segments.push(Arc::new(joined));
        }
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        if self.len() != other.len() {
            return false;
        }
        let (mut left, mut right) = (self.segments(), other.segments());
        let (mut a, mut b): (&[u8], &[u8]) = (&[], &[]);
        loop {
            if a.is_empty() {
                let Some(next) = left.next() else { return true };
                a = next.as_bytes();
            }
            if b.is_empty() {
                let Some(next) = right.next() else { return true };
                b = next.as_bytes();
            }
            let common = a.len().min(b.len());
            if a[..common] != b[..common] {
                return false;
            }
            (a, b) = (&a[common..], &b[common..]);
        }
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        let mut rest = other;
        for segment in self.segments() {
            let Some(behind) = rest.strip_prefix(segment) else { return false };
            rest = behind;
        }
        rest.is_empty()
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.segments().try_for_each(|segment| f.write_str(segment))
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.to_str(), f)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        if text.is_empty() { Self::new() } else { Self { segments: vec![Arc::new(text)] } }
    }
}

impl From<&Text> for String {
    fn from(text: &Text) -> Self {
        text.to_str().into_owned()
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.segments.as_slice() {
            [] => serializer.serialize_str(""),
            [whole] => serializer.serialize_str(whole),
            _ => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_copy_never_changes() {
        let mut text = Text::new();
        let mut plain = String::new();
        let mut copies = Vec::new();
        for step in 0..500 {
            let piece = "é".repeat(step % 7);
            text.push_str(&piece);
            plain.push_str(&piece);
            copies.push((text.clone(), plain.clone()));
        }
        for (copy, expected) in copies {
            assert_eq!(copy, expected.as_str());
            assert_eq!(copy.to_str(), expected);
            assert_eq!(copy, Text::from(expected));
        }
    }

    #[test]
    fn copies_after_every_append_leave_few_segments() {
        let mut text = Text::new();
        let mut held = Text::new();
        for _ in 0..100_000 {
            text.push_str("0123456789abcdef");
            held = text.clone();
        }
        assert_eq!(held.len(), 1_600_000);
        assert!(text.segments.len() <= 22, "{} segments", text.segments.len());
    }

    #[test]
    fn without_a_copy_it_is_one_segment() {
        let mut text = Text::new();
        (0..1000).for_each(|_| text.push_str("piece "));
        drop(text.clone());
        text.push_str("end");
        assert_eq!(text.segments().count(), 1);
    }

    #[test]
    fn texts_of_other_length_differ() {
        assert_ne!(Text::from("ab"), Text::from("abc"));
        assert_ne!(Text::from("abc"), "ab");
        assert_ne!(Text::from("ab"), "abc");
        assert_eq!(Text::new(), "");
    }
}
