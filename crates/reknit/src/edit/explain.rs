//! What a rejection shows: the closest place beside the search, and of what kind the difference is.

use super::ladder::Fit;
use super::lines::{Line, lines};
use super::near::Near;
use super::needle::Needle;
use super::{Closest, Place, Reason, Rejection};

/// The lines of a diff that are shown.
const SHOWN: usize = 40;
/// A place that holds this part of the search is an older or newer state of it.
const STALE: f64 = 0.4;

impl Rejection {
    /// A rejection that has no closest place to show.
    pub(super) fn because(reason: Reason) -> Box<Self> {
        Box::new(Self { reason, closest: None })
    }
}

/// Of what kind the difference to the closest place is.
pub(super) fn class(text: &[u8], needle: &Needle<'_>, best: &Near) -> Reason {
    if is_there_but_for_blanks(&text[best.fit.range.start..], needle.text.as_bytes()) {
        Reason::Whitespace
    } else if best.fit.score >= STALE {
        Reason::Stale
    } else {
        Reason::NoMatch
    }
}

/// Whether a text begins with lines that have all visible bytes of the search, and no others.
fn is_there_but_for_blanks(text: &[u8], search: &[u8]) -> bool {
    let is_visible = |byte: &&u8| !byte.is_ascii_whitespace();
    let mut there = text.iter();
    let is_there = search.iter().filter(is_visible).all(|byte| there.find(is_visible) == Some(byte));
    is_there && there.take_while(|byte| **byte != b'\n').all(u8::is_ascii_whitespace)
}

/// The closest place with a small diff of the search against it.
pub(super) fn closest(text: &[u8], needle: &Needle<'_>, fit: &Fit, place: Place) -> Closest {
    let mut diff = Vec::new();
    for (searched, range) in needle.lines.iter().zip(&fit.aligned) {
        let mut there = lines(&text[range.clone()]);
        let first = there.next();
        match first {
            Some(first) if first.body == searched.body => diff.push(shown(' ', first)),
            first => {
                diff.push(shown('-', *searched));
                diff.extend(first.map(|first| shown('+', first)));
            }
        }
        diff.extend(there.map(|line| shown('+', line)));
    }
    let omitted = diff.len().saturating_sub(SHOWN);
    diff.truncate(SHOWN);
    let mut diff = diff.concat();
    if omitted > 0 {
        diff.push_str(&format!("… {omitted} more lines\n"));
    }
    Closest { place, diff }
}

fn shown(sign: char, line: Line<'_>) -> String {
    format!("{sign}{}\n", String::from_utf8_lossy(line.body))
}
