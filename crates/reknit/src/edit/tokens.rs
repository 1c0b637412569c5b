//! Texts that are the same token by token, with other line breaks.

use super::lines::{Line, is_blank, line_at, lines_before};
use super::needle::is_word;

/// How many lines of a text one statement is looked for in.
const MOST_LINES: usize = 64;

/// The whole lines from a byte on that have the same tokens as these lines, with other line breaks: the byte after
/// them. Whitespace must be the same where neither side has a line break, and within quotes and comments there is
/// no other line break.
pub(super) fn joined(searched: &[&[u8]], text: &[u8], start: usize) -> Option<usize> {
    let wanted = tokens(searched)?;
    let mut bodies: Vec<&[u8]> = Vec::new();
    let mut at = start;
    while bodies.len() < MOST_LINES {
        let line = line_at(text, at)?;
        at = line.next();
        bodies.push(line.body);
        if is_blank(line.body) {
            continue;
        }
        let found = tokens(&bodies)?;
        let agree = found.iter().zip(&wanted).all(|(found, wanted)| found.is(wanted));
        if !agree || found.len() > wanted.len() {
            return None;
        }
        if found.len() == wanted.len() {
            // As many lines would be the same ones.
            let solid = |lines: &[&[u8]]| lines.iter().filter(|body| !is_blank(body)).count();
            return (solid(&bodies) != solid(searched)).then_some(at);
        }
    }
    None
}

/// The line before a byte from which on the lines up to it have the same tokens as these lines.
pub(super) fn joined_before<'t>(searched: &[&[u8]], text: &'t [u8], end: usize) -> Option<Line<'t>> {
    let mut before = lines_before(text, end).take(MOST_LINES);
    before.find(|line| joined(searched, text, line.start) == Some(end))
}

/// A word or another character, and what is before it.
#[derive(Debug)]
struct Token<'a> {
    text: &'a [u8],
    /// The whitespace between it and the token before it; none at the beginning of a line.
    before: Option<&'a [u8]>,
}

impl Token<'_> {
    fn is(&self, other: &Self) -> bool {
        self.text == other.text && self.before.zip(other.before).is_none_or(|(a, b)| a == b)
    }
}

/// The tokens of some lines; none if a line break among them may mean something, as after a comment.
fn tokens<'a>(lines: &[&'a [u8]]) -> Option<Vec<Token<'a>>> {
    let mut tokens = Vec::new();
    for (number, body) in lines.iter().enumerate() {
        let mut rest = body.trim_ascii();
        if number + 1 < lines.len() && (has_open_quote(rest) || has_comment(rest)) {
            return None;
        }
        let mut before = None;
        while let Some(first) = rest.first() {
            let length = match is_word(*first) {
                true => rest.iter().take_while(|byte| is_word(**byte)).count(),
                false => 1,
            };
            let (text, after) = rest.split_at(length);
            tokens.push(Token { text, before });
            rest = after.trim_ascii_start();
            before = Some(&after[..after.len() - rest.len()]);
        }
    }
    Some(without_last_commas(tokens))
}

/// A comma at the end of a line before a closing bracket says nothing.
fn without_last_commas(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let closes = |token: &Token<'_>| matches!(token.text, b")" | b"]" | b"}") && token.before.is_none();
    let is_last: Vec<_> =
        tokens.windows(2).map(|two| two[0].text == b"," && closes(&two[1])).chain([false]).collect();
    tokens.into_iter().zip(is_last).filter(|(_, is_last)| !is_last).map(|(token, _)| token).collect()
}

fn has_open_quote(body: &[u8]) -> bool {
    [b'"', b'\'', b'`'].iter().any(|quote| body.iter().filter(|byte| *byte == quote).count() % 2 == 1)
}

fn has_comment(body: &[u8]) -> bool {
    [&b"//"[..], b"#", b"--", b"/*", b";;", b"%"]
        .iter()
        .any(|mark| memchr::memmem::find(body, mark).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(searched: &str, text: &str, expected: Option<usize>) {
        let searched: Vec<_> = searched.lines().map(str::as_bytes).collect();
        assert_eq!(joined(&searched, text.as_bytes(), 0), expected, "{searched:?} in {text:?}");
    }

    #[test]
    fn line_breaks_may_be_elsewhere() {
        check("call(a,\n     b)", "call(a, b)\nnext()\n", Some(11));
        check("call(a, b)", "call(\n    a,\n    b)\nnext()\n", Some(20));
        check("call(\n    a,\n    b,\n)", "call(a, b)\n", Some(11));
        check("call(a, b)", "call(a, bc)\n", None);
        check("call(a, b)", "call(a, b) + 1\n", None);
    }

    #[test]
    fn other_whitespace_stays_what_it_is() {
        check("x  =  1", "x = 1\n", None);
        check("s = \"a\nb\"", "s = \"a b\"\n", None);
        check("a # b\nc", "a # b c\n", None);
    }
}
