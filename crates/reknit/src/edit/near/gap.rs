//! [`fill`]: lines that are alike, where search and text have no line in common.

use std::ops::Range;

use super::super::distance::Comparison;
use super::super::lines::folded;
use super::super::needle::Needle;
use super::align::Solid;
use super::weight;

/// Lines that are less alike than this do not stand for each other.
const ALIKE: f64 = 0.5;
/// How alike a line is to a first line of a search that is the end of it.
const CUT: f64 = 0.9;
/// How many letters of a line tell that it is the one that was cut.
const CUT_LEAST: usize = 3;
/// How many pairs of lines are compared in one gap. Larger gaps are left open.
const GAP: usize = 1024;

/// Which ends of a gap have lines beside them that are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// Both, or there is no such line at all.
    Both,
    First,
    Last,
}

/// Pairs the lines of a gap that are alike, in order: line of the search, place in the window, likeness.
///
/// Beyond the lines that are the same, a line that the search does not name counts against those behind it, so
/// that a place ends with the line beside it that is like the search's and not with a better one farther off.
pub(super) fn fill(
    needle: &Needle<'_>,
    gap: Range<usize>,
    window: &[Solid<'_>],
    room: Range<usize>,
    ends: Ends,
) -> Vec<(usize, usize, f64)> {
    let (rows, columns) = (gap.len(), room.len());
    if rows * columns == 0 || rows * columns > GAP {
        return Vec::new();
    }
    // From the line that holds outwards.
    let nth = |row: usize| if ends == Ends::Last { gap.end - 1 - row } else { gap.start + row };
    let at = |column: usize| if ends == Ends::Last { room.end - 1 - column } else { room.start + column };
    let mut table = vec![(0.0, Step::Missing); (rows + 1) * (columns + 1)];
    let cell = |row: usize, column: usize| row * (columns + 1) + column;
    let cost = |column: usize| match ends {
        Ends::Both => 0.0,
        Ends::First | Ends::Last => weight(window[at(column)].line.body) / 2.0,
    };
    for column in 0..columns {
        table[cell(0, column + 1)] = (table[cell(0, column)].0 - cost(column), Step::Unseen);
    }
    let mut comparison = Comparison::default();
    for row in 0..rows {
        let searched = needle.lines[needle.solid[nth(row)].line].body;
        let (folded_search, own) = (folded(searched), weight(searched));
        for column in 0..columns {
            let there = window[at(column)].line.body;
            let mut likeness = comparison.likeness(&folded_search, &folded(there), ALIKE);
            if nth(row) == 0 && likeness < CUT && cut(needle, there).is_some() {
                likeness = CUT;
            }
            let diagonal = table[cell(row, column)].0 + own * likeness;
            let steps = [
                (table[cell(row, column + 1)].0, Step::Missing),
                (table[cell(row + 1, column)].0 - cost(column), Step::Unseen),
                (diagonal, if likeness > 0.0 { Step::Pair(likeness) } else { Step::Other }),
            ];
            let best =
                steps.into_iter().fold(steps[0], |best, step| if step.0 > best.0 { step } else { best });
            table[cell(row + 1, column + 1)] = best;
        }
    }
    let (mut row, mut column) = match ends {
        Ends::Both => (rows, columns),
        Ends::First | Ends::Last => {
            let cells = (0..=rows).flat_map(|row| (0..=columns).map(move |column| (row, column)));
            let value = |(row, column): (usize, usize)| table[cell(row, column)].0;
            cells.fold((0, 0), |best, next| if value(next) > value(best) { next } else { best })
        }
    };
    let mut pairs = Vec::new();
    while row > 0 && column > 0 {
        match table[cell(row, column)].1 {
            Step::Missing => row -= 1,
            Step::Unseen => column -= 1,
            step @ (Step::Other | Step::Pair(_)) => {
                row -= 1;
                column -= 1;
                if let Step::Pair(likeness) = step {
                    pairs.push((nth(row), at(column), likeness));
                }
            }
        }
    }
    pairs
}

/// How the lines of a gap go on.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A line of the search stands for none.
    Missing,
    /// A line of the window stands for none.
    Unseen,
    /// One stands where the other does, and that is all.
    Other,
    /// They are this alike.
    Pair(f64),
}

/// How many bytes of a line come before what the first line of a search has of it, if that is the line's end.
pub(super) fn cut(needle: &Needle<'_>, body: &[u8]) -> Option<usize> {
    let searched = folded(needle.lines[needle.solid.first()?.line].body);
    let there = folded(body);
    let is_end = there.len() > searched.len() && there.ends_with(&searched);
    let tells = searched.iter().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()).count();
    if !is_end || tells < CUT_LEAST {
        return None;
    }
    // Folding takes a character for a character, so they can be counted from the end.
    let characters = std::str::from_utf8(&searched).ok()?.chars().count();
    let body = std::str::from_utf8(body.trim_ascii_end()).ok()?;
    body.char_indices().rev().nth(characters - 1).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_may_lack_its_beginning() {
        let needle = Needle::new("ion f(\u{201C}a\u{201D}) {\n    return 1;\n");
        assert_eq!(cut(&needle, b"  function f(\"a\") {  "), Some(7));
        assert_eq!(cut(&needle, "\tfonction f(‘a’) {".as_bytes()), None);
        assert_eq!(cut(&needle, b"ion f(\"a\") {"), None);
        assert_eq!(cut(&Needle::new(") {\n"), b"f() {"), None);
    }
}
