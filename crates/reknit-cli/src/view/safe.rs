//! Characters that a model must not send to a terminal: those that control it, or hide or reorder text.
//!
//! They are replaced with visible ones. Line ends and tabs stay, as do the joiners of emoji and scripts.

use std::borrow::Cow;

/// The text without anything that could control a terminal; it may have several lines.
pub(crate) fn sanitized(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|char| is_unsafe(char) && char != '\n' && char != '\t') {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut sanitizer = Sanitizer::default();
    text.chars().for_each(|char| sanitizer.push(char, |char| shown.push(char)));
    sanitizer.finish(|char| shown.push(char));
    Cow::Owned(shown)
}

/// Makes a text harmless that is part of a line, such as a path: line feeds are shown too.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    text.chars().for_each(|char| escape(char, |char| shown.push(char)));
    shown.into()
}

/// The same for a name or a label: on one line, and short enough for a terminal.
pub(crate) fn name(text: &str) -> String {
    const MAX: usize = 60;
    let mut shown = String::new();
    for (position, char) in text.chars().enumerate() {
        if position == MAX {
            shown.push('…');
            break;
        }
        escape(char, |char| shown.push(char));
    }
    shown
}

/// Whether a terminal would do anything but show a character where it is.
pub(crate) fn is_unsafe(char: char) -> bool {
    is_control(char) || is_hidden(char)
}

/// Sanitizes text that comes in pieces.
#[derive(Default)]
pub(crate) struct Sanitizer {
    /// The carriage return may be the first half of a line end.
    is_after_return: bool,
}

impl Sanitizer {
    pub(crate) fn push(&mut self, char: char, mut put: impl FnMut(char)) {
        if char != '\n' {
            self.finish(&mut put);
        }
        self.is_after_return = char == '\r';
        match char {
            '\r' => {}
            '\n' | '\t' => put(char),
            _ => escape(char, put),
        }
    }

    pub(super) fn finish(&mut self, put: impl FnMut(char)) {
        if std::mem::take(&mut self.is_after_return) {
            escape('\r', put);
        }
    }
}

/// A character as it can be shown: itself, its control picture, or its number.
fn escape(char: char, mut put: impl FnMut(char)) {
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

/// Characters that show nothing, or change the direction of what follows.
///
/// Tags and variation selectors of the supplementary plane can carry whole hidden texts.
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
    fn control_characters_become_visible() {
        let check = |text, expected| assert_eq!(sanitized(text), expected);
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
            assert!(sanitized(&text).chars().all(|char| !is_unsafe(char) || char == '\n' || char == '\t'));
            assert!(!name(&text).contains(is_unsafe));
        }
    }
}
