//! Places that have every line of a search text, one after another.
//!
//! The lines are the same except for their ends, trailing whitespace, blank lines, look-alike characters and the
//! width of their indentation. What differs is found by comparing, and is the place's [`How`].

use std::collections::VecDeque;
use std::ops::Range;

use memchr::memmem;

use super::How;
use super::indentation::Levels;
use super::index::{Index, SPOTS, Spot, Spots};
use super::lines::{
    Line, begins, body_at, indent, is_same, line_at, line_numbers, lines, lines_before, lines_from, plain,
};
use super::needle::{Key, Needle, Solid};

/// How many places of one search are looked at: if there are more, those that are nearest to a hint.
pub(super) const PLACES: usize = 64;

/// A place in a text, with what it has for each line of a search text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fit {
    pub(super) how: How,
    /// The bytes of the text.
    pub(super) range: Range<usize>,
    /// The number of its first line, counted from 0.
    pub(super) line: usize,
    /// For each line of the search. Lines of the text that the search does not name are between them.
    pub(super) rows: Vec<Row>,
}

/// What a place has for a line of a search text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The bytes of the line with its end; empty if there is none.
    pub(super) own: Range<usize>,
    pub(super) stand: Stand,
}

/// How a line of a place and the line of the search compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    /// The same, except for what never matters.
    Same,
    /// The lines of the search from this one on are the same as some of the text, with other line breaks. The
    /// first has all the bytes.
    Joined { first: usize },
    /// Another line, where this one would be.
    Differs,
    /// There is no line for it.
    Missing,
}

impl Row {
    pub(super) fn is_there(&self) -> bool {
        matches!(self.stand, Stand::Same | Stand::Joined { .. })
    }
}

/// The places where a search text occurs byte for byte, as whole lines.
///
/// The last line of a text that has no line end there is as good as one that has.
pub(super) fn exact(text: &[u8], needle: &Needle<'_>, hint: Option<usize>) -> Vec<Fit> {
    let search = needle.text.as_bytes();
    let Some(first) = needle.lines.first() else { return Vec::new() };
    let step = first.next();
    let mut spots = Vec::new();
    let mut from = 0;
    let mut line_of = line_numbers(text);
    let finder = memmem::Finder::new(search);
    while let Some(at) = finder.find(&text[from..]) {
        if begins(text, from + at) {
            spots.push(Spot { line: line_of(from + at), start: from + at });
            from += at + step;
        } else {
            from += at + 1;
        }
        if hint.is_none() && spots.len() > PLACES {
            break;
        }
    }
    // A blank last line of the search is not there just because the text is over.
    let last = needle.lines.last().filter(|last| !last.body.is_empty());
    let open = last.map_or(&[][..], |last| &search[..last.start + last.body.len()]);
    let start = text.len().saturating_sub(open.len());
    if !open.is_empty() && text.ends_with(open) && begins(text, start) {
        spots.push(Spot { line: line_of(start), start });
    }
    nearest(spots, hint, |spot| spot.line)
        .into_iter()
        .map(|Spot { line, start }| {
            let range = start..(start + search.len()).min(text.len());
            let own = |each: &Line<'_>| start + each.start..(start + each.next()).min(text.len());
            let rows = needle.lines.iter().map(|each| Row { own: own(each), stand: Stand::Same }).collect();
            Fit { how: How::Exact, range, line, rows }
        })
        .collect()
}

/// The places that have all lines of a search text.
pub(super) fn same(text: &[u8], index: &Index, needle: &Needle<'_>, hint: Option<usize>) -> Vec<Fit> {
    let each: Option<Vec<&Spots>> = needle.solid.iter().map(|solid| index.spots(solid.key)).collect();
    let rarest = each.unwrap_or_default().into_iter().enumerate().min_by_key(|(_, spots)| spots.count);
    let (nth, spots) = match rarest {
        None => return Vec::new(),
        Some((nth, spots)) if spots.count <= SPOTS => (nth, spots.first.clone()),
        Some(_) => (0, nearest(sequences(text, needle, hint), hint, |spot| spot.line)),
    };
    let fits = spots.into_iter().filter_map(|spot| stretch(text, needle, nth, spot));
    nearest(fits.collect(), hint, |fit| fit.line)
}

/// Leaves those that are nearest to a hint, or else the first, if there are too many to tell apart.
fn nearest<T>(mut places: Vec<T>, hint: Option<usize>, line: impl Fn(&T) -> usize) -> Vec<T> {
    if places.len() > PLACES {
        places.sort_by_key(|place| line(place).abs_diff(hint.unwrap_or(0)));
        places.truncate(PLACES);
        places.sort_by_key(line);
    }
    places
}

/// Where the keys of a search follow each other, for one whose every line is everywhere in the text.
///
/// It reads the text once, by the algorithm of Knuth, Morris and Pratt, for trying each place by itself
/// would cost the length of the search at every line.
fn sequences(text: &[u8], needle: &Needle<'_>, hint: Option<usize>) -> Vec<Spot> {
    let keys: Vec<Key> = needle.solid.iter().map(|solid| solid.key).collect();
    let mut borders = vec![0; keys.len()];
    let mut border = 0;
    for nth in 1..keys.len() {
        while border > 0 && keys[nth] != keys[border] {
            border = borders[border - 1];
        }
        border += usize::from(keys[nth] == keys[border]);
        borders[nth] = border;
    }

    let mut starts = Vec::new();
    let mut recent = VecDeque::with_capacity(keys.len());
    let mut held = 0;
    for (number, line) in lines(text).enumerate() {
        let Some(key) = Key::of(line.body) else { continue };
        if recent.len() == keys.len() {
            recent.pop_front();
        }
        recent.push_back(Spot { line: number, start: line.start });
        while held > 0 && (held == keys.len() || keys[held] != key) {
            held = borders[held - 1];
        }
        held += usize::from(keys[held] == key);
        if held == keys.len() {
            starts.push(recent[0]);
            if hint.is_none() && starts.len() > PLACES {
                break;
            }
        }
    }
    starts
}

/// The stretch around a line that is the search's `nth` line that is not blank, if all others are around it too
/// and at the same levels.
fn stretch(text: &[u8], needle: &Needle<'_>, nth: usize, spot: Spot) -> Option<Fit> {
    let same = |nth: usize, line: Line<'_>| is_same(needle.solid[nth].body, line.body);
    let seed = line_at(text, spot.start).filter(|line| same(nth, *line))?;

    let mut solid = VecDeque::from([seed]);
    let mut number = spot.line;
    for before in (0..nth).rev() {
        let (blank_lines, line) =
            lines_before(text, solid[0].start).enumerate().find(|(_, line)| !line.is_blank())?;
        if !same(before, line) {
            return None;
        }
        number -= blank_lines + 1;
        solid.push_front(line);
    }
    for after in nth + 1..needle.solid.len() {
        let line = lines_from(text, solid.back()?.next()).find(|line| !line.is_blank())?;
        if !same(after, line) {
            return None;
        }
        solid.push_back(line);
    }
    let rows: Vec<_> =
        solid.iter().map(|line| Row { own: line.start..line.next(), stand: Stand::Same }).collect();
    let levels = levels(text, needle, &rows)?;
    let fits = |(solid, line): (&Solid<'_>, &Line<'_>)| levels.fits(indent(solid.body), indent(line.body));
    needle.solid.iter().zip(&solid).all(fits).then(|| lay_out(text, needle, rows, number))
}

/// The levels of a place, by the lines that are the same text; `rows` has one for each that is not blank.
pub(super) fn levels(text: &[u8], needle: &Needle<'_>, rows: &[Row]) -> Option<Levels> {
    let there = needle.solid.iter().zip(rows).filter(|(solid, row)| match row.stand {
        Stand::Same => true,
        Stand::Joined { first } => first == solid.line,
        Stand::Differs | Stand::Missing => false,
    });
    let pairs: Vec<_> =
        there.map(|(solid, row)| (indent(solid.body), indent(body_at(text, row.own.start)))).collect();
    Levels::of(&pairs)
}

/// A place, given what it has for each line of the search that is not blank; there is something for at least one.
///
/// A blank line of the search takes the next blank line of the text before the next line that is not blank.
/// `number` is the line of the first one that is there.
pub(super) fn lay_out(text: &[u8], needle: &Needle<'_>, solid: Vec<Row>, number: usize) -> Fit {
    let (above, below) = needle.margins();
    let is_present = |row: &&Row| !row.own.is_empty();
    let first = solid.iter().find(is_present).map_or(0, |row| row.own.start);
    let (mut start, mut end) = (first, solid.iter().rfind(is_present).map_or(first, |row| row.own.end));
    let mut found_above = 0;
    for line in lines_before(text, first).take(above).take_while(|line| line.is_blank()) {
        start = line.start;
        found_above += 1;
    }
    for line in lines_from(text, end).take(below).take_while(|line| line.is_blank()) {
        end = line.next();
    }

    let mut rows: Vec<Row> = Vec::with_capacity(needle.lines.len());
    let mut at = start;
    let mut solid = solid.into_iter().peekable();
    let mut numbers = needle.solid.iter().map(|solid| solid.line).peekable();
    let mut next_start = first;
    for line in 0..needle.lines.len() {
        if numbers.next_if_eq(&line).is_some() {
            rows.extend(solid.next());
            at = at.max(rows[line].own.end);
            next_start = solid.clone().find(|row| !row.own.is_empty()).map_or(end, |row| row.own.start);
            continue;
        }
        rows.push(match line_at(text, at).filter(|blank| at < next_start && blank.is_blank()) {
            Some(blank) => {
                at = blank.next();
                Row { own: blank.start..at, stand: Stand::Same }
            }
            None => Row { own: at..at, stand: Stand::Missing },
        });
    }
    let mut fit = Fit { how: How::Exact, range: start..end, line: number - found_above, rows };
    fit.how = how(text, needle, &fit);
    fit
}

/// In what a place differs from a search at most.
fn how(text: &[u8], needle: &Needle<'_>, fit: &Fit) -> How {
    let mut at = fit.range.start;
    let mut how = How::Exact;
    for (searched, row) in needle.lines.iter().zip(&fit.rows) {
        how = how.max(match row.stand {
            Stand::Same => line_at(text, row.own.start).map_or(How::Exact, |there| form(*searched, there)),
            Stand::Joined { .. } => How::LineBreaks,
            Stand::Missing if searched.is_blank() => How::BlankLines,
            Stand::Differs | Stand::Missing => How::Context,
        });
        if !row.own.is_empty() {
            how = how.max(unnamed(text, at..row.own.start));
            at = row.own.end;
        }
    }
    how.max(unnamed(text, at..fit.range.end))
}

/// What it means that a search does not name some lines of a place.
fn unnamed(text: &[u8], range: Range<usize>) -> How {
    let each = |line: Line<'_>| if line.is_blank() { How::BlankLines } else { How::Context };
    lines(&text[range]).map(each).max().unwrap_or(How::Exact)
}

/// In what a line differs from the same one in a search.
fn form(searched: Line<'_>, there: Line<'_>) -> How {
    if searched.body == there.body {
        let same_end = searched.end == there.end || there.end.is_empty();
        return if same_end { How::Exact } else { How::LineEnds };
    }
    if searched.body.trim_ascii_end() == there.body.trim_ascii_end() {
        How::TrailingWhitespace
    } else if plain(searched.body).trim_ascii_end() == plain(there.body).trim_ascii_end() {
        How::LookAlikes
    } else {
        How::Indentation
    }
}

#[cfg(test)]
mod tests {
    use super::super::index::Wanted;
    use super::*;

    fn check(text: &str, search: &str, expected: &[(How, usize, &str)]) {
        let needle = Needle::new(search);
        let text = text.as_bytes();
        let mut fits = exact(text, &needle, None);
        if fits.is_empty() {
            let index = Index::new(text, &Wanted::from(&needle));
            fits = same(text, &index, &needle, None);
        }
        let found: Vec<_> = fits
            .iter()
            .map(|fit| (fit.how, fit.line, std::str::from_utf8(&text[fit.range.clone()]).unwrap()))
            .collect();
        assert_eq!(found, expected, "{search:?} in {:?}", String::from_utf8_lossy(text));
        assert!(fits.iter().all(|fit| fit.rows.len() == needle.lines.len()));
    }

    #[test]
    fn every_way_to_differ() {
        check("a\nb\nc\n", "b\n", &[(How::Exact, 1, "b\n")]);
        check("a\nb", "b\n", &[(How::Exact, 1, "b")]);
        check("a\r\nb\r\n", "a\nb\n", &[(How::LineEnds, 0, "a\r\nb\r\n")]);
        check("a  \nb\n", "a\nb\t\n", &[(How::TrailingWhitespace, 0, "a  \nb\n")]);
        check("“a”\nb\n", "\"a\"\nb\n", &[(How::LookAlikes, 0, "“a”\nb\n")]);
        check("x\n\ta\n\t\tb\n", "a\n\tb\n", &[(How::Indentation, 1, "\ta\n\t\tb\n")]);
        check("  a\n    b\n", "      a\n        b\n", &[(How::Indentation, 0, "  a\n    b\n")]);
        check("\ta\n\t\tb\n", "    a\n        b\n", &[(How::Indentation, 0, "\ta\n\t\tb\n")]);
        check("a\n\n\nb\n", "a\n\nb\n", &[(How::BlankLines, 0, "a\n\n\nb\n")]);
        check("x\na\nb\n", "\na\n\nb\n\n", &[(How::BlankLines, 1, "a\nb\n")]);
    }

    #[test]
    fn levels_must_be_equal() {
        check("a\n    b\n", "a\nb\n", &[]);
        check("if a:\n    b\nc\n", "if a:\n    b\n    c\n", &[]);
    }

    #[test]
    fn a_search_is_for_whole_lines() {
        check("subtotal = 1\ntotal = 1\n", "total = 1\n", &[(How::Exact, 1, "total = 1\n")]);
        check("subtotal = 1\n", "total = 1\n", &[]);
        check("total = 1;\n", "total = 1\n", &[]);
    }

    #[test]
    fn blank_lines_count_where_all_are_there() {
        check("a\n\nb\n\n", "a\n\nb\n\n", &[(How::Exact, 0, "a\n\nb\n\n")]);
        check("a\n\nb\na\n", "a\n\n", &[(How::Exact, 0, "a\n\n")]);
        check("b\na\n", "a\n\n", &[(How::BlankLines, 1, "a\n")]);
        check("a\n \nb\n", "a\n\nb\n", &[(How::TrailingWhitespace, 0, "a\n \nb\n")]);
        check("x\n\n  a\ny\n", "\na\n", &[(How::Indentation, 1, "\n  a\n")]);
    }

    #[test]
    fn places_may_overlap() {
        check("a\na\na\n", "a\na\n", &[(How::Exact, 0, "a\na\n"), (How::Exact, 1, "a\na\n")]);
    }

    #[test]
    fn lines_that_are_everywhere_are_found_in_one_pass() {
        let text = format!("{}    }}\n    ;\n", "    }\n".repeat(SPOTS + 10));
        check(&text, "}\n;\n", &[(How::Indentation, SPOTS + 10, "    }\n    ;\n")]);
        let needle = Needle::new("}\n}\n");
        let index = Index::new(text.as_bytes(), &Wanted::from(&needle));
        assert_eq!(same(text.as_bytes(), &index, &needle, None).len(), PLACES);
    }
}
