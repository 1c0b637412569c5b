//! The bytes that an edit puts at a place.
//!
//! A line that the replacement keeps stays as it is in the file, with its whitespace, quotes and line end. A new line
//! takes the line end and the indentation of its place.

use std::collections::BTreeMap;
use std::ops::Range;

use memchr::memchr;

use super::indentation::{Levels, depth, width};
use super::lines::{
    Line, begins, body_at, folded, indent, is_open, line_at, line_before, lines, look_alike, without_line_end,
};
use super::needle::{Needle, tells};
use super::outcome::Note;
use super::pairing::{Hunk, hunks, pair};
use super::place::{Fit, Stand, levels};
use super::rule::{self, Case, Refusal, Step};
use super::{FileEnd, How};

/// The bytes for a place, and what of it is worth reporting.
#[derive(Debug)]
pub(super) struct Composed {
    pub(super) bytes: Vec<u8>,
    pub(super) notes: Vec<Note>,
}

/// Writes a replacement at a place, if the rule allows it.
pub(super) fn compose(
    text: &[u8],
    needle: &Needle<'_>,
    fit: &Fit,
    replacement: &str,
    end: FileEnd,
) -> Result<Composed, Refusal> {
    let replaced: Vec<_> = lines(replacement.as_bytes()).collect();
    let solid: Vec<_> = needle.solid.iter().map(|solid| fit.rows[solid.line].clone()).collect();
    let levels = levels(text, needle, &solid).ok_or(Refusal::Whitespace)?;
    // Where lines differ, other indentation is one thing too much, unless it is the same for all.
    if fit.how == How::Context && !matches!(levels, Levels::Same | Levels::Shifted(_)) {
        return Err(Refusal::Whitespace);
    }
    let place = Place { text, needle, fit, replaced: &replaced, levels };
    let (levels, mut pairs) = place.indentation()?;
    place.split_joined(&mut pairs);
    let hunks = hunks(&pairs, needle.lines.len(), replaced.len());
    let (steps, notes) = rule::check(Case { text, needle, fit, replaced: &replaced, hunks: &hunks })?;
    let plainer = place.plainer()?;
    let mut writer = Writer::new(text, fit, end);
    let mut at = (0, 0);
    for (hunk, step) in hunks.iter().zip(&steps) {
        (at.0..hunk.search.start).for_each(|line| writer.keep(place.kept(line)));
        let mut new = place.new_lines(hunk, levels, &plainer)?.into_iter().enumerate();
        match step {
            Step::Done => hunk.search.clone().for_each(|line| writer.keep(place.kept(line))),
            Step::Todo => {
                new.for_each(|(nth, line)| writer.new_line(line, hunk.search.start + nth));
                hunk.search.clone().for_each(|line| writer.keep(place.unnamed_after(line)));
            }
            Step::OneByOne => {
                for line in hunk.search.clone() {
                    new.next().into_iter().for_each(|(_, new)| writer.new_line(new, line));
                    writer.keep(place.unnamed_after(line));
                }
            }
        }
        at = (hunk.search.end, hunk.replacement.end);
    }
    (at.0..needle.lines.len()).for_each(|line| writer.keep(place.kept(line)));
    Ok(Composed { bytes: writer.finish(), notes })
}

/// A place and a replacement.
struct Place<'a> {
    text: &'a [u8],
    needle: &'a Needle<'a>,
    fit: &'a Fit,
    replaced: &'a [Line<'a>],
    levels: Levels,
}

type Pairs = Vec<(usize, usize)>;

/// The body of a new line, and how it ends in the answer.
type NewLine = (Vec<u8>, &'static [u8]);

impl Place<'_> {
    /// The levels that turn the replacement's indentation into that of the file, and which lines it keeps: the levels of
    /// the place if it is indented as the search, or [`Levels::Same`] if it is indented as the file.
    ///
    /// The lines that search and replacement share decide it, for the whole edit.
    fn indentation(&self) -> Result<(&Levels, Pairs), Refusal> {
        let searched = &self.needle.lines;
        let (rows, columns) = (searched.len(), self.replaced.len());
        let as_search = pair(rows, columns, |row, column| searched[row].body == self.replaced[column].body);
        if self.levels == Levels::Same {
            return Ok((&Levels::Same, as_search));
        }
        let there: Vec<Option<&[u8]>> =
            self.fit.rows.iter().map(|row| self.indent_there(row.own.clone())).collect();
        let is_as_file = |row: usize, column: usize| {
            let (searched, replaced) = (searched[row], self.replaced[column]);
            match there[row] {
                Some(there) if !searched.is_blank() => {
                    folded(searched.body) == folded(replaced.body) && indent(replaced.body) == there
                }
                _ => searched.body == replaced.body,
            }
        };
        let as_file = pair(rows, columns, is_as_file);
        let shared = pair(rows, columns, |row, column| {
            folded(searched[row].body) == folded(self.replaced[column].body)
        });
        let shared = shared.into_iter().map(|(row, column)| (row, self.replaced[column].body));
        // Braces are everywhere.
        let telling = shared.clone().filter(|(row, _)| tells(searched[*row].body));
        let mut votes = self.votes(telling, &there);
        if votes == (0, 0) {
            votes = self.votes(shared, &there);
        }
        // What is indented as in the file is not left of the place.
        let added = || self.replaced.iter().filter(|line| !line.is_blank());
        let leftmost_there = there.iter().flatten().map(|there| width(there)).min();
        if added().map(|line| depth(line.body)).min() < leftmost_there {
            votes.1 = 0;
        }
        match votes {
            (1.., 0) => Ok((&self.levels, as_search)),
            (0, 1..) => Ok((&Levels::Same, as_file)),
            (0, 0) if added().next().is_none() => Ok((&Levels::Same, as_search)),
            // No line is shared, so the first line of each hunk is compared with the one that it replaces.
            (0, 0) => {
                let replaced = hunks(&as_search, rows, columns).into_iter().filter_map(|hunk| {
                    let row = hunk.search.clone().find(|row| !searched[*row].is_blank())?;
                    let comes = self.replaced[hunk.replacement].iter().find(|line| !line.is_blank())?;
                    Some((row, comes.body))
                });
                match self.votes(replaced, &there) {
                    (1.., 0) => Ok((&self.levels, as_search)),
                    (0, 1..) => Ok((&Levels::Same, as_search)),
                    _ => Err(Refusal::Whitespace),
                }
            }
            _ => Err(Refusal::Whitespace),
        }
    }

    /// How many of these lines are indented as the line of the search that they stand for, and how many as that line is
    /// in the file. If search and file indent it alike, it says nothing.
    fn votes<'l>(
        &self,
        lines: impl Iterator<Item = (usize, &'l [u8])>,
        there: &[Option<&[u8]>],
    ) -> (usize, usize) {
        let mut votes = (0, 0);
        for (row, comes) in lines {
            let own = indent(self.needle.lines[row].body);
            if let Some(there) = there[row].filter(|there| *there != own) {
                votes.0 += usize::from(indent(comes) == own);
                votes.1 += usize::from(indent(comes) == there);
            }
        }
        votes
    }

    fn indent_there(&self, own: Range<usize>) -> Option<&[u8]> {
        (!own.is_empty()).then(|| indent(body_at(self.text, own.start)))
    }

    /// Lines that the file has with other line breaks are kept together or not at all.
    fn split_joined(&self, pairs: &mut Pairs) {
        let first = |row: usize| match self.fit.rows[row].stand {
            Stand::Joined { first } => Some(first),
            _ => None,
        };
        let whole = |group: usize| {
            let rows: Vec<_> = (0..self.fit.rows.len()).filter(|row| first(*row) == Some(group)).collect();
            let kept: Vec<_> = pairs.iter().filter(|(row, _)| rows.contains(row)).collect();
            kept.len() == rows.len() && kept.windows(2).all(|two| two[1].1 - two[0].1 == two[1].0 - two[0].0)
        };
        let split: Vec<_> =
            (0..self.fit.rows.len()).filter(|row| first(*row) == Some(*row) && !whole(*row)).collect();
        pairs.retain(|(row, _)| first(*row).is_none_or(|group| !split.contains(&group)));
    }

    /// The bytes of a line that stays, with those after it that the search does not name.
    fn kept(&self, line: usize) -> &[u8] {
        let own = &self.fit.rows[line].own;
        if own.is_empty() { &[] } else { &self.text[own.start..self.next_start(line)] }
    }

    /// The bytes after a line that the search does not name.
    fn unnamed_after(&self, line: usize) -> &[u8] {
        let own = &self.fit.rows[line].own;
        if own.is_empty() { &[] } else { &self.text[own.end..self.next_start(line)] }
    }

    fn next_start(&self, line: usize) -> usize {
        let next = self.fit.rows[line + 1..].iter().find(|row| !row.own.is_empty());
        next.map_or(self.fit.range.end, |row| row.own.start)
    }

    /// The new lines of a hunk as they are written, and the line ends that they have in the answer.
    fn new_lines(
        &self,
        hunk: &Hunk,
        levels: &Levels,
        plainer: &BTreeMap<char, char>,
    ) -> Result<Vec<NewLine>, Refusal> {
        let there = self.needle.solid.iter().filter(|solid| self.fit.rows[solid.line].stand == Stand::Same);
        let nth = there.filter(|solid| solid.line < hunk.search.end).count();
        let written = |line: &Line<'_>| {
            let body = made_plain(line.body, plainer);
            if line.is_blank() || *levels == Levels::Same {
                return Ok(body);
            }
            let own = indent(&body);
            let mut there = levels.translate_at(own, nth).ok_or(Refusal::Whitespace)?;
            there.extend_from_slice(&body[own.len()..]);
            Ok(there)
        };
        let lines = &self.replaced[hunk.replacement.clone()];
        lines.iter().map(|line| Ok((written(line)?, line.end))).collect()
    }

    /// The characters of the search that are plain ones in the file, wherever they occur.
    fn plainer(&self) -> Result<BTreeMap<char, char>, Refusal> {
        let mut plainer = BTreeMap::new();
        let mut kept = Vec::new();
        for (searched, row) in self.needle.lines.iter().zip(&self.fit.rows) {
            if row.stand != Stand::Same || searched.body.is_ascii() {
                continue;
            }
            let there = body_at(self.text, row.own.start);
            let (Ok(searched), Ok(there)) = (std::str::from_utf8(searched.body), std::str::from_utf8(there))
            else {
                continue;
            };
            for (searched, there) in searched.trim().chars().zip(there.trim().chars()) {
                if searched != there && look_alike(searched) == there {
                    plainer.insert(searched, there);
                } else if !searched.is_ascii() {
                    kept.push(searched);
                }
            }
        }
        if plainer.is_empty() {
            return Ok(plainer);
        }
        let is_new =
            |char: char| self.replaced.iter().any(|line| String::from_utf8_lossy(line.body).contains(char));
        // Quotes that the search does not have: nothing says whether they are plain in the file too.
        let is_quote = |char: char| !char.is_ascii() && matches!(look_alike(char), '"' | '\'');
        let is_unknown = |char: char| is_quote(char) && !self.needle.text.contains(char);
        let mut replaced = self.replaced.iter().flat_map(|line| std::str::from_utf8(line.body));
        if kept.iter().any(|char| plainer.contains_key(char) && is_new(*char))
            || plainer.keys().copied().any(is_quote) && replaced.any(|line| line.contains(is_unknown))
        {
            return Err(Refusal::Stale);
        }
        Ok(plainer)
    }
}

/// A line with plain characters in place of those that the file has plain.
fn made_plain(body: &[u8], plainer: &BTreeMap<char, char>) -> Vec<u8> {
    match std::str::from_utf8(body) {
        Ok(text) if !plainer.is_empty() => {
            let plain = |char: char| plainer.get(&char).copied().unwrap_or(char);
            text.chars().map(plain).collect::<String>().into_bytes()
        }
        _ => body.to_vec(),
    }
}

/// Writes the lines of a place with its line ends.
struct Writer {
    /// The line end of new lines at each line of the search, and at last after all of them.
    ends: Vec<&'static [u8]>,
    /// Whether the place is the end of a file whose last line has no end.
    is_open: bool,
    /// Whether the place is the end of the file.
    is_end: bool,
    end: FileEnd,
    out: Vec<u8>,
}

impl Writer {
    fn new(text: &[u8], fit: &Fit, end: FileEnd) -> Self {
        let at_place = line_end(text, fit.range.start);
        let is_end = fit.range.end == text.len();
        let after_open_line = fit.range.is_empty() && is_end && !begins(text, text.len());
        Self {
            ends: match end {
                // A patch has those of the file, not of its places.
                FileEnd::Closed | FileEnd::Here => vec![most_common_line_end(text)],
                FileEnd::Kept | FileEnd::Open => line_ends(text, fit, at_place),
            },
            is_open: !fit.range.is_empty() && is_end && is_open(text),
            is_end,
            end,
            out: if after_open_line { at_place.to_vec() } else { Vec::new() },
        }
    }

    fn end_at(&self, row: usize) -> &'static [u8] {
        self.ends[row.min(self.ends.len() - 1)]
    }

    fn keep(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.close(self.ends.len());
            self.out.extend_from_slice(bytes);
        }
    }

    fn new_line(&mut self, (body, own_end): NewLine, row: usize) {
        self.close(row);
        self.out.extend_from_slice(&body);
        self.out.extend_from_slice(spelled(own_end, self.end_at(row)));
    }

    /// Gives the last line an end if another one follows.
    fn close(&mut self, row: usize) {
        if is_open(&self.out) {
            self.out.extend_from_slice(self.end_at(row));
        }
    }

    fn finish(mut self) -> Vec<u8> {
        match self.end {
            FileEnd::Kept if self.is_open => self.out.truncate(without_line_end(&self.out).len()),
            FileEnd::Open if self.is_end => self.out.truncate(without_line_end(&self.out).len()),
            FileEnd::Closed | FileEnd::Here if self.is_open => self.close(self.ends.len()),
            FileEnd::Kept | FileEnd::Open | FileEnd::Closed | FileEnd::Here => {}
        }
        self.out
    }
}

/// The line end of each line of a search, as the file has it; of the place, if there is no line.
fn line_ends(text: &[u8], fit: &Fit, at_place: &'static [u8]) -> Vec<&'static [u8]> {
    let mut ends = Vec::with_capacity(fit.rows.len() + 1);
    let mut last = at_place;
    for row in &fit.rows {
        if let Some(line) = line_at(text, row.own.start).filter(|line| line.end.ends_with(b"\n")) {
            last = line.end;
        }
        ends.push(last);
    }
    ends.push(last);
    ends
}

/// The line end that lines have at a byte: that of the line there, or the one before, or the first. A carriage
/// return by itself is one only if there is no other.
pub(super) fn line_end(text: &[u8], at: usize) -> &'static [u8] {
    let ends = [line_at(text, at), line_before(text, at), line_at(text, 0)]
        .into_iter()
        .flatten()
        .map(|line| line.end);
    let found = ends.clone().find(|end| end.ends_with(b"\n")).or(ends.clone().find(|end| !end.is_empty()));
    found.unwrap_or(b"\n")
}

/// The line end of most lines of a text.
fn most_common_line_end(text: &[u8]) -> &'static [u8] {
    if memchr(b'\r', text).is_none() {
        return b"\n";
    }
    let ends: [&[u8]; 3] = [b"\n", b"\r\n", b"\r"];
    let count = |end: &&[u8]| lines(text).filter(|line| line.end == *end).count();
    ends.into_iter().max_by_key(count).unwrap_or(b"\n")
}

/// Writes lines of an answer with the line end of a place, or as they are.
pub(super) fn write_lines(out: &mut Vec<u8>, text: &str, end: Option<&[u8]>) {
    for line in lines(text.as_bytes()) {
        out.extend_from_slice(line.body);
        out.extend_from_slice(end.map_or(line.end, |end| spelled(line.end, end)));
    }
}

/// How a line of an answer ends at a place. A carriage return by itself is not a line end of an answer.
fn spelled<'e>(own: &'e [u8], end: &'e [u8]) -> &'e [u8] {
    if own.is_empty() || own == b"\r" { own } else { end }
}

#[cfg(test)]
mod tests {
    use super::super::index::{Index, Wanted};
    use super::super::place::{exact, same};
    use super::*;

    fn check(text: &str, search: &str, replacement: &str, expected: &str) {
        let needle = Needle::new(search);
        let text = text.as_bytes();
        let index = Index::new(text, &Wanted::from(&needle));
        let fit = exact(text, &needle, None)
            .into_iter()
            .chain(same(text, &index, &needle, None))
            .next()
            .expect("a place");
        let composed = compose(text, &needle, &fit, replacement, FileEnd::Kept).expect("the rule allows it");
        let mut result = text.to_vec();
        result.splice(fit.range, composed.bytes);
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
            "    if a {\n      c\n    }\n",
            "if a {\n  c\n}\n",
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
