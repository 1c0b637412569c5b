//! [`File`]: where a search text matches, as both versions search for it.

use std::ops::Range;

use super::line::is_whitespace;

/// The original content and its lines.
///
/// Every line counts as if a line ending followed it, even the last one, so a match can end one byte after the
/// content. That byte decides whether an empty last line can still be found, so it is kept.
pub(super) struct File<'a> {
    text: &'a str,
    lines: Vec<Line<'a>>,
}

struct Line<'a> {
    start: usize,
    trimmed: &'a str,
}

impl<'a> File<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut start = 0;
        let lines = text.split('\n').map(|line| {
            let at = start;
            start += line.len() + 1;
            Line { start: at, trimmed: line.trim_matches(is_whitespace) }
        });
        Self { text, lines: lines.collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// The content of a range; the part after the end is empty, and so is a range that runs backwards.
    pub(super) fn slice(&self, range: Range<usize>) -> &'a str {
        self.text.get(range.start..range.end.min(self.text.len())).unwrap_or_default()
    }

    /// The first match at or after `from`, by the first of three ways that finds one.
    pub(super) fn find(&self, search: &str, from: usize) -> Option<Range<usize>> {
        self.exact(search, from)
            .or_else(|| self.line_trimmed(search, from))
            .or_else(|| self.block_anchors(search, from))
    }

    /// The same text, even in the middle of a line.
    pub(super) fn exact(&self, search: &str, from: usize) -> Option<Range<usize>> {
        let start = from + self.text.get(from..)?.find(search)?;
        Some(start..start + search.len())
    }

    /// Lines that are the same without the whitespace around them.
    fn line_trimmed(&self, search: &str, from: usize) -> Option<Range<usize>> {
        let search = trimmed(search);
        self.window(search.len(), from, |lines| {
            lines.iter().map(|line| line.trimmed).eq(search.iter().copied())
        })
    }

    /// As many lines, of which the first and the last are the same without the whitespace around them.
    fn block_anchors(&self, search: &str, from: usize) -> Option<Range<usize>> {
        let search = trimmed(search);
        // Cline asks for three, and counts an empty one after the last line ending.
        let [first, .., last] = search[..] else { return None };
        self.window(
            search.len(),
            from,
            |lines| matches!(lines, [head, .., tail] if head.trimmed == first && tail.trimmed == last),
        )
    }

    /// The first `count` lines that match and do not begin before `from`.
    fn window(
        &self,
        count: usize,
        from: usize,
        fits: impl FnMut(&[Line<'_>]) -> bool,
    ) -> Option<Range<usize>> {
        let skipped = self.lines.partition_point(|line| line.start < from);
        let first = skipped + self.lines[skipped..].windows(count).position(fits)?;
        let end = self.lines.get(first + count).map_or(self.text.len() + 1, |next| next.start);
        Some(self.lines[first].start..end)
    }
}

/// The lines of a search text without the whitespace around them; it is not empty, so there is at least one.
fn trimmed(search: &str) -> Vec<&str> {
    search.split_terminator('\n').map(|line| line.trim_matches(is_whitespace)).collect()
}
