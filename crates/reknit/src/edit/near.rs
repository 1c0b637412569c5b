//! Places that are like a search text without being it: the closest ones, and whether one is surely meant.
//!
//! Candidates come from the rarest lines that search and file share, or from words where no line is shared.
//! Around each the lines of both are aligned: first those that are the same, then, in the gaps between them,
//! those that are alike. Nothing is compared with the whole file.

use std::cmp::Ordering;
use std::ops::Range;

use super::How;
use super::distance::likeness;
use super::index::{Index, SPOTS, Spot};
use super::ladder::{Fit, tile};
use super::lines::{Line, folded, line_at, line_before};
use super::needle::{Key, Needle};

/// How many candidates are aligned.
const CANDIDATES: usize = 24;
/// A candidate for which this much less speaks than for the best, by weight and by number, is none. Weight alone
/// would let go of a place that lacks one long line.
const WEAK: f64 = 0.3;
/// How many lines or words of a search point at candidates: the rarest.
const SEEDS: usize = 32;
/// Lines that are less alike than this do not stand for each other.
const ALIKE: f64 = 0.5;
/// How alike a line is to a first line of a search that is the end of it.
const CUT: f64 = 0.9;
/// How many letters of a line tell that it is the one that was cut.
const CUT_LEAST: usize = 3;
/// A search of so many lines is found also if as many others stand between them: so much code changes often.
const LONG: usize = 24;
/// How many pairs of lines are compared in one gap. Larger gaps are left open.
const GAP: usize = 1024;
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
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Counterpart {
    /// The line itself, but for its outer form.
    Same,
    /// Another line that is like it.
    Like(Key),
    /// None.
    Missing,
}

/// The closest places, the best first. Near ones that overlap a better one are left out.
pub(super) fn near(text: &[u8], index: &Index, needle: &Needle<'_>) -> Vec<Near> {
    if needle.solid.is_empty() || needle.solid.len() > LONGEST {
        return Vec::new();
    }
    let mut votes = line_votes(index, needle);
    if votes.is_empty() {
        votes = word_votes(index, needle);
    }
    let everywhere = 0..text.len();
    let mut places: Vec<(Vote, Near)> = candidates(votes, needle)
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

/// A line of the text that may stand for a line of the search.
#[derive(Clone, Copy, Debug)]
struct Vote {
    spot: Spot,
    /// The line of the search.
    line: usize,
    /// How much it says: long and rare lines say most.
    weight: f64,
}

impl Vote {
    /// Where the search would begin.
    fn start(&self) -> isize {
        self.spot.line as isize - self.line as isize
    }
}

fn line_votes(index: &Index, needle: &Needle<'_>) -> Vec<Vote> {
    let mut seeds: Vec<_> =
        needle.solid.iter().filter_map(|solid| index.spots(solid.key).map(|spots| (solid, spots))).collect();
    seeds.sort_by_key(|(_, spots)| spots.count);
    let rarest = seeds.first().map_or(0, |(_, spots)| spots.count);
    seeds
        .into_iter()
        .take(SEEDS)
        .filter(|(_, spots)| spots.count <= SPOTS.max(rarest))
        .flat_map(|(solid, spots)| {
            let weight = weight(needle.lines[solid.line].body) / spots.count as f64;
            spots.first.iter().map(move |spot| Vote { spot: *spot, line: solid.line, weight })
        })
        .collect()
}

fn word_votes(index: &Index, needle: &Needle<'_>) -> Vec<Vote> {
    let votes = |(word, line): (&[u8], usize)| {
        let spots = index.word(word);
        let weight = word.len() as f64 / spots.len() as f64;
        spots.iter().map(move |spot| Vote { spot: *spot, line, weight }).collect::<Vec<_>>()
    };
    needle.words().into_iter().flat_map(votes).collect()
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

/// One vote for each stretch that votes agree on, those with the most behind them.
///
/// Votes agree if the search would begin at about the same line. They are added up around each one by itself:
/// a line that stands everywhere would else make one stretch of the whole file.
fn candidates(mut votes: Vec<Vote>, needle: &Needle<'_>) -> Vec<Vote> {
    let slack = slack(needle.lines.len()) as isize;
    votes.sort_by_key(|vote| (vote.start(), vote.spot.line));
    let mut sums = Vec::with_capacity(votes.len());
    let mut counts = Vec::with_capacity(votes.len());
    let (mut from, mut to, mut sum) = (0, 0, 0.0);
    for vote in &votes {
        while votes.get(to).is_some_and(|other| other.start() - vote.start() <= slack) {
            sum += votes[to].weight;
            to += 1;
        }
        while vote.start() - votes[from].start() > slack {
            sum -= votes[from].weight;
            from += 1;
        }
        sums.push(sum);
        counts.push((to - from) as f64);
    }
    let mut order: Vec<usize> = (0..votes.len()).collect();
    order.sort_by(|a, b| {
        let by_sum = sums[*b].total_cmp(&sums[*a]);
        by_sum.then(votes[*b].weight.total_cmp(&votes[*a].weight)).then(a.cmp(b))
    });
    let mut chosen: Vec<Vote> = Vec::new();
    let Some(best) = order.first().copied() else { return chosen };
    for number in order {
        if chosen.len() == CANDIDATES {
            break;
        }
        if sums[number] < sums[best] * WEAK && counts[number] < counts[best] * WEAK {
            continue;
        }
        let vote = votes[number];
        if chosen.iter().all(|other| (other.start() - vote.start()).abs() > slack) {
            chosen.push(vote);
        }
    }
    chosen
}

/// Aligns a search with the lines around a candidate, as far as there is room.
fn align(text: &[u8], needle: &Needle<'_>, vote: Vote, room: &Range<usize>) -> Option<Near> {
    let (number, window) = window(text, needle, vote, room)?;
    let matched = matched(needle, &window);
    let counterparts: Vec<_> = matched.iter().map(|found| found.map(|(at, _)| window[at].line)).collect();
    let first = matched.iter().flatten().next()?.0;
    let last = matched.iter().flatten().next_back()?.0;

    let weights = |nth: usize| weight(needle.lines[needle.solid[nth].line].body);
    let all: f64 = (0..matched.len()).map(weights).sum();
    let there: f64 =
        matched.iter().enumerate().filter_map(|(nth, found)| Some(weights(nth) * found.as_ref()?.1)).sum();
    // A line that stands where one of the search is missing counts once, as that.
    let mut extra = 0.0;
    let mut before: Option<usize> = None;
    let mut missing = 0.0;
    for (nth, found) in matched.iter().enumerate() {
        let Some((at, _)) = found else {
            missing += weights(nth);
            continue;
        };
        if let Some(before) = before {
            let between = &window[before + 1..*at];
            let weight: f64 = between.iter().map(|there| weight(there.line.body)).sum();
            extra += f64::max(weight - missing, 0.0);
        }
        before = Some(*at);
        missing = 0.0;
    }

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
            Some((at, _)) => Counterpart::Like(window[*at].key),
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
    let unseen = last + 1 - first - matched.iter().flatten().count();
    Some(Near { fit, counterparts, keys, unseen, cut })
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
        let from =
            nth.checked_sub(1).and_then(|before| matched[before]).map_or(0, |(at, _): (usize, f64)| at + 1);
        let to = matched.get(behind).copied().flatten().map_or(window.len(), |(at, _)| at);
        for (offset, at, likeness) in fill(needle, nth..behind, window, from..to) {
            matched[nth + offset] = Some((at, likeness));
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
            let replaced = less(best[at], f64::max(costs[at] - own, 0.0));
            let mut cell = better(better(best[at + 1], less(row[at], costs[at])), replaced);
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

/// Pairs the lines of a gap that are alike, in order: offset in the gap, place in the window, likeness.
fn fill(
    needle: &Needle<'_>,
    gap: Range<usize>,
    window: &[Solid<'_>],
    room: Range<usize>,
) -> Vec<(usize, usize, f64)> {
    let (rows, columns) = (gap.len(), room.len());
    if rows * columns == 0 || rows * columns > GAP {
        return Vec::new();
    }
    let alike: Vec<f64> = gap
        .clone()
        .flat_map(|nth| {
            let searched = folded(needle.lines[needle.solid[nth].line].body);
            room.clone().map(move |at| {
                let there = window[at].line.body;
                let likeness = likeness(&searched, &folded(there), ALIKE);
                let cut = nth == 0 && likeness < 1.0 && cut(needle, there).is_some();
                if cut { likeness.max(CUT) } else { likeness }
            })
        })
        .collect();
    let weights: Vec<f64> = gap.map(|nth| weight(needle.lines[needle.solid[nth].line].body)).collect();
    let mut table = vec![0.0; (rows + 1) * (columns + 1)];
    let cell = |row: usize, column: usize| row * (columns + 1) + column;
    for row in 0..rows {
        for column in 0..columns {
            let pair = table[cell(row, column)] + weights[row] * alike[row * columns + column];
            table[cell(row + 1, column + 1)] =
                table[cell(row, column + 1)].max(table[cell(row + 1, column)]).max(pair);
        }
    }
    let mut pairs = Vec::new();
    let (mut row, mut column) = (rows, columns);
    while row > 0 && column > 0 {
        let value = table[cell(row, column)];
        if value == table[cell(row - 1, column)] {
            row -= 1;
        } else if value == table[cell(row, column - 1)] {
            column -= 1;
        } else {
            row -= 1;
            column -= 1;
            pairs.push((row, room.start + column, alike[row * columns + column]));
        }
    }
    pairs.reverse();
    pairs
}

/// How many bytes of a line come before what the first line of a search has of it, if that is the line's end.
fn cut(needle: &Needle<'_>, body: &[u8]) -> Option<usize> {
    let searched = folded(needle.lines[needle.solid.first()?.line].body);
    let there = folded(body);
    let is_end = there.len() > searched.len() && there.ends_with(&searched);
    let tells = searched.iter().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()).count();
    if !is_end || tells < CUT_LEAST {
        return None;
    }
    // Folding takes a character for a character, so they can be counted from the end.
    let characters = std::str::from_utf8(&searched).ok()?.chars().count();
    let body = std::str::from_utf8(body.trim_ascii_end()).ok()?;
    body.char_indices().rev().nth(characters - 1).map(|(at, _)| at)
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
        check(&text, &block("fifth"), &[(12, 4, 95), (0, 4, 93), (6, 1, 8)]);
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
    fn a_first_line_may_lack_its_beginning() {
        let needle = Needle::new("ion f(\u{201C}a\u{201D}) {\n    return 1;\n");
        assert_eq!(cut(&needle, b"  function f(\"a\") {  "), Some(7));
        assert_eq!(cut(&needle, "\tfonction f(‘a’) {".as_bytes()), None);
        assert_eq!(cut(&needle, b"ion f(\"a\") {"), None);
        assert_eq!(cut(&Needle::new(") {\n"), b"f() {"), None);
    }
}
