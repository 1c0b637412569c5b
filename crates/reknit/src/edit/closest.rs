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

/// A place of a text beside the search that it is not, or not certainly, the place of.
pub(super) struct Compared<'a> {
    pub(super) text: &'a [u8],
    pub(super) needle: &'a Needle<'a>,
    pub(super) near: &'a Near,
    pub(super) lines: Lines,
}

impl Compared<'_> {
    /// The rejection of an edit that may not be applied here.
    pub(super) fn refused(&self, refusal: Refusal) -> Box<Rejection> {
        self.rejection(match refusal {
            Refusal::Stale => self.difference(),
            Refusal::Whitespace => Reason::Whitespace,
            Refusal::AlreadyApplied => Reason::AlreadyApplied { lines: self.lines },
            Refusal::Placeholder { line } => Reason::Placeholder { line },
        })
    }

    /// What kind of difference there is.
    pub(super) fn difference(&self) -> Reason {
        let Self { text, needle, near, .. } = self;
        if has_same_characters(&text[near.fit.range.start..], needle.text.as_bytes()) {
            Reason::Whitespace
        } else if near.score >= STALE {
            Reason::Stale
        } else {
            Reason::NoMatch
        }
    }

    /// A rejection with this as the closest place, if it has a line of the search or much like one.
    pub(super) fn rejection(&self, reason: Reason) -> Box<Rejection> {
        let near = self.near;
        let is_close = (!near.telling.is_empty() || near.score >= STALE) && near.score >= CLOSE;
        let closest = is_close.then(|| Closest { lines: self.lines, score: near.score, diff: self.diff() });
        Box::new(Rejection { reason, closest })
    }

    /// A small diff from the search to the place.
    fn diff(&self) -> String {
        let Self { text, needle, near: Near { fit, .. }, .. } = self;
        let mut diff = Vec::new();
        let mut at = fit.range.start;
        for (searched, row) in needle.lines.iter().zip(&fit.rows) {
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
        diff.extend(lines(&text[at..fit.range.end]).map(|line| shown('+', line)));
        let omitted = diff.len().saturating_sub(SHOWN);
        diff.truncate(SHOWN);
        let mut diff = diff.concat();
        if omitted > 0 {
            diff.push_str(&format!("… {omitted} more lines\n"));
        }
        diff
    }
}

/// Whether a text begins with lines that have all visible bytes of the search, and no others.
fn has_same_characters(text: &[u8], search: &[u8]) -> bool {
    let is_visible = |byte: &&u8| !byte.is_ascii_whitespace();
    let mut there = text.iter();
    let is_there = search.iter().filter(is_visible).all(|byte| there.find(is_visible) == Some(byte));
    is_there && there.take_while(|byte| **byte != b'\n').all(u8::is_ascii_whitespace)
}

fn shown(sign: char, line: Line<'_>) -> String {
    format!("{sign}{}\n", String::from_utf8_lossy(line.body))
}
