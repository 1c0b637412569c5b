//! [`File`]: what the lines above the hunks of a diff say of a file.

use super::super::lines::Line;
use super::super::{Problem, ProblemKind};
use crate::edit::{Action, Edit};

/// A file that a diff is about.
#[derive(Clone, Debug)]
pub(super) struct File {
    opening: Problem,
    edit: Edit,
    old: Option<Name>,
    new: Option<Name>,
    /// The name behind `diff --git`, if both sides have the same.
    both: Option<String>,
    change: Change,
    renamed_from: Option<String>,
    hunks: usize,
}

/// What becomes of the file itself.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    None,
    Created,
    Deleted,
    /// Its mode changes, which is no edit.
    Mode,
    RenamedTo(String),
}

/// The name of a file on one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// `/dev/null`: there is no file on this side.
    Nothing,
    Path(String),
}

impl Name {
    /// The name behind `--- ` or `+++ `, without the time.
    pub(super) fn read(text: &str) -> Self {
        let text = text.trim_ascii();
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
        let at = line.at..line.end();
        Self {
            opening: Problem::at(ProblemKind::EmptyHunk, line),
            edit: Edit { path: None, action: Action::Delete, line: line.number, at, repairs: Vec::new() },
            old: None,
            new: None,
            both: None,
            change: Change::None,
            renamed_from: None,
            hunks: 0,
        }
    }

    /// A file below `diff --git a/name b/name`.
    pub(super) fn git(line: Line<'_>) -> Self {
        let names = line.trimmed().strip_prefix("diff --git ").unwrap_or_default();
        // The two halves are equal, so a name may hold anything.
        let half = names.len().checked_sub(5).map(|both| both / 2);
        let both = half.and_then(|half| {
            let (old, new) = (names.strip_prefix("a/")?.get(..half)?, names.get(half + 5..)?);
            (old == new && names.get(half + 2..half + 5) == Some(" b/")).then(|| old.to_owned())
        });
        Self { both, ..Self::new(line) }
    }

    /// Whether `---` or `+++` named it.
    pub(super) fn has_names(&self) -> bool {
        self.old.is_some() || self.new.is_some()
    }

    /// Takes the names of both sides, as far as they are there.
    pub(super) fn name(&mut self, old: Option<Name>, new: Option<Name>) {
        match (&old, &new) {
            (Some(Name::Nothing), _) => self.change = Change::Created,
            (_, Some(Name::Nothing)) => self.change = Change::Deleted,
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

    /// Takes a line between `diff --git` and the names, if it is one.
    pub(super) fn mode_line(&mut self, line: Line<'_>) -> bool {
        if self.has_names() {
            return false;
        }
        let text = line.trimmed();
        let path = |path: &str| if path.starts_with('"') { unquoted(path) } else { path.to_owned() };
        if let Some(from) = text.strip_prefix("rename from ") {
            self.renamed_from = Some(path(from));
        } else if let Some(to) = text.strip_prefix("rename to ") {
            self.change = Change::RenamedTo(path(to));
        } else if text.starts_with("new file mode ") {
            self.change = Change::Created;
        } else if text.starts_with("deleted file mode ") {
            self.change = Change::Deleted;
        } else if text.starts_with("old mode ") || text.starts_with("new mode ") {
            self.change = Change::Mode;
        } else {
            let others = ["index ", "similarity index ", "dissimilarity index "];
            return others.iter().any(|start| text.starts_with(start));
        }
        self.edit.at.end = line.end();
        true
    }

    /// The path of the file before the diff, or behind it if it is new.
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

    pub(super) fn is_deleted(&self) -> bool {
        self.change == Change::Deleted
    }

    /// Counts a hunk; whether it is the content of a new file.
    pub(super) fn begins_content(&mut self) -> bool {
        self.hunks += 1;
        self.change == Change::Created && self.hunks == 1
    }

    /// What is asked of the file itself.
    pub(super) fn finish(self) -> Result<Option<Edit>, Problem> {
        let path = self.path();
        let action = match self.change {
            Change::Deleted => Action::Delete,
            Change::RenamedTo(to) => Action::Move { to },
            Change::Created if self.hunks == 0 => Action::Write { content: String::new() },
            Change::None if self.hunks == 0 => return Err(self.opening),
            Change::Created | Change::None | Change::Mode => return Ok(None),
        };
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

/// A name that git wrote in quotes: bytes that are not plain are octal escapes.
fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('"').unwrap_or(text);
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => break,
            b'\\' => match rest.next() {
                Some(first @ b'0'..=b'7') => {
                    let mut value = u32::from(first - b'0');
                    for _ in 0..2 {
                        if let Some(digit) = rest.next_if(|byte| (b'0'..=b'7').contains(byte)) {
                            value = value * 8 + u32::from(digit - b'0');
                        }
                    }
                    bytes.push(u8::try_from(value).unwrap_or(b'?'));
                }
                Some(b'n') => bytes.push(b'\n'),
                Some(b't') => bytes.push(b'\t'),
                Some(b'r') => bytes.push(b'\r'),
                Some(other) => bytes.push(other),
                None => {}
            },
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
