//! What counts as blank around text and values, and the cleaning that goes with it.

/// Whether `c` is what JavaScript's `trim` removes: Unicode's white space and the byte order mark.
///
/// The formats come from programs in that language, so a value is trimmed as they trim it.
pub(crate) fn is_blank(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// Where the first character that is not blank starts.
#[inline]
pub(super) fn first_solid(text: &str) -> Option<usize> {
    match text.as_bytes() {
        [b'!'..=b'~', ..] => Some(0),
        [b'\n', b'!'..=b'~', ..] => Some(1),
        _ => text.find(|c| !is_blank(c)),
    }
}

/// Where the last character that is not blank ends.
#[inline]
pub(super) fn last_solid(text: &str) -> Option<usize> {
    match text.as_bytes() {
        [.., b'!'..=b'~'] => Some(text.len()),
        [.., b'!'..=b'~', b' ' | b'\n'] => Some(text.len() - 1),
        _ => {
            let rest = text.trim_end_matches(is_blank);
            (!rest.is_empty()).then_some(rest.len())
        }
    }
}

/// How many bytes at the start of `text` are blank.
#[inline]
pub(super) fn leading(text: &str) -> usize {
    first_solid(text).unwrap_or(text.len())
}
