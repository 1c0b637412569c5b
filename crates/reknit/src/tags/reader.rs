//! [`Reader`]: one JSON value inside a text, up to where it ends.

use std::ops::ControlFlow;

use crate::json::{EndFinder, PartialJson};

/// How many bytes are looked at before it is known that they are JSON. Then twice as many, and so on: a value that is
/// soon malformed must not cost a search through everything after it.
const FIRST_PART: usize = 64;

/// Reads one value. Its first byte has come and is not whitespace.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    /// Where the value starts.
    pub(super) start: usize,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// An object, an array or a string, whose last byte shows that it ends.
    Closed(EndFinder),
    /// A number or a word, which ends where something else starts.
    Open,
}

/// The outcome of reading a value, arguments or a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// Everything that can be read so far is read, up to here.
    More(usize),
    /// It ends here.
    Done(usize),
    /// From here on it is malformed, or longer than its limit.
    Bad(usize),
}

/// The outcome of reading a part of it, which ends at this byte unless that is the outcome of the whole.
pub(super) type Token = ControlFlow<Read, usize>;

impl Read {
    /// How far was read.
    pub(super) fn at(self) -> usize {
        let (Self::More(at) | Self::Done(at) | Self::Bad(at)) = self;
        at
    }
}

impl Reader {
    pub(super) fn new(text: &str, start: usize) -> Self {
        let kind = match text.as_bytes()[start] {
            b'{' | b'[' | b'"' => Kind::Closed(EndFinder::new()),
            _ => Kind::Open,
        };
        Self { start, kind }
    }

    /// Reads `text` from `scan` on into `json`. A value has at most `limit` bytes.
    pub(super) fn read(&mut self, text: &str, scan: usize, limit: usize, json: &mut PartialJson) -> Read {
        let bound = text.floor_char_boundary(self.start.saturating_add(limit).min(text.len()));
        let (mut from, mut length) = (scan, FIRST_PART);
        while from < bound {
            let until = text.floor_char_boundary((from + length).min(bound));
            let bytes = &text.as_bytes()[from..until];
            let end = match &mut self.kind {
                Kind::Closed(nesting) => nesting.push(bytes),
                Kind::Open => bytes.iter().position(|byte| b",]} \t\r\n".contains(byte)),
            };
            let piece = &text[from..from + end.unwrap_or(bytes.len())];
            if let Err(error) = json.push(piece) {
                return Read::Bad(self.start + error.at);
            }
            if let Some(end) = end {
                return match json.check() {
                    Ok(()) => Read::Done(from + end),
                    Err(error) => Read::Bad(self.start + error.at),
                };
            }
            (from, length) = (until, length * 2);
        }
        if bound < text.len() { Read::Bad(bound) } else { Read::More(bound) }
    }
}
