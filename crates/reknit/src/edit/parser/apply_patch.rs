//! Patches between `*** Begin Patch` and `*** End Patch`, as OpenAI's models write them.
//!
//! A section is a file: `*** Add File: `, `*** Update File: ` (with `*** Move to: ` below it) or
//! `*** Delete File: `. An update has hunks, each below any number of `@@` lines that name what the place
//! follows. Whitespace around these lines is fine, and whatever is outside the patch is prose.
//!
//! | Line | Then |
//! | --- | --- |
//! | section without `*** Begin Patch` above | the patch begins: reported |
//! | `@@ -12,3 +12,4 @@` | the numbers are a hint: reported |
//! | empty line in a hunk | context, if a line of the hunk follows |
//! | empty line in a new file | content, if one with `+` follows: reported |
//! | `*** Move to: ` after a hunk | the file is moved all the same: reported |
//! | another line without ` `, `-` or `+` | problem; the hunk or the new file is dropped |
//! | the fence that closes the one above the patch | the patch is over: reported |
//! | end of the answer without `*** End Patch` | problem: incomplete; what was being written is dropped |

use std::mem;

use super::fence::{Fence, Mark};
use super::hunk::{Hunk, Numbers, Side};
use super::lines::Line;
use super::name::Heading;
use super::{Open, Parsed, Problem, ProblemKind, Repair, RepairKind};
use crate::edit::{Action, Edit, FileEnd, Replace};

#[derive(Clone, Debug, Default)]
pub(super) struct Reader {
    patch: Option<Patch>,
    heading: Heading,
}

/// A patch that is being written.
#[derive(Clone, Debug)]
struct Patch {
    opening: Problem,
    section: Section,
    /// The fence around it.
    fence: Option<Mark>,
    is_empty: bool,
    /// What was put right before there was an edit to report it with.
    repairs: Vec<Repair>,
}

#[derive(Clone, Debug)]
enum Section {
    /// Nothing, or one that is over.
    Over,
    Add(Box<Added>),
    Update(Box<Update>),
    /// A new file that has a line which no file has.
    Broken,
}

#[derive(Clone, Debug)]
struct Added {
    edit: Edit,
    /// Lines without `+`, which are content only if one with it follows.
    blank_lines: String,
    first_blank: usize,
}

#[derive(Clone, Debug)]
struct Update {
    path: String,
    opening: Problem,
    moved: Option<Edit>,
    state: State,
}

/// Where in an update the next line is.
#[derive(Clone, Debug)]
enum State {
    /// There is no hunk yet, and the first one may lack its `@@`.
    First,
    Hunk(Box<Hunk>),
    /// After a line that ended a hunk.
    Between,
    /// After a line that no hunk has.
    Broken,
}

/// A line that is not content.
#[derive(Clone, Copy)]
enum Marker<'a> {
    Begin,
    End,
    Add(&'a str),
    Update(&'a str),
    Delete(&'a str),
    MoveTo(&'a str),
    EndOfFile,
    Unknown,
}

impl<'a> Marker<'a> {
    fn read(line: Line<'a>) -> Option<Self> {
        let rest = line.trimmed().strip_prefix("***")?;
        // In a hunk such a line is context, unless it can only be the end.
        let is_padded = line.text.starts_with([' ', '\t']);
        match rest.trim_ascii() {
            "Begin Patch" => return Some(Self::Begin),
            "End Patch" => return Some(Self::End),
            _ if is_padded => return None,
            "End of File" => return Some(Self::EndOfFile),
            _ => {}
        }
        let (verb, path) = rest.strip_prefix(' ')?.split_once(':')?;
        let path = path.trim_ascii();
        Some(match verb {
            _ if path.is_empty() => Self::Unknown,
            "Add File" => Self::Add(path),
            "Update File" => Self::Update(path),
            "Delete File" => Self::Delete(path),
            "Move to" => Self::MoveTo(path),
            _ => Self::Unknown,
        })
    }

    fn is_section(self) -> bool {
        matches!(self, Self::Add(_) | Self::Update(_) | Self::Delete(_))
    }
}

/// Whether a line begins a patch or one of its sections.
pub(super) fn is_telling(line: Line<'_>) -> bool {
    Marker::read(line).is_some_and(|marker| matches!(marker, Marker::Begin) || marker.is_section())
}

impl Reader {
    pub(super) fn open(&self) -> Option<Open<'_>> {
        match &self.patch.as_ref()?.section {
            Section::Add(added) => Some(Open::Replacement(&added.edit)),
            Section::Update(update) => matches!(update.state, State::Hunk(_)).then_some(Open::Search),
            Section::Over | Section::Broken => None,
        }
    }

    pub(super) fn line(&mut self, line: Line<'_>, parsed: &mut Parsed) {
        let padded = Line { text: line.text.trim_start(), ..line };
        let is_outside = self.patch.as_ref().is_some_and(Patch::is_outside_of_hunks);
        let marker = Marker::read(line).or_else(|| Marker::read(padded).filter(|_| is_outside));
        if self.patch.is_none() {
            match marker {
                Some(Marker::Begin) => return self.begin(line, Vec::new()),
                Some(marker) if marker.is_section() => {
                    let missing = Repair { kind: RepairKind::MissingMarker, line: line.number };
                    self.begin(line, vec![missing]);
                }
                _ => return self.heading.push(line),
            }
        }
        let Some(patch) = &mut self.patch else { return };
        match marker {
            Some(Marker::End) => {
                patch.end(parsed);
                self.patch = None;
            }
            None if patch.is_closed_by(line) => {
                patch.end(parsed);
                if let Some(edit) = parsed.edits.last_mut() {
                    edit.repaired(RepairKind::MissingMarker, line.number);
                }
                self.patch = None;
            }
            Some(marker) => patch.marker(marker, line, parsed),
            None => patch.content(line, parsed),
        }
    }

    pub(super) fn finish(&mut self, parsed: &mut Parsed) {
        if let Some(patch) = self.patch.take() {
            parsed.problems.push(patch.opening);
        }
    }

    fn begin(&mut self, line: Line<'_>, repairs: Vec<Repair>) {
        let heading = mem::take(&mut self.heading);
        let opening = Problem::at(ProblemKind::Incomplete, line);
        self.patch =
            Some(Patch { opening, section: Section::Over, fence: heading.fence, is_empty: true, repairs });
    }
}

impl Patch {
    /// Whether the next line cannot be one that stays.
    fn is_outside_of_hunks(&self) -> bool {
        match &self.section {
            Section::Over | Section::Add(_) | Section::Broken => true,
            Section::Update(update) => matches!(update.state, State::Between),
        }
    }

    fn is_closed_by(&self, line: Line<'_>) -> bool {
        Fence::ends(line, self.fence) && !self.is_empty && !line.text.starts_with(' ')
    }

    fn end(&mut self, parsed: &mut Parsed) {
        if self.is_empty {
            let opening = self.opening.clone();
            return parsed.problems.push(Problem { kind: ProblemKind::EmptyPatch, ..opening });
        }
        self.end_section(parsed);
    }

    fn marker(&mut self, marker: Marker<'_>, line: Line<'_>, parsed: &mut Parsed) {
        self.is_empty &= !marker.is_section();
        let edit = |path: &str, action| line.edit(Some(path.to_owned()), action);
        match (marker, &mut self.section) {
            (Marker::Add(path), _) => {
                self.end_section(parsed);
                let edit = edit(path, Action::Write { content: String::new() });
                self.section =
                    Section::Add(Box::new(Added { edit, blank_lines: String::new(), first_blank: 0 }));
            }
            (Marker::Update(path), _) => {
                self.end_section(parsed);
                self.section = Section::Update(Box::new(Update {
                    path: path.to_owned(),
                    opening: Problem::at(ProblemKind::EmptyHunk, line),
                    moved: None,
                    state: State::First,
                }));
            }
            (Marker::Delete(path), _) => {
                self.end_section(parsed);
                self.give(Ok(edit(path, Action::Delete)), parsed);
            }
            (Marker::MoveTo(to), Section::Update(update)) if update.moved.is_none() => {
                let mut moved = edit(&update.path, Action::Move { to: to.to_owned() });
                if !matches!(update.state, State::First) {
                    moved.repaired(RepairKind::Marker, line.number);
                }
                update.moved = Some(moved);
                self.end_hunk(parsed);
            }
            (Marker::EndOfFile, Section::Update(update)) => {
                if let State::Hunk(hunk) = &mut update.state
                    && let Some(replace) = hunk.replace_mut()
                {
                    replace.end = FileEnd::Here;
                }
                self.end_hunk(parsed);
            }
            (Marker::Begin, Section::Over) if self.is_empty => {
                self.repairs.push(Repair { kind: RepairKind::DoubledMarker, line: line.number });
            }
            // It says nothing here.
            (Marker::EndOfFile, Section::Add(_)) => {}
            _ => {
                parsed.problems.push(Problem::at(ProblemKind::InvalidPatchLine, line));
                self.break_off();
            }
        }
    }

    fn content(&mut self, line: Line<'_>, parsed: &mut Parsed) {
        let is_wrong = match &mut self.section {
            Section::Add(added) => !added.push(line),
            Section::Update(update) if line.text.starts_with("@@") => {
                if let Some(above) = update.heading(line) {
                    self.give(above.finish(), parsed);
                }
                false
            }
            Section::Update(update) => !update.push(line),
            Section::Over => !line.is_blank(),
            Section::Broken => false,
        };
        if is_wrong {
            parsed.problems.push(Problem::at(ProblemKind::InvalidPatchLine, line));
            self.break_off();
        }
    }

    /// Drops what is being written; what follows may still be valid.
    fn break_off(&mut self) {
        match &mut self.section {
            Section::Update(update) => update.state = State::Broken,
            Section::Over => {}
            section => *section = Section::Broken,
        }
    }

    fn end_section(&mut self, parsed: &mut Parsed) {
        self.end_hunk(parsed);
        match mem::replace(&mut self.section, Section::Over) {
            Section::Add(added) => self.give(Ok(added.edit), parsed),
            Section::Update(update) => match update.moved {
                Some(moved) => self.give(Ok(moved), parsed),
                None if matches!(update.state, State::First) => parsed.problems.push(update.opening),
                None => {}
            },
            Section::Over | Section::Broken => {}
        }
    }

    fn give(&mut self, mut ended: Result<Edit, Problem>, parsed: &mut Parsed) {
        if let Ok(edit) = &mut ended {
            edit.repairs.splice(0..0, mem::take(&mut self.repairs));
        }
        parsed.add(ended);
    }

    /// Ends the hunk that is being written, if there is one.
    fn end_hunk(&mut self, parsed: &mut Parsed) {
        if let Section::Update(update) = &mut self.section
            && let Some(hunk) = update.state.take_hunk()
        {
            self.give(hunk.finish(), parsed);
        }
    }
}

impl Added {
    /// Takes a line of the new file, if it is one.
    fn push(&mut self, line: Line<'_>) -> bool {
        let Action::Write { content } = &mut self.edit.action else { return false };
        if let Some(text) = line.text.strip_prefix('+') {
            if !self.blank_lines.is_empty() {
                self.edit.repairs.push(Repair { kind: RepairKind::LostPrefix, line: self.first_blank });
                content.push_str(&mem::take(&mut self.blank_lines));
            }
            content.push_str(text);
            self.edit.at.end = line.end();
            return true;
        }
        if self.blank_lines.is_empty() {
            self.first_blank = line.number;
        }
        self.blank_lines.push_str(line.text);
        line.is_blank()
    }
}

impl Update {
    /// Takes an `@@` line, and gives the hunk that it ends.
    fn heading(&mut self, line: Line<'_>) -> Option<Box<Hunk>> {
        // Several of them in a row belong to one hunk.
        let (above, mut hunk) = match self.state.take_hunk() {
            Some(hunk) if hunk.is_empty() => (None, hunk),
            above => (above, Box::new(self.begin_hunk(line))),
        };
        let text = line.text.trim_ascii_end().trim_start_matches('@');
        // One space separates; those after it belong to the heading.
        let text = text.strip_prefix(' ').unwrap_or(text);
        let (hint, heading) = match Numbers::read(line.text) {
            Some(numbers) => (Some(numbers.first), numbers.heading),
            None => (None, text.strip_suffix("@@").unwrap_or(text).trim_ascii_end()),
        };
        if hint.is_some() || heading != text {
            hunk.edit.repaired(RepairKind::HunkHeader, line.number);
        }
        if let Some(replace) = hunk.replace_mut() {
            replace.hint = hint.filter(|line| *line > 0).or(replace.hint);
            replace.below.extend((!heading.is_empty()).then(|| heading.to_owned()));
        }
        self.state = State::Hunk(hunk);
        above
    }

    /// Takes a line of a hunk, if it is one.
    fn push(&mut self, line: Line<'_>) -> bool {
        if line.is_blank() && !line.text.starts_with(' ') {
            if let State::Hunk(hunk) = &mut self.state {
                hunk.push_blank(line);
            }
            return true;
        }
        if matches!(self.state, State::Broken) {
            return true;
        }
        let Some((side, text)) = Side::read(line.text) else { return false };
        if matches!(self.state, State::First) {
            self.state = State::Hunk(Box::new(self.begin_hunk(line)));
        }
        let State::Hunk(hunk) = &mut self.state else { return false };
        hunk.push(side, text, line);
        true
    }

    fn begin_hunk(&self, line: Line<'_>) -> Hunk {
        let replace = Replace { end: FileEnd::Closed, ..Replace::default() };
        Hunk::new(line, Some(self.path.clone()), Action::Replace(replace))
    }
}

impl State {
    /// Takes out the hunk that is being written.
    fn take_hunk(&mut self) -> Option<Box<Hunk>> {
        if matches!(self, Self::First) {
            return None;
        }
        match mem::replace(self, Self::Between) {
            Self::Hunk(hunk) => Some(hunk),
            Self::First | Self::Between | Self::Broken => None,
        }
    }
}
