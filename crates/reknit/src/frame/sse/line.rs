//! One line of a server-sent event.
//!
//! What runs for every line is `#[inline]`: without that, short lines take a sixth longer.

use memchr::memchr2;

use crate::frame::utf8::{Tally, decode};

/// A part of the input: one line, part of one, or several.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) bytes: &'a [u8],
    /// The same as text, if it is known to be valid UTF-8.
    pub(super) text: Option<&'a str>,
}

impl<'a> Part<'a> {
    #[inline]
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, text: str::from_utf8(bytes).ok() }
    }

    /// The field that the line sets, and where its value starts.
    #[inline]
    pub(super) fn field(self) -> Option<(Field, usize)> {
        FIELDS.iter().find_map(|(name, field)| match self.bytes.strip_prefix(*name)? {
            [] => Some((*field, name.len())),
            [b':', b' ', ..] => Some((*field, name.len() + 2)),
            [b':', ..] => Some((*field, name.len() + 1)),
            _ => None,
        })
    }

    /// The part from `start` on, which must not be inside a character.
    #[inline]
    pub(super) fn from(self, start: usize) -> Self {
        self.range(start, self.bytes.len())
    }

    /// The part between two positions, neither of which may be inside a character.
    #[inline]
    pub(super) fn range(self, start: usize, end: usize) -> Self {
        Self { bytes: &self.bytes[start..end], text: self.text.and_then(|text| text.get(start..end)) }
    }

    /// Appends the text to `out`. It is at `at` in the input.
    #[inline]
    pub(super) fn decode(self, at: u64, out: &mut String, bad: &mut Tally) {
        match self.text {
            Some(text) => out.push_str(text),
            None => decode(self.bytes, at, out, bad),
        }
    }
}

/// The fields that the specification defines.
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

/// Whether the text of a cut line can be appended to the open frame: it is known to be data, and it is known
/// whether a space follows the colon.
pub(super) fn is_open_data(line: &[u8]) -> bool {
    line.len() > DATA.len() && line.starts_with(DATA)
}

/// The length of the first line of `bytes`, if it ends there.
#[inline]
pub(super) fn line_end(bytes: &[u8]) -> Option<usize> {
    match bytes.first()? {
        // Half of all lines are blank, so they are worth a shortcut.
        b'\n' => Some(0),
        _ => memchr2(b'\n', b'\r', bytes),
    }
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
