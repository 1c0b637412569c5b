//! The arguments of an edit tool, as JSON.
//!
//! Any object with `old_string` and `new_string`, or with the `command` of an editor, is an edit, wherever it
//! is: alone, in an array, in `edits` beside a path, one per line. Its file is named by its own path or by
//! that of the closest object around it. All else is prose, and so is what follows the place where a
//! text stops being JSON.

mod arguments;
mod value;

use memchr::{memchr, memchr_iter};

use self::arguments::Key;
use self::value::Json;
use super::{Open, Parsed};

#[derive(Clone, Debug)]
pub(super) struct Reader {
    /// The object that is open; none in prose.
    object: Option<Box<Json>>,
    /// The byte of the answer after what was taken, and its line.
    at: usize,
    line: usize,
}

/// Whether the first key of a value says that it is the arguments of an edit tool.
pub(super) fn is_telling(key: &str) -> bool {
    key == "edits" || Key::read(key).is_some()
}

impl Default for Reader {
    fn default() -> Self {
        Self { object: None, at: 0, line: 1 }
    }
}

impl Reader {
    pub(super) fn open(&self) -> Option<Open<'_>> {
        self.object.as_ref()?.open()
    }

    pub(super) fn push(&mut self, piece: &str, parsed: &mut Parsed) {
        let mut rest = piece;
        while !rest.is_empty() {
            let taken = match &mut self.object {
                None => self.prose(rest),
                Some(object) => {
                    let (taken, is_over) = object.push(rest, &mut self.line, parsed);
                    if is_over {
                        self.object = None;
                    }
                    taken
                }
            };
            self.at += taken;
            rest = &rest[taken..];
        }
    }

    pub(super) fn finish(&mut self, parsed: &mut Parsed) {
        if let Some(object) = &mut self.object {
            object.cut(parsed);
        }
    }

    /// Takes prose up to where an object may begin; how much it was.
    fn prose(&mut self, text: &str) -> usize {
        let prose = memchr(b'{', text.as_bytes()).unwrap_or(text.len());
        self.line += memchr_iter(b'\n', &text.as_bytes()[..prose]).count();
        if prose < text.len() {
            self.object = Some(Box::new(Json::new(self.at + prose, self.line)));
        }
        prose
    }
}
