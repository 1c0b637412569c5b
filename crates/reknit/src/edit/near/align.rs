//! [`align`]: the lines of a search text beside those of a place.

use std::ops::Range;

use super::super::indentation::Levels;
use super::super::lines::{Line, body_at, indent, is_same, line_at, line_before, lines};
use super::super::needle::{Key, Needle};
use super::super::place::{Row, Stand, lay_out, levels};
use super::super::tokens::{joined, joined_before};
use super::vote::Vote;
use super::{Near, likeness, slack, weight};

/// What a line between two of the search counts against them.
const UNNAMED: f64 = 2.0;
/// How many lines beside those that are the same are paired one by one where the search begins or ends.
const ENDS: usize = 8;

/// Aligns a search with the lines around a candidate, as far as there is room.
pub(in super::super) fn align(
    text: &[u8],
    needle: &Needle<'_>,
    vote: Vote,
    room: &Range<usize>,
) -> Option<Near> {
    let (number, window) = window(text, needle, vote, room)?;
    let mut aligned = Aligned { text, needle, window: &window, rows: Vec::new() };
    aligned.rows = vec![Row { own: 0..0, stand: Stand::Missing }; needle.solid.len()];
    let mut pairs = common(needle, &window);
    tighten(needle, &window, &mut pairs);
    if pairs.is_empty() {
        aligned.without_pairs(vote)?;
    } else {
        aligned.with_pairs(&pairs);
    }
    let rows = aligned.rows;
    let first = rows.iter().find(|row| !row.own.is_empty())?.own.start;
    let line = window.iter().find(|solid| solid.line.start == first)?.number + number;
    let score = score(text, needle, &window, &rows);
    Some(Near::new(needle, lay_out(text, needle, rows, line), score))
}

/// The lines around a word that are all of a search, with other line breaks.
pub(super) fn align_joined(text: &[u8], needle: &Needle<'_>, vote: Vote) -> Option<Near> {
    let bodies: Vec<_> = needle.solid.iter().map(|solid| solid.body).collect();
    let first = needle.solid.first()?.line;
    let (mut start, mut number) = (vote.spot.start, vote.spot.line);
    for _ in 0..=vote.line {
        let is_shared = |line: Line<'_>| bodies.iter().any(|body| is_same(body, line.body));
        let end = joined(&bodies, text, start).filter(|end| *end > vote.spot.start);
        // A line that is the same needs no other line breaks.
        if let Some(end) = end.filter(|end| !lines(&text[start..*end]).any(is_shared)) {
            let mut rows = vec![Row { own: end..end, stand: Stand::Joined { first } }; bodies.len()];
            rows[0].own = start..end;
            return Some(Near::new(needle, lay_out(text, needle, rows, number), 1.0));
        }
        start = line_before(text, start)?.start;
        number -= 1;
    }
    None
}

/// How much of a search is there. Lines that it does not name count against it, by half.
fn score(text: &[u8], needle: &Needle<'_>, window: &[Solid<'_>], rows: &[Row]) -> f64 {
    let (mut all, mut there) = (0.0, 0.0);
    for (solid, row) in needle.solid.iter().zip(rows) {
        let own = weight(solid.body);
        all += own;
        there += own
            * match row.stand {
                Stand::Same | Stand::Joined { .. } => 1.0,
                Stand::Differs => likeness(solid.body, body_at(text, row.own.start)),
                Stand::Missing => 0.0,
            };
    }
    let present = || rows.iter().filter(|row| !row.own.is_empty());
    let (Some(first), Some(last)) = (present().next(), present().next_back()) else { return 0.0 };
    let is_unnamed = |solid: &&Solid<'_>| {
        let start = solid.line.start;
        first.own.start < start && start < last.own.start && !present().any(|row| row.own.contains(&start))
    };
    let unnamed: f64 = window.iter().filter(is_unnamed).map(|solid| weight(solid.line.body)).sum();
    there / (all + unnamed / 2.0)
}

/// The lines of a search, while what a text has for them is found.
struct Aligned<'a> {
    text: &'a [u8],
    needle: &'a Needle<'a>,
    window: &'a [Solid<'a>],
    rows: Vec<Row>,
}

impl Aligned<'_> {
    /// Fills what is between lines that are the same, and beside them.
    fn with_pairs(&mut self, pairs: &[(usize, usize)]) {
        for (nth, at) in pairs {
            self.set(*nth, *at, Stand::Same);
        }
        self.check_levels(pairs);
        let mut from = (0, None);
        for (nth, at) in pairs.iter().copied() {
            self.fill(from.0..nth, from.1, Some(at));
            from = (nth + 1, Some(at));
        }
        self.fill(from.0..self.rows.len(), from.1, None);
    }

    fn body(&self, nth: usize) -> &[u8] {
        self.needle.solid[nth].body
    }

    fn set(&mut self, nth: usize, at: usize, stand: Stand) {
        let line = self.window[at].line;
        self.rows[nth] = Row { own: line.start..line.next(), stand };
    }

    /// A line that is at another level than the others is another line.
    fn check_levels(&mut self, pairs: &[(usize, usize)]) {
        let levels = levels(self.text, self.needle, &self.rows);
        for (nth, at) in pairs {
            let there = indent(self.window[*at].line.body);
            if !levels.as_ref().is_some_and(|levels: &Levels| levels.fits(indent(self.body(*nth)), there)) {
                self.rows[*nth].stand = Stand::Differs;
            }
        }
    }

    /// Lines of a search between two that are the same, or beside one. They are the same with other line breaks, or
    /// correspond one by one to as many others, or are missing.
    fn fill(&mut self, gap: Range<usize>, before: Option<usize>, after: Option<usize>) {
        if gap.is_empty() {
            return;
        }
        let bodies: Vec<_> = gap.clone().map(|nth| self.body(nth)).collect();
        let most = gap.len().min(ENDS);
        let (room, joined) = match (before, after) {
            (Some(before), after) => {
                let room = before + 1..after.unwrap_or(self.window.len().min(before + 1 + most));
                let start = self.window[before].line.next();
                let end = joined(&bodies, self.text, start);
                let limit = after.map(|after| self.window[after].line.start);
                let end = end.filter(|end| limit.is_none_or(|limit| self.is_blank(*end, limit)));
                (room, end.map(|end| start..end))
            }
            (None, Some(after)) => {
                let end = self.window[after].line.start;
                let joined = joined_before(&bodies, self.text, end).map(|line| line.start..end);
                (after.saturating_sub(most)..after, joined)
            }
            (None, None) => return,
        };
        if let Some(range) = joined {
            return self.join(gap, range);
        }
        if room.len() == gap.len() || before.is_none() || after.is_none() {
            let skipped = if before.is_none() { gap.len() - room.len() } else { 0 };
            for (nth, at) in gap.skip(skipped).zip(room) {
                self.set(nth, at, Stand::Differs);
            }
        }
    }

    fn is_blank(&self, start: usize, end: usize) -> bool {
        start <= end && self.text[start..end].trim_ascii().is_empty()
    }

    /// Some lines of the search are all lines of a range.
    fn join(&mut self, gap: Range<usize>, range: Range<usize>) {
        let first = self.needle.solid[gap.start].line;
        // Blank lines before the first line belong to nothing.
        let mut start = range.start;
        while let Some(blank) = line_at(self.text, start).filter(|line| line.is_blank()) {
            start = blank.next();
        }
        for nth in gap.clone() {
            let own = if nth == gap.start { start..range.end } else { range.end..range.end };
            self.rows[nth] = Row { own, stand: Stand::Joined { first } };
        }
    }

    /// No line is the same: a word of the vote's line is here.
    fn without_pairs(&mut self, vote: Vote) -> Option<()> {
        let here = self.window.iter().position(|solid| solid.line.start == vote.spot.start)?;
        let nth = self.needle.solid.iter().position(|solid| solid.line == vote.line)?;
        let above = nth.min(here);
        let below = (self.rows.len() - nth).min(self.window.len() - here);
        for offset in 0..above + below {
            self.set(nth - above + offset, here - above + offset, Stand::Differs);
        }
        let mut rows = self.needle.solid.iter().zip(&self.rows);
        rows.any(|(solid, row)| {
            row.stand == Stand::Differs && likeness(solid.body, body_at(self.text, row.own.start)) > 0.0
        })
        .then_some(())
    }
}

/// A line of the text that is not blank, and its number from the beginning of the window.
struct Solid<'t> {
    line: Line<'t>,
    number: usize,
    key: Key,
}

/// The lines around a candidate that are not blank, and the number of the first line of the window.
fn window<'t>(
    text: &'t [u8],
    needle: &Needle<'_>,
    vote: Vote,
    room: &Range<usize>,
) -> Option<(usize, Vec<Solid<'t>>)> {
    let slack = slack(needle.lines.len()) + 2;
    let mut start = vote.spot.start;
    let mut number = vote.spot.line;
    for _ in 0..vote.line + slack {
        let Some(line) = line_before(text, start).filter(|line| line.start >= room.start) else { break };
        start = line.start;
        number -= 1;
    }
    let height = vote.spot.line - number + needle.lines.len() - vote.line + slack;
    let mut window = Vec::new();
    for nth in 0..height {
        let Some(line) = line_at(text, start).filter(|line| line.start < room.end) else { break };
        if let Some(key) = Key::of(line.body) {
            window.push(Solid { line, number: nth, key });
        }
        start = line.next();
    }
    (!window.is_empty()).then_some((number, window))
}

/// The lines that search and window have in common where they go together best, as pairs.
///
/// A line in common counts as much as it weighs, and one of the window between such lines against it, unless it is
/// where one of the search is missing: a brace further down is not worth the lines before it.
fn common(needle: &Needle<'_>, window: &[Solid<'_>]) -> Vec<(usize, usize)> {
    let less = |(value, last): (f64, Option<usize>), cost: f64| match last {
        Some(_) if value > cost => (value - cost, last),
        _ => (0.0, None),
    };
    let better = |a: (f64, Option<usize>), b: (f64, Option<usize>)| if b.0 > a.0 { b } else { a };
    // The best sequence up to each place of the window: what it is worth, and its last pair.
    let mut best: Vec<(f64, Option<usize>)> = vec![(0.0, None); window.len() + 1];
    let mut pairs: Vec<(usize, usize, Option<usize>)> = Vec::new();
    for (nth, solid) in needle.solid.iter().enumerate() {
        let own = weight(solid.body);
        let mut row = Vec::with_capacity(best.len());
        row.push((0.0, None));
        for (at, there) in window.iter().enumerate() {
            // A line that is where one of the search is missing says nothing, however long it is.
            let mut cell = better(better(best[at + 1], less(row[at], UNNAMED)), best[at]);
            if there.key == solid.key && is_same(solid.body, there.line.body) && best[at].0 + own > cell.0 {
                pairs.push((nth, at, best[at].1));
                cell = (best[at].0 + own, Some(pairs.len() - 1));
            }
            row.push(cell);
        }
        best = row;
    }
    let mut sequence = Vec::new();
    let mut pair = best.into_iter().fold((0.0, None), better).1;
    while let Some(number) = pair {
        let (nth, at, before) = pairs[number];
        sequence.push((nth, at));
        pair = before;
    }
    sequence.reverse();
    sequence
}

/// Moves lines that are the same as close to the heaviest line as they can be: of two braces, the one beside it.
fn tighten(needle: &Needle<'_>, window: &[Solid<'_>], pairs: &mut [(usize, usize)]) {
    let weight = |(nth, _): &(usize, usize)| weight(needle.solid[*nth].body);
    let Some(center) = (0..pairs.len()).max_by(|a, b| weight(&pairs[*a]).total_cmp(&weight(&pairs[*b])))
    else {
        return;
    };
    let is = |nth: usize| move |at: &usize| window[*at].key == needle.solid[nth].key;
    for number in center + 1..pairs.len() {
        let (nth, at) = pairs[number];
        if let Some(closest) = (pairs[number - 1].1 + 1..at).find(is(nth)) {
            pairs[number].1 = closest;
        }
    }
    for number in (0..center).rev() {
        let (nth, at) = pairs[number];
        if let Some(closest) = (at + 1..pairs[number + 1].1).rev().find(is(nth)) {
            pairs[number].1 = closest;
        }
    }
}
