//! Places that are like a search text without being it: the closest ones, and whether one is surely meant.
//!
//! Candidates come from the rarest lines that search and file share, or from words where no line is shared.
//! Around each the lines of both are aligned: first those that are the same, then, in the gaps between them,
//! those that are alike. Nothing is compared with the whole file.

mod align;
mod gap;
mod vote;

use std::cmp::Ordering;
use std::ops::Range;

use self::align::align;
use self::vote::{Vote, candidates};
use super::index::Index;
use super::ladder::Fit;
use super::needle::{Key, Needle};

/// A search of so many lines is found also if as many others stand between them: so much code changes often.
const LONG: usize = 24;
/// Searches with more lines than this are not aligned.
const LONGEST: usize = 4096;

/// A place that is like a search text.
#[derive(Clone, Debug)]
pub(super) struct Near {
    /// With [`How::Anchors`] if first and last line hold and the span is right, else with [`How::Distance`].
    pub(super) fit: Fit,
    /// For each line of the search that is not blank, what stands for it.
    pub(super) counterparts: Vec<Counterpart>,
    /// The keys of all lines that stand where the search would, also of those that stand for none of it.
    keys: Vec<Key>,
    /// How many lines of the place, blank ones aside, stand for none of the search.
    pub(super) unseen: usize,
    /// How many bytes of the place's first line come before what the search has of it: text that is cut out of
    /// a file by its characters often begins inside a line.
    pub(super) cut: usize,
}

impl Near {
    /// Whether a line stands there, wherever.
    pub(super) fn has(&self, key: Key) -> bool {
        self.keys.contains(&key)
    }
}

/// What stands for a line of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counterpart {
    /// The line itself, but for its outer form.
    Same,
    /// Another line that is like it.
    Like,
    /// None.
    Missing,
}

/// The closest places, the best first. Near ones that overlap a better one are left out.
pub(super) fn near(text: &[u8], index: &Index, needle: &Needle<'_>) -> Vec<Near> {
    if needle.solid.is_empty() || needle.solid.len() > LONGEST {
        return Vec::new();
    }
    let everywhere = 0..text.len();
    let mut places: Vec<(Vote, Near)> = candidates(index, needle)
        .into_iter()
        .filter_map(|vote| Some((vote, align(text, needle, vote, &everywhere)?)))
        .collect();
    places.sort_by(|(_, a), (_, b)| by_score(a, b));
    let mut distinct: Vec<Near> = Vec::new();
    for (vote, mut place) in places {
        let overlaps = |other: &Near| {
            place.fit.range.start < other.fit.range.end && other.fit.range.start < place.fit.range.end
        };
        if distinct.iter().any(overlaps) {
            // Beside a better place there may be one that is almost as good, and has lines of its own.
            let Some(beside) = room(text, &distinct, vote).and_then(|room| align(text, needle, vote, &room))
            else {
                continue;
            };
            place = beside;
        }
        distinct.push(place);
    }
    distinct.sort_by(by_score);
    distinct
}

/// The best first.
fn by_score(a: &Near, b: &Near) -> Ordering {
    b.fit.score.total_cmp(&a.fit.score).then(a.fit.line.cmp(&b.fit.line))
}

/// The bytes around a vote that belong to no place; none if its own line does.
fn room(text: &[u8], places: &[Near], vote: Vote) -> Option<Range<usize>> {
    let at = vote.spot.start;
    let ranges = || places.iter().map(|place| &place.fit.range);
    if ranges().any(|range| range.contains(&at)) {
        return None;
    }
    let start = ranges().map(|range| range.end).filter(|end| *end <= at).max().unwrap_or(0);
    let end = ranges().map(|range| range.start).filter(|start| *start > at).min().unwrap_or(text.len());
    Some(start..end)
}

/// What a line counts for: its letters, blanks aside.
pub(super) fn weight(body: &[u8]) -> f64 {
    body.iter().filter(|byte| !byte.is_ascii_whitespace()).count().max(1) as f64
}

/// How many lines a place may be off for a search of so many.
fn slack(lines: usize) -> usize {
    let slack = if lines < LONG { lines / 4 + 1 } else { lines };
    slack.min(lines.saturating_sub(1)).min(64)
}

#[cfg(test)]
mod tests {
    use super::super::index::Wanted;
    use super::super::lines::count;
    use super::*;

    /// Line, number of lines, and hundredths of the score of each place.
    fn check(text: &str, search: &str, expected: &[(usize, usize, u32)]) {
        let needle = Needle::new(search);
        let index = Index::new(text.as_bytes(), &Wanted::from(&needle));
        let found: Vec<_> = near(text.as_bytes(), &index, &needle)
            .into_iter()
            .map(|near| {
                let height = count(text.as_bytes(), near.fit.range.clone());
                (near.fit.line, height, (near.fit.score * 100.0).round() as u32)
            })
            .collect();
        assert_eq!(found, expected, "{search:?}");
    }

    #[test]
    fn a_line_that_is_everywhere_joins_no_places() {
        let block = |name: &str| format!("/// {name}\n///\n/// one two three\n/// four five six\n");
        let text = format!("{}{}{}", block("first"), "///\nfn f() {}\n".repeat(4), block("fists"));
        check(&text, &block("fifth"), &[(12, 4, 95), (0, 4, 93), (4, 1, 8)]);
    }

    #[test]
    fn a_brace_is_the_one_beside_its_line() {
        let text = "let long_enough = 1;\n}\n}\n}\n";
        check(text, "let long_enough = 2;\n}\n", &[(0, 2, 95)]);
    }

    #[test]
    fn a_replaced_line_does_not_end_a_place() {
        let text = "open(\n    one,\n    another_thing,\n)\nx\ny\nz\n";
        check(text, "open(\n    one,\n    bound=3,\n)\n", &[(0, 4, 48)]);
    }

    #[test]
    fn places_side_by_side_are_two() {
        let block = |a: &str, b: &str| format!("fn f() {{\n    {a}\n    {b}\n}}\n");
        let text = block("one_thing(1);", "other();") + &block("two();", "another_long_thing(1);");
        check(&text, &block("one_thing(1);", "another_long_thing(1);"), &[(4, 4, 69), (0, 4, 48)]);
    }

    #[test]
    fn a_place_ends_with_the_line_beside_it() {
        let text = "Self::Set => None,\nSelf::Append => None,\nSelf::SetTrue => Some(bool()),\nrest();\n";
        check(text, "Self::len => None,\nSelf::SetTrue => Some(bool()),\nrest();\n", &[(1, 3, 94)]);
    }

    #[test]
    fn a_long_line_instead_of_one_does_not_end_a_place() {
        let text = format!("first(a, b);\nsecond();\nlet text = \"{}\";\nthird(c);\n", "long ".repeat(30));
        check(&text, "first(a, b);\nsecond();\nshort();\nthird(c);\n", &[(0, 4, 29)]);
    }
}
