//! [`Detector`]: which format an answer is in.
//!
//! The first line that shows a format decides. A line counts if it is outside fences, or first in one: what is
//! deeper in a fence is content of whatever the fence is. Whole files come last, because a named fence
//! may as well be an example before the edits; so they are found only when the answer is over.

use std::mem;

use super::fence::{Fence, Mark};
use super::lines::{Line, Lines};
use super::marker::Marker;
use super::name::Heading;
use super::{apply_patch, roo_args, str_replace, udiff};
use crate::edit::Format;

/// How far into a value its first key is looked for.
const FIRST_KEY: usize = 256;

/// Looks for the format of an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Detector {
    /// All that came: it is read once the format is known.
    answer: String,
    lines: Lines,
    look: Look,
}

/// What is known of the answer so far.
#[derive(Clone, Debug, Default)]
struct Look {
    heading: Heading,
    fence: Option<Opened>,
    /// `--- name` in the line above, and where it is.
    old_name: Option<Place>,
    /// The beginning of a value whose first key has not come.
    value: String,
    has_named_fence: bool,
    /// Whether a SEARCH marker came since the last REPLACE marker.
    in_block: bool,
    /// The first format that a line deeper in a fence shows.
    deeper: Option<Format>,
}

/// A fence that is open.
#[derive(Clone, Copy, Debug)]
struct Opened {
    mark: Mark,
    is_named: bool,
    is_diff: bool,
    /// Whether no line came that is neither blank nor a name.
    is_fresh: bool,
}

/// Where a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Telling,
    Deeper,
}

impl Detector {
    /// Takes the next piece; the format, once it is found.
    pub(super) fn push(&mut self, piece: &str) -> Option<Format> {
        self.answer.push_str(piece);
        let mut found = None;
        self.lines.push(piece, |line| {
            if found.is_none() {
                found = self.look.line(line);
            }
        });
        found.or_else(|| self.look.tells_value(self.lines.pending()).then_some(Format::StrReplace))
    }

    /// Ends the answer; the format, if there is one.
    pub(super) fn finish(&mut self) -> Option<Format> {
        let mut found = None;
        self.lines.finish(|line| found = self.look.line(line));
        found.or(self.look.has_named_fence.then_some(Format::Whole)).or(self.look.deeper)
    }

    pub(super) fn into_answer(self) -> String {
        self.answer
    }
}

/// Looks for edits in another format than the one that was found, which are not read.
#[derive(Clone, Debug)]
pub(super) struct Others {
    found: Format,
    look: Look,
}

impl Others {
    pub(super) fn new(found: Format) -> Self {
        Self { found, look: Look::default() }
    }

    /// Takes a line that is part of no edit, or a fence; whether it begins an edit that is not read.
    pub(super) fn line(&mut self, line: Line<'_>) -> bool {
        let matters = |format| match format {
            // JSON may be anything, and blocks may be next to the elements that others are in.
            Format::StrReplace | Format::Whole => false,
            Format::SearchReplace | Format::RooArgs => {
                !matches!(self.found, Format::SearchReplace | Format::RooArgs)
            }
            Format::UnifiedDiff | Format::ApplyPatch => format != self.found,
        };
        self.look.line(line).is_some_and(matters)
    }
}

impl Look {
    fn line(&mut self, line: Line<'_>) -> Option<Format> {
        if let Some(fence) = Fence::read(line.text) {
            self.fence_line(line, fence);
            return None;
        }
        let place = self.place();
        let shown = self.shown_by(line, place);
        self.old_name = udiff::old_name(line.text).map(|_| place);
        self.heading.push(line);
        if let Some(fence) = &mut self.fence {
            fence.is_fresh &= line.is_blank() || self.heading.name.is_some() || !self.value.is_empty();
        }
        let (format, place) = shown?;
        if place == Place::Telling {
            return Some(format);
        }
        self.deeper.get_or_insert(format);
        None
    }

    fn fence_line(&mut self, line: Line<'_>, fence: Fence<'_>) {
        self.heading.push(line);
        self.old_name = None;
        self.value.clear();
        match self.fence {
            Some(open) if fence.closes(open.mark) => self.fence = None,
            Some(_) => {}
            None => {
                let is_named = self.heading.name.is_some();
                self.has_named_fence |= is_named;
                let is_diff = matches!(fence.info, "diff" | "patch" | "udiff");
                self.fence = Some(Opened { mark: fence.mark, is_named, is_diff, is_fresh: true });
            }
        }
    }

    fn place(&self) -> Place {
        if self.fence.is_none_or(|fence| fence.is_fresh) { Place::Telling } else { Place::Deeper }
    }

    /// The format that a line shows, and where.
    fn shown_by(&mut self, line: Line<'_>, place: Place) -> Option<(Format, Place)> {
        let marker = Marker::read(line.text);
        if let Some(Marker::Replace { .. }) = marker {
            // A block without its first marker is not content, wherever it is.
            let tells = !mem::take(&mut self.in_block);
            return tells.then_some((Format::SearchReplace, Place::Telling));
        }
        let format = if let Some(Marker::Search(_)) = marker {
            self.in_block = true;
            Format::SearchReplace
        } else if apply_patch::is_telling(line) {
            Format::ApplyPatch
        } else if roo_args::is_telling(line) {
            Format::RooArgs
        } else if udiff::is_telling(line)
            || self.fence.is_some_and(|fence| fence.is_diff) && line.text.starts_with("@@")
        {
            Format::UnifiedDiff
        } else if let Some(place) = self.old_name.filter(|_| udiff::new_name(line.text).is_some()) {
            return Some((Format::UnifiedDiff, place));
        } else if self.tells_value(line.text) {
            Format::StrReplace
        } else {
            self.go_on_with_value(line.text);
            return None;
        };
        Some((format, place))
    }

    /// Whether a line is the beginning of an edit tool's arguments, or goes on with it up to their first key.
    fn tells_value(&self, line: &str) -> bool {
        let is_content = self.fence.is_some_and(|fence| fence.is_named) || self.place() == Place::Deeper;
        let start = line.char_indices().nth(FIRST_KEY).map_or(line, |(at, _)| &line[..at]);
        let begins = !self.value.is_empty() || start.trim_ascii_start().starts_with(['{', '[']);
        if is_content || !begins {
            return false;
        }
        let value = format!("{}{start}", self.value);
        let key = value.trim_start_matches(['{', '[', ' ', '\t', '\r', '\n']).strip_prefix('"');
        key.and_then(|key| key.split_once('"')).is_some_and(|(key, _)| str_replace::is_telling(key))
    }

    /// Keeps a line of brackets and whitespace, below which the first key may come.
    fn go_on_with_value(&mut self, line: &str) {
        let is_open = line.trim_ascii().bytes().all(|byte| matches!(byte, b'{' | b'['));
        if is_open && self.value.len() < FIRST_KEY {
            self.value.push_str(line.trim_ascii());
        } else {
            self.value.clear();
        }
    }
}
