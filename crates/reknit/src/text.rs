//! [`Text`]: the type of everything that grows.

use std::borrow::Cow;
use std::fmt;
use std::iter;
use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
// Unlike the standard one it has no weak references. Checking whether a segment is shared is then a load and
// not a locked exchange, which would make appending small pieces to a plain string a quarter slower.
use triomphe::Arc;

/// Text that grows at its end and is cheap to clone.
///
/// As long as there is no clone, it is a single string, and appending costs what [`String::push_str`] costs.
/// A clone shares the whole text and costs one reference count. The next append then starts a new segment
/// after the shared ones. Neighbouring segments of similar size are joined, so a text of `n` bytes has at most
/// about `log2(n)` segments.
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
    last: Option<Arc<Segment>>,
}

/// A non-empty string and the segments before it. It grows as long as it is not shared.
struct Segment {
    text: String,
    /// At least twice as long as this one, unless this is the last one, which may still grow.
    before: Option<Arc<Segment>>,
}

impl Text {
    /// Creates an empty text without allocating.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends `piece`.
    #[inline]
    pub fn push_str(&mut self, piece: &str) {
        match self.last.as_mut().and_then(Arc::get_mut) {
            Some(open) => open.text.push_str(piece),
            None => self.open_segment(piece),
        }
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.backwards().map(str::len).sum()
    }

    /// Whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// The strings that the text is stored as, first to last. No character is split between two of them.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        let mut backwards = self.backwards();
        let last = backwards.next();
        // Almost always empty, and then it does not allocate.
        let before: Vec<_> = backwards.collect();
        before.into_iter().rev().chain(last)
    }

    /// The text as one string. It is copied only if it is in several segments.
    pub fn to_str(&self) -> Cow<'_, str> {
        self.whole().map_or_else(|| Cow::Owned(self.segments().collect()), Cow::Borrowed)
    }

    /// The text in a range of bytes, if the range is inside the text and splits no character. It is copied
    /// only if it spans several segments.
    pub(crate) fn slice(&self, range: Range<usize>) -> Option<Cow<'_, str>> {
        let mut slice = Cow::Borrowed("");
        let mut start = 0;
        for segment in self.segments() {
            let end = start + segment.len();
            slice +=
                segment.get(range.start.clamp(start, end) - start..range.end.clamp(start, end) - start)?;
            start = end;
        }
        (range.end <= start).then_some(slice)
    }

    /// The text, if it is in one segment.
    fn whole(&self) -> Option<&str> {
        match self.last.as_deref() {
            None => Some(""),
            Some(Segment { text, before: None }) => Some(text),
            Some(_) => None,
        }
    }

    /// The segments, last to first.
    fn backwards(&self) -> impl Iterator<Item = &str> {
        let segments = iter::successors(self.last.as_deref(), |segment| segment.before.as_deref());
        segments.map(|segment| segment.text.as_str())
    }

    /// Starts a new segment after the shared ones, or the first one.
    fn open_segment(&mut self, piece: &str) {
        if !piece.is_empty() {
            let before = self.last.take().map(join_neighbours);
            self.last = Some(Arc::new(Segment { text: piece.to_owned(), before }));
        }
    }
}

/// Joins segments, starting from the last, until each is at least twice as long as the one after it.
///
/// A byte is only ever copied into a segment that is at least half as long again as the one it was in.
/// So even if a clone is kept after every append, a byte is copied a logarithmic number of times.
fn join_neighbours(mut last: Arc<Segment>) -> Arc<Segment> {
    while let Some(before) = &last.before
        && before.text.len() < 2 * last.text.len()
    {
        let mut text = String::with_capacity(before.text.len() + last.text.len());
        text.push_str(&before.text);
        text.push_str(&last.text);
        last = Arc::new(Segment { text, before: before.before.clone() });
    }
    last
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
            let Some(after) = rest.strip_prefix(segment) else { return false };
            rest = after;
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
        let last = (!text.is_empty()).then(|| Arc::new(Segment { text, before: None }));
        Self { last }
    }
}

impl From<&Text> for String {
    fn from(text: &Text) -> Self {
        text.to_str().into_owned()
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.whole() {
            Some(whole) => serializer.serialize_str(whole),
            None => serializer.collect_str(self),
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
        assert!(text.segments().count() <= 22, "{} segments", text.segments().count());
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
    fn a_slice_may_lie_in_several_segments() {
        let mut text = Text::from("half a ");
        let _held = text.clone();
        text.push_str("é");
        assert_eq!(text.segments().count(), 2);
        assert!(matches!(text.slice(0..4), Some(Cow::Borrowed("half"))));
        assert!(matches!(text.slice(7..9), Some(Cow::Borrowed("é"))));
        assert_eq!(text.slice(5..9).as_deref(), Some("a é"));
        assert_eq!(text.slice(9..9).as_deref(), Some(""));
        assert_eq!(text.slice(5..8), None, "inside a character");
        assert_eq!(text.slice(5..10), None, "past the end");
    }

    #[test]
    fn texts_of_other_length_differ() {
        assert_ne!(Text::from("ab"), Text::from("abc"));
        assert_ne!(Text::from("abc"), "ab");
        assert_ne!(Text::from("ab"), "abc");
        assert_eq!(Text::new(), "");
    }
}
