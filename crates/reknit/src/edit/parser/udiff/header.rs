//! [`File`]: what the lines above the hunks of a diff say of a file.

use super::super::lines::Line;
use super::super::{Problem, ProblemKind};
use super::git::{GitLine, same_name, unquoted};
use crate::edit::{Action, Edit};

/// A file that a diff is about.
#[derive(Clone, Debug)]
pub(super) struct File {
    opening: Problem,
    edit: Edit,
    old: Option<Name>,
    new: Option<Name>,
    /// The name after `diff --git`, if both sides have the same.
    both: Option<String>,
    change: Change,
    renamed_from: Option<String>,
    /// Whether its mode changes, which was reported.
    has_mode: bool,
    hunks: usize,
}

/// What becomes of the file itself.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    None,
    Created,
    Deleted,
    RenamedTo(String),
    /// Something that no edit does, which was reported.
    Refused,
}

/// The name of a file on one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// `/dev/null`: there is no file on this side.
    Nothing,
    Path(String),
}

impl Name {
    /// The name after `--- ` or `+++ `, without the time.
    pub(super) fn read(text: &str) -> Self {
        if text.starts_with('"') {
            return Self::Path(unquoted(text));
        }
        let name = text.split('\t').next().unwrap_or(text);
        let date = name.match_indices(' ').find(|(at, _)| is_date(name[at + 1..].trim_ascii_start()));
        let name = date.map_or(name, |(at, _)| &name[..at]).trim_ascii();
        if name == "/dev/null" { Self::Nothing } else { Self::Path(name.to_owned()) }
    }
}

impl File {
    /// A file whose header begins at a line.
    pub(super) fn new(line: Line<'_>) -> Self {
        Self {
            opening: Problem::at(ProblemKind::EmptyHunk, line),
            edit: line.edit(None, Action::Delete),
            old: None,
            new: None,
            both: None,
            change: Change::None,
            renamed_from: None,
            has_mode: false,
            hunks: 0,
        }
    }

    /// A file below `diff --git a/name b/name`.
    pub(super) fn git(line: Line<'_>) -> Self {
        let names = line.trimmed().strip_prefix("diff --git ").unwrap_or_default();
        Self { both: same_name(names), ..Self::new(line) }
    }

    /// Whether `---` or `+++` named it.
    pub(super) fn has_names(&self) -> bool {
        self.old.is_some() || self.new.is_some()
    }

    /// Takes the names of both sides, as far as they are there.
    pub(super) fn name(&mut self, old: Option<Name>, new: Option<Name>) {
        match (&old, &new) {
            (Some(Name::Nothing), _) => self.change_to(Change::Created),
            (_, Some(Name::Nothing)) => self.change_to(Change::Deleted),
            _ => {}
        }
        let is_prefixed = |name: &Option<Name>, prefix| match name {
            Some(Name::Path(path)) => path.starts_with(prefix),
            Some(Name::Nothing) | None => true,
        };
        let strip = is_prefixed(&old, "a/") && is_prefixed(&new, "b/");
        let stripped = |name| match name {
            Name::Path(path) if strip => Name::Path(path[2..].to_owned()),
            other => other,
        };
        self.old = old.map(stripped);
        self.new = new.map(stripped);
    }

    /// Takes a line between `diff --git` and the names, if it is one. What it asks may be no edit.
    pub(super) fn git_line(&mut self, line: Line<'_>) -> Result<bool, Problem> {
        let Some(read) = GitLine::read(line.trimmed()).filter(|_| !self.has_names()) else {
            return Ok(false);
        };
        self.edit.at.end = line.end();
        match read {
            GitLine::RenameFrom(path) => self.renamed_from = Some(path),
            GitLine::RenameTo(path) => self.change_to(Change::RenamedTo(path)),
            GitLine::Created => self.change_to(Change::Created),
            GitLine::CreatedToRun => {
                self.change_to(Change::Created);
                return Err(Problem::at(ProblemKind::ModeChange, line));
            }
            GitLine::Deleted => self.change_to(Change::Deleted),
            GitLine::Mode => {
                self.has_mode = true;
                return Err(Problem::at(ProblemKind::ModeChange, line));
            }
            GitLine::Copy => return self.refuse(ProblemKind::CopiedFile, line),
            GitLine::NoFile | GitLine::Binary => return self.refuse(ProblemKind::NoTextFile, line),
            GitLine::Other => {}
        }
        Ok(true)
    }

    fn change_to(&mut self, change: Change) {
        if self.change != Change::Refused {
            self.change = change;
        }
    }

    /// Refuses to do anything with the file. It is reported once, and a file can be removed whatever it holds.
    fn refuse(&mut self, kind: ProblemKind, line: Line<'_>) -> Result<bool, Problem> {
        if matches!(self.change, Change::Refused | Change::Deleted) {
            return Ok(true);
        }
        self.change = Change::Refused;
        Err(Problem::at(kind, line))
    }

    /// The path of the file before the diff, or after it if it is new.
    pub(super) fn path(&self) -> Option<String> {
        let name = |name: &Option<Name>| match name {
            Some(Name::Path(path)) => Some(path.clone()),
            Some(Name::Nothing) | None => None,
        };
        let (old, new) = (name(&self.old), name(&self.new));
        match &self.change {
            Change::RenamedTo(_) => self.renamed_from.clone().or(old),
            _ => new.or(old).or(self.both.clone()),
        }
    }

    /// Whether what its hunks say is not asked of it.
    pub(super) fn ignores_hunks(&self) -> bool {
        matches!(self.change, Change::Deleted | Change::Refused)
    }

    /// Counts a hunk; whether it is the content of a new file.
    pub(super) fn begins_content(&mut self) -> bool {
        self.hunks += 1;
        self.change == Change::Created && self.hunks == 1
    }

    /// The problem of a file that the answer ends in.
    pub(super) fn cut(self) -> Problem {
        Problem { kind: ProblemKind::Incomplete, ..self.opening }
    }

    /// What is asked of the file itself.
    pub(super) fn finish(self) -> Result<Option<Edit>, Problem> {
        let path = self.path();
        let action = match self.change {
            Change::Deleted => Action::Delete,
            Change::RenamedTo(to) => Action::Move { to },
            // Of an empty file there are no names, so here lines would follow.
            Change::Created if self.hunks == 0 && self.has_names() => return Err(self.opening),
            Change::Created if self.hunks == 0 => Action::Write { content: String::new() },
            Change::None if self.hunks == 0 && !self.has_mode => return Err(self.opening),
            Change::Created | Change::None | Change::Refused => return Ok(None),
        };
        // Without a name it would be for whatever file the rest of the answer is for.
        if path.is_none() {
            return Err(self.opening);
        }
        Ok(Some(Edit { path, action, ..self.edit }))
    }
}

/// Whether a text begins with a date such as `2024-05-31`.
fn is_date(text: &str) -> bool {
    let digits = |range: std::ops::Range<usize>| {
        text.as_bytes().get(range).is_some_and(|bytes| bytes.iter().all(u8::is_ascii_digit))
    };
    digits(0..4) && text[4..].starts_with('-') && digits(5..7) && text[7..].starts_with('-') && digits(8..10)
}
