//! [`Block`]: a search and replace block that is being written.

use std::mem;
use std::ops::Range;

use super::super::fence::{Fence, Mark};
use super::super::lines::Line;
use super::super::marker::{Marker, Opening, Written, is_divider_like};
use super::super::name::Heading;
use super::super::{Problem, ProblemKind, RepairKind};
use super::numbers::{Numbers, strip_search};
use crate::edit::{Action, Edit, Replace};

/// How many lines of a block may be its divider. Each reading has a copy of the block.
const MOST_DIVIDERS: usize = 16;

/// What is at the beginning of a line that would be a marker without the backslash before it.
const ESCAPED: [&str; 7] =
    ["<<<<<<<", "=======", ">>>>>>>", "-------", "+++++++", ":start_line:", ":end_line:"];

/// A block from its first marker on.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// The edit that it becomes. Its readings grow with every line after their dividers.
    pub(super) edit: Edit,
    opening: Problem,
    count: usize,
    is_conflict: bool,
    /// The fence that the block is in.
    fence: Option<Mark>,
    head: Head,
    hint: Option<usize>,
    /// All lines between the markers, dividers too, without the head lines.
    body: String,
    /// Where the body may be divided: at lines that have as many characters as the first marker, and at all
    /// others of three and more, which count only if there is none of the former.
    dividers: Vec<Divider>,
    others: Vec<Divider>,
    /// For each reading, whether line numbers are taken away.
    numbers: Vec<Numbers>,
    /// What may follow the block, if its end marker is missing.
    outside: Option<Outside>,
    /// A fence inside the replacement.
    nested: bool,
    /// Whether the last line of the replacement has a backslash that keeps it from being a divider.
    is_last_escaped: bool,
}

/// Which lines after the first marker are not content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    /// None came yet.
    Expected,
    /// `:start_line:` came; `-------` may follow.
    Begun,
    Over,
}

/// A line that may divide a block.
#[derive(Clone, Copy, Debug)]
struct Divider {
    /// Its place in the body.
    start: usize,
    end: usize,
    /// Its number in the answer.
    line: usize,
}

/// What follows a line that may be the closing fence of a block without an end marker.
#[derive(Clone, Debug)]
struct Outside {
    /// The lines from the fence on. They are content if an end marker follows after all.
    held: String,
    line: usize,
    at: usize,
    /// What would be above the next block.
    heading: Heading,
    fences: usize,
    /// Whether text follows right below the fence, as in code that the replacement quotes.
    is_code: bool,
}

impl Block {
    /// A block that begins with a marker.
    pub(super) fn open(line: Line<'_>, opening: Opening, path: Option<String>, fence: Option<Mark>) -> Self {
        let Opening { count, is_conflict, written } = opening;
        let mut block = Self { count, is_conflict, fence, ..Self::unstarted(line, path) };
        if written == Written::Badly {
            block.edit.repaired(RepairKind::Marker, line.number);
        }
        block
    }

    /// A block that begins with a line in place of its marker, so that no divider is as long as that.
    pub(super) fn unstarted(line: Line<'_>, path: Option<String>) -> Self {
        let action = Action::Replace(Replace::default());
        Self {
            edit: line.edit(path, action),
            opening: Problem::at(ProblemKind::Incomplete, line),
            count: 0,
            is_conflict: false,
            fence: None,
            head: Head::Expected,
            hint: None,
            body: String::new(),
            dividers: Vec::new(),
            others: Vec::new(),
            numbers: Vec::new(),
            outside: None,
            nested: false,
            is_last_escaped: false,
        }
    }

    /// Whether nothing came after the first marker.
    pub(super) fn is_fresh(&self) -> bool {
        self.body.is_empty() && self.head == Head::Expected
    }

    /// Whether a divider came, so that the search text is over.
    pub(super) fn is_divided(&self) -> bool {
        !self.dividers.is_empty()
    }

    /// Whether there is some search text, and one line that may divide it from the replacement.
    pub(super) fn has_one_reading(&self) -> bool {
        matches!(&*self.others, [divider] if !self.body[..divider.start].trim_ascii().is_empty())
    }

    /// Whether a marker ends this block, and whether it is well written.
    pub(super) fn closed_by(&self, marker: Marker) -> Option<Written> {
        match marker {
            Marker::Replace { written } => Some(written),
            // In a search text it is content.
            Marker::Bare { .. } if !self.is_divided() && self.others.is_empty() => None,
            Marker::Bare { count } if count == self.count => Some(Written::Badly),
            Marker::Bare { .. } | Marker::Other if self.is_conflict => Some(Written::Badly),
            _ => None,
        }
    }

    /// Takes a line of the search text or of the replacement.
    pub(super) fn content(&mut self, line: Line<'_>, marker: Option<Marker>) {
        if let Some(outside) = &mut self.outside {
            return outside.push(line);
        }
        if self.is_head(line) {
            // Some models repeat the head lines of the search in the replacement.
            if self.is_divided() {
                self.edit.repaired(RepairKind::Marker, line.number);
            }
            return;
        }
        if let (true, Some(open), Some(fence)) = (self.is_divided(), self.fence, Fence::read(line.text)) {
            if !self.nested && fence.closes(open) {
                self.outside = Some(Outside::new(line));
                return;
            }
            self.nested = fence.is_labelled();
        }
        if let (false, Some(Marker::Divider { .. })) = (self.is_divided(), marker) {
            self.others.push(self.divider_at(line));
        }
        let text = unescaped(line.text);
        self.is_last_escaped = self.is_divided() && text.len() < line.text.len();
        self.grow(text);
        self.body.push_str(text);
    }

    /// Takes a line that may be the divider; whether it is as long as the first marker, so that the search
    /// text is over.
    pub(super) fn divider(&mut self, line: Line<'_>, count: usize) -> bool {
        if count != self.count {
            return false;
        }
        self.give_back_outside();
        let divider = self.divider_at(line);
        let before = self.dividers.last().copied();
        self.dividers.push(divider);
        self.head = Head::Expected;
        self.grow(line.text);
        self.body.push_str(line.text);
        if self.dividers.len() <= MOST_DIVIDERS {
            self.add_reading(divider.start..divider.end, None);
            if let Some(before) = before.filter(|before| before.end == divider.start) {
                self.add_reading(before.start..divider.end, Some(divider.line));
            }
        }
        true
    }

    /// Ends the block with its marker.
    pub(super) fn close(mut self, line: Line<'_>, written: Written) -> Result<Edit, Problem> {
        self.give_back_outside();
        if written == Written::Badly {
            self.edit.repaired(RepairKind::Marker, line.number);
        }
        if !self.is_divided() {
            self.divide_at_others();
        }
        if !self.is_divided() {
            return Err(Problem::at(ProblemKind::MissingSeparator, line));
        }
        self.into_edit(line.end())
    }

    /// Ends the block without its marker, where the next one begins: what is above that one, if the fence
    /// around this block says where it ended.
    pub(super) fn interrupted(mut self, line: Line<'_>) -> (Result<Edit, Problem>, Heading) {
        if !self.is_divided() {
            return (Err(Problem::at(ProblemKind::InvalidTransition, line)), Heading::default());
        }
        match self.outside.take() {
            // One more fence is that of the next block, if it is right above.
            Some(outside)
                if !outside.is_code && outside.fences == usize::from(outside.heading.fence.is_some()) =>
            {
                let heading = outside.heading.clone();
                (self.close_outside(&outside), heading)
            }
            _ => (Err(Problem::at(ProblemKind::MissingReplace, line)), Heading::default()),
        }
    }

    /// Ends the block with the answer.
    pub(super) fn finish(mut self) -> Result<Edit, Problem> {
        match self.outside.take() {
            Some(outside) if outside.fences == 0 && !outside.is_code => self.close_outside(&outside),
            _ => Err(self.opening),
        }
    }

    fn close_outside(mut self, outside: &Outside) -> Result<Edit, Problem> {
        self.edit.repaired(RepairKind::MissingMarker, outside.line);
        self.into_edit(outside.at)
    }

    fn into_edit(mut self, end: usize) -> Result<Edit, Problem> {
        if self.dividers.len() > MOST_DIVIDERS {
            return Err(Problem { kind: ProblemKind::TooManyDividers, ..self.opening });
        }
        if self.numbers.contains(&Numbers::Mixed) {
            return Err(Problem { kind: ProblemKind::MixedLineNumbers, ..self.opening });
        }
        for replace in self.edit.readings_mut() {
            let last = replace.replacement.lines().next_back().filter(|line| is_divider_like(line));
            replace.stray = !self.is_last_escaped
                && last.is_some_and(|last| replace.search.lines().all(|line| line.trim() != last.trim()));
        }
        if self.numbers.iter().any(|numbers| *numbers != Numbers::Absent) {
            self.edit.repaired(RepairKind::LineNumbers, self.edit.line);
        }
        self.edit.repairs.sort_by_key(|repair| repair.line);
        self.edit.at.end = end;
        Ok(self.edit)
    }

    /// Whether a line right after the first marker, or after the divider, says where the place is.
    fn is_head(&mut self, line: Line<'_>) -> bool {
        if self.head == Head::Over {
            return false;
        }
        let text = line.trimmed();
        if self.head == Head::Begun && text.len() == 7 && text.bytes().all(|byte| byte == b'-') {
            self.head = Head::Over;
            return true;
        }
        let key = [":start_line", ":end_line"].into_iter().find(|key| text.starts_with(key));
        let value = key.map(|key| &text[key.len()..]).filter(|value| value.starts_with([':', '=']));
        let number = value.and_then(|value| value[1..].trim_ascii().parse().ok());
        let (Some(key), Some(value), Some(number)) = (key, value, number) else {
            self.head = Head::Over;
            return false;
        };
        if value.starts_with('=') {
            self.edit.repaired(RepairKind::Marker, line.number);
        }
        if key == ":start_line" {
            self.hint = Some(number).filter(|number| *number > 0);
        }
        self.head = Head::Begun;
        true
    }

    fn divider_at(&self, line: Line<'_>) -> Divider {
        let start = self.body.len();
        Divider { start, end: start + line.text.len(), line: line.number }
    }

    /// Divides the body at lines that have another length than the first marker.
    fn divide_at_others(&mut self) {
        self.dividers = mem::take(&mut self.others);
        let dividers = self.dividers.clone();
        for (nth, divider) in dividers.iter().enumerate().take(MOST_DIVIDERS) {
            self.add_reading(divider.start..divider.end, None);
            if let Some(next) = dividers.get(nth + 1).filter(|next| next.start == divider.end) {
                self.add_reading(divider.start..next.end, Some(next.line));
            }
        }
    }

    /// Adds the reading in which this part of the body divides it.
    fn add_reading(&mut self, divider: Range<usize>, doubled: Option<usize>) {
        let search = &self.body[..divider.start];
        let (number, mut numbers, search) = match strip_search(search) {
            Some((number, search)) => (Some(number), Numbers::Untold, search),
            None => (None, Numbers::Absent, search.to_owned()),
        };
        let after = self.body[divider.end..].split_inclusive('\n');
        let replacement = after.map(|line| numbers.strip(line)).collect();
        let hint = self.hint.or(number);
        let reading = Replace { search, replacement, hint, doubled, ..Replace::default() };
        self.edit.action = match mem::replace(&mut self.edit.action, Action::Delete) {
            Action::Undecided(mut readings) => {
                readings.push(reading);
                Action::Undecided(readings)
            }
            Action::Replace(first) if !self.numbers.is_empty() => Action::Undecided(vec![first, reading]),
            _ => Action::Replace(reading),
        };
        self.numbers.push(numbers);
    }

    /// Adds a line to the replacement of every reading.
    fn grow(&mut self, text: &str) {
        for (replace, numbers) in self.edit.readings_mut().iter_mut().zip(&mut self.numbers) {
            replace.replacement.push_str(numbers.strip(text));
        }
    }

    /// What seemed to follow the block is in it.
    fn give_back_outside(&mut self) {
        if let Some(outside) = self.outside.take() {
            for line in outside.held.split_inclusive('\n') {
                let text = unescaped(line);
                self.grow(text);
                self.body.push_str(text);
            }
        }
    }
}

impl Outside {
    fn new(fence: Line<'_>) -> Self {
        Self {
            held: fence.text.to_owned(),
            line: fence.number,
            at: fence.at,
            heading: Heading::default(),
            fences: 0,
            is_code: false,
        }
    }

    fn push(&mut self, line: Line<'_>) {
        self.held.push_str(line.text);
        self.fences += usize::from(Fence::read(line.text).is_some());
        self.heading.push(line);
        let is_heading = self.heading.fence.is_some() || self.heading.name.is_some();
        self.is_code |= line.number == self.line + 1 && !line.is_blank() && !is_heading;
    }
}

/// A line of content without the backslash that keeps it from being a marker.
fn unescaped(line: &str) -> &str {
    let after = line.strip_prefix('\\');
    after.filter(|after| ESCAPED.iter().any(|marker| after.starts_with(marker))).unwrap_or(line)
}
