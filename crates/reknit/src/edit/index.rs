//! [`Index`]: where the lines of searches stand in a text.

use std::borrow::Cow;
use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, MatchKind, packed};

use super::lines::{count, each_end, folded, start_of_line};
use super::needle::{Key, Needle, ODD, ends};

/// A place where a line of some search text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// The number of the line, counted from 0.
    pub(super) line: usize,
    /// The byte at which it begins.
    pub(super) start: usize,
}

/// Where a line stands: everywhere, or in few enough places to name them.
#[derive(Clone, Debug, Default)]
pub(super) struct Spots {
    /// How often.
    pub(super) count: usize,
    /// The first places.
    pub(super) first: Vec<Spot>,
}

impl Spots {
    fn add(&mut self, spot: Spot) {
        self.count += 1;
        if self.first.len() < SPOTS {
            self.first.push(spot);
        }
    }
}

/// How many places of a line are kept. A line that has more is everywhere.
pub(super) const SPOTS: usize = 256;

/// The lines of all search texts, and words for those of which the file has no line.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    filter: Filter,
    keys: Keys,
    words: Vec<(Vec<Key>, Vec<Vec<u8>>)>,
}

/// A word that stands in more places says nothing.
const WORD_SPOTS: usize = 64;

impl Wanted {
    /// Adds the lines of a text. Says whether there was a new one.
    pub(super) fn add(&mut self, needle: &Needle<'_>) -> bool {
        let known = self.keys.list.len();
        for solid in &needle.solid {
            self.filter.add(&folded(needle.lines[solid.line].body));
            self.keys.add(solid.key);
        }
        self.keys.list.len() > known
    }

    /// Adds a search, to be found by its words if need be. Says whether there was a new line.
    pub(super) fn search(&mut self, needle: &Needle<'_>) -> bool {
        let words = needle.words().into_iter().map(|(word, _)| word.to_vec()).collect();
        self.words.push((needle.solid.iter().map(|solid| solid.key).collect(), words));
        self.add(needle)
    }
}

impl From<&Needle<'_>> for Wanted {
    fn from(needle: &Needle<'_>) -> Self {
        let mut wanted = Self::default();
        wanted.add(needle);
        wanted
    }
}

/// Where the lines of all search texts stand in a text, found in one pass over it.
///
/// It holds the lines of the searches and not those of the file, so that its size does not depend on the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    keys: Keys,
    /// For each key, in their order.
    spots: Vec<Spots>,
    words: BTreeMap<Vec<u8>, Vec<Spot>>,
}

impl Index {
    pub(super) fn new(text: &[u8], wanted: &Wanted) -> Self {
        let keys = wanted.keys.clone();
        let mut spots = vec![Spots::default(); keys.list.len()];
        let mut start = 0;
        let mut line = 0;
        let is_ascii = text.is_ascii();
        let look = |next: usize| {
            let body = &text[start..next];
            let folded = if is_ascii { Cow::Borrowed(body.trim_ascii()) } else { folded(body) };
            if wanted.filter.may_have(&folded)
                && let Some(number) = keys.find(Key::of_folded(&folded))
            {
                spots[number].add(Spot { line, start });
            }
            line += 1;
            start = next;
        };
        each_end(text, look);
        Self { keys, spots, words: BTreeMap::new() }
    }

    /// The same, with the words of searches that have no line in the text.
    pub(super) fn with_words(text: &[u8], wanted: &Wanted) -> Self {
        let mut index = Self::new(text, wanted);
        index.find_words(text, wanted);
        index
    }

    /// Where a line stands.
    pub(super) fn spots(&self, key: Key) -> Option<&Spots> {
        self.keys.find(key).map(|number| &self.spots[number]).filter(|spots| spots.count > 0)
    }

    /// The lines in which a word stands, unless it is everywhere. Only words of searches that have no line in
    /// the text were looked for.
    pub(super) fn word(&self, word: &[u8]) -> &[Spot] {
        self.words.get(word).map_or(&[], |spots| spots)
    }

    fn find_words(&mut self, text: &[u8], wanted: &Wanted) {
        let lineless = |keys: &[Key]| !keys.iter().any(|key| self.spots(*key).is_some());
        let mut words: Vec<&[u8]> = wanted
            .words
            .iter()
            .filter(|(keys, _)| lineless(keys))
            .flat_map(|(_, words)| words.iter().map(|word| &**word))
            .collect();
        words.sort_unstable();
        words.dedup();
        let mut spots: Vec<Vec<Spot>> = vec![Vec::new(); words.len()];
        let (mut line, mut counted) = (0, 0);
        find_each(text, &words, |word, at| {
            // One more than enough shows that it is too many.
            if spots[word].len() <= WORD_SPOTS {
                line += count(text, counted..at);
                counted = at;
                spots[word].push(Spot { line, start: start_of_line(text, at) });
            }
        });
        let found = words.into_iter().zip(spots).filter(|(_, spots)| (1..=WORD_SPOTS).contains(&spots.len()));
        self.words = found.map(|(word, spots)| (word.to_vec(), spots)).collect();
    }
}

/// Finds words in a text: which, and where. Of several that begin at one place it is the longest, and none
/// begins within another.
fn find_each(text: &[u8], words: &[&[u8]], mut found: impl FnMut(usize, usize)) {
    if words.is_empty() {
        return;
    }
    // It takes no more than some dozens of words, and not on every processor, but is several times as fast.
    let packed =
        packed::Config::new().match_kind(packed::MatchKind::LeftmostLongest).builder().extend(words).build();
    if let Some(packed) = packed {
        packed.find_iter(text).for_each(|word| found(word.pattern().as_usize(), word.start()));
    } else if let Ok(automaton) = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(words) {
        automaton.find_iter(text).for_each(|word| found(word.pattern().as_usize(), word.start()));
    }
}

/// Keys, each with its number: a table with open addressing, because a line that is everywhere is looked up
/// everywhere, and a key is a hash already.
#[derive(Clone, Debug, Default)]
struct Keys {
    list: Vec<Key>,
    /// At the place of a key or behind it, its number and one; 0 is free. At least half of it is.
    table: Vec<u32>,
}

impl Keys {
    fn add(&mut self, key: Key) {
        if self.find(key).is_some() {
            return;
        }
        self.list.push(key);
        if self.list.len() * 2 > self.table.len() {
            self.table = vec![0; (self.list.len() * 4).next_power_of_two()];
            (0..self.list.len()).for_each(|number| self.place(number));
        } else {
            self.place(self.list.len() - 1);
        }
    }

    fn find(&self, key: Key) -> Option<usize> {
        let mask = self.table.len().checked_sub(1)?;
        let mut at = key.0 as usize & mask;
        loop {
            let number = (self.table[at] as usize).checked_sub(1)?;
            if self.list[number] == key {
                return Some(number);
            }
            at = (at + 1) & mask;
        }
    }

    fn place(&mut self, number: usize) {
        let mask = self.table.len() - 1;
        let mut at = self.list[number].0 as usize & mask;
        while self.table[at] != 0 {
            at = (at + 1) & mask;
        }
        self.table[at] = number as u32 + 1;
    }
}

/// Says of nearly every line that it is in no search, by its ends alone.
#[derive(Clone, Debug)]
struct Filter(Box<[u64; 1024]>);

impl Default for Filter {
    fn default() -> Self {
        Self(Box::new([0; 1024]))
    }
}

impl Filter {
    fn add(&mut self, folded: &[u8]) {
        let (word, bit) = Self::place(folded);
        self.0[word] |= bit;
    }

    fn may_have(&self, folded: &[u8]) -> bool {
        let (word, bit) = Self::place(folded);
        self.0[word] & bit != 0
    }

    fn place(folded: &[u8]) -> (usize, u64) {
        let (first, last) = ends(folded);
        let mixed = (first ^ last.rotate_left(32) ^ folded.len() as u64).wrapping_mul(ODD);
        ((mixed >> 54) as usize, 1 << ((mixed >> 48) % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_whatever_its_outer_form() {
        let needle = Needle::new("  let a = \u{201C}x\u{201D};\n\n}\n");
        let text = b"fn f() {\r\n\tlet a = \"x\";\t\r\n}\r\n}";
        let index = Index::new(text, &Wanted::from(&needle));
        let spots = index.spots(needle.solid[0].key).unwrap();
        assert_eq!((spots.count, &*spots.first), (1, &[Spot { line: 1, start: 10 }][..]));
        assert_eq!(index.spots(needle.solid[1].key).unwrap().count, 2);
        assert_eq!(needle.margins(), (0, 0));
    }

    #[test]
    fn places_are_counted_past_those_that_are_kept() {
        let needle = Needle::new("}\n");
        let index = Index::new("}\n".repeat(SPOTS + 5).as_bytes(), &Wanted::from(&needle));
        let spots = index.spots(needle.solid[0].key).unwrap();
        assert_eq!((spots.count, spots.first.len()), (SPOTS + 5, SPOTS));
    }
}
