//! [`Composer`]: the bytes that come to a place, line by line while the replacement arrives.
//!
//! A line of the replacement that is also one of the search stays as it is in the file: its blanks, its
//! quotes and its line end were not meant to change. A new line takes the line end and, where the search
//! was indented otherwise, the indentation of its place.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use memchr::memchr;

use super::ladder::Fit;
use super::lines::{Line, begins, indent, is_blank, is_open, line_at, line_before, lines, without_line_end};
use super::needle::{Needle, tells};
use super::{FileEnd, How};

/// Writes the replacement of one place.
#[derive(Clone, Debug)]
pub(super) struct Composer {
    keeper: Keeper,
    /// The lines of the replacement that are not decided, and how each ends.
    waiting: VecDeque<(Vec<u8>, Vec<u8>)>,
    /// The first line of the search that is not written.
    next: usize,
    /// How many new lines came since the last one that stays. They stand for the lines that go.
    new: usize,
    /// For each line of the search its bytes in the file.
    kept: Vec<Vec<u8>>,
    /// Lines of the search with which others go that the search does not have, and that it does not keep.
    unseen: BTreeSet<usize>,
    /// The line end of each line of the search, as the file has it; of the place, if there is no line.
    ends: Vec<&'static [u8]>,
    indentation: Indentation,
    /// The line end of new lines wherever they come: a patch has those of the file, not of its places.
    everywhere: Option<&'static [u8]>,
    /// Whether the place begins inside a line.
    inside: bool,
    /// Whether the place ends without a line end, as a file may.
    open: bool,
    end: FileEnd,
    out: Vec<u8>,
}

impl Composer {
    pub(super) fn new(text: &[u8], needle: &Needle<'_>, fit: &Fit, end: FileEnd) -> Self {
        let at_place = line_end(text, fit.range.start);
        let mut last = at_place;
        let mut ends: Vec<_> = fit
            .aligned
            .iter()
            .map(|range| {
                let line = line_at(text, range.start);
                if let Some(line) = line.filter(|line| line.end.ends_with(b"\n")) {
                    last = name(line.end);
                }
                last
            })
            .collect();
        if ends.is_empty() {
            ends.push(at_place);
        }
        let behind_open_line =
            fit.range.is_empty() && fit.range.end == text.len() && !begins(text, text.len());
        Self {
            keeper: Keeper::new(needle),
            waiting: VecDeque::new(),
            next: 0,
            new: 0,
            kept: fit.aligned.iter().map(|range| text[range.clone()].to_vec()).collect(),
            unseen: unseen(text, fit),
            ends,
            everywhere: (end != FileEnd::Kept).then(|| most_common_line_end(text)),
            indentation: Indentation::new(text, needle, fit),
            inside: !begins(text, fit.range.start),
            open: !fit.range.is_empty() && fit.range.end == text.len() && is_open(text),
            end,
            out: if behind_open_line { at_place.to_vec() } else { Vec::new() },
        }
    }

    /// Takes the next line of the replacement, whole.
    pub(super) fn line(&mut self, line: Line<'_>) {
        self.waiting.push_back((line.body.to_vec(), line.end.to_vec()));
        let decided = self.keeper.take(line.body);
        self.write(decided);
    }

    /// Writes the first lines that wait, by which lines of the search they are.
    fn write(&mut self, decided: Vec<Option<usize>>) {
        for number in decided {
            let Some((body, own_end)) = self.waiting.pop_front() else { return };
            let at_place = self.ends.get(self.next + self.new).or(self.ends.last()).copied();
            let end = self.everywhere.or(at_place).unwrap_or(b"\n");
            let begins_inside = self.inside && self.out.is_empty();
            if is_open(&self.out) {
                self.out.extend_from_slice(end);
            }
            if let Some(number) = number {
                self.out.extend_from_slice(&self.kept[number]);
                self.unseen.remove(&number);
                self.next = number + 1;
                self.new = 0;
                continue;
            }
            self.new += 1;
            if begins_inside {
                self.out.extend_from_slice(body.trim_ascii_start());
            } else {
                self.indentation.write(&body, self.next, &mut self.out);
            }
            self.out.extend_from_slice(spelled(&own_end, end));
        }
    }

    /// The bytes so far.
    pub(super) fn written(&self) -> &[u8] {
        &self.out
    }

    /// Ends the replacement; none if lines would go that the search does not name.
    pub(super) fn finish(mut self) -> Option<Vec<u8>> {
        let decided = self.keeper.finish();
        self.write(decided);
        if !self.unseen.is_empty() {
            return None;
        }
        match self.end {
            FileEnd::Kept if self.open => {
                self.out.truncate(without_line_end(&self.out).len());
            }
            FileEnd::Closed | FileEnd::Here if self.open && !self.out.is_empty() => {
                if is_open(&self.out) {
                    self.out.extend_from_slice(self.ends.last().copied().unwrap_or(b"\n"));
                }
            }
            FileEnd::Kept | FileEnd::Closed | FileEnd::Here => {}
        }
        Some(self.out)
    }
}

/// Tells which lines of a search stay, as the lines of the replacement come.
///
/// A line that does not tell, such as a brace, stays if it is the next one; else it waits for the next line that
/// tells, and stays if it stands before that in the search too.
#[derive(Clone, Debug)]
pub(super) struct Keeper {
    bodies: Vec<Vec<u8>>,
    /// Which lines of the search have this body.
    numbers: BTreeMap<Vec<u8>, Vec<usize>>,
    /// The first line of the search that can still stay.
    next: usize,
    /// The lines that wait.
    waiting: Vec<Vec<u8>>,
}

impl Keeper {
    pub(super) fn new(needle: &Needle<'_>) -> Self {
        let bodies: Vec<_> = needle.lines.iter().map(|line| line.body.to_vec()).collect();
        let mut numbers: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
        for (number, body) in bodies.iter().enumerate() {
            numbers.entry(body.clone()).or_default().push(number);
        }
        Self { bodies, numbers, next: 0, waiting: Vec::new() }
    }

    /// Takes the next line of the replacement. For each line that waited, and for this one unless it waits now,
    /// which line of the search it is, if any.
    pub(super) fn take(&mut self, body: &[u8]) -> Vec<Option<usize>> {
        let is_next = self.waiting.is_empty() && self.bodies.get(self.next).is_some_and(|next| next == body);
        if !tells(body) && !is_next {
            self.waiting.push(body.to_vec());
            return Vec::new();
        }
        let number = self
            .numbers
            .get(body)
            .and_then(|numbers| numbers.get(numbers.partition_point(|number| *number < self.next)).copied());
        let mut decided = match number {
            Some(number) => self.decide(number),
            None => self.waiting.drain(..).map(|_| None).collect(),
        };
        if let Some(number) = number {
            self.next = number + 1;
        }
        decided.push(number);
        decided
    }

    /// Ends the replacement: the lines that still wait stand at the end of the search or not at all.
    pub(super) fn finish(&mut self) -> Vec<Option<usize>> {
        self.decide(self.bodies.len())
    }

    /// Which lines of the search before this one those are that wait.
    fn decide(&mut self, before: usize) -> Vec<Option<usize>> {
        let candidates = self.bodies[self.next..before].iter().rev();
        let same = self.waiting.iter().rev().zip(candidates).take_while(|(waiting, body)| waiting == body);
        let stay = same.count();
        let new = self.waiting.len() - stay;
        self.waiting.clear();
        std::iter::repeat_n(None, new).chain((before - stay..before).map(Some)).collect()
    }
}

/// The lines of the search with which lines of the text go that are not in the search.
fn unseen(text: &[u8], fit: &Fit) -> BTreeSet<usize> {
    let solid = |range: &Range<usize>| lines(&text[range.clone()]).filter(|line| !line.is_blank()).count();
    fit.aligned.iter().enumerate().filter(|(_, range)| solid(range) > 1).map(|(line, _)| line).collect()
}

/// The line end that lines have at a byte: that of the line there, or the one before, or the first. A carriage
/// return by itself is one only if there is no other.
pub(super) fn line_end(text: &[u8], at: usize) -> &'static [u8] {
    let ends = [line_at(text, at), line_before(text, at), line_at(text, 0)]
        .into_iter()
        .flatten()
        .map(|line| line.end);
    let found = ends.clone().find(|end| end.ends_with(b"\n")).or(ends.clone().find(|end| !end.is_empty()));
    found.map_or(b"\n", name)
}

fn name(end: &[u8]) -> &'static [u8] {
    match end {
        b"\r\n" => b"\r\n",
        b"\r" => b"\r",
        _ => b"\n",
    }
}

/// The line end of most lines of a text.
fn most_common_line_end(text: &[u8]) -> &'static [u8] {
    if memchr(b'\r', text).is_none() {
        return b"\n";
    }
    let ends: [&[u8]; 3] = [b"\n", b"\r\n", b"\r"];
    let count = |end: &&&[u8]| lines(text).filter(|line| line.end == **end).count();
    ends.iter().max_by_key(count).map_or(b"\n", |end| name(end))
}

/// How a line of an answer ends at a place. A carriage return by itself is no line end of an answer.
pub(super) fn spelled<'e>(own: &'e [u8], end: &'e [u8]) -> &'e [u8] {
    if own.is_empty() || own == b"\r" { own } else { end }
}

/// The text with the line ends of a place.
pub(super) fn with_line_ends(text: &str, end: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for line in lines(text.as_bytes()) {
        out.extend_from_slice(line.body);
        out.extend_from_slice(spelled(line.end, end));
    }
    out
}

/// How the search's indentation becomes that of the file.
#[derive(Clone, Debug)]
enum Indentation {
    /// It is the file's.
    Same,
    /// It is not: these are the lines that show how they go together.
    Aligned(Vec<Pair>),
}

/// A line of the search that stands in the file, and both indentations.
#[derive(Clone, Debug)]
struct Pair {
    line: usize,
    searched: Vec<u8>,
    there: Vec<u8>,
}

impl Indentation {
    fn new(text: &[u8], needle: &Needle<'_>, fit: &Fit) -> Self {
        if fit.how < How::Indentation {
            return Self::Same;
        }
        let pair = |(line, range): (usize, &Range<usize>)| {
            let whole = !range.is_empty() && begins(text, range.start);
            let there = line_at(text, range.start).filter(|_| whole)?;
            let searched = indent(needle.lines[line].body);
            Some(Pair { line, searched: searched.to_vec(), there: indent(there.body).to_vec() })
        };
        let pairs: Vec<_> = fit
            .aligned
            .iter()
            .enumerate()
            .filter(|(line, _)| !needle.lines[*line].is_blank())
            .filter_map(pair)
            .collect();
        if pairs.iter().all(|pair| pair.searched == pair.there) { Self::Same } else { Self::Aligned(pairs) }
    }

    /// Writes a line of the replacement that stands before the search's line `next`.
    fn write(&self, body: &[u8], next: usize, out: &mut Vec<u8>) {
        match self {
            Self::Aligned(pairs) if !is_blank(body) => {
                let own = indent(body);
                self::place(pairs, own, next, out);
                out.extend_from_slice(&body[own.len()..]);
            }
            Self::Same | Self::Aligned(_) => out.extend_from_slice(body),
        }
    }
}

/// Writes the indentation that a line has at its place.
fn place(pairs: &[Pair], own: &[u8], next: usize, out: &mut Vec<u8>) {
    let distance = |pair: &&Pair| pair.line.abs_diff(next);
    if let Some(same) = pairs.iter().filter(|pair| pair.searched == own).min_by_key(distance) {
        out.extend_from_slice(&same.there);
        return;
    }
    let shallower = pairs.iter().filter(|pair| own.starts_with(&pair.searched));
    if let Some(base) = shallower.max_by_key(|pair| (pair.searched.len(), usize::MAX - distance(pair))) {
        out.extend_from_slice(&base.there);
        deepen(pairs, &own[base.searched.len()..], &base.there, out);
        return;
    }
    let deeper = pairs.iter().filter(|pair| pair.searched.starts_with(own));
    if let Some(base) = deeper.min_by_key(|pair| (pair.searched.len(), distance(pair))) {
        let mut less = Vec::new();
        deepen(pairs, &base.searched[own.len()..], &base.there, &mut less);
        out.extend_from_slice(base.there.strip_suffix(&*less).unwrap_or_default());
        return;
    }
    out.extend_from_slice(own);
}

/// Writes further indentation in the manner of the file: tabs where its lines have tabs.
fn deepen(pairs: &[Pair], more: &[u8], base: &[u8], out: &mut Vec<u8>) {
    let width = pairs.iter().find_map(Pair::tab_width).unwrap_or(4);
    let file_has_tabs = base.contains(&b'\t') || pairs.iter().any(|pair| pair.there.contains(&b'\t'));
    let columns = more.iter().map(|byte| if *byte == b'\t' { width } else { 1 }).sum::<usize>();
    let all = |blank| more.iter().all(|byte| *byte == blank);
    if file_has_tabs && all(b' ') {
        out.extend(std::iter::repeat_n(b'\t', columns / width));
        out.extend(std::iter::repeat_n(b' ', columns % width));
    } else if !file_has_tabs && all(b'\t') {
        out.extend(std::iter::repeat_n(b' ', columns));
    } else {
        out.extend_from_slice(more);
    }
}

impl Pair {
    /// How many blanks a tab stands for, if one side has blanks where the other has tabs.
    fn tab_width(&self) -> Option<usize> {
        let tabs = |indent: &[u8]| !indent.is_empty() && indent.iter().all(|byte| *byte == b'\t');
        let blanks = |indent: &[u8]| !indent.is_empty() && indent.iter().all(|byte| *byte == b' ');
        let (tabs, blanks) = if tabs(&self.there) && blanks(&self.searched) {
            (self.there.len(), self.searched.len())
        } else if tabs(&self.searched) && blanks(&self.there) {
            (self.searched.len(), self.there.len())
        } else {
            return None;
        };
        (blanks % tabs == 0).then_some(blanks / tabs)
    }
}

#[cfg(test)]
mod tests {
    use super::super::index::{Index, Wanted};
    use super::super::ladder::{exact, loose};
    use super::*;

    fn check(text: &str, search: &str, replacement: &str, expected: &str) {
        let needle = Needle::new(search);
        let text = text.as_bytes();
        let index = Index::new(text, &Wanted::from(&needle));
        let fit = exact(text, &needle, None)
            .into_iter()
            .chain(loose(text, &index, &needle, None))
            .next()
            .expect("a place");
        let mut composer = Composer::new(text, &needle, &fit, FileEnd::Kept);
        lines(replacement.as_bytes()).for_each(|line| composer.line(line));
        let mut result = text.to_vec();
        result.splice(fit.range, composer.finish().expect("every line of the place is in the search"));
        assert_eq!(
            String::from_utf8_lossy(&result),
            expected,
            "{search:?} in {:?}",
            String::from_utf8_lossy(text)
        );
    }

    #[test]
    fn line_ends_are_those_of_the_place() {
        check("a\r\nb\r\nc\n", "a\nb\n", "a\nB\nnew\n", "a\r\nB\r\nnew\r\nc\n");
        check("a\nb\r\nc\n", "a\nb\nc\n", "a\nB\nc\n", "a\nB\r\nc\n");
        check("a\nb\n", "a\r\n", "A\r\nx\r\n", "A\nx\nb\n");
        check("a\r\nb\n", "a\nb\n", "A\nB\n", "A\r\nB\n");
    }

    #[test]
    fn a_file_without_final_newline_stays_so() {
        check("a\nb", "b\n", "c\n", "a\nc");
        check("a\nb", "b\n", "b\nc\n", "a\nb\nc");
        check("a\r\nb", "b\n", "b\nc\n", "a\r\nb\r\nc");
        check("a\nb", "a\nb\n", "", "");
    }

    #[test]
    fn lines_of_the_search_stay_as_the_file_has_them() {
        check("a  \nb\n“c”\n", "a\nb\n\"c\"\n", "a\nB\n\"c\"\n", "a  \nB\n“c”\n");
        check("a\n\n\nb\n", "a\n\nb\n", "a\n\nB\n", "a\n\n\nB\n");
        check("a\nb\n", "a\n\nb\n", "a\n\nB\n", "a\nB\n");
    }

    #[test]
    fn new_lines_are_indented_as_their_place() {
        check(
            "    if a {\n        b\n    }\n",
            "if a {\n    b\n}\n",
            "if a {\n    c\n    if d {\n        e\n    }\n}\n",
            "    if a {\n        c\n        if d {\n            e\n        }\n    }\n",
        );
        check(
            "if a {\n  b\n}\n",
            "    if a {\n      b\n    }\n",
            "    if a {\n      c\n    }\n  x\n",
            "if a {\n  c\n}\nx\n",
        );
        check(
            "\tif a {\n\t\tb\n\t}\n",
            "    if a {\n        b\n    }\n",
            "    if a {\n        if c {\n            d\n        }\n    }\n",
            "\tif a {\n\t\tif c {\n\t\t\td\n\t\t}\n\t}\n",
        );
    }

    #[test]
    fn a_brace_goes_with_the_line_beside_it() {
        let text = "    if a {\n        b\n    }\n\n    c\n";
        let search = "if a {\n    b\n}\nc\n";
        check(text, search, "if a {\n}\nc\n", "    if a {\n    }\n\n    c\n");
        check(
            text,
            search,
            "if a {\n    b\n    {\n    }\n}\nc\n",
            &text.replace("b\n", "b\n        {\n        }\n"),
        );
        check(text, search, "{\n}\nif a {\n    b\n}\nc\n", &format!("    {{\n    }}\n{text}"));
        check("a \nb \n} \n", "a\nb\n}\n", "a\n}\n", "a \n} \n");
    }

    #[test]
    fn lines_can_be_taken_away() {
        check("a\n    b\nc\n", "    b\n", "", "a\nc\n");
        check("a\n    b\nc\n", "b\n", "", "a\nc\n");
    }
}
