//! [`Hunk`]: lines that stay, go and come, as both kinds of patches write them.

use std::mem;

use super::lines::Line;
use super::{Problem, ProblemKind};
use crate::edit::{Action, Edit, Replace};

/// A hunk that is being written.
#[derive(Clone, Debug)]
pub(super) struct Hunk {
    /// The edit that it becomes.
    pub(super) edit: Edit,
    opening: Problem,
    /// Empty lines, which are context only if a line of the hunk follows.
    blank_lines: String,
    /// The line end after the last line of a new file, which may be taken back.
    line_end: &'static str,
    lines: usize,
}

/// Where a line of a hunk belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// It stays.
    Both,
    /// It goes.
    Old,
    /// It comes.
    New,
}

impl Side {
    /// The side of a line, and the line without the character that marks it.
    pub(super) fn read(line: &str) -> Option<(Self, &str)> {
        let side = match line.as_bytes().first()? {
            b' ' => Self::Both,
            b'-' => Self::Old,
            b'+' => Self::New,
            _ => return None,
        };
        Some((side, &line[1..]))
    }
}

impl Hunk {
    /// A hunk that begins at a line.
    pub(super) fn new(line: Line<'_>, path: Option<String>, action: Action) -> Self {
        Self {
            edit: line.edit(path, action),
            opening: Problem::at(ProblemKind::EmptyHunk, line),
            blank_lines: String::new(),
            line_end: "",
            lines: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines == 0
    }

    /// What the hunk replaces, unless it is a new file.
    pub(super) fn replace_mut(&mut self) -> Option<&mut Replace> {
        match &mut self.edit.action {
            Action::Replace(replace) => Some(replace),
            _ => None,
        }
    }

    /// Takes a line of one side or both.
    pub(super) fn push(&mut self, side: Side, text: &str, line: Line<'_>) {
        self.lines += 1;
        self.edit.at.end = line.end();
        let blank_lines = mem::take(&mut self.blank_lines);
        self.grow(Side::Both, &blank_lines);
        let content = text.strip_suffix('\n').unwrap_or(text);
        self.grow(side, content.strip_suffix('\r').unwrap_or(content));
        // The last line of an answer may have no line end; that of a text always has one.
        let line_end = if content.ends_with('\r') { "\r\n" } else { "\n" };
        match self.edit.action {
            Action::Write { .. } if side != Side::Old => self.line_end = line_end,
            _ => self.grow(side, line_end),
        }
    }

    fn grow(&mut self, side: Side, text: &str) {
        match &mut self.edit.action {
            Action::Replace(replace) => {
                if side != Side::New {
                    replace.search.push_str(text);
                }
                if side != Side::Old {
                    replace.replacement.push_str(text);
                }
            }
            Action::Write { content } if side != Side::Old => {
                content.push_str(mem::take(&mut self.line_end));
                content.push_str(text);
            }
            _ => {}
        }
    }

    /// Takes the line end after the last line of a new file away.
    pub(super) fn unend(&mut self) {
        self.line_end = "";
    }

    /// Takes an empty line, which lost its blank if it is one of the hunk at all.
    ///
    /// Nothing is lost if it is not: what stays at the end of a hunk changes nothing.
    pub(super) fn push_blank(&mut self, line: Line<'_>) {
        self.blank_lines.push_str(line.text);
    }

    /// The problem of a hunk that the answer ends in.
    pub(super) fn cut(&self) -> Problem {
        Problem { kind: ProblemKind::Incomplete, ..self.opening.clone() }
    }

    pub(super) fn finish(mut self) -> Result<Edit, Problem> {
        if self.is_empty() {
            return Err(self.opening);
        }
        self.grow(Side::New, "");
        self.edit.repairs.sort_by_key(|repair| repair.line);
        Ok(self.edit)
    }
}

/// The numbers of `@@ -12,3 +12,4 @@`, and what follows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers<'a> {
    /// The first line of the old side.
    pub(super) first: usize,
    /// How many lines each side has.
    pub(super) old: usize,
    pub(super) new: usize,
    /// The line that the place is below.
    pub(super) heading: &'a str,
}

impl<'a> Numbers<'a> {
    /// Reads a line that begins with `@@`.
    pub(super) fn read(line: &'a str) -> Option<Self> {
        let inner = line.trim_ascii().strip_prefix("@@")?.trim_ascii_start().strip_prefix('-')?;
        let (old, rest) = inner.split_once(' ')?;
        let rest = rest.trim_ascii_start().strip_prefix('+')?;
        let (new, heading) = rest.split_once("@@").unwrap_or((rest, ""));
        let ((first, old), (_, new)) = (range(old)?, range(new)?);
        Some(Self { first, old, new, heading: heading.trim_ascii() })
    }
}

/// `12,3`, or `12` for one line.
fn range(text: &str) -> Option<(usize, usize)> {
    let text = text.trim_ascii();
    match text.split_once(',') {
        Some((first, count)) => Some((first.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}
