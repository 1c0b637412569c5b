//! [`Diff`]: what changes in a file, line by line.
//!
//! The changes are known beforehand, as ranges of bytes and their replacements. So only the lines that those
//! touch are compared, and a long file costs no more than a short one.

use std::borrow::Cow;
use std::ops::Range;

use imara_diff::{Algorithm, InternedInput, sources};
use memchr::{memchr, memchr_iter, memrchr};

mod shown;
mod unified;
mod words;

pub(crate) use shown::show;
pub(crate) use unified::{Sides, write};

/// A file and what changes in it.
pub(crate) struct Diff<'a> {
    original: &'a [u8],
    regions: Vec<Region<'a>>,
}

/// Whole lines of a file and what they become; everything around them is unchanged.
struct Region<'a> {
    range: Range<usize>,
    becomes: Cow<'a, [u8]>,
}

/// Changes that are near each other, with the lines around them.
pub(crate) struct Hunk<'a> {
    before: Span,
    after: Span,
    lines: Vec<Line<'a>>,
}

/// Lines of a file: how many are before them, and how many they are.
#[derive(Clone, Copy)]
struct Span {
    skipped: usize,
    count: usize,
}

/// A line with its line end, if it has one.
struct Line<'a> {
    kind: Kind,
    text: &'a [u8],
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Kept,
    Removed,
    Added,
}

/// How many lines around a change are shown.
const CONTEXT: usize = 3;

impl<'a> Diff<'a> {
    /// What ranges of a file become, in the order of the file and without overlap.
    pub(crate) fn new(
        original: &'a [u8],
        splices: impl IntoIterator<Item = (Range<usize>, &'a [u8])>,
    ) -> Self {
        let mut regions: Vec<Region<'a>> = Vec::new();
        for (range, replacement) in splices {
            match regions.last_mut() {
                Some(last) if last.reaches(original, range.start) => {
                    last.extend(original, range, replacement);
                }
                _ => regions.push(Region::new(original, range, replacement)),
            }
        }
        for region in &mut regions {
            let end = region.end_of_line(original);
            region.extend(original, end..end, &[]);
        }
        Self { original, regions }
    }

    /// What changes from one content to another.
    pub(crate) fn between(before: &'a [u8], after: &'a [u8]) -> Self {
        let same = |(one, other): &(&u8, &u8)| one == other;
        let head = before.iter().zip(after).take_while(same).count();
        let tail = before[head..].iter().rev().zip(after[head..].iter().rev()).take_while(same).count();
        let range = head..before.len() - tail;
        let changed = before.len() != after.len() || !range.is_empty();
        Self::new(before, changed.then(|| (range, &after[head..after.len() - tail])))
    }

    /// Only what changes these lines of the original, counted from 1 with both ends included.
    pub(crate) fn within(mut self, lines: &[(usize, usize)]) -> Self {
        let (mut at, mut first) = (0, 1);
        self.regions.retain(|region| {
            first += count_lines(&self.original[at..region.range.start]);
            at = region.range.start;
            let last = first + sources::byte_lines(&self.original[region.range.clone()]).count().max(1) - 1;
            lines.iter().any(|&(start, end)| start <= last && end.max(start) >= first)
        });
        self
    }

    /// The changes in the order of the file.
    pub(crate) fn hunks(&self) -> Vec<Hunk<'_>> {
        let mut hunks: Vec<Hunk<'_>> = Vec::new();
        // How far the original was read, and how many lines are before that on both sides.
        let (mut at, mut before, mut after) = (0, 0, 0);
        // Where the last hunk ends.
        let mut end = 0;
        for region in &self.regions {
            let kept = count_lines(&self.original[at..region.range.start]);
            (before, after) = (before + kept, after + kept);
            let old = &self.original[region.range.clone()];
            for (old_lines, new_lines) in compare(old, &region.becomes) {
                let removed = lines(&old[old_lines.bytes.clone()], Kind::Removed);
                let added = lines(&region.becomes[new_lines.bytes], Kind::Added);
                let start = region.range.start + old_lines.bytes.start;
                let starts = (before + old_lines.skipped, after + new_lines.skipped);
                match hunks.last_mut() {
                    Some(last)
                        if memchr_iter(b'\n', &self.original[end..start]).nth(2 * CONTEXT).is_none() =>
                    {
                        last.extend(lines(&self.original[end..start], Kind::Kept));
                    }
                    last => {
                        if let Some(last) = last {
                            last.extend(lines(&self.original[end..], Kind::Kept).take(CONTEXT));
                        }
                        let context = start_of_lines(&self.original[end..start], CONTEXT) + end;
                        hunks.push(Hunk::new(starts, lines(&self.original[context..start], Kind::Kept)));
                    }
                }
                if let Some(hunk) = hunks.last_mut() {
                    hunk.extend(removed.chain(added));
                }
                end = region.range.start + old_lines.bytes.end;
            }
            before += count_lines(old);
            after += count_lines(&region.becomes);
            at = region.range.end;
        }
        if let Some(last) = hunks.last_mut() {
            last.extend(lines(&self.original[end..], Kind::Kept).take(CONTEXT));
        }
        hunks
    }
}

impl<'a> Region<'a> {
    fn new(original: &'a [u8], range: Range<usize>, replacement: &'a [u8]) -> Self {
        let start = memrchr(b'\n', &original[..range.start]).map_or(0, |at| at + 1);
        let becomes = if start == range.start {
            Cow::Borrowed(replacement)
        } else {
            Cow::Owned([&original[start..range.start], replacement].concat())
        };
        Self { range: start..range.end, becomes }
    }

    /// Whether an offset is on its last line, or at the end of a file without a final line end.
    fn reaches(&self, original: &[u8], place: usize) -> bool {
        let end = self.end_of_line(original);
        place < end || place == original.len() && end == place
    }

    /// Where the line ends that it ends in, on either side.
    fn end_of_line(&self, original: &[u8]) -> usize {
        let end = self.range.end;
        let is_end = |bytes: &[u8]| bytes.last().is_none_or(|&last| last == b'\n');
        if is_end(&original[..end]) && is_end(&self.becomes) {
            return end;
        }
        memchr(b'\n', &original[end..]).map_or(original.len(), |at| end + at + 1)
    }

    /// Extends it to a later range.
    fn extend(&mut self, original: &'a [u8], range: Range<usize>, replacement: &'a [u8]) {
        for more in [&original[self.range.end..range.start], replacement] {
            if !more.is_empty() {
                self.becomes.to_mut().extend_from_slice(more);
            }
        }
        self.range.end = range.end;
    }
}

impl<'a> Hunk<'a> {
    /// A hunk that begins with context; its first change comes after this many lines on each side.
    fn new((before, after): (usize, usize), context: impl Iterator<Item = Line<'a>>) -> Self {
        let lines: Vec<_> = context.collect();
        let count = lines.len();
        let span = |skipped: usize| Span { skipped: skipped - count, count };
        Self { before: span(before), after: span(after), lines }
    }

    fn extend(&mut self, lines: impl Iterator<Item = Line<'a>>) {
        for line in lines {
            self.before.count += usize::from(line.kind != Kind::Added);
            self.after.count += usize::from(line.kind != Kind::Removed);
            self.lines.push(line);
        }
    }
}

/// Some lines of a region: how many are before them, and which bytes they are.
struct Part {
    skipped: usize,
    bytes: Range<usize>,
}

/// The lines that differ.
fn compare(old: &[u8], new: &[u8]) -> Vec<(Part, Part)> {
    let mut input = InternedInput::default();
    input.update_before(sources::byte_lines(old));
    input.update_after(sources::byte_lines(new));
    let mut diff = imara_diff::Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let (mut old_place, mut new_place) = (Place::default(), Place::default());
    let hunks = diff.hunks().map(|hunk| (old_place.part(old, hunk.before), new_place.part(new, hunk.after)));
    hunks.collect()
}

/// How far the lines of a text were counted.
#[derive(Default)]
struct Place {
    line: usize,
    at: usize,
}

impl Place {
    fn part(&mut self, text: &[u8], lines: Range<u32>) -> Part {
        let start = self.go_to(text, lines.start as usize);
        let end = self.go_to(text, lines.end as usize);
        Part { skipped: lines.start as usize, bytes: start..end }
    }

    fn go_to(&mut self, text: &[u8], line: usize) -> usize {
        self.at +=
            sources::byte_lines(&text[self.at..]).take(line - self.line).map(<[u8]>::len).sum::<usize>();
        self.line = line;
        self.at
    }
}

fn lines(text: &[u8], kind: Kind) -> impl Iterator<Item = Line<'_>> {
    sources::byte_lines(text).map(move |text| Line { kind, text })
}

fn count_lines(text: &[u8]) -> usize {
    memchr_iter(b'\n', text).count()
}

/// Where the last lines begin of a text that ends with a line end.
fn start_of_lines(text: &[u8], count: usize) -> usize {
    let mut start = text.len();
    for _ in 0..count {
        let Some(before) = start.checked_sub(1) else { break };
        start = memrchr(b'\n', &text[..before]).map_or(0, |at| at + 1);
    }
    start
}

#[cfg(test)]
mod tests;
