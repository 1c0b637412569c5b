//! Unified diffs, as models write them: their numbers are often wrong and their headers incomplete.
//!
//! A hunk ends at the next header, at the fence around the diff, or at a line that no hunk has. The numbers
//! between `@@` are a hint of the place, and decide two things: while they say that lines are to come, `--- a`
//! is a line that goes and not a header; once none is, `--` ends the patch, as in those that git mails.
//!
//! | Line | Then |
//! | --- | --- |
//! | `@@` without numbers, or lines below `+++` without `@@` | a hunk: reported |
//! | more or fewer lines than the numbers say | as they are: reported |
//! | empty line in a hunk | context, if a line of the hunk follows |
//! | another line without ` `, `-` or `+` in a fence, or where lines are to come | context, if a line of the hunk follows: reported |
//! | `--- /dev/null`, `new file mode` | the lines that come are the file |
//! | `+++ /dev/null`, `deleted file mode` | the file is removed |
//! | `rename from`, `rename to` | the file is moved, after its hunks |
//! | `new mode`, `new file mode 100755` | problem: the mode stays as it is |
//! | `copy from`, `Binary files`, `GIT binary patch`, the mode of a link | problem; nothing is done to the file |
//! | end of the answer in a fence that is open, or where lines are to come | problem: incomplete; the last hunk is dropped |

mod git;
mod header;

use std::mem;

use self::header::{File, Name};
use super::fence::{Fence, Mark};
use super::hunk::{Hunk, Numbers, Side};
use super::lines::Line;
use super::name::{self, Heading};
use super::{Open, Parsed, Problem, ProblemKind, RepairKind};
use crate::edit::{Action, Edit, FileEnd, Replace};

#[derive(Clone, Debug, Default)]
pub(super) struct Reader {
    heading: Heading,
    /// The fence that is open.
    fence: Option<Mark>,
    file: Option<File>,
    /// `--- name`, which is a header only if `+++ name` follows.
    maybe_header: Option<Held>,
    state: State,
}

#[derive(Clone, Debug, Default)]
enum State {
    /// Outside of hunks.
    #[default]
    Outside,
    /// Behind `+++`, where a hunk may lack its `@@`.
    BelowHeader,
    Hunk(Box<Body>),
}

/// A hunk that is being written.
#[derive(Clone, Debug)]
struct Body {
    hunk: Hunk,
    left: Left,
    /// Lines without a side, which are context only if one with it follows.
    unsided: Vec<Held>,
    last: Side,
    /// Whether the last line of the old side and that of the new one are said to have no line end.
    unended: (bool, bool),
}

/// How many lines of each side are to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// So many, if the numbers are right.
    Lines { old: usize, new: usize },
    /// The numbers are missing or wrong.
    Unknown,
}

/// A line that waits for the next ones.
#[derive(Clone, Debug)]
struct Held {
    text: String,
    number: usize,
    at: usize,
}

impl Held {
    fn new(line: Line<'_>) -> Self {
        Self { text: line.text.to_owned(), number: line.number, at: line.at }
    }

    fn line(&self) -> Line<'_> {
        Line { text: &self.text, number: self.number, at: self.at }
    }
}

/// Whether a line begins a diff by itself; `--- a` does only together with the line below it.
pub(super) fn is_telling(line: Line<'_>) -> bool {
    line.text.starts_with("diff --git ") || Numbers::read(line.text).is_some()
}

/// What names the new side of a file, if the line above it names the old one.
pub(super) fn new_name(line: &str) -> Option<&str> {
    line.strip_prefix("+++ ").map(str::trim_ascii).filter(|name| !name.is_empty())
}

/// What names the old side of a file, if the line below it names the new one.
pub(super) fn old_name(line: &str) -> Option<&str> {
    line.strip_prefix("--- ").map(str::trim_ascii).filter(|name| !name.is_empty())
}

/// Whether a line may be the one that git writes between a patch and its own version, as mail has it before a
/// signature.
fn is_signature(line: Line<'_>) -> bool {
    line.text.trim_ascii_end() == "--"
}

impl Reader {
    pub(super) fn open(&self) -> Option<Open<'_>> {
        let State::Hunk(body) = &self.state else { return None };
        let edit = &body.hunk.edit;
        Some(match edit.action {
            Action::Write { .. } => Open::Replacement(edit),
            _ => Open::Search,
        })
    }

    pub(super) fn line(&mut self, line: Line<'_>, parsed: &mut Parsed) {
        if let Some(held) = self.maybe_header.take() {
            if let Some(new) = new_name(line.text).filter(|_| !self.expects_both()) {
                self.end_hunk(parsed);
                return self.named(held.line(), old_name(&held.text), Some(new), parsed);
            }
            self.released(held.line(), line, parsed);
        }
        if old_name(line.text).is_some_and(|old| !self.expects_old() || name::in_line(old).is_some()) {
            self.maybe_header = Some(Held::new(line));
            return;
        }
        self.state = match mem::take(&mut self.state) {
            State::Hunk(body) => self.in_hunk(body, line, parsed),
            state => self.outside(&state, line, parsed),
        };
    }

    pub(super) fn finish(&mut self, parsed: &mut Parsed) {
        if let Some(held) = self.maybe_header.take()
            && let State::Hunk(body) = &mut self.state
        {
            body.push(held.line());
        }
        if let State::Hunk(body) = &mut self.state {
            body.take_expected();
            if self.fence.is_some() || body.left.is_some_line() && !body.is_followed() {
                return parsed.problems.push(body.hunk.cut());
            }
        }
        self.end_hunk(parsed);
        if self.fence.is_some() {
            parsed.problems.extend(self.file.take().map(File::cut));
        }
        self.end_file(parsed);
    }

    /// Whether the hunk must have a line yet that goes.
    fn expects_old(&self) -> bool {
        matches!(&self.state, State::Hunk(body) if matches!(body.left, Left::Lines { old: 1.., .. }))
    }

    /// Whether the hunk has exactly one line of each side to come.
    fn expects_both(&self) -> bool {
        matches!(&self.state, State::Hunk(body) if body.left == Left::Lines { old: 1, new: 1 })
    }

    /// A line that is not a header after all, and the one below it.
    fn released(&mut self, held: Line<'_>, below: Line<'_>, parsed: &mut Parsed) {
        match &mut self.state {
            State::Hunk(body) => body.push(held),
            State::Outside | State::BelowHeader if below.text.starts_with("@@") => {
                self.named(held, old_name(held.text), None, parsed);
            }
            State::Outside | State::BelowHeader => self.heading.push(held),
        }
    }

    fn outside(&mut self, state: &State, line: Line<'_>, parsed: &mut Parsed) -> State {
        if let Some(fence) = Fence::read(line.text) {
            self.end_file(parsed);
            self.fence = fence.open_after(self.fence);
            self.heading.push(line);
            return State::Outside;
        }
        if line.text.starts_with("diff --git ") {
            self.end_file(parsed);
            self.file = Some(File::git(line));
            return State::Outside;
        }
        if line.text.starts_with("@@") {
            return State::Hunk(self.begin_hunk(line));
        }
        let below_header = matches!(state, State::BelowHeader);
        if below_header && Side::read(line.text).is_some() {
            let body = self.begin_hunk(line);
            return self.in_hunk(body, line, parsed);
        }
        match self.file.as_mut().map_or(Ok(false), |file| file.git_line(line)) {
            Ok(true) => return State::Outside,
            Ok(false) if git::is_binary(line.text) => {
                self.end_file(parsed);
                parsed.problems.push(Problem::at(ProblemKind::NoTextFile, line));
                return State::Outside;
            }
            Ok(false) => {}
            Err(problem) => {
                parsed.problems.push(problem);
                return State::Outside;
            }
        }
        if line.is_blank() {
            return if below_header { State::BelowHeader } else { State::Outside };
        }
        // The name of the old side may be missing.
        if let Some(new) = new_name(line.text).filter(|name| name::in_line(name).is_some()) {
            self.named(line, None, Some(new), parsed);
            return State::BelowHeader;
        }
        if self.file.as_ref().is_some_and(|file| !file.has_names()) {
            self.end_file(parsed);
        }
        self.heading.push(line);
        State::Outside
    }

    fn in_hunk(&mut self, mut body: Box<Body>, line: Line<'_>, parsed: &mut Parsed) -> State {
        let ends = Fence::ends(line, self.fence)
            || line.text.starts_with("@@")
            || line.text.starts_with("diff --git ")
            || git::is_binary(line.text) && !body.left.is_some_line()
            || is_signature(line) && body.left == Left::Lines { old: 0, new: 0 };
        let is_expected = self.fence.is_some() || body.left.is_some_line();
        if !ends
            && (line.is_blank()
                || Side::read(line.text).is_some()
                || line.text.starts_with('\\')
                || is_expected)
        {
            body.push(line);
            return State::Hunk(body);
        }
        self.state = State::Hunk(body);
        self.end_hunk(parsed);
        self.outside(&State::Outside, line, parsed)
    }

    /// The header of a file.
    fn named(&mut self, line: Line<'_>, old: Option<&str>, new: Option<&str>, parsed: &mut Parsed) {
        if self.file.as_ref().is_none_or(File::has_names) {
            self.end_file(parsed);
            self.file = Some(File::new(line));
        }
        if let Some(file) = &mut self.file {
            file.name(old.map(Name::read), new.map(Name::read));
        }
        self.state = State::BelowHeader;
    }

    fn begin_hunk(&mut self, line: Line<'_>) -> Box<Body> {
        let heading = mem::take(&mut self.heading);
        let path = match &self.file {
            Some(file) => file.path(),
            None => heading.name.clone(),
        };
        // Hunks without a header above them are for the same file, until another is named.
        self.heading.name = heading.name.filter(|_| self.file.is_none());
        let numbers = Numbers::read(line.text);
        let action = if self.file.as_mut().is_some_and(File::begins_content) {
            Action::Write { content: String::new() }
        } else {
            let hint = numbers.map(|numbers| numbers.first).filter(|first| *first > 0);
            Action::Replace(Replace { hint, ..Replace::default() })
        };
        let mut hunk = Hunk::new(line, path, action);
        let left = match numbers {
            Some(Numbers { old, new, .. }) => Left::Lines { old, new },
            None => {
                hunk.edit.repaired(RepairKind::HunkHeader, line.number);
                Left::Unknown
            }
        };
        Box::new(Body { hunk, left, unsided: Vec::new(), last: Side::Both, unended: (false, false) })
    }

    fn end_hunk(&mut self, parsed: &mut Parsed) {
        let State::Hunk(body) = mem::take(&mut self.state) else { return };
        let edit = body.finish();
        // What a removed file held is not an edit of it.
        if edit.is_err() || !self.file.as_ref().is_some_and(File::ignores_hunks) {
            parsed.add(edit);
        }
    }

    fn end_file(&mut self, parsed: &mut Parsed) {
        if let Some(edit) = self.file.take().and_then(|file| file.finish().transpose()) {
            parsed.add(edit);
        }
    }
}

impl Left {
    /// Whether lines are to come.
    fn is_some_line(self) -> bool {
        matches!(self, Self::Lines { old, new } if old + new > 0)
    }

    /// Takes a line off, if there is one.
    fn take(&mut self, side: Side) {
        let Self::Lines { old, new } = *self else { return };
        let (one_old, one_new) = (usize::from(side != Side::New), usize::from(side != Side::Old));
        *self = match (old.checked_sub(one_old), new.checked_sub(one_new)) {
            (Some(old), Some(new)) => Self::Lines { old, new },
            _ => Self::Unknown,
        };
    }
}

impl Body {
    /// Takes a line of the hunk.
    fn push(&mut self, line: Line<'_>) {
        if line.text.starts_with('\\') {
            // `\ No newline at end of file`
            self.unended.0 |= self.last != Side::New;
            self.unended.1 |= self.last != Side::Old;
            return;
        }
        match Side::read(line.text) {
            Some((side, text)) => {
                self.take_unsided();
                self.side_line(side, text, line);
            }
            None => self.unsided.push(Held::new(line)),
        }
    }

    fn side_line(&mut self, side: Side, text: &str, line: Line<'_>) {
        let before = self.left;
        self.left.take(side);
        if self.left == Left::Unknown && before != Left::Unknown {
            self.hunk.edit.repaired(RepairKind::HunkHeader, self.hunk.edit.line);
        }
        self.last = side;
        self.hunk.push(side, text, line);
    }

    /// Lines without a side are context.
    fn take_unsided(&mut self) {
        for held in mem::take(&mut self.unsided) {
            if !held.line().is_blank() {
                self.hunk.edit.repaired(RepairKind::LostPrefix, held.number);
            }
            self.side_line(Side::Both, &held.text, held.line());
        }
    }

    /// Whether other text follows the hunk, so that it is not cut, whatever its numbers say.
    fn is_followed(&self) -> bool {
        let is_blank: Vec<_> = self.unsided.iter().map(|held| held.line().is_blank()).collect();
        is_blank.windows(2).any(|two| two == [true, false])
    }

    /// Lines without a side at the end are context if there are as many as must come.
    fn take_expected(&mut self) {
        let count = self.unsided.len();
        if count > 0 && self.left == (Left::Lines { old: count, new: count }) {
            self.take_unsided();
        }
    }

    fn finish(mut self) -> Result<Edit, Problem> {
        self.take_expected();
        if self.left.is_some_line() {
            self.hunk.edit.repaired(RepairKind::HunkHeader, self.hunk.edit.line);
        }
        if self.unended.1 {
            self.hunk.unend();
        }
        let end = match self.unended {
            (true, false) => FileEnd::Closed,
            (false, true) => FileEnd::Open,
            (true, true) | (false, false) => FileEnd::Kept,
        };
        if let Some(replace) = self.hunk.replace_mut() {
            replace.end = end;
        }
        self.hunk.finish()
    }
}
