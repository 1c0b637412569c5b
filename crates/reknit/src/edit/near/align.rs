//! [`align`]: the lines of a search beside those of a text that stand for them.

use std::ops::Range;

use super::super::How;
use super::super::ladder::{Fit, tile};
use super::super::lines::{Line, line_at, line_before};
use super::super::needle::{Key, Needle};
use super::gap::{Ends, cut, fill};
use super::vote::Vote;
use super::{Counterpart, Near, slack, weight};

/// Aligns a search with the lines around a candidate, as far as there is room.
pub(super) fn align(text: &[u8], needle: &Needle<'_>, vote: Vote, room: &Range<usize>) -> Option<Near> {
    let (number, window) = window(text, needle, vote, room)?;
    let matched = matched(needle, &window);
    let counterparts: Vec<_> = matched.iter().map(|found| found.map(|(at, _)| window[at].line)).collect();
    let first = matched.iter().flatten().next()?.0;
    let last = matched.iter().flatten().next_back()?.0;

    let weights = |nth: usize| weight(needle.lines[needle.solid[nth].line].body);
    let all: f64 = (0..matched.len()).map(weights).sum();
    let there: f64 =
        matched.iter().enumerate().filter_map(|(nth, found)| Some(weights(nth) * found.as_ref()?.1)).sum();
    let (unseen, extra) = unseen(needle, &window, &matched);

    let tiles = tile(text, needle, &counterparts);
    let same = |found: &Option<(usize, f64)>| found.is_some_and(|(_, likeness)| likeness == 1.0);
    let anchored = matched.len() >= 3
        && matched.first().is_some_and(same)
        && matched.last().is_some_and(same)
        && last + 1 - first <= matched.len() + matched.len() / 2;
    let fit = Fit {
        how: if anchored { How::Anchors } else { How::Distance },
        range: tiles.range,
        line: number + window[first].number - tiles.above,
        aligned: tiles.aligned,
        score: there / (all + extra / 2.0),
    };
    let counterparts = matched
        .iter()
        .map(|found| match found {
            Some((_, 1.0)) => Counterpart::Same,
            Some(_) => Counterpart::Like,
            None => Counterpart::Missing,
        })
        .collect();
    let cut = match matched.first() {
        Some(Some((at, likeness))) if *likeness < 1.0 => cut(needle, window[*at].line.body).unwrap_or(0),
        _ => 0,
    };
    let above = matched.iter().position(Option::is_some).unwrap_or(0);
    let below = matched.iter().rev().position(Option::is_some).unwrap_or(0);
    let keys = keys(text, &fit.range, above, below);
    Some(Near { fit, counterparts, keys, unseen, cut })
}

/// How many lines of a place stand for none of the search, and what they weigh. One that stands where a line of
/// the search is missing counts once, as that.
fn unseen(needle: &Needle<'_>, window: &[Solid<'_>], matched: &[Option<(usize, f64)>]) -> (usize, f64) {
    let held = matched.iter().enumerate().filter_map(|(nth, found)| Some((nth, found.as_ref()?.0)));
    let mut unseen = (0, 0.0);
    for ((nth, at), (next, next_at)) in held.clone().zip(held.skip(1)) {
        let between = &window[at + 1..next_at];
        let missing = &needle.solid[nth + 1..next];
        let there: f64 = between.iter().map(|there| weight(there.line.body)).sum();
        let searched: f64 = missing.iter().map(|solid| weight(needle.lines[solid.line].body)).sum();
        unseen.0 += between.len().saturating_sub(missing.len());
        unseen.1 += f64::max(there - searched, 0.0);
    }
    unseen
}

/// The keys of the lines of a range, and of so many above and below it.
fn keys(text: &[u8], range: &Range<usize>, above: usize, below: usize) -> Vec<Key> {
    let key = |line: Line<'_>| Key::of(line.body);
    let up = std::iter::successors(line_before(text, range.start), |line| line_before(text, line.start));
    let down = std::iter::successors(line_at(text, range.start), |line| line_at(text, line.next()));
    let inside = down.clone().take_while(|line| line.start < range.end).filter_map(key).count();
    up.filter_map(key).take(above).chain(down.filter_map(key).take(inside + below)).collect()
}

/// A line of the text, blank ones aside, and its number from the beginning of the window.
pub(super) struct Solid<'t> {
    pub(super) line: Line<'t>,
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

/// For each line of the search that is not blank, the line of the window that stands for it, and how alike
/// they are.
fn matched(needle: &Needle<'_>, window: &[Solid<'_>]) -> Vec<Option<(usize, f64)>> {
    let mut matched = vec![None; needle.solid.len()];
    for (nth, at) in common(needle, window) {
        matched[nth] = Some((at, 1.0));
    }
    let mut nth = 0;
    while nth < matched.len() {
        if matched[nth].is_some() {
            nth += 1;
            continue;
        }
        let behind = (nth..matched.len()).find(|nth| matched[*nth].is_some()).unwrap_or(matched.len());
        let held = |nth: usize| matched.get(nth).copied().flatten().map(|(at, _): (usize, f64)| at);
        let before = nth.checked_sub(1).and_then(held);
        let room = before.map_or(0, |at| at + 1)..held(behind).unwrap_or(window.len());
        let ends = match (before, held(behind)) {
            (None, Some(_)) => Ends::Last,
            (Some(_), None) => Ends::First,
            (Some(_), Some(_)) | (None, None) => Ends::Both,
        };
        for (nth, at, likeness) in fill(needle, nth..behind, window, room, ends) {
            matched[nth] = Some((at, likeness));
        }
        nth = behind;
    }
    tighten(needle, window, &mut matched);
    matched
}

/// The lines that search and window have in common where they go together best, as pairs.
///
/// A line in common counts as much as it weighs, and one of the window between such lines against it, unless it
/// stands where one of the search is missing: a brace further down is not worth the lines before it.
fn common(needle: &Needle<'_>, window: &[Solid<'_>]) -> Vec<(usize, usize)> {
    let costs: Vec<f64> = window.iter().map(|there| weight(there.line.body)).collect();
    let less = |(value, last): (f64, Option<usize>), cost: f64| match last {
        Some(_) if value > cost => (value - cost, last),
        _ => (0.0, None),
    };
    let better = |a: (f64, Option<usize>), b: (f64, Option<usize>)| if b.0 > a.0 { b } else { a };
    // The best sequence up to each place of the window: what it is worth, and its last pair.
    let mut best: Vec<(f64, Option<usize>)> = vec![(0.0, None); window.len() + 1];
    let mut pairs: Vec<(usize, usize, Option<usize>)> = Vec::new();
    for (nth, solid) in needle.solid.iter().enumerate() {
        let own = weight(needle.lines[solid.line].body);
        let mut row = Vec::with_capacity(best.len());
        row.push((0.0, None));
        for (at, there) in window.iter().enumerate() {
            // A line that stands where one of the search is missing says nothing, however long it is.
            let mut cell = better(better(best[at + 1], less(row[at], costs[at])), best[at]);
            if there.key == solid.key && best[at].0 + own > cell.0 {
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

/// Moves lines that are the same as close to the heaviest line as they can be: of two braces to the one beside
/// it.
fn tighten(needle: &Needle<'_>, window: &[Solid<'_>], matched: &mut [Option<(usize, f64)>]) {
    let held: Vec<usize> = (0..matched.len()).filter(|nth| matched[*nth].is_some()).collect();
    let weight = |nth: &usize| weight(needle.lines[needle.solid[*nth].line].body);
    let Some(center) = (0..held.len()).max_by(|a, b| weight(&held[*a]).total_cmp(&weight(&held[*b]))) else {
        return;
    };
    let is = |nth: usize| move |at: &usize| window[*at].key == needle.solid[nth].key;
    for number in center + 1..held.len() {
        if let (Some((before, _)), Some((at, 1.0))) = (matched[held[number - 1]], matched[held[number]])
            && let Some(closest) = (before + 1..at).find(is(held[number]))
        {
            matched[held[number]] = Some((closest, 1.0));
        }
    }
    for number in (0..center).rev() {
        if let (Some((behind, _)), Some((at, 1.0))) = (matched[held[number + 1]], matched[held[number]])
            && let Some(closest) = (at + 1..behind).rev().find(is(held[number]))
        {
            matched[held[number]] = Some((closest, 1.0));
        }
    }
}
