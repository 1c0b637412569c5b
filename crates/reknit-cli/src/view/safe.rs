//! What a terminal must not be told by a model: characters that command it, or that hide or turn text.
//!
//! They are shown as what they are. Line ends and tabs stay; so do the joiners of emoji and of scripts.

use std::borrow::Cow;

/// The text with nothing in it that a terminal would obey, over several lines.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|char| is_unsafe(char) && char != '\n' && char != '\t') {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut cleaner = Cleaner::default();
    text.chars().for_each(|char| cleaner.push(char, |char| shown.push(char)));
    cleaner.finish(|char| shown.push(char));
    Cow::Owned(shown)
}

/// The same for a name or a label: on one line, and not longer than a terminal is wide.
pub(crate) fn name(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown = String::new();
    for (position, char) in text.chars().enumerate() {
        if position == LONGEST {
            shown.push('…');
            break;
        }
        spell(char, |char| shown.push(char));
    }
    shown
}

/// Whether a terminal would do something else with a character than show it where it stands.
pub(crate) fn is_unsafe(char: char) -> bool {
    is_control(char) || is_hidden(char)
}

/// Text that comes in pieces, made harmless.
#[derive(Default)]
pub(super) struct Cleaner {
    /// A carriage return is the half of a line end, or one of its own.
    is_after_return: bool,
}

impl Cleaner {
    pub(super) fn push(&mut self, char: char, mut put: impl FnMut(char)) {
        if char != '\n' {
            self.finish(&mut put);
        }
        self.is_after_return = char == '\r';
        match char {
            '\r' => {}
            '\n' | '\t' => put(char),
            _ => spell(char, put),
        }
    }

    pub(super) fn finish(&mut self, put: impl FnMut(char)) {
        if std::mem::take(&mut self.is_after_return) {
            spell('\r', put);
        }
    }
}

/// A character as it can be shown: itself, its picture, or its number.
fn spell(char: char, mut put: impl FnMut(char)) {
    match char {
        '\0'..='\x1f' => put(char::from_u32(0x2400 + u32::from(char)).unwrap_or('␀')),
        '\x7f' => put('␡'),
        _ if is_unsafe(char) => char.escape_unicode().for_each(put),
        _ => put(char),
    }
}

fn is_control(char: char) -> bool {
    matches!(char, '\0'..='\x1f' | '\x7f'..='\u{9f}')
}

/// Characters that show nothing, or turn the direction of what follows.
///
/// Tags and variation selectors of the supplementary plane carry whole texts that nobody sees.
fn is_hidden(char: char) -> bool {
    matches!(
        char,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_become_pictures_of_themselves() {
        let check = |text, expected| assert_eq!(harmless(text), expected);
        check("plain\n\ttext 日本 👩‍💻 é", "plain\n\ttext 日本 👩‍💻 é");
        check("\x1b[31mred\x1b]0;title\x07", "␛[31mred␛]0;title␇");
        check("a\u{9b}2J", "a\\u{9b}2J");
        check("back\x08\x7f", "back␈␡");
        check("over\rwritten, line\r\nend, last\r", "over␍written, line\nend, last␍");
        check("\r\r\n", "␍\n");
        check("turned \u{202e}txt.exe", "turned \\u{202e}txt.exe");
        check("hidden\u{e0041}\u{200b}", "hidden\\u{e0041}\\u{200b}");
        assert_eq!(name("two\nlines\tand\x1b"), "two␊lines␉and␛");
        assert_eq!(name(&"x".repeat(100)).chars().count(), 61);
    }

    #[test]
    fn nothing_that_is_unsafe_is_ever_put() {
        for char in '\0'..=char::MAX {
            let text = char.to_string();
            assert!(harmless(&text).chars().all(|char| !is_unsafe(char) || char == '\n' || char == '\t'));
            assert!(!name(&text).contains(is_unsafe));
        }
    }
}
