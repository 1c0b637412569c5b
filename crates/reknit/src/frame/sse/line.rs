//! One line of a server-sent event.
//!
//! What runs for every line is `#[inline]`: without it short lines cost a sixth more.

use crate::frame::utf8::{Tally, decode};

/// A line, or the end of one.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) bytes: &'a [u8],
    /// The same as text, if it is valid.
    pub(super) text: Option<&'a str>,
}

impl<'a> Line<'a> {
    #[inline]
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, text: str::from_utf8(bytes).ok() }
    }

    /// The field it is for, and where its value starts.
    #[inline]
    pub(super) fn field(self) -> Option<(Field, usize)> {
        FIELDS.iter().find_map(|(name, field)| match self.bytes.strip_prefix(*name)? {
            [] => Some((*field, name.len())),
            [b':', b' ', ..] => Some((*field, name.len() + 2)),
            [b':', ..] => Some((*field, name.len() + 1)),
            _ => None,
        })
    }

    /// The line from `start`, which is no place inside a character.
    #[inline]
    pub(super) fn from(self, start: usize) -> Self {
        Self { bytes: &self.bytes[start..], text: self.text.map(|text| &text[start..]) }
    }

    /// Appends the text to `out`; `at` is where it stands in the input.
    #[inline]
    pub(super) fn decode(self, at: u64, out: &mut String, bad: &mut Tally) {
        match self.text {
            Some(text) => out.push_str(text),
            None => decode(self.bytes, at, out, bad),
        }
    }
}

/// The fields that have a meaning.
#[derive(Clone, Copy)]
pub(super) enum Field {
    Data,
    Event,
    Id,
    Retry,
}

const FIELDS: [(&[u8], Field); 4] =
    [(b"data", Field::Data), (b"event", Field::Event), (b"id", Field::Id), (b"retry", Field::Retry)];

/// How a line of data starts.
pub(super) const DATA: &[u8] = b"data:";

/// Whether the text of a cut line can go to the open frame: it is known to be data, and whether there is
/// a blank behind the colon.
pub(super) fn is_open_data(line: &[u8]) -> bool {
    line.len() > DATA.len() && line.starts_with(DATA)
}

/// Where the next line of `piece` starts if one ends at `end`.
#[inline]
pub(super) fn after_line(piece: &[u8], end: usize) -> usize {
    let is_crlf = piece[end] == b'\r' && piece.get(end + 1) == Some(&b'\n');
    end + 1 + usize::from(is_crlf)
}

pub(super) fn milliseconds(value: &[u8]) -> Option<u64> {
    if !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    str::from_utf8(value).ok()?.parse().ok()
}
