//! The rule: an edit takes away only what it names, and lands beside what it names.
//!
//! However a place was found, this is where it is decided whether the edit may be applied there.
//!
//! - A line of the file goes only if the search names it.
//! - New lines go where the nearest named lines that are there, above and below, are adjacent. Where the search
//!   ends, the line beside them must be there.
//! - A part of the edit that is done already is left alone, if something else is left to do.
//! - Other lines, which the edit keeps, may differ or be missing, but not many of them, and never one that says
//!   which thing this is: the first line with a letter, a heading, or a line that opens a block.

use std::ops::Range;

use memchr::memmem;

use super::How;
use super::indentation::depth;
use super::lines::{Line, body_at, count, is_same, line_at, line_before, lines, lines_before, lines_from};
use super::needle::{Needle, Solid, tells};
use super::outcome::Note;
use super::pairing::Hunk;
use super::place::{Fit, Row, Stand};
use super::placeholder;

/// A place of a search text, and what the replacement does there.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) text: &'a [u8],
    pub(super) needle: &'a Needle<'a>,
    pub(super) fit: &'a Fit,
    pub(super) replaced: &'a [Line<'a>],
    pub(super) hunks: &'a [Hunk],
}

/// What is to be done about a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Its lines go and come.
    Todo,
    /// The same, one by one: blank lines that the search does not name stay between them.
    OneByOne,
    /// The file has it already.
    Done,
}

/// Why an edit may not be applied at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The file has other lines.
    Stale,
    /// Only whitespace differs, but it decides where or how lines would be written.
    Whitespace,
    /// All of the edit is done already.
    AlreadyApplied,
    /// The replacement has a comment in place of lines that would go.
    Placeholder { line: String },
}

/// Of so many lines that are there, one may be missing or different.
const THERE_FOR_EACH: usize = 2;
/// Where so many lines are there, as many others may be missing or different.
const MANY_THERE: usize = 12;
/// How many letters a line that the search does not name must be apart from its first one.
const RESEMBLING: usize = 4;

/// What is to be done about each hunk, and what is worth reporting.
pub(super) fn check(case: Case<'_>) -> Result<(Vec<Step>, Vec<Note>), Refusal> {
    let steps = case.hunks.iter().map(|hunk| case.step(hunk)).collect::<Result<Vec<_>, _>>()?;
    case.check_kept()?;
    case.check_unnamed(&steps)?;
    if !case.hunks.is_empty() && steps.iter().all(|step| *step == Step::Done) {
        return Err(Refusal::AlreadyApplied);
    }
    for (hunk, step) in case.hunks.iter().zip(&steps) {
        if *step != Step::Done && case.solid(hunk.search.clone()).next().is_some() {
            let comes = &case.replaced[hunk.replacement.clone()];
            if let Some(line) = placeholder::find(comes, case.needle, case.text) {
                return Err(Refusal::Placeholder { line });
            }
        }
    }
    let notes = case.notes(&steps);
    Ok((steps, notes))
}

impl Case<'_> {
    fn row(&self, line: usize) -> &Row {
        &self.fit.rows[line]
    }

    fn is_there(&self, line: usize) -> bool {
        self.row(line).is_there()
    }

    fn body(&self, line: usize) -> &[u8] {
        self.needle.lines[line].body
    }

    /// The lines of the search in a range that are not blank.
    fn solid(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = usize> {
        self.needle.solid.iter().map(|solid| solid.line).filter(move |line| range.contains(line))
    }

    fn present(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = usize> {
        self.solid(range).filter(|line| self.row(*line).stand != Stand::Missing)
    }

    /// The nearest lines of the search above and below a hunk that are there, or differ.
    fn present_beside(&self, hunk: &Hunk) -> [Option<usize>; 2] {
        let above = self.present(0..hunk.search.start).next_back();
        [above, self.present(hunk.search.end..self.needle.lines.len()).next()]
    }

    /// The nearest lines of the search above and below a hunk that are not blank.
    fn beside(&self, hunk: &Hunk) -> [Option<usize>; 2] {
        let above = self.solid(0..hunk.search.start).next_back();
        [above, self.solid(hunk.search.end..self.needle.lines.len()).next()]
    }

    /// The new lines of a hunk that are not blank.
    fn comes(&self, hunk: &Hunk) -> impl Iterator<Item = &Line<'_>> {
        self.replaced[hunk.replacement.clone()].iter().filter(|line| !line.is_blank())
    }

    fn is_kept(&self, line: usize) -> bool {
        !self.hunks.iter().any(|hunk| hunk.search.contains(&line))
    }

    /// How many blank lines the file has between two lines of the search, if it has no others there.
    fn only_blanks(&self, above: usize, below: usize) -> Option<usize> {
        let between = &self.text[self.row(above).own.end..self.row(below).own.start];
        lines(between).all(Line::is_blank).then(|| lines(between).count())
    }

    /// Whether two lines of the search are adjacent in the file, with as many blank lines between them.
    fn adjacent(&self, above: usize, below: usize) -> Result<bool, Refusal> {
        let there = self.only_blanks(above, below).ok_or(Refusal::Stale)?;
        Ok(there == self.needle.lines[above + 1..below].iter().filter(|line| line.is_blank()).count())
    }

    fn step(&self, hunk: &Hunk) -> Result<Step, Refusal> {
        let goes: Vec<_> = self.solid(hunk.search.clone()).collect();
        let comes: Vec<_> = self.comes(hunk).collect();
        let [above, below] = self.present_beside(hunk);
        let is_gone = goes.iter().all(|line| !self.is_there(*line));
        if is_gone && self.is_done(&goes, &comes, above, below) {
            return Ok(Step::Done);
        }
        if self.fit.how > How::LineEnds && self.repeats_next(&comes, above, below) {
            return Err(Refusal::Stale);
        }
        if goes.is_empty() {
            return self.insertion(hunk, above, below);
        }
        let (goes, missing): (Vec<_>, Vec<_>) = goes.into_iter().partition(|line| self.is_there(*line));
        let is_missing = |line| self.row(line).stand == Stand::Missing;
        if !missing.is_empty() && goes.len() < comes.len().max(1)
            || missing.iter().any(|line| !self.may_be_missing(*line, &comes))
            || self.beside(hunk).into_iter().flatten().any(is_missing)
        {
            return Err(Refusal::Stale);
        }
        let (Some(first), Some(last)) = (goes.first().copied(), goes.last().copied()) else {
            return Err(Refusal::Stale);
        };
        let mut inside = true;
        for two in goes.windows(2) {
            inside &= self.adjacent(two[0], two[1])?;
        }
        // If the file has some of the blank lines around the search, which of them go is not known.
        let is_clear_above = match above {
            Some(above) => self.adjacent(above, first)?,
            None => hunk.search.start == first || self.has_all_or_none(0..first),
        };
        let is_clear_below = match below {
            Some(below) => self.adjacent(last, below)?,
            None => hunk.search.end == last + 1 || self.has_all_or_none(last + 1..self.needle.lines.len()),
        };
        // As many lines as go take their places; more than that are new beside the lines around them.
        let differ = [above, below].into_iter().flatten().filter(|line| !self.is_there(*line)).count();
        if differ == 2 && !comes.is_empty() || differ > 0 && comes.len() > goes.len() {
            return Err(Refusal::Stale);
        }
        match (inside, is_clear_above && is_clear_below) {
            (true, true) => Ok(Step::Todo),
            // Blank lines that only the file has stay where they are.
            (true, false) if hunk.replacement.is_empty() && !self.has_blanks_beside(hunk) => Ok(Step::Todo),
            _ if !comes.is_empty() && self.has_same_shape(hunk) => Ok(Step::OneByOne),
            _ => Err(Refusal::Whitespace),
        }
    }

    /// Whether a line that goes may be missing: nothing replaces it, that is, no line that comes is at its level.
    fn may_be_missing(&self, line: usize, comes: &[&Line<'_>]) -> bool {
        let own = depth(self.body(line));
        self.row(line).stand == Stand::Missing && comes.iter().all(|comes| depth(comes.body) != own)
    }

    /// Whether the file has what a hunk would put there, between the lines that it names.
    fn is_done(
        &self,
        goes: &[usize],
        comes: &[&Line<'_>],
        above: Option<usize>,
        below: Option<usize>,
    ) -> bool {
        let Some(below) = below else { return false };
        let is_there = self.is_there(below) && above.is_none_or(|above| self.is_there(above));
        if goes.is_empty() && comes.is_empty() || !is_there || above.is_none() && goes.len() != comes.len() {
            return false;
        }
        let start = match (above, goes.first()) {
            (Some(above), _) => self.row(above).own.end,
            (None, Some(first)) => self.row(*first).own.start,
            (None, None) => return false,
        };
        let between = &self.text[start..self.row(below).own.start.max(start)];
        let there: Vec<_> = lines(between).filter(|line| !line.is_blank()).collect();
        there.len() == comes.len()
            && there.iter().zip(comes).all(|(there, comes)| is_same(there.body, comes.body))
    }

    /// Whether the last new line where the search ends is the next line of the file, or the first the one before: the
    /// search lacks a line that the replacement has.
    fn repeats_next(&self, comes: &[&Line<'_>], above: Option<usize>, below: Option<usize>) -> bool {
        let Range { start, end } = self.fit.range.clone();
        let is = |there: Option<Line<'_>>, comes: Option<&&Line<'_>>| {
            there
                .zip(comes)
                .is_some_and(|(there, comes)| tells(comes.body) && is_same(there.body, comes.body))
        };
        let after = lines(&self.text[end..]).find(|line| !line.is_blank());
        let before = lines_before(self.text, start).find(|line| !line.is_blank());
        below.is_none() && is(after, comes.last()) || above.is_none() && is(before, comes.first())
    }

    /// New lines in place of none.
    fn insertion(&self, hunk: &Hunk, above: Option<usize>, below: Option<usize>) -> Result<Step, Refusal> {
        let at = hunk.search.start;
        let beside = self.beside(hunk);
        let is_lost = |line: usize| match self.row(line).stand {
            // A brace may well be another one.
            Stand::Missing => !tells(self.body(line)),
            stand => stand == Stand::Differs,
        };
        if beside.into_iter().flatten().any(is_lost)
            || [above, below].map(|line| line.is_none()) != beside.map(|line| line.is_none())
            || [above, below].into_iter().flatten().any(|line| !self.is_there(line))
        {
            return Err(Refusal::Stale);
        }
        let is_clear = match (above, below) {
            (Some(above), Some(below)) => self.adjacent(above, below)?,
            // A blank line that is missing may be another line, and whether the new ones go before or after it is not
            // known.
            (Some(above), None) => {
                let is_end = self.fit.range.end == self.text.len();
                self.has_all(above + 1..if is_end { at } else { self.needle.lines.len() })
            }
            (None, Some(below)) => self.has_all(if self.fit.range.start == 0 { at } else { 0 }..below),
            (None, None) => self.needle.solid.is_empty(),
        };
        if is_clear { Ok(Step::Todo) } else { Err(Refusal::Whitespace) }
    }

    /// Whether the search has blank lines between a hunk and the lines beside it.
    fn has_blanks_beside(&self, hunk: &Hunk) -> bool {
        let is_blank = |line: usize| self.needle.lines.get(line).is_some_and(|line| line.is_blank());
        is_blank(hunk.search.end)
            || hunk.search.clone().any(is_blank)
            || hunk.search.start.checked_sub(1).is_some_and(is_blank)
    }

    fn has_all(&self, range: Range<usize>) -> bool {
        self.fit.rows[range].iter().all(|row| row.stand != Stand::Missing)
    }

    fn has_all_or_none(&self, range: Range<usize>) -> bool {
        self.has_all(range.clone()) || self.fit.rows[range].iter().all(|row| row.stand == Stand::Missing)
    }

    /// Whether the lines that come are blank where those that go are.
    fn has_same_shape(&self, hunk: &Hunk) -> bool {
        let goes = self.needle.lines[hunk.search.clone()].iter();
        let comes = self.replaced[hunk.replacement.clone()].iter();
        goes.len() == comes.len() && goes.zip(comes).all(|(goes, comes)| goes.is_blank() == comes.is_blank())
    }

    /// Lines that are kept may differ or be missing, if they are not those that matter.
    fn check_kept(&self) -> Result<(), Refusal> {
        let solid = &*self.needle.solid;
        let mut others = 0;
        for (nth, Solid { line, body, .. }) in solid.iter().enumerate() {
            if self.is_there(*line) || !self.is_kept(*line) {
                continue;
            }
            if self.is_protected(nth) || self.is_taken_away(*line) || self.is_one_of_two(*line) {
                return Err(Refusal::Stale);
            }
            others += usize::from(tells(body));
        }
        if others == 0 {
            return Ok(());
        }
        let there = self.solid_there().filter(|solid| tells(solid.body)).count();
        // One line that goes is enough, as it would be alone; but of one that opens a block, such as a loop, there may
        // be another with another body.
        let is_enough = |own: &Solid<'_>, next: &Solid<'_>| {
            !self.is_kept(own.line) && !ends_open(own.body) && depth(own.body) == depth(next.body)
        };
        let is_line_and_one_more = others == 1 && matches!(solid, [own, next] if is_enough(own, next));
        let are_enough = is_line_and_one_more
            || there >= (others * THERE_FOR_EACH).max(2)
            || there >= MANY_THERE && there >= others;
        if are_enough && self.has_only_line() { Ok(()) } else { Err(Refusal::Stale) }
    }

    /// The lines of the search that are there and not blank.
    fn solid_there(&self) -> impl Iterator<Item = &Solid<'_>> + Clone {
        self.needle.solid.iter().filter(|solid| self.is_there(solid.line))
    }

    /// Whether a line that is kept and not there is one that goes, where the file has it: the search has it twice.
    fn is_taken_away(&self, line: usize) -> bool {
        let mut goes = self.hunks.iter().flat_map(|hunk| hunk.search.clone());
        goes.any(|other| self.is_there(other) && is_same(self.body(other), self.body(line)))
    }

    /// Whether the search has a line twice that the file has once, and the edit puts something between the two: before
    /// or after the one that is there.
    fn is_one_of_two(&self, line: usize) -> bool {
        self.solid_there().any(|other| {
            let (above, below) = (line.min(other.line), line.max(other.line));
            is_same(other.body, self.body(line))
                && self.present(above + 1..below).next().is_none()
                && self.hunks.iter().any(|hunk| (above + 1..=below).contains(&hunk.search.start))
        })
    }

    /// Whether a line says which thing this is.
    fn is_protected(&self, nth: usize) -> bool {
        let solid = &*self.needle.solid;
        let Solid { line, body: own, .. } = solid[nth];
        let has_letter = |body: &[u8]| String::from_utf8_lossy(body).contains(char::is_alphabetic);
        let is_first = solid[..nth].iter().all(|solid| !has_letter(solid.body)) && has_letter(own);
        let opens = solid.get(nth + 1).is_some_and(|next| depth(next.body) > depth(own));
        let above = line.checked_sub(1).map(|above| self.body(above));
        let below = self.needle.lines.get(line + 1).map(|below| below.body);
        is_first || opens || ends_open(own) || is_heading(above, own, below)
    }

    /// Lines that the search does not name stay. They may not be many, nor a heading, nor open a block that lines
    /// of the search are in.
    fn check_unnamed(&self, steps: &[Step]) -> Result<(), Refusal> {
        let unnamed = self.unnamed(steps);
        if unnamed.is_empty() {
            return Ok(());
        }
        let telling = self.solid_there().filter(|solid| tells(solid.body)).count();
        let is_flat = self.solid_there().all(|solid| self.depth_at(self.row(solid.line).own.start) == 0);
        let most = match (is_flat, telling >= MANY_THERE) {
            (true, _) => 1,
            (false, true) => telling * 2,
            (false, false) => telling,
        };
        if telling < 2 || unnamed.len() > most || !self.has_only_line() || self.leaves_first_line() {
            return Err(Refusal::Stale);
        }
        let is_heading = |line: &Line<'_>| {
            let above = line_before(self.text, line.start).map(|above| above.body);
            let below = line_at(self.text, line.next()).map(|below| below.body);
            is_flat && ends_open(line.body) || is_heading(above, line.body, below)
        };
        let is_wrong = |line: &Line<'_>| is_heading(line) || self.resembles_first(line.body);
        if unnamed.iter().any(is_wrong) || self.may_begin_elsewhere(&unnamed) {
            return Err(Refusal::Stale);
        }
        for solid in self.solid_there() {
            let Range { start, end } = self.row(solid.line).own.clone();
            let parent =
                self.present(0..solid.line).rfind(|line| depth(self.body(*line)) < depth(solid.body));
            let from = parent.map_or(self.fit.range.start, |parent| self.row(parent).own.start);
            // The block that the line is in ends before the next line of the search.
            let next = self.present(solid.line + 1..self.needle.lines.len()).next();
            let next = next.map_or(end, |line| self.row(line).own.start);
            let own = self.depth_at(start);
            let is_left = |line: &Line<'_>| depth(line.body) < own;
            let is_near =
                |line: &&Line<'_>| (from..start).contains(&line.start) || (end..next).contains(&line.start);
            if unnamed.iter().filter(is_near).any(is_left) {
                return Err(Refusal::Stale);
            }
        }
        Ok(())
    }

    /// Whether a line of the search beside lines that it does not name may as well be on their other side: they have
    /// it too, or it is one that is everywhere and no other line of the search is beside it.
    fn may_begin_elsewhere(&self, unnamed: &[Line<'_>]) -> bool {
        let present: Vec<_> = self.present(0..self.needle.lines.len()).collect();
        let between = |above: usize, below: usize| {
            let gap = self.row(above).own.end..self.row(below).own.start;
            let mut gap = unnamed.iter().filter(move |line| gap.contains(&line.start));
            gap.next().map(|first| (first.body, gap.next_back().unwrap_or(first).body))
        };
        let is_apart = |nth: usize| {
            let above =
                nth.checked_sub(1).is_none_or(|other| between(present[other], present[nth]).is_some());
            let below = present.get(nth + 1).is_none_or(|other| between(present[nth], *other).is_some());
            !tells(self.body(present[nth])) && above && below
        };
        (1..present.len()).any(|nth| {
            let (above, below) = (present[nth - 1], present[nth]);
            between(above, below).is_some_and(|(first, last)| {
                is_same(last, self.body(above))
                    || is_same(first, self.body(below))
                    || is_apart(nth - 1)
                    || is_apart(nth)
            })
        })
    }

    /// Whether a line is the first one with a letter except for a letter or two, as in another thing of the same kind.
    fn resembles_first(&self, body: &[u8]) -> bool {
        let first = self.needle.solid.iter().map(|solid| solid.body.trim_ascii()).find(|body| tells(body));
        distance(first.unwrap_or_default(), body.trim_ascii()) <= RESEMBLING
    }

    /// Whether the file has one of the lines that are there nowhere else.
    fn has_only_line(&self) -> bool {
        self.solid_there()
            .filter(|solid| tells(solid.body))
            .any(|solid| memmem::find_iter(self.text, solid.body.trim_ascii()).take(2).count() == 1)
    }

    /// Whether lines that the search does not name are right after its first line with a letter: the first line of
    /// one thing may be followed by the rest of another.
    fn leaves_first_line(&self) -> bool {
        let solid = &self.needle.solid;
        let first = solid.iter().position(|solid| tells(solid.body)).unwrap_or(0);
        let (Some(own), Some(next)) = (solid.get(first), solid.get(first + 1)) else { return false };
        let are_there = self.is_there(own.line) && self.is_there(next.line);
        are_there && self.only_blanks(own.line, next.line).is_none()
    }

    fn depth_at(&self, start: usize) -> usize {
        depth(body_at(self.text, start))
    }

    /// The hunks that the file has already.
    fn done(&self, steps: &[Step]) -> impl Iterator<Item = &Hunk> {
        self.hunks.iter().zip(steps).filter(|(_, step)| **step == Step::Done).map(|(hunk, _)| hunk)
    }

    /// The lines of the place, except blank ones, that the search does not name and no hunk has put there.
    fn unnamed(&self, steps: &[Step]) -> Vec<Line<'_>> {
        let done = self.done(steps).map(|hunk| {
            let [above, below] = self.present_beside(hunk);
            above.map_or(0, |line| self.row(line).own.end)..below.map_or(0, |line| self.row(line).own.start)
        });
        let named: Vec<_> = self.fit.rows.iter().map(|row| row.own.clone()).chain(done).collect();
        let Range { start, end } = self.fit.range;
        lines_from(self.text, start)
            .take_while(|line| line.start < end)
            .filter(|line| !line.is_blank() && !named.iter().any(|range| range.contains(&line.start)))
            .collect()
    }

    /// What is done otherwise than the replacement says.
    fn notes(&self, steps: &[Step]) -> Vec<Note> {
        let mut notes = Vec::new();
        let text = |body: &[u8]| String::from_utf8_lossy(body.trim_ascii()).into_owned();
        for Solid { line, body, .. } in &self.needle.solid {
            let row = self.row(*line);
            match row.stand {
                Stand::Differs if self.done(steps).any(|hunk| hunk.search.contains(line)) => {}
                Stand::Differs => {
                    let line = self.fit.line + count(self.text, self.fit.range.start..row.own.start) + 1;
                    notes.push(Note::Kept { line, text: text(body_at(self.text, row.own.start)) });
                }
                Stand::Missing if self.is_kept(*line) => notes.push(Note::NotWritten { text: text(body) }),
                Stand::Missing => notes.push(Note::Gone { text: text(body) }),
                Stand::Same | Stand::Joined { .. } => {}
            }
        }
        let there = self.done(steps).flat_map(|hunk| self.comes(hunk));
        notes.extend(there.map(|line| Note::There { text: text(line.body) }));
        notes
    }
}

/// Whether a line is a heading: of Markdown, of a section in brackets, or by what follows it.
pub(super) fn is_heading(above: Option<&[u8]>, body: &[u8], below: Option<&[u8]>) -> bool {
    let text = body.trim_ascii();
    let is_blank = |line: Option<&[u8]>| line.is_none_or(|line| line.trim_ascii().is_empty());
    let is_rule = |line: &[u8]| {
        let line = line.trim_ascii();
        line.len() >= 3 && [b'=', b'-', b'~'].iter().any(|mark| line.iter().all(|byte| byte == mark))
    };
    let hashes = text.iter().take_while(|byte| **byte == b'#').count();
    let is_title = text.get(hashes) == Some(&b' ');
    let is_markdown = match hashes {
        0 => false,
        // One is a comment in many languages.
        1 => is_title && is_blank(above) && is_blank(below),
        _ => is_title && hashes <= 6,
    };
    let is_wrapped = |open: &[u8], close: &[u8]| {
        text.len() > open.len() + close.len() && text.starts_with(open) && text.ends_with(close)
    };
    is_markdown
        || !text.is_empty() && !is_rule(text) && below.is_some_and(is_rule)
        || is_wrapped(b"[", b"]")
        || is_wrapped(b"**", b"**")
}

/// How many letters are to be put in, taken out or changed, as far as that is few.
fn distance(a: &[u8], b: &[u8]) -> usize {
    if a.len().abs_diff(b.len()) > RESEMBLING {
        return RESEMBLING + 1;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (nth, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = nth + 1;
        for (at, y) in b.iter().enumerate() {
            let changed = corner + usize::from(x != y);
            corner = row[at + 1];
            row[at + 1] = changed.min(corner + 1).min(row[at] + 1);
        }
    }
    row[b.len()]
}

/// Whether a line opens a block by how it ends.
fn ends_open(body: &[u8]) -> bool {
    let text = body.trim_ascii_end();
    text.ends_with(b":") || text.ends_with(b"{")
}
