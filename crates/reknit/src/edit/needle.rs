//! [`Needle`]: a search text made ready.

use super::lines::{Line, folded, lines};

/// How many words of a search are looked for if the file has none of its lines: the longest.
const WORDS: usize = 3;

/// A search text: its lines, and for each that is not blank the key by which it is looked up.
#[derive(Clone, Debug)]
pub(super) struct Needle<'s> {
    pub(super) text: &'s str,
    pub(super) lines: Vec<Line<'s>>,
    /// The lines that are not blank, in order.
    pub(super) solid: Vec<Solid<'s>>,
}

/// A line of a search text that is not blank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solid<'s> {
    /// Which line of the search text it is.
    pub(super) line: usize,
    pub(super) body: &'s [u8],
    pub(super) key: Key,
}

impl<'s> Needle<'s> {
    pub(super) fn new(text: &'s str) -> Self {
        let lines: Vec<_> = lines(text.as_bytes()).collect();
        let solid = lines
            .iter()
            .enumerate()
            .filter_map(|(line, each)| Some(Solid { line, body: each.body, key: Key::of(each.body)? }))
            .collect();
        Self { text, lines, solid }
    }

    /// The longest words, each with its line.
    pub(super) fn words(&self) -> Vec<(&'s [u8], usize)> {
        let mut words: Vec<(&[u8], usize)> =
            self.solid.iter().flat_map(|solid| words(solid.body).map(|word| (word, solid.line))).collect();
        words.retain(|(word, _)| word.len() > 3);
        words.sort_by_key(|(word, _)| std::cmp::Reverse((word.len(), *word)));
        words.dedup_by_key(|(word, _)| *word);
        words.truncate(WORDS);
        words
    }

    /// The blank lines before the first line that is not, and those after the last.
    pub(super) fn margins(&self) -> (usize, usize) {
        match (self.solid.first(), self.solid.last()) {
            (Some(first), Some(last)) => (first.line, self.lines.len() - 1 - last.line),
            _ => (self.lines.len(), 0),
        }
    }
}

pub(super) fn words(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    body.split(|byte| !is_word(*byte)).filter(|word| !word.is_empty())
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Whether a line says where it is. One without a letter or a digit, such as a brace, is everywhere.
pub(super) fn tells(body: &[u8]) -> bool {
    body.iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
}

/// What a line is looked up by: a hash of it without whitespace at its ends and without look-alikes.
///
/// Two lines of one key are compared before a place is said to have every line of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key(pub(super) u64);

impl Key {
    /// The key of a line, unless it is blank.
    pub(super) fn of(body: &[u8]) -> Option<Self> {
        let folded = folded(body);
        (!folded.is_empty()).then(|| Self(hash(&folded)))
    }
}

pub(super) const ODD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Multiplies and folds eight bytes at a time. Nothing relies on its quality but speed.
fn hash(bytes: &[u8]) -> u64 {
    let mix = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(ODD);
        (product as u64) ^ ((product >> 64) as u64)
    };
    let (words, _) = bytes.as_chunks::<8>();
    let start = bytes.len() as u64 ^ ODD;
    let state = words.iter().fold(start, |state, word| mix(state, u64::from_le_bytes(*word)));
    // The words leave out the end, and all of a line that is shorter than one.
    mix(state, last_bytes(bytes))
}

/// The last eight bytes, or all if there are fewer.
pub(super) fn last_bytes(bytes: &[u8]) -> u64 {
    match bytes.last_chunk::<8>() {
        Some(last) => u64::from_le_bytes(*last),
        None => bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_line_is_in_its_key() {
        for length in 1..40 {
            let line = vec![b'a'; length];
            for at in 0..length {
                let mut other = line.clone();
                other[at] = b'b';
                assert_ne!(Key::of(&line), Key::of(&other), "byte {at} of {length}");
            }
        }
    }
}
