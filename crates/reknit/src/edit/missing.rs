//! A search text whose lines are not all in the file: the place where the edit may be applied all the same, or why
//! there is none.

use memchr::memmem;

use super::closest::Compared;
use super::compose::compose;
use super::hint::Block;
use super::index::{Index, Spot, Wanted};
use super::lines::{ends_of_lines, is_blank, line_numbers};
use super::locate::is_inside;
use super::near::{Near, Vote, align, doubts, near};
use super::needle::{Needle, Solid, tells};
use super::place::{self, Fit, PLACES};
use super::running::{Ground, Lost, Running, Site};
use super::{FileEnd, How, Lines, Reason, Rejection};

/// An edit whose search text is not in the file.
pub(super) struct Missing<'a> {
    pub(super) needle: &'a Needle<'a>,
    pub(super) replacement: &'a str,
    pub(super) end: FileEnd,
    pub(super) below: Option<&'a [Block]>,
}

impl Missing<'_> {
    /// The place where it may be applied, if only one comes into question.
    pub(super) fn find(
        &self,
        running: &Running<'_>,
        lost: Vec<Lost>,
        loosest: How,
    ) -> Result<Site, Box<Rejection>> {
        let needle = self.needle;
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
        let Some(index) = running.index() else { return Err(Rejection::because(Reason::NoMatch)) };
        let text = running.original;
        let mut places = near(text, index, needle);
        places.extend(by_visible_characters(text, needle).filter(|_| places.is_empty()));
        places.retain(|near| running.touched(&near.fit.range).is_none() && is_inside(self.below, &near.fit));
        let applied = self.already_applied(running);
        let Some(best) = places.first() else {
            let reason = applied.map_or(Reason::NoMatch, |lines| Reason::AlreadyApplied { lines });
            return Err(Rejection::because(reason));
        };
        let lines = running.lines_of(&best.fit);
        let closest = Compared { text, needle, near: best, lines };
        if let Some(lines) = applied {
            return Err(closest.rejection(Reason::AlreadyApplied { lines }));
        }
        if best.fit.how > loosest {
            return Err(closest.rejection(closest.difference()));
        }
        compose(text, needle, &best.fit, self.replacement, self.end)
            .map_err(|refusal| closest.refused(refusal))?;
        let mut others: Vec<_> =
            doubts(text, index, needle, best).iter().map(|other| other.fit.line + 1).collect();
        if !others.is_empty() {
            others.push(best.fit.line + 1);
            others.sort_unstable();
            others.truncate(PLACES);
            return Err(closest.rejection(Reason::Ambiguous { how: best.fit.how, lines: others }));
        }
        Ok(Site { ground: Ground::Untouched, fit: best.fit.clone() })
    }

    /// Where the replacement is already, with lines of the search around it that say that this is the place.
    fn already_applied(&self, running: &Running<'_>) -> Option<Lines> {
        let replaced = Needle::new(self.replacement);
        let is_kept = |key| self.needle.solid.iter().any(|solid| solid.key == key);
        let telling = replaced.solid.iter().filter(|solid| tells(solid.body));
        let kept = telling.clone().filter(|solid| is_kept(solid.key)).count();
        if kept == 0 || telling.count() < 2 {
            return None;
        }
        let sites = running.same(&replaced, None).here;
        sites.first().filter(|site| is_inside(self.below, &site.fit)).map(|site| running.lines(site))
    }
}

/// The first place that has the first line of a search with other whitespace. A line without a long word is not looked
/// up, so it is looked for here.
fn by_visible_characters(text: &[u8], needle: &Needle<'_>) -> Option<Near> {
    if !needle.words().is_empty() {
        return None;
    }
    let Solid { line, body, .. } = *needle.solid.first()?;
    let visible = |body: &'_ [u8]| -> Vec<u8> {
        body.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
    };
    let wanted = visible(body);
    let mut start = 0;
    for (number, next) in ends_of_lines(text).enumerate() {
        let body = &text[start..next];
        if !is_blank(body) && body.trim_ascii_start().first() == wanted.first() && visible(body) == wanted {
            let vote = Vote { spot: Spot { line: number, start }, line, weight: 1.0 };
            return align(text, needle, vote, &(0..text.len()));
        }
        start = next;
    }
    None
}

/// The edit whose border the search crosses in the running text.
fn straddles(running: &Running<'_>, needle: &Needle<'_>) -> Option<usize> {
    // Twice its length leaves room for whitespace that the file has and the search lacks.
    let reach = needle.text.len() * 2 + 64;
    let wanted = Wanted::from(needle);
    running.surroundings(reach).find_map(|(text, place, by)| {
        // Blank lines alone have no other form.
        let fits = if needle.solid.is_empty() {
            place::exact(&text, needle, None)
        } else {
            place::same(&text, &Index::new(&text, &wanted), needle, None)
        };
        let crosses = |fit: &Fit| fit.range.start < place.end && place.start < fit.range.end;
        fits.iter().any(crosses).then_some(by)
    })
}

/// The lines that contain the search without being all of it.
fn inside_of_lines(text: &[u8], needle: &Needle<'_>) -> Option<Vec<usize>> {
    let line = needle.lines.first()?.body.trim_ascii();
    if line.is_empty() {
        return None;
    }
    let mut line_of = line_numbers(text);
    let mut lines: Vec<_> = memmem::find_iter(text, line).take(PLACES).map(|at| line_of(at) + 1).collect();
    lines.dedup();
    (!lines.is_empty()).then_some(lines)
}
