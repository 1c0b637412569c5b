//! Decodes the inside of a JSON string: runs of plain text, and escapes that may be cut anywhere.

use super::error::Fault;

/// How much of an escape has been read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Escape {
    /// In plain text.
    None,
    /// After a backslash.
    Backslash,
    /// In the hex digits of a `\u` escape, which may be the second half of a surrogate pair.
    Unit { high: Option<u16>, digits: u8, unit: u16 },
    /// After the first half of a surrogate pair, where a backslash must follow.
    Half { high: u16 },
    /// After that backslash, where a `u` must follow.
    HalfBackslash { high: u16 },
}

/// What a piece means for a string.
pub(super) enum Decoded {
    /// The closing quote was the last of this many bytes.
    Closed(usize),
    /// The whole piece belongs to the string, which continues.
    Open,
}

/// Appends to `out` what `text` adds to a string, which so far ends at `escape`.
///
/// On an error `out` has everything before it, and the error comes with its offset in `text`.
pub(super) fn decode(text: &str, escape: &mut Escape, out: &mut String) -> Result<Decoded, (Fault, usize)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        if let Escape::None = escape {
            let end = plain_end(bytes, at);
            out.push_str(&text[at..end]);
            at = end;
            // Common escapes that are not cut need no state.
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
            Err((Fault::Unexpected { found, expected: "a hexadecimal digit" }, at))
        };
        *escape = match *escape {
            Escape::None => match byte {
                b'"' => return Ok(Decoded::Closed(at + 1)),
                b'\\' => Escape::Backslash,
                _ => return Err((Fault::Control { found: char::from(byte) }, at)),
            },
            Escape::Backslash => match escaped(byte) {
                Some(char) => {
                    out.push(char);
                    Escape::None
                }
                None if byte == b'u' => Escape::Unit { high: None, digits: 0, unit: 0 },
                None => {
                    let found = text[at..].chars().next().unwrap_or_default();
                    return Err((Fault::Escape { found }, at));
                }
            },
            Escape::Unit { high, digits, unit } => {
                let Some(digit) = hex_digit(byte) else { return unexpected() };
                let unit = unit << 4 | digit;
                match (digits, high, unit) {
                    (0..3, ..) => Escape::Unit { high, digits: digits + 1, unit },
                    (_, None, 0xD800..=0xDBFF) => Escape::Half { high: unit },
                    _ => match char::decode_utf16(high.into_iter().chain([unit])).next() {
                        Some(Ok(char)) => {
                            out.push(char);
                            Escape::None
                        }
                        _ => return Err((Fault::LoneSurrogate { unit: high.unwrap_or(unit) }, at)),
                    },
                }
            }
            Escape::Half { high } => match byte {
                b'\\' => Escape::HalfBackslash { high },
                _ => return Err((Fault::LoneSurrogate { unit: high }, at)),
            },
            Escape::HalfBackslash { high } => match byte {
                b'u' => Escape::Unit { high: Some(high), digits: 0, unit: 0 },
                _ => return Err((Fault::LoneSurrogate { unit: high }, at)),
            },
        };
        at += 1;
    }
}

/// The first position from `at` on that is special: a quote, a backslash, a control character or the end.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(word) = bytes[at..].first_chunk() {
        let marks = special(u64::from_le_bytes(*word));
        if marks != 0 {
            return at + first(marks);
        }
        at += 8;
    }
    plain_tail_end(bytes, at)
}

/// The same of less than eight bytes.
#[inline]
fn plain_tail_end(bytes: &[u8], at: usize) -> usize {
    let tail = &bytes[at..];
    match bytes.last_chunk() {
        // The last eight bytes of the text, shifted so that only the tail is left. The zeros that are shifted
        // in count as control characters and thus mark the end.
        Some(word) if !tail.is_empty() => {
            at + first(special(u64::from_le_bytes(*word) >> (64 - 8 * tail.len())))
        }
        _ => {
            let stop = tail.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\');
            at + stop.unwrap_or(tail.len())
        }
    }
}

/// The high bit of each special byte among eight.
///
/// This is Mycroft's trick: subtracting `n` from a byte below `n` borrows. A borrow may falsely mark bytes
/// above the first special one, but never below it, so only the lowest mark is valid.
fn special(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    // With its second-lowest bit flipped, a quote is 0x20 and a space is not, and what was below 0x20 still is.
    let low = word ^ (ONES * 0x02);
    let backslash = word ^ (ONES * b'\\' as u64);
    let marks = low.wrapping_sub(ONES * 0x21) & !low | backslash.wrapping_sub(ONES) & !backslash;
    marks & (ONES << 7)
}

/// The index of the byte with the lowest mark.
fn first(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

/// The character that a letter after a backslash stands for, unless it starts a longer escape.
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
                // The bytes right after the special one are those that a borrow would mark.
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
