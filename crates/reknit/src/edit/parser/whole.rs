//! Whole files, each in a fence below its name or with the name after the fence's marks.
//!
//! A fence without a name is a file without one if it is the only fence, and otherwise an example. An answer
//! without any fence is the content of the one file that is asked for.

use std::mem;

use super::fence::{Fence, Mark};
use super::lines::Line;
use super::name::Heading;
use super::{Open, Parsed, Problem, ProblemKind};
use crate::edit::{Action, Edit};

#[derive(Clone, Debug, Default)]
pub(super) struct Reader {
    heading: Heading,
    file: Option<File>,
    unnamed: Unnamed,
}

/// A file that is being written.
#[derive(Clone, Debug)]
struct File {
    edit: Edit,
    opening: Problem,
    mark: Mark,
    /// Fences inside of it that are open.
    nested: Vec<Mark>,
}

/// What there is without a name.
#[derive(Clone, Debug)]
enum Unnamed {
    /// Text without any fence.
    Text(Edit),
    /// One fence.
    Fence(Edit),
    /// Several, so that none can be meant.
    Several(Problem),
    /// Fences that have names came.
    Examples,
}

impl Default for Unnamed {
    fn default() -> Self {
        let action = Action::Write { content: String::new() };
        Self::Text(Edit { path: None, action, line: 1, at: 0..0, repairs: Vec::new() })
    }
}

impl Reader {
    pub(super) fn open(&self) -> Option<Open<'_>> {
        let file = self.file.as_ref()?;
        let is_example = file.edit.path.is_none() && !matches!(self.unnamed, Unnamed::Text(_));
        (!is_example).then_some(Open::Replacement(&file.edit))
    }

    pub(super) fn line(&mut self, line: Line<'_>, parsed: &mut Parsed) {
        let fence = Fence::read(line.text);
        match (&mut self.file, fence) {
            (Some(file), fence) => {
                if file.push(line, fence) {
                    self.close(parsed);
                }
            }
            (None, Some(fence)) => {
                self.heading.push(line);
                let name = mem::take(&mut self.heading).name;
                self.file = Some(File::new(line, fence.mark, name));
            }
            (None, None) => {
                self.heading.push(line);
                if let Unnamed::Text(edit) = &mut self.unnamed {
                    grow(edit, line);
                }
            }
        }
    }

    pub(super) fn finish(&mut self, parsed: &mut Parsed) {
        if let Some(file) = self.file.take() {
            return parsed.problems.push(file.opening);
        }
        match mem::take(&mut self.unnamed) {
            Unnamed::Text(edit) if is_blank(&edit) => {}
            Unnamed::Text(edit) | Unnamed::Fence(edit) => parsed.edits.push(edit),
            Unnamed::Several(problem) => parsed.problems.push(problem),
            Unnamed::Examples => {}
        }
    }

    fn close(&mut self, parsed: &mut Parsed) {
        let Some(file) = self.file.take() else { return };
        if file.edit.path.is_some() {
            self.unnamed = Unnamed::Examples;
            return parsed.edits.push(file.edit);
        }
        self.unnamed = match mem::take(&mut self.unnamed) {
            Unnamed::Text(_) => Unnamed::Fence(file.edit),
            Unnamed::Fence(_) => Unnamed::Several(Problem { kind: ProblemKind::NoName, ..file.opening }),
            other => other,
        };
    }
}

impl File {
    fn new(line: Line<'_>, mark: Mark, path: Option<String>) -> Self {
        let action = Action::Write { content: String::new() };
        Self {
            edit: line.edit(path, action),
            opening: Problem::at(ProblemKind::Incomplete, line),
            mark,
            nested: Vec::new(),
        }
    }

    /// Takes a line of the file; whether it is the fence that closes it.
    fn push(&mut self, line: Line<'_>, fence: Option<Fence<'_>>) -> bool {
        if let Some(fence) = fence {
            match self.nested.last() {
                Some(&open) if fence.closes(open) => {
                    self.nested.pop();
                }
                None if fence.closes(self.mark) => {
                    self.edit.at.end = line.end();
                    return true;
                }
                // A shorter fence is content, and so is what closes it.
                _ if fence.could_close(self.mark) && fence.is_labelled() => self.nested.push(fence.mark),
                _ => {}
            }
        }
        grow(&mut self.edit, line);
        false
    }
}

fn grow(edit: &mut Edit, line: Line<'_>) {
    if let Action::Write { content } = &mut edit.action {
        content.push_str(line.text);
    }
    edit.at.end = line.end();
}

fn is_blank(edit: &Edit) -> bool {
    matches!(&edit.action, Action::Write { content } if content.trim_ascii().is_empty())
}
