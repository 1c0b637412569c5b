//! [`Parser`]: a model's answer to [`Edit`]s, while it arrives.

mod problem;
mod lines;
mod fence;
mod name;
mod detect;
mod marker;
mod search_replace;
mod hunk;
mod udiff;
mod apply_patch;
mod whole;
mod str_replace;
mod roo_args;

pub use problem::{Problem, ProblemKind, Repair, RepairKind};

use std::mem;

use self::detect::{Detector, Others};
use self::fence::Fence;
use self::lines::{Line, Lines};
pub(super) use self::marker::is_divider_like;
use super::{Edit, Format};

/// What an answer asks for, and what in it could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The format it was read as; none if it was looked for and nothing looks like an edit.
    pub format: Option<Format>,
    /// The edits, in the order in which they are in the answer.
    pub edits: Vec<Edit>,
    /// What looks like an edit but is not one.
    pub problems: Vec<Problem>,
}

impl Parsed {
    /// Adds an edit, or the problem that there is instead; whether it is an edit.
    fn add(&mut self, edit: Result<Edit, Problem>) -> bool {
        let is_edit = edit.is_ok();
        match edit {
            Ok(edit) => self.edits.push(edit),
            Err(problem) => self.problems.push(problem),
        }
        is_edit
    }
}

/// Reads a whole answer.
///
/// It is the streaming parser fed once, so the two cannot differ.
pub fn parse(format: Format, answer: &str) -> Parsed {
    let mut parser = Parser::new(format);
    parser.push(answer);
    parser.finish()
}

/// Reads an answer that comes in pieces.
///
/// What may still become a marker is held back: nothing that was shown is taken back, except for the edit that
/// is open when its block turns out to be none.
///
/// ```
/// use reknit::edit::{Action, Parser};
///
/// let mut parser = Parser::detect();
/// parser.push("src/lamp.rs\n```\n<<<<<<< SEARCH\nlet on = false;\n=====");
/// assert!(parser.open().is_none());
///
/// parser.push("==\nlet on = true;\n>>>>>>>");
/// let Action::Replace(replace) = &parser.open().unwrap().action else { panic!("it replaces") };
/// assert_eq!(replace.replacement, "let on = true;\n");
///
/// parser.push(" REPLACE\n```\n");
/// assert_eq!(parser.finish().edits[0].path.as_deref(), Some("src/lamp.rs"));
/// ```
#[derive(Clone, Debug)]
pub struct Parser {
    reader: Reader,
    parsed: Parsed,
    /// What is looked for besides, if the format was found, until there is some of it.
    others: Option<Others>,
}

#[derive(Clone, Debug)]
enum Reader {
    /// The format is not known yet.
    Detecting(Detector),
    /// A format that is read line by line.
    Lines(Lines, Box<LineReader>),
    /// The one that is not.
    StrReplace(str_replace::Reader),
}

/// The reader of a format, line by line.
#[derive(Clone, Debug)]
enum LineReader {
    SearchReplace(search_replace::Reader),
    UnifiedDiff(udiff::Reader),
    ApplyPatch(apply_patch::Reader),
    Whole(whole::Reader),
    RooArgs(roo_args::Reader),
}

/// The edit that is being written, with what of it is decided; in formats of lines that is whole lines.
#[derive(Clone, Copy, Debug)]
enum Open<'a> {
    /// Its search text is not over. That of a diff is known only when the hunk is over.
    Search,
    /// Its search text is known, its replacement or the content of its file grows.
    Replacement(&'a Edit),
}

impl Parser {
    /// A parser of one format.
    pub fn new(format: Format) -> Self {
        let parsed = Parsed { format: Some(format), ..Parsed::default() };
        Self { reader: Reader::new(format), parsed, others: None }
    }

    /// A parser that finds the format by looking at the answer. Edits in another one are not read, but reported.
    ///
    /// Whole files are found when the answer is over, because a named fence may be an example before edits.
    pub fn detect() -> Self {
        Self { reader: Reader::Detecting(Detector::default()), parsed: Parsed::default(), others: None }
    }

    /// Takes the next piece.
    pub fn push(&mut self, piece: &str) {
        match &mut self.reader {
            Reader::Detecting(detector) => {
                if let Some(format) = detector.push(piece) {
                    self.found(format);
                }
            }
            Reader::Lines(lines, reader) => {
                lines.push(piece, |line| reader.watched_line(line, &mut self.parsed, &mut self.others));
            }
            Reader::StrReplace(reader) => reader.push(piece, &mut self.parsed),
        }
    }

    /// The edits that are whole.
    pub fn edits(&self) -> &[Edit] {
        &self.parsed.edits
    }

    /// The edit that is being written, once its search text is known: its replacement, or the content of its file,
    /// grows. The search text of a diff is known only when the hunk is over.
    pub fn open(&self) -> Option<&Edit> {
        let open = match &self.reader {
            Reader::Detecting(_) => None,
            Reader::Lines(_, reader) => reader.open(),
            Reader::StrReplace(reader) => reader.open(),
        };
        match open? {
            Open::Search => None,
            Open::Replacement(edit) => Some(edit),
        }
    }

    /// Ends the answer and gives what it asks for.
    pub fn finish(mut self) -> Parsed {
        if let Reader::Detecting(detector) = &mut self.reader
            && let Some(format) = detector.finish()
        {
            self.found(format);
        }
        match &mut self.reader {
            Reader::Detecting(_) => {}
            Reader::Lines(lines, reader) => {
                lines.finish(|line| reader.watched_line(line, &mut self.parsed, &mut self.others));
                reader.finish(&mut self.parsed);
            }
            Reader::StrReplace(reader) => reader.finish(&mut self.parsed),
        }
        self.parsed
    }

    /// Reads all that came in the format that was found.
    fn found(&mut self, format: Format) {
        self.parsed.format = Some(format);
        self.others = Some(Others::new(format));
        let detecting = mem::replace(&mut self.reader, Reader::new(format));
        if let Reader::Detecting(detector) = detecting {
            self.push(&detector.into_answer());
        }
    }
}

impl Reader {
    fn new(format: Format) -> Self {
        let reader = match format {
            Format::SearchReplace => LineReader::SearchReplace(search_replace::Reader::default()),
            Format::UnifiedDiff => LineReader::UnifiedDiff(udiff::Reader::default()),
            Format::ApplyPatch => LineReader::ApplyPatch(apply_patch::Reader::default()),
            Format::Whole => LineReader::Whole(whole::Reader::default()),
            Format::RooArgs => LineReader::RooArgs(roo_args::Reader::default()),
            Format::StrReplace => return Self::StrReplace(str_replace::Reader::default()),
        };
        Self::Lines(Lines::default(), Box::new(reader))
    }
}

impl LineReader {
    fn open(&self) -> Option<Open<'_>> {
        match self {
            Self::SearchReplace(reader) => reader.open(),
            Self::UnifiedDiff(reader) => reader.open(),
            Self::ApplyPatch(reader) => reader.open(),
            Self::Whole(reader) => reader.open(),
            Self::RooArgs(reader) => reader.open(),
        }
    }

    /// Takes a line, and reports one that is part of no edit but begins one in another format.
    fn watched_line(&mut self, line: Line<'_>, parsed: &mut Parsed, others: &mut Option<Others>) {
        let is_open = self.open().is_some();
        let counts = (parsed.edits.len(), parsed.problems.len());
        self.line(line, parsed);
        // The fence after an edit may be what ended it.
        let is_prose = !is_open && counts == (parsed.edits.len(), parsed.problems.len());
        if self.open().is_none()
            && (is_prose || Fence::read(line.text).is_some())
            && others.as_mut().is_some_and(|others| others.line(line))
        {
            parsed.problems.push(Problem::at(ProblemKind::OtherFormat, line));
            // It is reported once.
            *others = None;
        }
    }

    fn line(&mut self, line: Line<'_>, parsed: &mut Parsed) {
        match self {
            Self::SearchReplace(reader) => reader.line(line, parsed),
            Self::UnifiedDiff(reader) => reader.line(line, parsed),
            Self::ApplyPatch(reader) => reader.line(line, parsed),
            Self::Whole(reader) => reader.line(line, parsed),
            Self::RooArgs(reader) => reader.line(line, parsed),
        }
    }

    fn finish(&mut self, parsed: &mut Parsed) {
        match self {
            Self::SearchReplace(reader) => reader.finish(parsed),
            Self::UnifiedDiff(reader) => reader.finish(parsed),
            Self::ApplyPatch(reader) => reader.finish(parsed),
            Self::Whole(reader) => reader.finish(parsed),
            Self::RooArgs(reader) => reader.finish(parsed),
        }
    }
}
