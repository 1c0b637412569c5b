//! [`Preview`]: the new content of a file while the edits are still being written.

mod screen;

use std::mem;
use std::ops::Range;

use memchr::memrchr;

use self::screen::Screen;
use super::compose::{line_end, write_lines};
use super::lines::{lines, without_line_end};
use super::locate::{Claim, literal};
use super::needle::Needle;
use super::running::{Ground, Site};
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
        let stage = Stage { target, done: 0, writing: Writing::Nothing, screen: Screen::new(original) };
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
    writing: Writing,
    screen: Screen<'a>,
}

/// The edit that is being written.
#[derive(Clone, Debug)]
enum Writing {
    /// None, or its search text is not over.
    Nothing,
    /// It has a place that cannot be shown, or gets one if others have its search text too.
    Hidden(Shape),
    /// It has one that is shown.
    Placed(Box<Placed>),
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
    shape: Shape,
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

impl Writing {
    fn shape(&self) -> Option<Shape> {
        match self {
            Self::Nothing => None,
            Self::Hidden(shape) => Some(*shape),
            Self::Placed(placed) => Some(placed.shape),
        }
    }
}

impl Stage<'_> {
    /// Shows what has come of the edit that is being written.
    fn follow(&mut self, edit: &Edit, changes: &mut Vec<Change>) {
        if self.writing.shape() != Some(Shape::of(edit)) {
            self.take_back(changes);
            self.writing = self.place(edit, changes);
            if let Writing::Placed(placed) = &self.writing {
                let bom = self.target.bom;
                self.screen.open(placed.range.start + bom..placed.range.end + bom, changes);
            }
        }
        if let Writing::Placed(placed) = &mut self.writing {
            let replacement = match &edit.action {
                Action::Write { content } => content,
                _ => &edit.readings()[0].replacement,
            };
            placed.write_lines(replacement);
            self.screen.grow(placed.certain(), changes);
        }
    }

    /// Finds where the edit that is being written goes. Only its search text counts: what comes of it may not
    /// depend on how much of the replacement came with it.
    fn place(&mut self, edit: &Edit, changes: &mut Vec<Change>) -> Writing {
        let shape = Shape::of(edit);
        let hidden = Writing::Hidden(shape);
        if let Action::Write { .. } = edit.action {
            let end = self.target.uniform_line_end();
            let running = &self.target.running;
            let (reported, range) = ((How::Exact, running.all_lines()), 0..running.original.len());
            return self.report(Placed::new(shape, reported, range, end), changes);
        }
        // What is not there as it is depends on the replacement, and several readings on all of it.
        let [replace] = edit.readings() else { return hidden };
        self.target.running.expect(&Needle::new(&replace.search), &Needle::new(""));
        let site = literal(&mut self.target.running, replace);
        let placed = site.and_then(|site| self.begin(&site, shape));
        placed.map_or(hidden, |placed| self.report(placed, changes))
    }

    /// Tells the place of the edit that is being written, unless it lies before what is shown.
    fn report(&self, placed: Placed, changes: &mut Vec<Change>) -> Writing {
        if placed.range.start + self.target.bom < self.screen.up_to {
            return Writing::Hidden(placed.shape);
        }
        let (how, lines) = placed.reported;
        changes.push(Change::Placed { edit: self.done, how, lines });
        Writing::Placed(Box::new(placed))
    }

    /// Begins to write at the place of an edit, if it is in untouched text whose lines all end alike.
    fn begin(&self, site: &Site, shape: Shape) -> Option<Placed> {
        if site.ground != Ground::Untouched {
            return None;
        }
        let text = self.target.running.original;
        let range = site.fit.range.clone();
        let end = line_end(text, range.start);
        let end_alike = lines(&text[range.clone()]).all(|line| line.end == end || line.end.is_empty());
        let reported = (site.fit.how, self.target.running.lines(site));
        end_alike.then(|| Placed::new(shape, reported, range, Some(end)))
    }

    /// Takes back what was reported and shown of the edit that is being written.
    fn take_back(&mut self, changes: &mut Vec<Change>) {
        self.screen.retract();
        match mem::replace(&mut self.writing, Writing::Nothing) {
            Writing::Nothing | Writing::Hidden(_) => {}
            Writing::Placed(_) => {
                changes.push(Change::Restarted { edit: self.done, length: self.screen.bytes.len() });
            }
        }
    }

    /// Does an edit that is whole, and shows what is not shown of it.
    fn complete(&mut self, edit: &Edit, changes: &mut Vec<Change>) {
        for replace in edit.readings() {
            let (search, replacement) = (Needle::new(&replace.search), Needle::new(&replace.replacement));
            self.target.running.expect(&search, &replacement);
        }
        // What was being written may have turned out not to be an edit.
        if self.writing.shape().is_some_and(|shape| shape.at != edit.at.start) {
            self.take_back(changes);
        }
        let index = self.done;
        match self.target.act(index, edit, &mut Claim::Open { edits: 1 }) {
            Ok(found) => self.show(&found, changes),
            Err(rejection) => {
                if let Writing::Placed(_) = self.writing {
                    self.take_back(changes);
                }
                // One that fits several places may get its own together with others.
                if !self.target.may_share(edit.readings(), &rejection) {
                    changes.push(Change::Rejected { edit: index, rejection });
                }
            }
        }
        self.writing = Writing::Nothing;
        self.done += 1;
    }

    /// Shows what an edit does that is whole.
    fn show(&mut self, found: &Match, changes: &mut Vec<Change>) {
        let [lines, ..] = *found.lines else { return };
        let (bom, index) = (self.target.bom, self.done);
        if let Writing::Placed(placed) = &self.writing {
            let running = &self.target.running;
            let goes_on = running
                .patches_by(index)
                .all(|(range, text)| self.screen.goes_on_with(range.end + bom, text));
            if found.inside.is_some() || !goes_on || placed.reported != (found.how, lines) {
                self.take_back(changes);
            }
        }
        if !matches!(self.writing, Writing::Placed(_)) {
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
    fn new(shape: Shape, reported: (How, Lines), range: Range<usize>, end: Option<&'static [u8]>) -> Self {
        Self { shape, reported, range, end, out: Vec::new(), written: 0, looked_at: 0 }
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
