//! What to make of a search text whose lines do not all stand in the file: a place that is surely meant all
//! the same, or why it is not there.

use std::collections::BTreeSet;

use memchr::memmem;

use super::compose::Keeper;
use super::distance::Comparison;
use super::explain;
use super::index::{Index, Wanted};
use super::ladder::Fit;
use super::lines::{count, folded, lines};
use super::near::{Counterpart, Near, near, weight};
use super::needle::{Needle, Solid, tells};
use super::running::{Ground, Lost, Running, Site};
use super::{How, Lines, Place, Policy, Reason, Rejection, ladder};

/// The least that a place scores, by how many lines the search has; short ones say less.
const FLOOR: [f64; 4] = [1.0, 1.0, 0.85, 0.8];
/// The same for two lines to which others are only added: nothing is lost there.
const ADDING: f64 = 0.75;
/// The same for a place whose first and last line hold.
const ANCHORED: f64 = 0.7;
/// How many letters the lines have that an edit changes, for their place to be known by them alone.
const CORE: f64 = 20.0;
/// A place is alone if all others score less than this part of it.
const ALONE: f64 = 0.25;
/// A place that has less than this part of the lines of the best is no rival of it.
const RIVAL: f64 = 0.5;
/// A first line that is this like the one that was searched is that one, rewritten.
const REWRITTEN: f64 = 0.5;

/// The place that is surely meant, and the next best.
pub(super) fn missing(
    running: &Running<'_>,
    needle: &Needle<'_>,
    replacement: &str,
    heading: Option<usize>,
    lost: Vec<Lost>,
    policy: Policy,
) -> Result<(Site, Option<Place>), Box<Rejection>> {
    if let Some(with) = straddles(running, needle) {
        return Err(Rejection::because(Reason::Overlaps { with }));
    }
    if let Some(Lost { by, fit }) = lost.into_iter().min_by_key(|lost| lost.fit.how) {
        return Err(Rejection::because(Reason::TakenAway { by, lines: running.lines_of(&fit) }));
    }
    if needle.lines.len() == 1
        && let Some(lines) = inside_of_lines(running.original, needle)
    {
        return Err(Rejection::because(Reason::MidLine { lines }));
    }
    let text = running.original;
    let mut places = running.index().map_or(Vec::new(), |index| near(text, index, needle));
    places.retain(|place| Some(place.fit.line) > heading && running.touched(&place.fit.range).is_none());
    let applied = already_applied(running, needle, replacement);
    let changes = Changes::new(needle, replacement);
    let place = |near: &Near| Place { lines: running.lines_of(&near.fit), score: near.fit.score };
    let Some(best) = places.first() else {
        let reason = applied.map_or(Reason::NoMatch, |lines| Reason::AlreadyApplied { lines });
        return Err(Rejection::because(reason));
    };
    let closest = || Some(explain::closest(text, needle, &best.fit, place(best)));
    if let Some(lines) = applied
        && (!is_close(best, needle, &changes) || overlap(lines, place(best).lines))
    {
        return Err(Box::new(Rejection { reason: Reason::AlreadyApplied { lines }, closest: closest() }));
    }
    let alone = places[1..].iter().all(|other| other.fit.score < best.fit.score * ALONE);
    let meant = (changes.stand(best) || alone)
        && (is_close(best, needle, &changes) || core_stands(running, needle, &changes, best));
    if best.fit.how > policy.loosest || !meant {
        let reason = explain::class(text, needle, best);
        return Err(Box::new(Rejection { reason, closest: closest() }));
    }
    let doubted = places[1..].iter().filter(|rival| doubts(needle, best, rival));
    let mut lines: Vec<_> = doubted.map(|rival| rival.fit.line + 1).collect();
    if !lines.is_empty() {
        lines.push(best.fit.line + 1);
        lines.sort_unstable();
        let reason = Reason::Ambiguous { how: best.fit.how, lines };
        return Err(Box::new(Rejection { reason, closest: closest() }));
    }
    let Some(fit) = changes.narrowed(needle, replacement, best) else {
        return Err(Box::new(Rejection { reason: Reason::Stale, closest: closest() }));
    };
    let runner_up = places.get(1).map(place);
    Ok((Site { ground: Ground::Untouched, fit }, runner_up))
}

/// Whether a place is like enough to the search to be meant. Where all lines are like it and none is the same
/// that tells, it is another one that was made after the same model.
fn is_close(place: &Near, needle: &Needle<'_>, changes: &Changes) -> bool {
    let floor = match place.fit.how {
        How::Anchors => ANCHORED,
        _ if needle.solid.len() == 2 && changes.gone.is_empty() => ADDING,
        _ => FLOOR[needle.solid.len().min(FLOOR.len() - 1)],
    };
    let mut pairs = needle.solid.iter().zip(&place.counterparts);
    let holds =
        pairs.any(|(solid, there)| *there == Counterpart::Same && tells(needle.lines[solid.line].body));
    holds && place.fit.score >= floor
}

/// Whether all that an edit changes stands at a place and nowhere else. Then it does not matter that other lines
/// of the search, which the replacement keeps, are not there, as long as neither the first line nor one beside
/// a change is there in another form.
fn core_stands(running: &Running<'_>, needle: &Needle<'_>, changes: &Changes, place: &Near) -> bool {
    let core = &changes.core;
    let Some(index) = running.index() else { return false };
    let count = |nth: usize| index.spots(needle.solid[nth].key).map_or(0, |spots| spots.count);
    let same = |nth: usize| place.counterparts[nth] == Counterpart::Same;
    let says: f64 = core.iter().map(|nth| weight(needle.lines[needle.solid[*nth].line].body)).sum();
    let beside = core.iter().flat_map(|nth| [nth.checked_sub(1), Some(nth + 1)]).flatten();
    let mut telling = beside.chain([0]);
    says >= CORE
        && core.iter().all(|nth| same(*nth))
        && core.iter().any(|nth| count(*nth) == 1)
        && !telling.any(|nth| matches!(place.counterparts.get(nth), Some(Counterpart::Like)))
}

/// What a replacement does to the lines of a search, blank ones aside.
struct Changes {
    /// The lines that it does not keep.
    gone: BTreeSet<usize>,
    /// Those, and the lines between which it puts new ones.
    core: BTreeSet<usize>,
}

impl Changes {
    fn new(needle: &Needle<'_>, replacement: &str) -> Self {
        let mut keeper = Keeper::new(needle);
        let replaced: Vec<_> = lines(replacement.as_bytes()).collect();
        let mut decided: Vec<_> = replaced.iter().flat_map(|line| keeper.take(line.body)).collect();
        decided.extend(keeper.finish());
        let mut kept = BTreeSet::new();
        let mut insertions = Vec::new();
        let mut next = 0;
        for (line, number) in replaced.iter().zip(decided) {
            match number {
                Some(number) => {
                    kept.insert(number);
                    next = number + 1;
                }
                None if line.is_blank() => {}
                None => insertions.push(next),
            }
        }
        let gone: BTreeSet<usize> =
            (0..needle.solid.len()).filter(|nth| !kept.contains(&needle.solid[*nth].line)).collect();
        let mut core = gone.clone();
        for at in insertions {
            let next = needle.solid.partition_point(|solid| solid.line < at);
            // Beside a line that goes, that line says enough.
            if !core.contains(&next) {
                core.extend(next.checked_sub(1));
                core.extend((next < needle.solid.len()).then_some(next));
            }
        }
        Self { gone, core }
    }

    /// Whether the lines that go are at a place in some form, and those beside which new ones come: else there
    /// is nothing to do there, or nobody can say on which side of what stands there instead.
    fn stand(&self, place: &Near) -> bool {
        self.core.iter().all(|nth| place.counterparts[*nth] != Counterpart::Missing)
    }

    /// The place without the beginning of its first line, where the search does not have that and the edit
    /// rewrites the line. None if it would go with the line.
    fn narrowed(&self, needle: &Needle<'_>, replacement: &str, place: &Near) -> Option<Fit> {
        let mut fit = place.fit.clone();
        if place.cut == 0 || !self.gone.contains(&0) {
            return Some(fit);
        }
        let searched = needle.lines.first()?;
        let rewritten = lines(replacement.as_bytes()).next()?;
        let likeness =
            Comparison::default().likeness(&folded(searched.body), &folded(rewritten.body), REWRITTEN);
        if searched.is_blank() || likeness == 0.0 {
            return None;
        }
        fit.range.start += place.cut;
        fit.aligned[0].start += place.cut;
        Some(fit)
    }
}

/// Whether the search may just as well mean a rival of the best place: one that has a line of it which the best
/// has not, or all lines that the best has, or fewer that the search does not name.
fn doubts(needle: &Needle<'_>, best: &Near, rival: &Near) -> bool {
    let seen = |near: &Near| {
        let pairs = needle.solid.iter().zip(&near.counterparts);
        pairs.filter(|(solid, there)| **there != Counterpart::Missing || near.has(solid.key)).count() as f64
    };
    let same = |near: &Near, nth: usize| near.counterparts[nth] == Counterpart::Same;
    // A brace stands everywhere; it tells only where it stands for the one of the search.
    let has = |nth: usize| {
        let Solid { line, key } = needle.solid[nth];
        same(rival, nth) || tells(needle.lines[line].body) && rival.has(key)
    };
    let mut lines = 0..needle.solid.len();
    let has_more = lines.clone().any(|nth| same(best, nth) && !rival.has(needle.solid[nth].key));
    let has_less = lines.any(|nth| !same(best, nth) && has(nth));
    let is_rival = seen(rival) >= seen(best) * RIVAL;
    is_rival && (has_less || !has_more || best.unseen > rival.unseen)
}

/// The edit across whose border the search stands in the running text.
fn straddles(running: &Running<'_>, needle: &Needle<'_>) -> Option<usize> {
    // Twice its length leaves room for blanks that the file has and the search has not.
    let reach = needle.text.len() * 2 + 64;
    let wanted = Wanted::from(needle);
    running.surroundings(reach).find_map(|(text, place, by)| {
        // Blank lines alone have no other form.
        let fits = if needle.solid.is_empty() {
            ladder::exact(&text, needle, None)
        } else {
            ladder::loose(&text, &Index::new(&text, &wanted), needle, None)
        };
        let crosses = |fit: &ladder::Fit| fit.range.start < place.end && place.start < fit.range.end;
        fits.iter().any(crosses).then_some(by)
    })
}

/// The lines in which the search stands without being all of them.
fn inside_of_lines(text: &[u8], needle: &Needle<'_>) -> Option<Vec<usize>> {
    let line = needle.lines.first()?.body.trim_ascii();
    if line.is_empty() {
        return None;
    }
    let (mut number, mut counted) = (1, 0);
    let mut lines: Vec<_> = memmem::find_iter(text, line)
        .take(ladder::PLACES)
        .map(|at| {
            number += count(text, counted..at);
            counted = at;
            number
        })
        .collect();
    lines.dedup();
    (!lines.is_empty()).then_some(lines)
}

/// Where the replacement stands already, if it says anything that the search does not.
fn already_applied(running: &Running<'_>, needle: &Needle<'_>, replacement: &str) -> Option<Lines> {
    let replaced = Needle::new(replacement);
    let has = |needle: &Needle<'_>, key| needle.solid.iter().any(|solid| solid.key == key);
    let adds = replaced.solid.iter().any(|solid| !has(needle, solid.key));
    let index = running.index()?;
    let gone = |solid: &Solid| has(&replaced, solid.key) || index.spots(solid.key).is_none();
    if replaced.solid.is_empty() || !(adds || needle.solid.iter().all(gone)) {
        return None;
    }
    running.loose(&replaced, None).here.first().map(|site| running.lines(site))
}

fn overlap(a: Lines, b: Lines) -> bool {
    a.first <= b.last && b.first <= a.last
}
