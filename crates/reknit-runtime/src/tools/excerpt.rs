//! Text that is cut to a limit without cutting a character.

/// The first part of a line, with a mark if it is longer.
pub(super) fn line(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} more bytes in this line)", &text[..end], text.len() - end),
    }
}

/// How many bytes at the end are the beginning of a character of which the rest is missing.
pub(super) fn incomplete(bytes: &[u8]) -> usize {
    // A character has at most four bytes, so what is incomplete begins at one of the last three.
    for length in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - length];
        let needed = match byte {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => return 0,
        };
        return if needed > length { length } else { 0 };
    }
    0
}

/// How many bytes at the beginning are the end of a character.
pub(super) fn leftover(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|byte| matches!(byte, 0x80..=0xbf)).count()
}

/// A number with its thousands separated.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 file`, `2 files`.
pub(super) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_not_cut() {
        let text = "aé漢🦀";
        for cut in 0..=text.len() {
            let (before, after) = text.as_bytes().split_at(cut);
            let whole = &before[..before.len() - incomplete(before)];
            assert_eq!(std::str::from_utf8(whole), Ok(&text[..text.floor_char_boundary(cut)]), "{cut}");
            assert_eq!(&after[leftover(after)..], &text.as_bytes()[text.ceil_char_boundary(cut)..], "{cut}");
        }
        assert_eq!(incomplete(b"\xff\xff"), 0);
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn a_long_line_says_how_long_it_is() {
        assert_eq!(line("abc", 3), "abc");
        assert_eq!(line("ééé", 2), "éé… (2 more bytes in this line)");
    }
}
