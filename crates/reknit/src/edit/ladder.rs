//! The rungs on which every line of a search text stands in the file: exact down to blank lines ignored.
//!
//! The looser of them differ in blanks and look-alikes only, so they share their candidates: stretches of
//! the file whose lines have the keys of the search's, blank lines aside. How strict a rung such a stretch
//! holds is asked of the stretch, which comes to the same as trying the rungs one after another.

use std::collections::VecDeque;
use std::ops::Range;

use memchr::memmem;

use super::How;
use super::index::{Index, SPOTS, Spot, Spots};
use super::lines::{Line, begins, count, folded, indent, line_at, line_before, lines, plain};
use super::needle::{Key, Needle};

/// How many places of one search are looked at: if there are more, those that are nearest to a hint.
pub(super) const PLACES: usize = 64;

/// A place that fits a search text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fit {
    pub(super) how: How,
    /// The bytes of the text.
    pub(super) range: Range<usize>,
    /// The number of its first line, counted from 0.
    pub(super) line: usize,
    /// For each line of the search the bytes that stand for it, line end included, or none. They tile the
    /// range: a line of the text that is not in the search belongs to the one before it.
    pub(super) aligned: Vec<Range<usize>>,
    /// How much of the search text stands there.
    pub(super) score: f64,
}

/// The places where a search text stands byte for byte, as whole lines.
///
/// The last line of a text that has no line end there is as good as one that has.
pub(super) fn exact(text: &[u8], needle: &Needle<'_>, hint: Option<usize>) -> Vec<Fit> {
    let search = needle.text.as_bytes();
    let Some(first) = needle.lines.first() else { return Vec::new() };
    let step = first.next();
    let mut spots = Vec::new();
    let mut from = 0;
    let (mut line, mut counted) = (0, 0);
    let mut found = |spots: &mut Vec<Spot>, start: usize| {
        line += count(text, counted..start);
        counted = start;
        spots.push(Spot { line, start });
    };
    let finder = memmem::Finder::new(search);
    while let Some(at) = finder.find(&text[from..]) {
        if begins(text, from + at) {
            found(&mut spots, from + at);
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
    if !open.is_empty() && text.ends_with(open) && begins(text, text.len() - open.len()) {
        found(&mut spots, text.len() - open.len());
    }
    nearest(spots, hint)
        .into_iter()
        .map(|Spot { line, start }| {
            let range = start..(start + search.len()).min(text.len());
            let aligned = needle
                .lines
                .iter()
                .map(|each| start + each.start..(start + each.next()).min(text.len()))
                .collect();
            Fit { how: How::Exact, range, line, aligned, score: 1.0 }
        })
        .collect()
}

/// The places where all lines of a search text stand one after another in some form, each with its rung.
pub(super) fn loose(text: &[u8], index: &Index, needle: &Needle<'_>, hint: Option<usize>) -> Vec<Fit> {
    let mut rarest: Option<(usize, &Spots)> = None;
    for (nth, solid) in needle.solid.iter().enumerate() {
        let Some(spots) = index.spots(solid.key) else { return Vec::new() };
        if rarest.is_none_or(|(_, least)| spots.count < least.count) {
            rarest = Some((nth, spots));
        }
    }
    let (nth, spots) = match rarest {
        None => return Vec::new(),
        Some((nth, spots)) if spots.count <= SPOTS => (nth, spots.first.clone()),
        Some(_) => (0, nearest(sequences(text, needle, hint), hint)),
    };
    let fits = spots.into_iter().filter_map(|spot| stretch(text, needle, nth, spot));
    nearest(fits.collect(), hint)
}

/// Leaves those that are nearest to a hint, or else the first, if there are too many to tell apart.
fn nearest<T: HasLine>(mut places: Vec<T>, hint: Option<usize>) -> Vec<T> {
    if places.len() > PLACES {
        let distance = |place: &T| place.line().abs_diff(hint.unwrap_or(0));
        places.sort_by_key(distance);
        places.truncate(PLACES);
        places.sort_by_key(T::line);
    }
    places
}

/// Something that stands at a line.
trait HasLine {
    fn line(&self) -> usize;
}

impl HasLine for Spot {
    fn line(&self) -> usize {
        self.line
    }
}

impl HasLine for Fit {
    fn line(&self) -> usize {
        self.line
    }
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

/// The stretch around a line that stands for the search's `nth` line that is not blank, if all others are
/// around it too.
fn stretch(text: &[u8], needle: &Needle<'_>, nth: usize, spot: Spot) -> Option<Fit> {
    let same =
        |nth: usize, line: Line<'_>| folded(needle.lines[needle.solid[nth].line].body) == folded(line.body);
    let seed = line_at(text, spot.start).filter(|line| same(nth, *line))?;

    let mut solid = VecDeque::from([seed]);
    let mut number = spot.line;
    for before in (0..nth).rev() {
        let (blanks, line) = solid_before(text, solid[0].start)?;
        if !same(before, line) {
            return None;
        }
        number -= blanks + 1;
        solid.push_front(line);
    }
    for after in nth + 1..needle.solid.len() {
        let line = solid_after(text, solid.back()?.next())?;
        if !same(after, line) {
            return None;
        }
        solid.push_back(line);
    }
    let solid = solid.make_contiguous();
    Some(with_blank_lines(text, needle, solid, number))
}

/// The last line before a byte that is not blank, and how many blank ones are between.
fn solid_before(text: &[u8], start: usize) -> Option<(usize, Line<'_>)> {
    let mut blanks = 0;
    let mut line = line_before(text, start)?;
    while line.is_blank() {
        blanks += 1;
        line = line_before(text, line.start)?;
    }
    Some((blanks, line))
}

fn solid_after(text: &[u8], next: usize) -> Option<Line<'_>> {
    let mut line = line_at(text, next)?;
    while line.is_blank() {
        line = line_at(text, line.next())?;
    }
    Some(line)
}

/// Gives the blank lines of the search those of the text, as far as there are any, and finds the rung.
fn with_blank_lines(text: &[u8], needle: &Needle<'_>, solid: &[Line<'_>], number: usize) -> Fit {
    let counterparts: Vec<_> = solid.iter().copied().map(Some).collect();
    let tiles = tile(text, needle, &counterparts);
    let how = match tiles.form {
        Form::OneToOne => rung(text, needle, &tiles.aligned),
        Form::Otherwise => How::BlankLines,
    };
    Fit { how, range: tiles.range, line: number - tiles.above, aligned: tiles.aligned, score: 1.0 }
}

/// The lines of a stretch of text, given to the lines of a search.
pub(super) struct Tiles {
    pub(super) range: Range<usize>,
    /// As in [`Fit`].
    pub(super) aligned: Vec<Range<usize>>,
    /// How many blank lines it has above the first line that is not blank.
    pub(super) above: usize,
    pub(super) form: Form,
}

/// Whether each line of a search has one line of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    OneToOne,
    Otherwise,
}

/// Lays the lines of a stretch of text out over those of a search: each that is not blank has its counterpart
/// or none, a blank one takes a blank one from where it stands, and what is left over belongs to the line
/// before it. At least one line has a counterpart.
pub(super) fn tile(text: &[u8], needle: &Needle<'_>, counterparts: &[Option<Line<'_>>]) -> Tiles {
    let (above, below) = needle.margins();
    let (Some(first), Some(last)) =
        (counterparts.iter().flatten().next(), counterparts.iter().flatten().next_back())
    else {
        unreachable!("a stretch is found by a line of the search");
    };

    let mut start = first.start;
    let mut found_above = 0;
    while found_above < above
        && let Some(line) = line_before(text, start).filter(|line| line.is_blank())
    {
        start = line.start;
        found_above += 1;
    }
    let mut end = last.next();
    let mut found_below = 0;
    while found_below < below
        && let Some(line) = line_at(text, end).filter(|line| line.is_blank())
    {
        end = line.next();
        found_below += 1;
    }

    let mut form =
        if (found_above, found_below) == (above, below) { Form::OneToOne } else { Form::Otherwise };
    let mut aligned: Vec<Range<usize>> = Vec::with_capacity(needle.lines.len());
    let mut at = start;
    let mut nth = 0;
    for line in 0..needle.lines.len() {
        if needle.solid.get(nth).is_some_and(|solid| solid.line == line) {
            if let Some(there) = counterparts[nth] {
                if at < there.start {
                    form = Form::Otherwise;
                    match aligned.iter_mut().rev().find(|range| range.start < range.end) {
                        Some(before) => before.end = there.start,
                        None => start = there.start,
                    }
                    // Lines of the search between the two have nothing; they stand behind what was left over.
                    for range in aligned.iter_mut().rev().take_while(|range| range.start == range.end) {
                        *range = there.start..there.start;
                    }
                }
                at = there.next();
                aligned.push(there.start..at);
            } else {
                form = Form::Otherwise;
                aligned.push(at..at);
            }
            nth += 1;
            continue;
        }
        let next = counterparts[nth..].iter().flatten().next().map_or(end, |next| next.start);
        match line_at(text, at).filter(|line| at < next && line.is_blank()) {
            Some(blank) => {
                at = blank.next();
                aligned.push(blank.start..at);
            }
            None => {
                form = Form::Otherwise;
                aligned.push(at..at);
            }
        }
    }
    Tiles { range: start..end, aligned, above: found_above, form }
}

/// The strictest rung that holds for lines that are the same but for their outer form.
fn rung(text: &[u8], needle: &Needle<'_>, aligned: &[Range<usize>]) -> How {
    let mut rung = How::Exact;
    let mut shift = None;
    for (searched, range) in needle.lines.iter().zip(aligned) {
        let Some(there) = line_at(text, range.start) else { continue };
        rung = rung.max(form(*searched, there));
        if searched.is_blank() {
            continue;
        }
        let this = Shift::between(indent(searched.body), indent(there.body));
        match (&shift, this) {
            (None, this) => shift = Some(this),
            (Some(shift), this) if *shift == this => {}
            _ => shift = Some(Shift::Other),
        }
    }
    match shift {
        Some(Shift::Other) if rung >= How::Indentation => How::Trimmed,
        _ => rung,
    }
}

/// In what form a line of a search stands in the text, if it does.
fn form(searched: Line<'_>, there: Line<'_>) -> How {
    if searched.body == there.body {
        let same_end = searched.end == there.end || there.end.is_empty();
        return if same_end { How::Exact } else { How::LineEnds };
    }
    if searched.body.trim_ascii_end() == there.body.trim_ascii_end() {
        How::TrailingBlanks
    } else if plain(searched.body).trim_ascii_end() == plain(there.body).trim_ascii_end() {
        How::LookAlikes
    } else {
        How::Indentation
    }
}

/// How the indentation of a line differs from that of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shift<'t> {
    /// These blanks come before it.
    Deeper(&'t [u8]),
    /// These blanks are missing before it.
    Shallower(&'t [u8]),
    /// Neither.
    Other,
}

impl<'t> Shift<'t> {
    fn between(searched: &'t [u8], there: &'t [u8]) -> Self {
        if let Some(more) = there.strip_suffix(searched) {
            Self::Deeper(more)
        } else if let Some(less) = searched.strip_suffix(there) {
            Self::Shallower(less)
        } else {
            Self::Other
        }
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
            fits = loose(text, &index, &needle, None);
        }
        let found: Vec<_> = fits
            .iter()
            .map(|fit| (fit.how, fit.line, std::str::from_utf8(&text[fit.range.clone()]).unwrap()))
            .collect();
        assert_eq!(found, expected, "{search:?} in {:?}", String::from_utf8_lossy(text));
        for fit in &fits {
            assert_eq!(fit.aligned.len(), needle.lines.len());
            let joined: Vec<u8> =
                fit.aligned.iter().flat_map(|range| &text[range.clone()]).copied().collect();
            assert_eq!(joined, text[fit.range.clone()], "the lines tile the range");
        }
    }

    #[test]
    fn every_rung() {
        check("a\nb\nc\n", "b\n", &[(How::Exact, 1, "b\n")]);
        check("a\nb", "b\n", &[(How::Exact, 1, "b")]);
        check("a\r\nb\r\n", "a\nb\n", &[(How::LineEnds, 0, "a\r\nb\r\n")]);
        check("a  \nb\n", "a\nb\t\n", &[(How::TrailingBlanks, 0, "a  \nb\n")]);
        check("“a”\nb\n", "\"a\"\nb\n", &[(How::LookAlikes, 0, "“a”\nb\n")]);
        check("x\n\ta\n\t\tb\n", "a\n\tb\n", &[(How::Indentation, 1, "\ta\n\t\tb\n")]);
        check("  a\n    b\n", "      a\n        b\n", &[(How::Indentation, 0, "  a\n    b\n")]);
        check("\ta\n\t\tb\n", "    a\n        b\n", &[(How::Trimmed, 0, "\ta\n\t\tb\n")]);
        check("a\n\n\nb\n", "a\n\nb\n", &[(How::BlankLines, 0, "a\n\n\nb\n")]);
        check("x\na\nb\n", "\na\n\nb\n\n", &[(How::BlankLines, 1, "a\nb\n")]);
    }

    #[test]
    fn a_search_stands_on_whole_lines() {
        check("subtotal = 1\ntotal = 1\n", "total = 1\n", &[(How::Exact, 1, "total = 1\n")]);
        check("subtotal = 1\n", "total = 1\n", &[]);
        check("total = 1;\n", "total = 1\n", &[]);
    }

    #[test]
    fn blank_lines_count_where_all_are_there() {
        check("a\n\nb\n\n", "a\n\nb\n\n", &[(How::Exact, 0, "a\n\nb\n\n")]);
        check("a\n\nb\na\n", "a\n\n", &[(How::Exact, 0, "a\n\n")]);
        check("b\na\n", "a\n\n", &[(How::BlankLines, 1, "a\n")]);
        check("a\n \nb\n", "a\n\nb\n", &[(How::TrailingBlanks, 0, "a\n \nb\n")]);
        check("x\n\n  a\ny\n", "\na\n", &[(How::Indentation, 1, "\n  a\n")]);
    }

    #[test]
    fn places_may_overlap() {
        check("a\na\na\n", "a\na\n", &[(How::Exact, 0, "a\na\n"), (How::Exact, 1, "a\na\n")]);
    }

    #[test]
    fn lines_that_are_everywhere_are_found_in_one_pass() {
        let text = format!("{}    }}\n  ;\n", "    }\n".repeat(SPOTS + 10));
        check(&text, "}\n;\n", &[(How::Trimmed, SPOTS + 10, "    }\n  ;\n")]);
        let needle = Needle::new("}\n}\n");
        let index = Index::new(text.as_bytes(), &Wanted::from(&needle));
        assert_eq!(loose(text.as_bytes(), &index, &needle, None).len(), PLACES);
    }
}
