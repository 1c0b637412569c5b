//! What counts as whitespace around text and values.

use std::ops::Range;

/// Whether JavaScript's `trim` removes `c`: Unicode whitespace without U+0085, and the byte order mark.
///
/// The formats come from programs written in JavaScript, so values are trimmed as they trim them.
pub(super) fn is_whitespace(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// The start of the first character in `range` that is not whitespace.
///
/// This is called at every marker, and the first byte or two nearly always decide it.
#[inline(always)]
pub(super) fn trimmed_start(text: &str, range: Range<usize>) -> Option<usize> {
    match text.as_bytes()[range.clone()] {
        [b'!'..=b'~', ..] => Some(range.start),
        [b'\n', b'!'..=b'~', ..] => Some(range.start + 1),
        [] | [b'\n'] => None,
        _ => search_trimmed_start(text, range),
    }
}

#[cold]
fn search_trimmed_start(text: &str, range: Range<usize>) -> Option<usize> {
    text[range.clone()].find(|c| !is_whitespace(c)).map(|solid| range.start + solid)
}

/// The end of the last character in `range` that is not whitespace.
#[inline(always)]
pub(super) fn trimmed_end(text: &str, range: Range<usize>) -> Option<usize> {
    match text.as_bytes()[range.clone()] {
        [.., b'!'..=b'~'] => Some(range.end),
        [.., b'!'..=b'~', b' ' | b'\n'] => Some(range.end - 1),
        _ => search_trimmed_end(text, range),
    }
}

#[cold]
fn search_trimmed_end(text: &str, range: Range<usize>) -> Option<usize> {
    let rest = text[range.clone()].trim_end_matches(is_whitespace);
    (!rest.is_empty()).then_some(range.start + rest.len())
}

/// The end of the whitespace that starts at `from`.
#[inline]
pub(super) fn skip_whitespace(text: &str, from: usize) -> usize {
    trimmed_start(text, from..text.len()).unwrap_or(text.len())
}
