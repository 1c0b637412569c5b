//! Lines of a text that is not split: found where they are needed, forwards and backwards.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr2, memrchr, memrchr2};

/// A line, where it begins, and how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'t> {
    /// The byte of the text at which it begins.
    pub(super) start: usize,
    /// Without its end.
    pub(super) body: &'t [u8],
    /// A line feed, a carriage return, or both; nothing at the end of a text that has none.
    pub(super) end: &'static [u8],
}

impl<'t> Line<'t> {
    fn new(text: &'t [u8], start: usize, next: usize) -> Self {
        let (body, end): (_, &[u8]) = match &text[start..next] {
            [body @ .., b'\r', b'\n'] => (body, b"\r\n"),
            [body @ .., b'\n'] => (body, b"\n"),
            [body @ .., b'\r'] if Returns::of(text) == Returns::EndLines => (body, b"\r"),
            body => (body, b""),
        };
        Self { start, body, end }
    }

    /// The byte after it and its end.
    pub(super) fn next(self) -> usize {
        self.start + self.body.len() + self.end.len()
    }

    pub(super) fn is_blank(self) -> bool {
        is_blank(self.body)
    }
}

/// What a carriage return without a line feed is in a text.
///
/// It ends a line in a text whose first line ends with a carriage return: one of an old Mac, or a mixed one. In
/// others it is a character like any other, as in what a progress bar prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Returns {
    EndLines,
    AreCharacters,
}

impl Returns {
    fn of(text: &[u8]) -> Self {
        match memchr2(b'\n', b'\r', text).map(|at| text[at]) {
            Some(b'\r') => Self::EndLines,
            _ => Self::AreCharacters,
        }
    }

    /// The byte after the line that begins at a byte.
    fn next(self, text: &[u8], start: usize) -> usize {
        let rest = &text[start..];
        let end = match self {
            Self::AreCharacters => memchr(b'\n', rest),
            Self::EndLines => {
                memchr2(b'\n', b'\r', rest).map(|at| at + usize::from(rest[at..].starts_with(b"\r\n")))
            }
        };
        end.map_or(text.len(), |end| start + end + 1)
    }
}

/// The line that begins at a byte, unless the text is over there.
pub(super) fn line_at(text: &[u8], start: usize) -> Option<Line<'_>> {
    (start < text.len()).then(|| Line::new(text, start, Returns::of(text).next(text, start)))
}

/// The same without its end; empty if the text is over.
pub(super) fn body_at(text: &[u8], start: usize) -> &[u8] {
    line_at(text, start).map_or(&[], |line| line.body)
}

/// The line that ends right before a byte at which another one begins.
pub(super) fn line_before(text: &[u8], next: usize) -> Option<Line<'_>> {
    let last = next.checked_sub(1)?;
    let end = if text[..next].ends_with(b"\r\n") { last - 1 } else { last };
    Some(Line::new(text, start_of_line(text, end), next))
}

/// The lines of a text.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = Line<'_>> {
    lines_from(text, 0)
}

/// The lines of a text from the one on that begins at a byte.
pub(super) fn lines_from(text: &[u8], start: usize) -> impl Iterator<Item = Line<'_>> {
    let returns = Returns::of(text);
    let line = move |start| (start < text.len()).then(|| Line::new(text, start, returns.next(text, start)));
    std::iter::successors(line(start), move |before| line(before.next()))
}

/// The lines that end before a byte at which another one begins, from there upwards.
pub(super) fn lines_before(text: &[u8], next: usize) -> impl Iterator<Item = Line<'_>> {
    std::iter::successors(line_before(text, next), |line| line_before(text, line.start))
}

/// Where the line begins that a byte is in.
pub(super) fn start_of_line(text: &[u8], at: usize) -> usize {
    let end = match Returns::of(text) {
        Returns::AreCharacters => memrchr(b'\n', &text[..at]),
        Returns::EndLines => memrchr2(b'\n', b'\r', &text[..at]),
    };
    end.map_or(0, |end| end + 1)
}

/// The byte after each line, also after the last if it has no end.
pub(super) fn ends_of_lines(text: &[u8]) -> impl Iterator<Item = usize> {
    let ends = Ends { text, returns: Returns::of(text), block: 0, mask: 0 };
    ends.chain(is_open(text).then_some(text.len()))
}

/// The bytes after line ends.
///
/// It looks at a block of the text at once: to search for one end after the other would have each search wait
/// for the one before it, and lines are short.
struct Ends<'t> {
    text: &'t [u8],
    returns: Returns,
    /// Where the next block begins.
    block: usize,
    /// A bit for each byte of the block before it that may end a line and was not returned yet.
    mask: u64,
}

const BLOCK: usize = 64;

impl Iterator for Ends<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        loop {
            while self.mask == 0 {
                let rest = self.text.get(self.block..).filter(|rest| !rest.is_empty())?;
                let block = rest.first_chunk().copied().unwrap_or_else(|| {
                    let mut block = [0; BLOCK];
                    block[..rest.len()].copy_from_slice(rest);
                    block
                });
                self.mask = match self.returns {
                    Returns::AreCharacters => mask(&block, |byte| byte == b'\n'),
                    Returns::EndLines => mask(&block, |byte| byte == b'\n' || byte == b'\r'),
                };
                self.block += BLOCK;
            }
            let next = self.block - BLOCK + self.mask.trailing_zeros() as usize + 1;
            self.mask &= self.mask - 1;
            // A carriage return ends no line if the line feed after it does.
            if self.returns == Returns::AreCharacters
                || self.text[next - 1] == b'\n'
                || self.text.get(next) != Some(&b'\n')
            {
                return Some(next);
            }
        }
    }
}

/// A bit for each byte of a block: whether it is one of these.
#[inline]
fn mask(block: &[u8; BLOCK], is: impl Fn(u8) -> bool) -> u64 {
    let bits = block.map(|byte| u8::from(is(byte)));
    let (words, _) = bits.as_chunks::<8>();
    // The product has the lowest bits of all eight bytes side by side in its highest byte.
    let gathered = |word: &[u8; 8]| u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    words.iter().rev().fold(0, |mask, word| mask << 8 | gathered(word))
}

/// How many lines end in a range of a text.
pub(super) fn count(text: &[u8], range: Range<usize>) -> usize {
    let part = &text[range.clone()];
    let feeds = memchr_iter(b'\n', part).count();
    match Returns::of(text) {
        Returns::AreCharacters => feeds,
        Returns::EndLines => {
            let alone = |at: &usize| text.get(range.start + at + 1) != Some(&b'\n');
            feeds + memchr_iter(b'\r', part).filter(alone).count()
        }
    }
}

/// Gives the number of the line that a byte is in, counted from 0. The bytes that it is asked for must ascend.
pub(super) fn line_numbers(text: &[u8]) -> impl FnMut(usize) -> usize {
    let (mut number, mut counted) = (0, 0);
    move |at| {
        number += count(text, counted..at);
        counted = at;
        number
    }
}

/// Whether a text ends without a line end.
pub(super) fn is_open(text: &[u8]) -> bool {
    !text.is_empty() && without_line_end(text).len() == text.len()
}

/// A text without the line end at its end.
pub(super) fn without_line_end(text: &[u8]) -> &[u8] {
    Line::new(text, 0, text.len()).body
}

/// Whether a line begins at a byte.
pub(super) fn begins(text: &[u8], at: usize) -> bool {
    match at.checked_sub(1).map(|before| text[before]) {
        None | Some(b'\n') => true,
        Some(b'\r') => Returns::of(text) == Returns::EndLines && text.get(at) != Some(&b'\n'),
        Some(_) => false,
    }
}

pub(super) fn is_blank(body: &[u8]) -> bool {
    folded(body).is_empty()
}

/// The whitespace at the beginning of a line.
pub(super) fn indent(body: &[u8]) -> &[u8] {
    let rest = body.trim_ascii_start();
    &body[..body.len() - rest.len()]
}

/// A line without whitespace at its ends, and with plain quotes, dashes and spaces instead of those that look
/// like them. This is what lines are compared by when their outer form does not matter.
pub(super) fn folded(body: &[u8]) -> Cow<'_, [u8]> {
    if body.is_ascii() {
        return Cow::Borrowed(body.trim_ascii());
    }
    match plain(body) {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_ascii()),
        Cow::Owned(text) => Cow::Owned(text.trim_ascii().to_vec()),
    }
}

/// Whether two lines are the same, except for whitespace at both ends and characters that look alike. Whitespace
/// inside quotes is part of a text, and never alike.
pub(super) fn is_same(a: &[u8], b: &[u8]) -> bool {
    if a.is_ascii() && b.is_ascii() {
        return a.trim_ascii() == b.trim_ascii();
    }
    if folded(a) != folded(b) {
        return false;
    }
    let (Ok(a), Ok(b)) = (std::str::from_utf8(a), std::str::from_utf8(b)) else { return true };
    let mut quote = None;
    a.trim().chars().zip(b.trim().chars()).all(|(a, b)| {
        match (look_alike(a), quote) {
            (mark @ ('"' | '\'' | '`'), None) => quote = Some(mark),
            (mark, Some(open)) if mark == open => quote = None,
            _ => {}
        }
        a == b || quote.is_none() || !a.is_whitespace()
    })
}

/// A line with plain quotes, dashes and spaces instead of those that look like them.
pub(super) fn plain(body: &[u8]) -> Cow<'_, [u8]> {
    let Ok(text) = std::str::from_utf8(body) else { return Cow::Borrowed(body) };
    if !text.chars().any(|c| look_alike(c) != c) {
        return Cow::Borrowed(body);
    }
    Cow::Owned(text.chars().map(look_alike).collect::<String>().into_bytes())
}

pub(super) fn look_alike(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201B}' | '\u{2032}' | '\u{00B4}' => '\'',
        '\u{201C}'..='\u{201F}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{00A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => ' ',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ends_are_those_of_the_lines(text in "[ab\r\n]{0,10}[a\r\n]{0,300}") {
            let ends: Vec<_> = ends_of_lines(text.as_bytes()).collect();
            prop_assert_eq!(ends, lines(text.as_bytes()).map(Line::next).collect::<Vec<_>>());
        }
    }

    #[test]
    fn lines_are_the_same_in_both_directions() {
        for text in ["", "\n", "a", "a\n", "a\r\nb", "\r\n\r\n", "a\n\nb\n", "\n\na", "a\rb\r\rc\r\n\rd"] {
            let text = text.as_bytes();
            let forwards: Vec<_> = lines(text).collect();
            let mut backwards: Vec<_> = lines_before(text, text.len()).collect();
            backwards.reverse();
            assert_eq!(forwards, backwards, "{text:?}");
            assert!(forwards.iter().all(|line| begins(text, line.start)));
            assert_eq!(
                forwards.iter().map(|line| line.body.len() + line.end.len()).sum::<usize>(),
                text.len()
            );
        }
    }

    #[test]
    fn a_carriage_return_ends_lines_where_the_first_has_one() {
        let bodies =
            |text: &'static str| -> Vec<&[u8]> { lines(text.as_bytes()).map(|line| line.body).collect() };
        assert_eq!(bodies("a\r\nb\rc\n"), [b"a", b"b", b"c"]);
        assert_eq!(bodies("a\rb\r"), [b"a", b"b"]);
        assert_eq!(bodies("a\nb\rc\n"), [&b"a"[..], b"b\rc"]);
        assert_eq!(count(b"a\r\nb\rc\n", 0..5), 2);
        assert_eq!(count(b"a\nb\rc\n", 0..5), 1);
    }

    #[test]
    fn look_alikes_are_folded() {
        assert_eq!(&*folded("\u{A0} \u{201C}a\u{201D} \u{2013} b\u{2019}s ".as_bytes()), b"\"a\" - b's");
        assert_eq!(&*folded("  é  ".as_bytes()), "é".as_bytes());
        assert!(is_blank("\u{3000}\t".as_bytes()));
    }
}
