//! [`Preview`]: the new content of a file while the edits are still being written.

mod screen;

use std::ops::Range;

use memchr::memrchr;

use self::screen::Screen;
use super::compose::{line_end, write_lines};
use super::lines::{lines, without_line_end};
use super::locate::{Claim, literal};
use super::needle::Needle;
use super::running::Ground;
use super::target::Target;
use super::{Action, Edit, How, Lines, Match, Parsed, Parser, Plan, Rejection};

/// Shows a file's new content while the answer arrives.
///
/// What is shown is the original up to the last place that is known, with the replacements so far; the rest
/// of the file is not. An edit that lies before an earlier one shows only in the plan. All edits are taken to
/// be for this file.
///
/// ```
/// use reknit::edit::{How, Parser, Preview};
///
/// let mut preview = Preview::new(Parser::detect(), b"one\ntwo\nthree\n", How::Context);
/// preview.push("<<<<<<< SEARCH\ntwo\n=======\nTWO\nand a ha");
/// assert_eq!(preview.shown(), b"one\nTWO");
/// preview.push("lf\n>>>>>>> REPLACE\n");
/// assert_eq!(preview.shown(), b"one\nTWO\nand a half\n");
/// ```
#[derive(Clone, Debug)]
pub struct Preview<'a> {
    parser: Parser,
    original: &'a [u8],
    loosest: How,
    stage: Stage<'a>,
}

/// What a piece of the answer changed in what is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// An edit has its place.
    Placed {
        /// The index of the edit.
        edit: usize,
        /// The rung of the ladder that held.
        how: How,
        /// The lines of the file as it was.
        lines: Lines,
    },
    /// An edit that is whole has no place.
    Rejected {
        /// The index of the edit.
        edit: usize,
        /// Why.
        rejection: Box<Rejection>,
    },
    /// More is shown: these bytes of [`Preview::shown`] are new.
    Grew(Range<usize>),
    /// What was reported and shown of the edit that is being written is not what it means, and is taken back.
    Restarted {
        /// The index of the edit.
        edit: usize,
        /// How many bytes are still shown.
        length: usize,
    },
}

impl<'a> Preview<'a> {
    /// A preview of one file. Places may differ from search texts by what `loosest` allows.
    pub fn new(parser: Parser, original: &'a [u8], loosest: How) -> Self {
        let target = Target::new(Some(original), loosest);
        let stage = Stage { target, done: 0, writing: None, screen: Screen::new(original) };
        Self { parser, original, loosest, stage }
    }

    /// Takes the next piece of the answer.
    pub fn push(&mut self, piece: &str) -> Vec<Change> {
        self.parser.push(piece);
        let mut changes = Vec::new();
        for edit in &self.parser.edits()[self.stage.done..] {
            self.stage.complete(edit, &mut changes);
        }
        match self.parser.open() {
            Some(edit) => self.stage.follow(edit, &mut changes),
            None => self.stage.take_back(&mut changes),
        }
        changes
    }

    /// What is shown.
    pub fn shown(&self) -> &[u8] {
        &self.stage.screen.bytes
    }

    /// Ends the answer: what it asks for, and the plan as if it had come at once.
    pub fn finish(self) -> (Parsed, Plan) {
        let mut parsed = self.parser.finish();
        for edit in &mut parsed.edits {
            edit.path = None;
        }
        let plan = super::plan(&parsed.edits, &[("", self.original)], self.loosest);
        (parsed, plan)
    }
}

/// The file, and what is shown of it.
#[derive(Clone, Debug)]
struct Stage<'a> {
    target: Target<'a>,
    /// How many edits are done.
    done: usize,
    writing: Option<Writing>,
    screen: Screen<'a>,
}

/// The edit that is being written, once its search text is over.
#[derive(Clone, Debug)]
struct Writing {
    shape: Shape,
    /// Its place, if that is shown: it may have one that cannot be, or get one if others have its search text too.
    placed: Option<Placed>,
}

/// What an edit that is being written is known by: while it stays the same, so does the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    /// The byte of the answer at which it begins.
    at: usize,
    /// How many ways there are to read it.
    readings: usize,
}

impl Shape {
    fn of(edit: &Edit) -> Self {
        Self { at: edit.at.start, readings: edit.readings().len() }
    }
}

/// An edit whose replacement is shown while it grows.
#[derive(Clone, Debug)]
struct Placed {
    /// What was reported of its place.
    reported: (How, Lines),
    /// Where it goes, without the mark at the beginning of the file.
    range: Range<usize>,
    /// The line end of the place; none if lines are written as they are.
    end: Option<&'static [u8]>,
    out: Vec<u8>,
    /// How much of the replacement was written, and how much was looked at for the end of a line.
    written: usize,
    looked_at: usize,
}

impl Stage<'_> {
    /// Shows what has come of the edit that is being written.
    fn follow(&mut self, edit: &Edit, changes: &mut Vec<Change>) {
        let (shape, bom) = (Shape::of(edit), self.target.bom);
        if self.writing.as_ref().is_none_or(|writing| writing.shape != shape) {
            self.take_back(changes);
            // What lies before what is shown is not shown.
            let placed = self.place(edit).filter(|placed| placed.range.start + bom >= self.screen.up_to);
            if let Some(Placed { reported: (how, lines), range, .. }) = &placed {
                changes.push(Change::Placed { edit: self.done, how: *how, lines: *lines });
                self.screen.open(range.start + bom..range.end + bom, changes);
            }
            self.writing = Some(Writing { shape, placed });
        }
        if let Some(Writing { placed: Some(placed), .. }) = &mut self.writing {
            let replacement = match &edit.action {
                Action::Write { content } => content,
                _ => &edit.readings()[0].replacement,
            };
            placed.write_lines(replacement);
            self.screen.grow(placed.certain(), changes);
        }
    }

    /// Finds where the edit that is being written goes, if that is untouched text whose lines all end alike. Only its
    /// search text counts: what comes of it may not depend on how much of the replacement came with it.
    fn place(&mut self, edit: &Edit) -> Option<Placed> {
        if let Action::Write { .. } = edit.action {
            let end = self.target.uniform_line_end();
            let running = &self.target.running;
            let reported = (How::Exact, running.all_lines());
            return Some(Placed::new(reported, 0..running.original.len(), end));
        }
        // What is not there as it is depends on the replacement, and several readings on all of it.
        let [replace] = edit.readings() else { return None };
        let running = &mut self.target.running;
        running.expect(&Needle::new(&replace.search), &Needle::new(""));
        let site = literal(running, replace).filter(|site| site.ground == Ground::Untouched)?;
        let reported = (site.fit.how, running.lines(&site));
        let (text, range) = (running.original, site.fit.range);
        let end = line_end(text, range.start);
        let end_alike = lines(&text[range.clone()]).all(|line| line.end == end || line.end.is_empty());
        end_alike.then(|| Placed::new(reported, range, Some(end)))
    }

    /// Takes back what was reported and shown of the edit that is being written.
    fn take_back(&mut self, changes: &mut Vec<Change>) {
        self.screen.retract();
        if self.writing.take().is_some_and(|writing| writing.placed.is_some()) {
            changes.push(Change::Restarted { edit: self.done, length: self.screen.bytes.len() });
        }
    }

    /// Does an edit that is whole, and shows what is not shown of it.
    fn complete(&mut self, edit: &Edit, changes: &mut Vec<Change>) {
        self.target.expect(edit);
        // What was being written may have turned out not to be an edit.
        if self.writing.as_ref().is_some_and(|writing| writing.shape.at != edit.at.start) {
            self.take_back(changes);
        }
        let index = self.done;
        match self.target.act(index, edit, &mut Claim::Open { edits: 1 }) {
            Ok(found) => self.show(&found, changes),
            Err(rejection) => {
                self.take_back(changes);
                // One that fits several places may get its own together with others.
                if !self.target.may_share(edit.readings(), &rejection) {
                    changes.push(Change::Rejected { edit: index, rejection });
                }
            }
        }
        self.writing = None;
        self.done += 1;
    }

    /// Shows what an edit does that is whole.
    fn show(&mut self, found: &Match, changes: &mut Vec<Change>) {
        let [lines, ..] = *found.lines else { return };
        let (bom, index) = (self.target.bom, self.done);
        if let Some(Writing { placed: Some(placed), .. }) = &self.writing {
            let running = &self.target.running;
            let goes_on = running
                .patches_by(index)
                .all(|(range, text)| self.screen.goes_on_with(range.end + bom, text));
            if found.inside.is_some() || !goes_on || placed.reported != (found.how, lines) {
                self.take_back(changes);
            }
        }
        if !matches!(self.writing, Some(Writing { placed: Some(_), .. })) {
            changes.push(Change::Placed { edit: index, how: found.how, lines });
        }
        if found.inside.is_none() {
            for (range, text) in self.target.running.patches_by(index) {
                self.screen.show(range.start + bom..range.end + bom, text, changes);
            }
        }
    }
}

impl Placed {
    fn new(reported: (How, Lines), range: Range<usize>, end: Option<&'static [u8]>) -> Self {
        Self { reported, range, end, out: Vec::new(), written: 0, looked_at: 0 }
    }

    /// Writes the lines of the replacement that are whole and new.
    fn write_lines(&mut self, replacement: &str) {
        let last = memrchr(b'\n', &replacement.as_bytes()[self.looked_at..]);
        if let Some(last) = last.map(|at| self.looked_at + at + 1) {
            write_lines(&mut self.out, &replacement[self.written..last], self.end);
            self.written = last;
        }
        self.looked_at = replacement.len();
    }

    /// What was written, except for the last line end: a file that has none at its end does not get one.
    fn certain(&self) -> &[u8] {
        without_line_end(&self.out)
    }
}
