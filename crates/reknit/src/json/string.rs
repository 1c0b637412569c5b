//! The inside of a JSON string: runs of plain text, and escapes cut anywhere.

use super::{ErrorKind, Expected};

/// How far an escape has come.
#[derive(Clone, Copy, Debug)]
pub(super) enum Escape {
    /// In plain text.
    None,
    /// Behind a backslash.
    Backslash,
    /// In the hex digits of a `\u` escape.
    Unit { digits: u8, unit: u16 },
    /// Behind the first half of a surrogate pair, where a backslash must follow.
    Half { high: u16 },
    /// Behind that backslash, where a `u` must follow.
    HalfBackslash { high: u16 },
    /// In the hex digits of the second half.
    SecondUnit { high: u16, digits: u8, unit: u16 },
}

/// What a piece did for a string.
pub(super) enum Decoded {
    /// The quote that closes the string was the last of this many bytes.
    Closed(usize),
    /// All of the piece belongs to the string.
    Open,
}

/// Appends to `out` what `text` adds to a string that stands at `escape`.
///
/// On an error `out` has all that came before it, and the error says how many bytes that were.
pub(super) fn decode(
    text: &str,
    escape: &mut Escape,
    out: &mut String,
) -> Result<Decoded, (ErrorKind, usize)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        if let Escape::None = escape {
            let end = plain_end(bytes, at);
            out.push_str(&text[at..end]);
            at = end;
            // The common escapes that are not cut need no state.
            if let [b'\\', letter, ..] = bytes[at..]
                && let Some(char) = escaped(letter)
            {
                out.push(char);
                at += 2;
                continue;
            }
        }
        let Some(&byte) = bytes.get(at) else { return Ok(Decoded::Open) };
        let unexpected = || {
            let found = text[at..].chars().next().unwrap_or_default();
            Err((ErrorKind::Unexpected { found, expected: Expected::HexDigit }, at))
        };
        *escape = match *escape {
            Escape::None => match byte {
                b'"' => return Ok(Decoded::Closed(at + 1)),
                b'\\' => Escape::Backslash,
                _ => return Err((ErrorKind::Control { found: char::from(byte) }, at)),
            },
            Escape::Backslash => match escaped(byte) {
                Some(char) => {
                    out.push(char);
                    Escape::None
                }
                None if byte == b'u' => Escape::Unit { digits: 0, unit: 0 },
                None => {
                    let found = text[at..].chars().next().unwrap_or_default();
                    return Err((ErrorKind::Escape { found }, at));
                }
            },
            Escape::Unit { digits, unit } => {
                let Some(digit) = hex_digit(byte) else { return unexpected() };
                let unit = unit << 4 | digit;
                match (digits, unit) {
                    (0..3, _) => Escape::Unit { digits: digits + 1, unit },
                    (_, 0xD800..=0xDBFF) => Escape::Half { high: unit },
                    (_, _) => match char::from_u32(unit.into()) {
                        Some(char) => {
                            out.push(char);
                            Escape::None
                        }
                        None => return Err((ErrorKind::LoneSurrogate { unit }, at)),
                    },
                }
            }
            Escape::Half { high } => match byte {
                b'\\' => Escape::HalfBackslash { high },
                _ => return Err((ErrorKind::LoneSurrogate { unit: high }, at)),
            },
            Escape::HalfBackslash { high } => match byte {
                b'u' => Escape::SecondUnit { high, digits: 0, unit: 0 },
                _ => return Err((ErrorKind::LoneSurrogate { unit: high }, at)),
            },
            Escape::SecondUnit { high, digits, unit } => {
                let Some(digit) = hex_digit(byte) else { return unexpected() };
                let unit = unit << 4 | digit;
                match (digits, char::decode_utf16([high, unit]).next()) {
                    (0..3, _) => Escape::SecondUnit { high, digits: digits + 1, unit },
                    (_, Some(Ok(char))) => {
                        out.push(char);
                        Escape::None
                    }
                    (_, _) => return Err((ErrorKind::LoneSurrogate { unit: high }, at)),
                }
            }
        };
        at += 1;
    }
}

/// The first place from `at` on that needs a second look: a quote, a backslash, a control character or the
/// end.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], at: usize) -> usize {
    let (words, tail) = bytes[at..].as_chunks::<8>();
    for (before, word) in words.iter().enumerate() {
        let marks = special(u64::from_le_bytes(*word));
        if marks != 0 {
            return at + before * 8 + first(marks);
        }
    }
    let start = bytes.len() - tail.len();
    match bytes.last_chunk::<8>() {
        // Eight bytes that end where the text does, less those before the tail. The zeros that move in
        // count as control characters and so mark the end.
        Some(word) if !tail.is_empty() => {
            start + first(special(u64::from_le_bytes(*word) >> (64 - 8 * tail.len())))
        }
        _ => {
            let stop = tail.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\');
            start + stop.unwrap_or(tail.len())
        }
    }
}

/// The high bit of each special byte among eight.
///
/// After Mycroft: a byte below `n` borrows when `n` is taken from it. A borrow may mark bytes above the
/// first special one falsely, never below, so only the lowest mark counts.
fn special(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    // With its second bit turned a quote is 0x20 and a blank is not, and what was below 0x20 still is.
    let low = word ^ (ONES * 0x02);
    let backslash = word ^ (ONES * b'\\' as u64);
    let marks = low.wrapping_sub(ONES * 0x21) & !low | backslash.wrapping_sub(ONES) & !backslash;
    marks & (ONES << 7)
}

/// Which byte the lowest mark is on.
fn first(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

/// What a letter behind a backslash stands for, unless it starts a longer escape.
fn escaped(letter: u8) -> Option<char> {
    match letter {
        b'"' | b'\\' | b'/' => Some(char::from(letter)),
        b'n' => Some('\n'),
        b't' => Some('\t'),
        b'r' => Some('\r'),
        b'b' => Some('\u{8}'),
        b'f' => Some('\u{c}'),
        _ => None,
    }
}

fn hex_digit(byte: u8) -> Option<u16> {
    char::from(byte).to_digit(16).map(|digit| digit as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_at_the_first_special_byte_wherever_it_is() {
        for special in ['"', '\\', '\0', '\u{1f}', '\n'] {
            for (before, after) in (0..40).flat_map(|before| (0..10).map(move |after| (before, after))) {
                // What follows a special byte closely is what a borrow would mark.
                let text = format!("\\]\"#{}{special}{}", "é~".repeat(before), "#]!\u{80}\"".repeat(after));
                assert_eq!(plain_end(text.as_bytes(), 4), 4 + 3 * before, "{text:?}");
                assert_eq!(plain_end(text.as_bytes(), 1), 2, "{text:?}");
                assert_eq!(plain_end(text.as_bytes(), 3), 4 + 3 * before, "{text:?}");
            }
        }
        for (length, at) in (0..40).flat_map(|length| (0..=length).map(move |at| (length, at))) {
            assert_eq!(plain_end(" ".repeat(length).as_bytes(), at), length);
        }
    }
}
