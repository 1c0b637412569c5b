//! What a rejection shows: the closest place beside the search, and what kind of difference there is.

use super::lines::{Line, lines};
use super::near::Near;
use super::needle::Needle;
use super::rule::Refusal;
use super::{Closest, Lines, Reason, Rejection};

/// The lines of a diff that are shown.
const SHOWN: usize = 40;
/// A place with this part of the search is an older or newer state of it.
const STALE: f64 = 0.4;
/// A place with less of it is not worth showing.
const CLOSE: f64 = 0.2;

impl Rejection {
    /// A rejection that has no closest place to show.
    pub(super) fn because(reason: Reason) -> Box<Self> {
        Box::new(Self { reason, closest: None })
    }
}

/// Why an edit may not be applied at a place, in terms of the file.
pub(super) fn reason(
    refusal: Refusal,
    text: &[u8],
    needle: &Needle<'_>,
    place: &Near,
    lines: Lines,
) -> Reason {
    match refusal {
        Refusal::Stale => class(text, needle, place),
        Refusal::Whitespace => Reason::Whitespace,
        Refusal::AlreadyApplied => Reason::AlreadyApplied { lines },
        Refusal::Placeholder { line } => Reason::Placeholder { line },
    }
}

/// What kind of difference there is to the closest place.
pub(super) fn class(text: &[u8], needle: &Needle<'_>, best: &Near) -> Reason {
    if has_same_characters(&text[best.fit.range.start..], needle.text.as_bytes()) {
        Reason::Whitespace
    } else if best.score >= STALE {
        Reason::Stale
    } else {
        Reason::NoMatch
    }
}

/// Whether a text begins with lines that have all visible bytes of the search, and no others.
fn has_same_characters(text: &[u8], search: &[u8]) -> bool {
    let is_visible = |byte: &&u8| !byte.is_ascii_whitespace();
    let mut there = text.iter();
    let is_there = search.iter().filter(is_visible).all(|byte| there.find(is_visible) == Some(byte));
    is_there && there.take_while(|byte| **byte != b'\n').all(u8::is_ascii_whitespace)
}

/// A rejection with the closest place, if that has a line of the search or much like one.
pub(super) fn rejection(
    reason: Reason,
    text: &[u8],
    needle: &Needle<'_>,
    near: &Near,
    lines: Lines,
) -> Box<Rejection> {
    let is_close = (!near.telling.is_empty() || near.score >= STALE) && near.score >= CLOSE;
    let closest = is_close.then(|| closest(text, needle, near, lines));
    Box::new(Rejection { reason, closest })
}

/// A place with a small diff from the search to it.
fn closest(text: &[u8], needle: &Needle<'_>, near: &Near, lines_there: Lines) -> Closest {
    let mut diff = Vec::new();
    let mut at = near.fit.range.start;
    for (searched, row) in needle.lines.iter().zip(&near.fit.rows) {
        if !row.own.is_empty() {
            diff.extend(lines(&text[at..row.own.start]).map(|line| shown('+', line)));
            at = row.own.end;
        }
        let there: Vec<_> = lines(&text[row.own.clone()]).collect();
        match &*there {
            [only] if only.body == searched.body => diff.push(shown(' ', *only)),
            _ => {
                diff.push(shown('-', *searched));
                diff.extend(there.into_iter().map(|line| shown('+', line)));
            }
        }
    }
    diff.extend(lines(&text[at..near.fit.range.end]).map(|line| shown('+', line)));
    let omitted = diff.len().saturating_sub(SHOWN);
    diff.truncate(SHOWN);
    let mut diff = diff.concat();
    if omitted > 0 {
        diff.push_str(&format!("… {omitted} more lines\n"));
    }
    Closest { lines: lines_there, score: near.score, diff }
}

fn shown(sign: char, line: Line<'_>) -> String {
    format!("{sign}{}\n", String::from_utf8_lossy(line.body))
}
