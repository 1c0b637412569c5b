//! A model's edits to files: found in its answer, placed exactly, or refused with the reason.
//!
//! Two steps on plain data, and the caller writes: an answer is read to [`Edit`]s, and those are placed in
//! the files' contents, which gives a [`Plan`]: ranges and what replaces them. Bytes outside the
//! ranges are never touched, two possible places are never a choice, and every outcome says why.
//!
//! ```
//! use reknit::edit::{Format, How, parse, plan};
//!
//! let answer = "<<<<<<< SEARCH\nlet a = 1;\n=======\nlet a = 2;\n>>>>>>> REPLACE\n";
//! let file = "fn main() {\r\n    let a = 1;\r\n}\r\n";
//!
//! let parsed = parse(Format::SearchReplace, answer);
//! let plan = plan(&parsed.edits, &[("", file.as_bytes())], How::Context);
//! assert_eq!(plan.files[0].content(file.as_bytes()), b"fn main() {\r\n    let a = 2;\r\n}\r\n");
//! ```

mod format;
mod parser;
mod ladder;
mod rejection;
mod outcome;
mod json_form;
mod lines;
mod indentation;
mod tokens;
mod needle;
mod words;
mod index;
mod place;
mod near;
mod pairing;
mod placeholder;
mod rule;
mod compose;
mod running;
mod hint;
mod closest;
mod missing;
mod elision;
mod within;
mod locate;
mod target;
mod plan;
mod file_report;
mod preview;

pub use file_report::{Content, FileReport};
pub use format::Format;
pub use ladder::How;
pub use outcome::{Match, Note, Outcome};
pub use parser::{Parsed, Parser, Problem, ProblemKind, Repair, RepairKind, parse};
pub use plan::{FileAction, FilePlan, Plan, Report, Splice, plan};
pub use preview::{Change, Preview};
pub use rejection::{Closest, Reason, Rejection};

use std::fmt;
use std::ops::Range;

use serde::Serialize;

/// One thing that a model asks of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The file, as the answer names it; none if the answer does not.
    pub path: Option<String>,
    /// What is asked.
    pub action: Action,
    /// The line of the answer where it begins, counted from 1.
    pub line: usize,
    /// The bytes of the answer that it was read from, markers included.
    pub at: Range<usize>,
    /// What was put right in how it is written.
    pub repairs: Vec<Repair>,
}

impl Edit {
    /// The ways in which its search and replacement can be read; none if it is for the whole file.
    fn readings(&self) -> &[Replace] {
        match &self.action {
            Action::Replace(replace) => std::slice::from_ref(replace),
            Action::Undecided(readings) => readings,
            Action::Write { .. } | Action::Delete | Action::Move { .. } => &[],
        }
    }

    fn readings_mut(&mut self) -> &mut [Replace] {
        match &mut self.action {
            Action::Replace(replace) => std::slice::from_mut(replace),
            Action::Undecided(readings) => readings,
            Action::Write { .. } | Action::Delete | Action::Move { .. } => &mut [],
        }
    }

    /// Reports what was put right at a line of the answer.
    fn repaired(&mut self, kind: RepairKind, line: usize) {
        self.repairs.push(Repair { kind, line });
    }

    /// Its search and replacement, if there is one way to read them.
    fn replace(&self) -> Option<&Replace> {
        match &self.action {
            Action::Replace(replace) => Some(replace),
            _ => None,
        }
    }
}

/// What an [`Edit`] asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A place of the file gets another text.
    Replace(Replace),
    /// The same, but it can be read in two ways or more; the one whose search text the file has is meant.
    Undecided(Vec<Replace>),
    /// The file has this content from now on, whether it existed or not.
    Write {
        /// The whole content.
        content: String,
    },
    /// The file is removed.
    Delete,
    /// The file gets another name; edits of its content come before this one.
    Move {
        /// The new path.
        to: String,
    },
}

/// A search text and what replaces it. Start from the default to make one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replace {
    /// What the file is searched for. With [`Scope::Lines`] every line has its line end, also the last.
    pub search: String,
    /// What replaces it, in the same form.
    pub replacement: String,
    /// Whether whole lines are meant, and whether one place or every one.
    pub scope: Scope,
    /// The line at which the place is said to begin, counted from 1, in the file as it was.
    pub hint: Option<usize>,
    /// Lines that are somewhere before the place, the outermost first (`@@ class Basket` of a patch).
    pub below: Vec<String>,
    /// What the edit says of the file's end.
    pub end: FileEnd,
    /// The line of the answer with a second divider that this reading leaves out.
    doubled: Option<usize>,
    /// Whether the last line of the replacement looks like a divider that was left over.
    stray: bool,
}

impl Replace {
    /// Whether the replacement has more lines like a divider than the search.
    fn adds_divider(&self) -> bool {
        let dividers = |text: &str| text.lines().filter(|line| parser::is_divider_like(line)).count();
        dividers(&self.replacement) > dividers(&self.search)
    }

    fn is_repaired(&self) -> bool {
        self.doubled.is_some()
    }
}

/// What a search text is compared with, and how many places an edit is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Whole lines, in one place; two are an error.
    #[default]
    Lines,
    /// Any stretch of text, within a line or over several, in one place.
    Within,
    /// The same, in every place that there is.
    Everywhere,
}

/// What an edit says of the file's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileEnd {
    /// Nothing: a last line without line end stays without.
    #[default]
    Kept,
    /// Its lines all have line ends, so a last line that it replaces gets one. So in `apply_patch`.
    Closed,
    /// The same, and the place is said to be the end of the file.
    Here,
    /// Its last line has no line end.
    Open,
}

/// Lines of a file, counted from 1, both included. An empty place is before its first line, and its last is
/// one less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "(usize, usize)")]
pub struct Lines {
    /// The first line.
    pub first: usize,
    /// The last line.
    pub last: usize,
}

impl From<Lines> for (usize, usize) {
    fn from(lines: Lines) -> Self {
        (lines.first, lines.last)
    }
}

/// `line 3`, `lines 3-5`, or `before line 3`.
impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self { first, last } if last < first => write!(f, "before line {first}"),
            Self { first, last } if last == first => write!(f, "line {first}"),
            Self { first, last } => write!(f, "lines {first}-{last}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_one_or_several_or_none() {
        assert_eq!(Lines { first: 3, last: 3 }.to_string(), "line 3");
        assert_eq!(Lines { first: 3, last: 5 }.to_string(), "lines 3-5");
        assert_eq!(Lines { first: 3, last: 2 }.to_string(), "before line 3");
    }
}
