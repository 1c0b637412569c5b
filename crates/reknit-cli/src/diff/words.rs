//! Which words of changed lines changed.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

/// The parts of a line that changed, as ranges of its bytes.
pub(super) type Marks = Vec<Range<usize>>;

/// The changed parts of each line that has a counterpart on the other side.
///
/// Lines are paired in order. A line that resembles none of the next few on the other side has no marks: all
/// of it is new or removed.
pub(super) fn changed(removed: &[String], added: &[String]) -> [Vec<Marks>; 2] {
    let mut marks = [vec![Marks::new(); removed.len()], vec![Marks::new(); added.len()]];
    let mut next = 0;
    for (number, line) in removed.iter().enumerate() {
        let candidates = added.iter().enumerate().skip(next).take(MAX_DISTANCE);
        let pair = candidates.filter_map(|(other, text)| Some((other, compare(line, text)?))).next();
        if let Some((other, [old, new])) = pair {
            (marks[0][number], marks[1][other]) = (old, new);
            next = other + 1;
        }
    }
    marks
}

/// How many lines of the other side a line is compared with.
const MAX_DISTANCE: usize = 8;

/// Longer lines are not compared word by word.
const MAX_LINE: usize = 2_000;

/// One in this many letters must be the same: half of them.
const KEPT_SHARE: usize = 2;

/// What changed from one line to another, if they resemble each other.
fn compare(before: &str, after: &str) -> Option<[Marks; 2]> {
    if before.len().max(after.len()) > MAX_LINE {
        return None;
    }
    let (old, new) = (words(before), words(after));
    let mut input = InternedInput::default();
    input.update_before(old.iter().map(|range| &before[range.clone()]));
    input.update_after(new.iter().map(|range| &after[range.clone()]));
    // Histogram is for tokens that are rare.
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_no_heuristic(&input);
    let mut marks = [Marks::new(), Marks::new()];
    for hunk in diff.hunks() {
        mark(&mut marks[0], before, &old[hunk.before.start as usize..hunk.before.end as usize]);
        mark(&mut marks[1], after, &new[hunk.after.start as usize..hunk.after.end as usize]);
    }
    let letters = |text: &str| text.chars().filter(|char| !char.is_whitespace()).count();
    let changed = |text: &str, marks: &Marks| -> usize {
        marks.iter().map(|range| letters(&text[range.clone()])).sum()
    };
    let all = letters(before) + letters(after);
    let kept = all - changed(before, &marks[0]) - changed(after, &marks[1]);
    (kept * KEPT_SHARE >= all).then_some(marks)
}

/// Names and numbers, whitespace, and punctuation one by one.
fn words(text: &str) -> Vec<Range<usize>> {
    #[derive(PartialEq)]
    enum Class {
        Name,
        Space,
        Sign,
    }
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut last = Class::Sign;
    for (at, char) in text.char_indices() {
        let class = match char {
            _ if char.is_alphanumeric() || char == '_' => Class::Name,
            ' ' | '\t' => Class::Space,
            _ => Class::Sign,
        };
        let end = at + char.len_utf8();
        match words.last_mut() {
            Some(word) if class == last && class != Class::Sign => word.end = end,
            _ => words.push(at..end),
        }
        last = class;
    }
    words
}

/// Marks words, and joins them to the mark before if there is only whitespace between.
fn mark(marks: &mut Marks, text: &str, words: &[Range<usize>]) {
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
    match marks.last_mut() {
        Some(before) if text[before.end..first.start].chars().all(|char| matches!(char, ' ' | '\t')) => {
            before.end = last.end;
        }
        _ => marks.push(first.start..last.end),
    }
}
