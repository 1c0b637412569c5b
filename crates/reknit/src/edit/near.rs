//! Places that have some lines of a search text: the closest ones.
//!
//! Candidates come from the rarest lines that search and file share, or from words if no line is shared. Around
//! each, the lines of both are aligned. How close a place is only ranks it: whether an edit may be applied there is
//! decided by [`rule`](super::rule).

mod align;
mod vote;

use std::cmp::Ordering;

pub(super) use self::align::align;
use self::align::align_joined;
pub(super) use self::vote::Vote;
use self::vote::{candidates, word_votes};
use super::index::Index;
use super::needle::{Needle, tells, words};
use super::place::Fit;

/// A search of so many lines is found even if as many others are between them: long stretches change often.
const LONG: usize = 24;
/// Searches with more lines than this are not aligned.
const LONGEST: usize = 4096;

/// How many other places are compared with the best one, the rarest lines first.
const DOUBTS: usize = 512;

/// A place that has some lines of a search text.
#[derive(Clone, Debug)]
pub(super) struct Near {
    pub(super) fit: Fit,
    /// How much of the search text is there, from 0 to 1.
    pub(super) score: f64,
    /// What the lines weigh that are there as they are.
    weight: f64,
    /// Which lines of the search that have a letter or digit are there.
    pub(super) telling: Vec<usize>,
}

impl Near {
    fn new(needle: &Needle<'_>, fit: Fit, score: f64) -> Self {
        let is_there = |line: &usize| fit.rows[*line].is_there() && tells(needle.lines[*line].body);
        let telling: Vec<_> = (0..fit.rows.len()).filter(is_there).collect();
        let weight = telling.iter().map(|line| weight(needle.lines[*line].body)).sum();
        Self { fit, score, weight, telling }
    }

    /// A place that has every line of the search.
    pub(super) fn whole(needle: &Needle<'_>, fit: Fit) -> Self {
        Self::new(needle, fit, 1.0)
    }

    /// Whether a place has a line of the search that this one lacks, besides others, or all that this one has.
    pub(super) fn is_doubted_by(&self, other: &Self) -> bool {
        let lines = || self.fit.rows.iter().zip(&other.fit.rows);
        let has_more = lines().any(|(own, other)| other.is_there() && !own.is_there());
        let has_all = self.telling.iter().all(|line| other.telling.contains(line));
        let count = other.fit.rows.iter().filter(|row| row.is_there() && !row.own.is_empty()).count();
        let is_more_than_a_line = count >= 2 && !other.telling.is_empty();
        has_all || has_more && (is_more_than_a_line || self.telling.len() < 3)
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let (a, b) = (&self.fit.range, &other.fit.range);
        a.start < b.end && b.start < a.end
    }
}

/// The closest places, the best first. One that overlaps a better one is left out.
pub(super) fn near(text: &[u8], index: &Index, needle: &Needle<'_>) -> Vec<Near> {
    if needle.solid.is_empty() || needle.solid.len() > LONGEST {
        return Vec::new();
    }
    let everywhere = 0..text.len();
    let mut places: Vec<Near> = Vec::new();
    for vote in candidates(index, needle) {
        places.extend(align(text, needle, vote, &everywhere));
    }
    for vote in word_votes(index, needle) {
        places.extend(align_joined(text, needle, vote));
    }
    places.sort_by(by_score);
    let mut distinct: Vec<Near> = Vec::new();
    for place in places {
        if !distinct.iter().any(|better| better.overlaps(&place)) {
            distinct.push(place);
        }
    }
    distinct
}

/// The places beside the best one that have a line of the search which that one lacks, or all that it has.
pub(super) fn doubts(text: &[u8], index: &Index, needle: &Needle<'_>, best: &Near) -> Vec<Near> {
    let telling = needle.solid.iter().filter(|solid| tells(solid.body));
    let mut lines: Vec<_> = telling.filter_map(|solid| Some((solid.line, index.spots(solid.key)?))).collect();
    lines.sort_by_key(|(_, spots)| spots.count);
    let mut left = DOUBTS;
    let mut doubts: Vec<Near> = Vec::new();
    for (line, spots) in lines {
        for spot in &spots.first {
            let (range, at) = (&best.fit.range, spot.start);
            let room = match at {
                at if at < range.start => 0..range.start,
                at if at >= range.end => range.end..text.len(),
                _ => continue,
            };
            if doubts.iter().any(|other| other.fit.range.contains(&at)) {
                continue;
            }
            if left == 0 {
                return doubts;
            }
            left -= 1;
            let vote = Vote { spot: *spot, line, weight: 1.0 };
            let place = align(text, needle, vote, &room);
            doubts.extend(place.filter(|place| best.is_doubted_by(place)));
        }
    }
    doubts
}

/// The best first.
fn by_score(a: &Near, b: &Near) -> Ordering {
    b.weight.total_cmp(&a.weight).then(b.score.total_cmp(&a.score)).then(a.fit.line.cmp(&b.fit.line))
}

/// What a line counts for: its characters except whitespace.
fn weight(body: &[u8]) -> f64 {
    body.iter().filter(|byte| !byte.is_ascii_whitespace()).count().max(1) as f64
}

/// How much of two lines is the same words, from 0 to 1.
fn likeness(a: &[u8], b: &[u8]) -> f64 {
    let (a, mut b): (Vec<_>, Vec<_>) = (words(a).collect(), words(b).collect());
    let all = a.len() + b.len();
    let common = a.iter().filter(|word| {
        let at = b.iter().position(|other| other == *word);
        at.map(|at| b.swap_remove(at)).is_some()
    });
    2.0 * common.count() as f64 / all.max(1) as f64
}

/// How many lines a place may be off for a search of so many.
fn slack(lines: usize) -> usize {
    let slack = if lines < LONG { lines / 4 + 1 } else { lines };
    slack.min(lines.saturating_sub(1)).min(64)
}
