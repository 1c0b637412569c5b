//! [`Words`]: words that are looked for in a text, all at once.

use std::cmp::Reverse;

use aho_corasick::{AhoCorasick, MatchKind, packed};

use super::needle::ODD;

/// So many bytes every word has at least. Those that begin with the same are found together.
const STEM: usize = 4;

/// Words to look for.
#[derive(Clone, Debug)]
pub(super) struct Words<'w> {
    /// Those that begin with the same stem side by side, the longest first.
    pub(super) list: Vec<&'w [u8]>,
}

impl<'w> Words<'w> {
    pub(super) fn new(mut list: Vec<&'w [u8]>) -> Self {
        list.sort_unstable_by_key(|word| (word.get(..STEM), Reverse(word.len()), *word));
        list.dedup();
        Self { list }
    }

    /// Finds them in a text: which, and where. Of several that begin at one place it is the longest, and none
    /// begins within another.
    pub(super) fn find_each(&self, text: &[u8], mut found: impl FnMut(usize, usize)) {
        if self.list.is_empty() {
            return;
        }
        let families = self.families();
        // It takes no more than some dozens of stems, and not on every processor, but is several times as fast.
        let stems = families.iter().map(|family| &self.list[family.first][..STEM]);
        let Some(packed) = packed::Config::new().builder().extend(stems).build() else {
            if let Ok(automaton) =
                AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&self.list)
            {
                automaton.find_iter(text).for_each(|word| found(word.pattern().as_usize(), word.start()));
            }
            return;
        };
        let mut at = 0;
        while let Some(stem) = packed.find_in(text, (at..text.len()).into()) {
            let start = stem.start();
            let rest = &text[start..];
            let family = &families[stem.pattern().as_usize()];
            let mut numbers = family.first..family.first + family.count;
            let word = if family.may_begin(rest) {
                numbers.find(|number| rest.starts_with(self.list[*number]))
            } else {
                None
            };
            at = start + word.map_or(1, |number| self.list[number].len());
            if let Some(number) = word {
                found(number, start);
            }
        }
    }

    fn families(&self) -> Vec<Family> {
        let mut families = Vec::new();
        let mut first = 0;
        for words in self.list.chunk_by(|a, b| a[..STEM] == b[..STEM]) {
            families.push(Family::new(first, words));
            first += words.len();
        }
        families
    }
}

/// Words that begin with the same stem.
#[derive(Clone, Debug)]
struct Family {
    first: usize,
    count: usize,
    /// How long the shortest is.
    shortest: usize,
    /// A bit for each of the stretches that end where the shortest does: numbered names differ only there.
    tails: [u64; 16],
}

impl Family {
    fn new(first: usize, words: &[&[u8]]) -> Self {
        let shortest = words.last().map_or(0, |word| word.len());
        let mut tails = [0; 16];
        for (slot, bit) in words.iter().filter_map(|word| tail(word, shortest)) {
            tails[slot] |= bit;
        }
        Self { first, count: words.len(), shortest, tails }
    }

    /// Whether a text may begin with one of the words.
    fn may_begin(&self, text: &[u8]) -> bool {
        tail(text, self.shortest).is_some_and(|(slot, bit)| self.tails[slot] & bit != 0)
    }
}

/// The bit of the last bytes of a beginning.
fn tail(text: &[u8], length: usize) -> Option<(usize, u64)> {
    let tail = u32::from_le_bytes(*text.get(..length)?.last_chunk()?);
    let mixed = u64::from(tail).wrapping_mul(ODD);
    Some(((mixed >> 60) as usize, 1 << ((mixed >> 54) % 64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_longest_is_found_first_and_none_within_another(
            words in proptest::collection::vec("[ab]{4,7}", 1..12),
            text in "[ab]{0,60}",
        ) {
            let words = Words::new(words.iter().map(String::as_bytes).collect());
            let mut found = Vec::new();
            words.find_each(text.as_bytes(), |word, at| found.push((words.list[word], at)));
            let mut expected = Vec::new();
            let mut at = 0;
            while at < text.len() {
                let here = words.list.iter().filter(|word| text.as_bytes()[at..].starts_with(word));
                let longest = here.max_by_key(|word| word.len());
                expected.extend(longest.map(|word| (*word, at)));
                at += longest.map_or(1, |word| word.len());
            }
            prop_assert_eq!(found, expected);
        }
    }
}
