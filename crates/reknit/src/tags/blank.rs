//! What counts as blank around text and values, and the cleaning that goes with it.

use std::ops::Range;

/// Whether `c` is what JavaScript's `trim` removes: Unicode's white space and the byte order mark.
///
/// The formats come from programs in that language, so a value is trimmed as they trim it.
pub(super) fn is_blank(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// Where the first character in `range` that is not blank starts.
///
/// It is asked at every marker, and mostly the first byte or two say it.
#[inline(always)]
pub(super) fn first_solid(text: &str, range: Range<usize>) -> Option<usize> {
    match text.as_bytes()[range.clone()] {
        [b'!'..=b'~', ..] => Some(range.start),
        [b'\n', b'!'..=b'~', ..] => Some(range.start + 1),
        [] | [b'\n'] => None,
        _ => search_first_solid(text, range),
    }
}

#[cold]
fn search_first_solid(text: &str, range: Range<usize>) -> Option<usize> {
    text[range.clone()].find(|c| !is_blank(c)).map(|solid| range.start + solid)
}

/// Where the last character in `range` that is not blank ends.
#[inline(always)]
pub(super) fn last_solid(text: &str, range: Range<usize>) -> Option<usize> {
    match text.as_bytes()[range.clone()] {
        [.., b'!'..=b'~'] => Some(range.end),
        [.., b'!'..=b'~', b' ' | b'\n'] => Some(range.end - 1),
        _ => search_last_solid(text, range),
    }
}

#[cold]
fn search_last_solid(text: &str, range: Range<usize>) -> Option<usize> {
    let rest = text[range.clone()].trim_end_matches(is_blank);
    (!rest.is_empty()).then_some(range.start + rest.len())
}

/// Where the blanks end that start at `from`.
#[inline]
pub(super) fn behind_blanks(text: &str, from: usize) -> usize {
    first_solid(text, from..text.len()).unwrap_or(text.len())
}
