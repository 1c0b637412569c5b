//! [`Preview`]: the new content of a file while the edits are still being written.

use std::ops::Range;

use memchr::memrchr;

use super::compose::{Composer, line_end, spelled};
use super::lines::{Line, lines, without_line_end};
use super::locate::{Claim, Found};
use super::needle::Needle;
use super::running::Ground;
use super::target::Target;
use super::{
    Action, Edit, How, Lines, Open, Original, Parsed, Parser, Plan, Policy, Reason, Rejection, Replace, Scope,
};

/// Shows a file's new content while the answer arrives.
///
/// What is shown is the original up to the last place that is known, with the replacements so far; the rest
/// of the file is not. An edit that lies before an earlier one shows only in the plan. All edits are taken to
/// be for this file.
///
/// ```
/// use reknit::edit::{Parser, Policy, Preview};
///
/// let mut preview = Preview::new(Parser::detect(), b"one\ntwo\nthree\n", Policy::default());
/// preview.push("<<<<<<< SEARCH\ntwo\n=======\nTWO\nand a ha");
/// assert_eq!(preview.shown(), b"one\nTWO");
/// preview.push("lf\n>>>>>>> REPLACE\n");
/// assert_eq!(preview.shown(), b"one\nTWO\nand a half\n");
/// ```
#[derive(Clone, Debug)]
pub struct Preview<'a> {
    parser: Parser,
    original: &'a [u8],
    policy: Policy,
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
    /// An edit has no place.
    Rejected {
        /// The index of the edit.
        edit: usize,
        /// Why.
        rejection: Box<Rejection>,
    },
    /// More is shown: these bytes of [`Preview::shown`] are new.
    Grew(Range<usize>),
    /// What was shown of an edit is not what it means, and was taken back.
    Restarted,
}

impl<'a> Preview<'a> {
    /// A preview of one file.
    pub fn new(parser: Parser, original: &'a [u8], policy: Policy) -> Self {
        let target = Target::new(Some(original), policy);
        let screen = Screen { bytes: Vec::new(), original, up_to: 0, before: None };
        let stage = Stage { target, done: 0, writing: Writing::Nothing, screen };
        Self { parser, original, policy, stage }
    }

    /// Takes the next piece of the answer.
    pub fn push(&mut self, piece: &str) -> Vec<Change> {
        self.parser.push(piece);
        let mut changes = Vec::new();
        for edit in &self.parser.edits()[self.stage.done..] {
            self.stage.complete(edit, &mut changes);
        }
        match self.parser.open() {
            Some(Open::Replacement(edit)) => self.stage.follow(edit, &mut changes),
            Some(Open::Search(_)) | None => self.stage.abandon(&mut changes),
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
        let original = Original { path: "", content: self.original };
        let plan = super::plan(&parsed.edits, &[original], self.policy);
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
    /// It has no place that can be shown.
    Hidden(Shape),
    /// It has one.
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
    /// Which reading fits.
    reading: usize,
    /// Where it goes, without the mark at the beginning of the file.
    range: Range<usize>,
    writer: Writer,
    /// How much of the replacement was written, and how much was looked at for the end of a line.
    written: usize,
    looked_at: usize,
}

/// How the lines of a replacement become bytes.
#[derive(Clone, Debug)]
enum Writer {
    Composed(Box<Composer>),
    /// With this line end, or as they are.
    Plain {
        end: Option<&'static [u8]>,
        out: Vec<u8>,
    },
}

impl Stage<'_> {
    /// Shows what has come of the edit that is being written.
    fn follow(&mut self, edit: &Edit, changes: &mut Vec<Change>) {
        let known = match &self.writing {
            Writing::Nothing => None,
            Writing::Hidden(shape) => Some(*shape),
            Writing::Placed(placed) => Some(placed.shape),
        };
        if known != Some(Shape::of(edit)) {
            self.screen.retract(changes);
            self.writing = self.place(edit, changes);
            if let Writing::Placed(placed) = &self.writing {
                let bom = self.target.bom;
                self.screen.open(placed.range.start + bom..placed.range.end + bom, changes);
            }
        }
        if let Writing::Placed(placed) = &mut self.writing {
            let replacement = match &edit.action {
                Action::Write { content } => content,
                _ => &edit.readings()[placed.reading].replacement,
            };
            placed.write_lines(replacement);
            self.screen.grow(placed.sure(), changes);
        }
    }

    /// Finds where the edit that is being written goes. Only its search text counts: what comes of it may not
    /// depend on how much of the replacement came with it.
    fn place(&mut self, edit: &Edit, changes: &mut Vec<Change>) -> Writing {
        let shape = Shape::of(edit);
        let hidden = Writing::Hidden(shape);
        if let Action::Write { .. } = edit.action {
            let writer = Writer::Plain { end: self.target.uniform_line_end(), out: Vec::new() };
            let placed = Placed::new(shape, 0, 0..self.target.running.original.len(), writer);
            return if self.screen.up_to == 0 { Writing::Placed(Box::new(placed)) } else { hidden };
        }
        let mut fitting = Vec::new();
        for (reading, replace) in edit.readings().iter().enumerate() {
            let search = Replace { replacement: String::new(), ..replace.clone() };
            self.target.running.expect(&Needle::new(&search.search), &Needle::new(""));
            if let Ok(found) = self.target.locate(&search) {
                fitting.push((found.how, self.begin(&found, replace, reading, shape)));
            }
        }
        let Some((how, Some(placed))) = fitting.pop().filter(|_| fitting.is_empty()) else { return hidden };
        if placed.range.start + self.target.bom < self.screen.up_to {
            return hidden;
        }
        let lines = self.target.running.lines_at(&placed.range);
        changes.push(Change::Placed { edit: self.done, how, lines });
        Writing::Placed(Box::new(placed))
    }

    /// Begins to write at the place of an edit, if it is one place in untouched text.
    fn begin(&self, found: &Found<'_>, replace: &Replace, reading: usize, shape: Shape) -> Option<Placed> {
        let [part] = &*found.parts else { return None };
        let [site] = &*part.sites else { return None };
        if site.ground != Ground::Untouched {
            return None;
        }
        let text = self.target.running.original;
        let range = site.fit.range.clone();
        let writer = match part.scope {
            Scope::Lines => {
                let composer = Composer::new(text, &Needle::new(&part.search), &site.fit, replace.end);
                Writer::Composed(Box::new(composer))
            }
            Scope::Within => Writer::Plain { end: Some(line_end(text, range.start)), out: Vec::new() },
        };
        Some(Placed::new(shape, reading, range, writer))
    }

    /// Takes back what is shown of an edit that turned out to be none.
    fn abandon(&mut self, changes: &mut Vec<Change>) {
        self.writing = Writing::Nothing;
        self.screen.retract(changes);
    }

    /// Does an edit that is whole, and shows what is not shown of it.
    fn complete(&mut self, edit: &Edit, changes: &mut Vec<Change>) {
        for replace in edit.readings() {
            let (search, replacement) = (Needle::new(&replace.search), Needle::new(&replace.replacement));
            self.target.running.expect(&search, &replacement);
        }
        let index = self.done;
        let outcome = self.target.act(index, edit, &mut Claim::Open { edits: 1 });
        let was_placed = matches!(self.writing, Writing::Placed(_));
        self.done += 1;
        self.writing = Writing::Nothing;
        let found = match outcome {
            Ok(found) => found,
            Err(rejection) => {
                self.screen.retract(changes);
                // Whether an ambiguous edit stays so depends on how many more have its search text.
                if !matches!(rejection.reason, Reason::Ambiguous { .. }) {
                    changes.push(Change::Rejected { edit: index, rejection });
                }
                return;
            }
        };
        if let (false, [lines, ..]) = (was_placed, &*found.lines) {
            changes.push(Change::Placed { edit: index, how: found.how, lines: *lines });
        }
        if found.inside.is_none() {
            let bom = self.target.bom;
            for (range, text) in self.target.running.patches_by(index) {
                self.screen.show(range.start + bom..range.end + bom, text, changes);
            }
        }
        self.screen.retract(changes);
    }
}

impl Placed {
    fn new(shape: Shape, reading: usize, range: Range<usize>, writer: Writer) -> Self {
        Self { shape, reading, range, writer, written: 0, looked_at: 0 }
    }

    /// Writes the lines of the replacement that are whole and new.
    fn write_lines(&mut self, replacement: &str) {
        let replacement = replacement.as_bytes();
        let last = memrchr(b'\n', &replacement[self.looked_at..]).map(|at| self.looked_at + at + 1);
        self.looked_at = replacement.len();
        if let Some(end) = last {
            lines(&replacement[self.written..end]).for_each(|line| self.writer.line(line));
            self.written = end;
        }
    }

    /// What was written but for the last line end, which a file that has none at its end does not get.
    fn sure(&self) -> &[u8] {
        let written = match &self.writer {
            Writer::Composed(composer) => composer.written(),
            Writer::Plain { out, .. } => out,
        };
        without_line_end(written)
    }
}

impl Writer {
    fn line(&mut self, line: Line<'_>) {
        match self {
            Self::Composed(composer) => composer.line(line),
            Self::Plain { end, out } => {
                out.extend_from_slice(line.body);
                out.extend_from_slice(end.map_or(line.end, |end| spelled(line.end, end)));
            }
        }
    }
}

/// What is shown.
#[derive(Clone, Debug)]
struct Screen<'a> {
    bytes: Vec<u8>,
    original: &'a [u8],
    /// The byte of the original up to which it shows.
    up_to: usize,
    /// What it was before the edit that is shown while it is written.
    before: Option<Before>,
}

/// The screen before an edit.
#[derive(Clone, Copy, Debug)]
struct Before {
    length: usize,
    up_to: usize,
    /// Where the replacement begins.
    replacement: usize,
}

impl Screen<'_> {
    /// Shows the original up to a place, at which a replacement will grow.
    fn open(&mut self, range: Range<usize>, changes: &mut Vec<Change>) {
        let (length, up_to) = (self.bytes.len(), self.up_to);
        self.bytes.extend_from_slice(&self.original[up_to..range.start]);
        self.up_to = range.end;
        self.before = Some(Before { length, up_to, replacement: self.bytes.len() });
        self.grew(length, changes);
    }

    /// Shows more of the replacement that grows: all of it as it is now.
    fn grow(&mut self, replacement: &[u8], changes: &mut Vec<Change>) {
        let Some(before) = self.before else { return };
        let length = self.bytes.len();
        self.bytes.extend_from_slice(&replacement[length - before.replacement..]);
        self.grew(length, changes);
    }

    /// Shows what stands at a place from now on, unless it lies before what is shown.
    fn show(&mut self, range: Range<usize>, replacement: &[u8], changes: &mut Vec<Change>) {
        if let Some(before) = self.before {
            if self.up_to == range.end && replacement.starts_with(&self.bytes[before.replacement..]) {
                self.grow(replacement, changes);
                self.before = None;
                return;
            }
            self.retract(changes);
        }
        if range.start >= self.up_to {
            self.open(range, changes);
            self.grow(replacement, changes);
            self.before = None;
        }
    }

    /// Takes back what is shown of an edit that is not over.
    fn retract(&mut self, changes: &mut Vec<Change>) {
        if let Some(before) = self.before.take() {
            self.bytes.truncate(before.length);
            self.up_to = before.up_to;
            changes.push(Change::Restarted);
        }
    }

    fn grew(&self, from: usize, changes: &mut Vec<Change>) {
        if self.bytes.len() > from {
            changes.push(Change::Grew(from..self.bytes.len()));
        }
    }
}
