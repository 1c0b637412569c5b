//! [`Index`]: where the lines of searches occur in a text.

use std::collections::BTreeMap;

use super::lines::{ends_of_lines, folded, line_numbers, start_of_line};
use super::needle::{Key, Needle, ODD, last_bytes};
use super::words::Words;

/// A place where a line of some search text occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// The number of the line, counted from 0.
    pub(super) line: usize,
    /// The byte at which it begins.
    pub(super) start: usize,
}

/// Where a line is: everywhere, or in few enough places to name them.
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

/// A word that occurs in more places says nothing.
const WORD_SPOTS: usize = 64;

impl Wanted {
    /// Adds the lines of a text. Says whether there was a new one.
    pub(super) fn add(&mut self, needle: &Needle<'_>) -> bool {
        let known = self.keys.list.len();
        for solid in &needle.solid {
            self.filter.add(&folded(solid.body));
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

/// Where the lines of all search texts occur in a text, found in one pass over it.
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
        for (line, next) in ends_of_lines(text).enumerate() {
            let body = &text[start..next];
            // An empty line is never a line of a search, and about every fifth line is empty.
            if body[0] != b'\n'
                && wanted.filter.may_have(body)
                && let Some(number) = Key::of(body).and_then(|key| keys.find(key))
            {
                spots[number].add(Spot { line, start });
            }
            start = next;
        }
        Self { keys, spots, words: BTreeMap::new() }
    }

    /// The same, with the words of searches that have no line in the text.
    pub(super) fn with_words(text: &[u8], wanted: &Wanted) -> Self {
        let mut index = Self::new(text, wanted);
        let lacks_some = |keys: &[Key]| keys.iter().any(|key| index.spots(*key).is_none());
        let words = wanted.words.iter().filter(|(keys, _)| lacks_some(keys)).flat_map(|(_, words)| words);
        let words = Words::new(words.map(|word| &**word).collect());
        let mut spots: Vec<Vec<Spot>> = vec![Vec::new(); words.list.len()];
        let mut line_of = line_numbers(text);
        words.find_each(text, |word, at| {
            // One more than enough shows that it is too many.
            if spots[word].len() <= WORD_SPOTS {
                spots[word].push(Spot { line: line_of(at), start: start_of_line(text, at) });
            }
        });
        let found =
            words.list.into_iter().zip(spots).filter(|(_, spots)| (1..=WORD_SPOTS).contains(&spots.len()));
        index.words = found.map(|(word, spots)| (word.to_vec(), spots)).collect();
        index
    }

    /// Where a line is.
    pub(super) fn spots(&self, key: Key) -> Option<&Spots> {
        self.keys.find(key).map(|number| &self.spots[number]).filter(|spots| spots.count > 0)
    }

    /// The lines that contain a word, unless it is everywhere. Only words of searches that lack a line in the text
    /// were looked for.
    pub(super) fn word(&self, word: &[u8]) -> &[Spot] {
        self.words.get(word).map_or(&[], |spots| spots)
    }
}

/// Keys, each with its number: a table with open addressing, because a line that is everywhere is looked up
/// everywhere, and a key is a hash already.
#[derive(Clone, Debug, Default)]
struct Keys {
    list: Vec<Key>,
    /// At the place of a key or after it, its number and one; 0 is free. At least half of it is.
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

/// Says of nearly every line that it is in no search, by its last bytes alone.
#[derive(Clone, Debug)]
struct Filter(Box<[u64; 1024]>);

impl Default for Filter {
    fn default() -> Self {
        Self(Box::new([0; 1024]))
    }
}

impl Filter {
    fn add(&mut self, folded: &[u8]) {
        let (word, bit) = Self::place(last_bytes(folded));
        self.0[word] |= bit;
    }

    /// Whether a line, with its end, may be in a search.
    #[inline]
    fn may_have(&self, line: &[u8]) -> bool {
        let (word, bit) =
            Self::place(last_bytes_as_they_are(line).unwrap_or_else(|| last_bytes(&folded(line))));
        self.0[word] & bit != 0
    }

    fn place(last: u64) -> (usize, u64) {
        let mixed = last.wrapping_mul(ODD);
        ((mixed >> 54) as usize, 1 << ((mixed >> 48) % 64))
    }
}

/// The last eight bytes of a line if folding it leaves them as they are: whitespace is trimmed at neither end of
/// them, and nothing is a look-alike. Most lines need not be looked at any closer.
#[inline]
fn last_bytes_as_they_are(line: &[u8]) -> Option<u64> {
    let body = line.strip_suffix(b"\n").unwrap_or(line);
    let body = body.strip_suffix(b"\r").unwrap_or(body);
    let last = u64::from_le_bytes(*body.last_chunk()?);
    let is_solid = |byte: u64| byte > b' '.into();
    (is_solid(last & 0xff) & is_solid(last >> 56) & (last & 0x8080_8080_8080_8080 == 0)).then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_last_bytes_of_a_line_are_those_of_its_folded_form(line in "[ \\ta\u{A0}\u{201C}]{0,12}(\n|\r\n)?") {
            if let Some(last) = last_bytes_as_they_are(line.as_bytes()) {
                prop_assert_eq!(last, last_bytes(&folded(line.as_bytes())));
            }
        }
    }

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
