//! The arguments of an edit tool, as JSON.
//!
//! Any object with `old_string` and `new_string`, or with the `command` of an editor, is an edit, wherever it
//! is: alone, in an array, in `edits` beside a path, one per line. Its file is named by its own path or by
//! that of the closest object around it. All else is prose, and so is what follows the place where a
//! text stops being JSON.

mod arguments;
mod value;

use std::mem;

use memchr::{memchr, memchr_iter};

use self::arguments::Key;
use self::value::{Json, Step};
use super::{Open, Parsed};

/// Reads the arguments of edit tools.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    state: State,
    /// The byte of the answer after what was taken, and its line.
    at: usize,
    line: usize,
}

#[derive(Clone, Debug, Default)]
enum State {
    #[default]
    Prose,
    Object(Box<Json>),
}

/// Whether the first key of a value says that it is the arguments of an edit tool.
pub(super) fn is_telling(key: &str) -> bool {
    key == "edits" || Key::read(key).is_some()
}

impl Default for Reader {
    fn default() -> Self {
        Self { state: State::Prose, at: 0, line: 1 }
    }
}

impl Reader {
    /// The edit that is being written.
    pub(super) fn open(&self) -> Option<Open<'_>> {
        match &self.state {
            State::Prose => None,
            State::Object(json) => json.open(),
        }
    }

    /// Takes the next piece.
    pub(super) fn push(&mut self, piece: &str, parsed: &mut Parsed) {
        let mut rest = piece;
        while !rest.is_empty() {
            let taken = match mem::take(&mut self.state) {
                State::Prose => self.prose(rest),
                State::Object(json) => self.object(json, rest, parsed),
            };
            self.at += taken;
            rest = &rest[taken..];
        }
    }

    /// Ends the answer.
    pub(super) fn finish(&mut self, parsed: &mut Parsed) {
        if let State::Object(json) = &mut self.state {
            json.cut(parsed);
        }
    }

    /// Takes prose up to where an object may begin; how much it was.
    fn prose(&mut self, text: &str) -> usize {
        let prose = memchr(b'{', text.as_bytes()).unwrap_or(text.len());
        self.line += memchr_iter(b'\n', &text.as_bytes()[..prose]).count();
        if prose < text.len() {
            self.state = State::Object(Box::new(Json::new(self.at + prose, self.line)));
        }
        prose
    }

    /// Takes text of an object, up to its next closing bracket; how much it was.
    fn object(&mut self, mut json: Box<Json>, text: &str, parsed: &mut Parsed) -> usize {
        match json.push(text, &mut self.line, parsed) {
            Step::Goes { taken } => {
                self.state = State::Object(json);
                taken
            }
            Step::Over { taken } => taken,
        }
    }
}
