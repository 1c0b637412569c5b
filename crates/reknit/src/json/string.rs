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
            let run = plain_run(&bytes[at..]);
            out.push_str(&text[at..at + run]);
            at += run;
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
            Escape::Backslash => {
                match byte {
                    b'"' | b'\\' | b'/' => out.push(char::from(byte)),
                    b'n' => out.push('\n'),
                    b't' => out.push('\t'),
                    b'r' => out.push('\r'),
                    b'b' => out.push('\u{8}'),
                    b'f' => out.push('\u{c}'),
                    b'u' => {}
                    _ => {
                        let found = text[at..].chars().next().unwrap_or_default();
                        return Err((ErrorKind::Escape { found }, at));
                    }
                }
                if byte == b'u' { Escape::Unit { digits: 0, unit: 0 } } else { Escape::None }
            }
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

/// How many bytes from the start need no second look: no quote, no backslash, no control character.
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    // Eight bytes at a time, after Mycroft: a byte below `n` borrows when `n` is taken from it. A borrow
    // may mark bytes above the first such byte falsely, never below, and only the lowest mark is used.
    let (words, tail) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let quote = word ^ (ONES * u64::from(b'"'));
        let backslash = word ^ (ONES * u64::from(b'\\'));
        let marks = word.wrapping_sub(ONES * 0x20) & !word
            | quote.wrapping_sub(ONES) & !quote
            | backslash.wrapping_sub(ONES) & !backslash;
        if marks & HIGHS != 0 {
            return at * 8 + (marks & HIGHS).trailing_zeros() as usize / 8;
        }
    }
    let stop = tail.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\');
    words.len() * 8 + stop.unwrap_or(tail.len())
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
            for before in 0..40 {
                for after in 0..10 {
                    let text = format!("{}{special}{}", "é~".repeat(before), " \u{7f}\u{80}\"".repeat(after));
                    assert_eq!(plain_run(text.as_bytes()), 3 * before, "{text:?}");
                }
            }
        }
        for length in 0..40 {
            assert_eq!(plain_run(" ".repeat(length).as_bytes()), length);
        }
    }
}
