//! [`Followers`]: what comes after an opening marker that opens something and is not only mentioned.

use super::finder::Finder;
use super::rules::Look;
use super::template::{MAX_PART, Match, any_literal, literal, skip_short_whitespace};
use super::whitespace::skip_whitespace;

/// What makes a marker count: what comes right after it, or for that of a call, its closing marker on the line
/// of what follows it.
#[derive(Clone, Debug)]
pub(super) struct Followers {
    first: First,
    /// One of these makes the marker count.
    markers: Vec<String>,
    /// One of these on the line before those begins something else.
    others: Vec<String>,
    finder: Finder,
}

/// What may come right after the marker.
#[derive(Clone, Debug)]
pub(super) enum First {
    /// Only one of `markers`.
    Marker,
    /// A JSON object, maybe after some of these texts.
    Object { before: Vec<String> },
    /// A key with a colon after it, or the end of the arguments. Strings have this quote.
    Key { quote: String },
}

impl Followers {
    pub(super) fn new(first: First, markers: Vec<String>, others: Vec<String>) -> Self {
        let mut bytes = vec![b'\n'];
        bytes.extend(markers.iter().chain(&others).filter_map(|marker| marker.bytes().next()));
        Self { first, markers, others, finder: Finder::new(&bytes) }
    }

    /// Whether the marker that ends at `end` counts: one of these follows, or nothing at all. `look` says how
    /// far the line has been searched already.
    pub(super) fn follow(&self, text: &str, end: usize, finished: bool, look: &mut Look) -> Match<()> {
        let Some(start) = skip_short_whitespace(text, end) else { return Match::No };
        let cut = if finished { Match::Full(()) } else { Match::Partial };
        let first = match (&self.first, any_literal(text, start, &self.markers, false)) {
            (First::Marker, Match::No) => return Match::No,
            (first, Match::No) => first.is_at(text, end, start),
            (_, marker) => marker.found(),
        };
        match first {
            Match::Full(()) => return Match::Full(()),
            Match::Partial => return cut,
            Match::No => {}
        }
        look.search(text, end, start, &self.finder, finished, |at| {
            match any_literal(text, at, &self.markers, false) {
                Match::Full(_) => return Some(Match::Full(())),
                Match::Partial => return Some(cut),
                Match::No => {}
            }
            match any_literal(text, at, &self.others, finished) {
                Match::Full(_) => Some(Match::No),
                Match::Partial => Some(Match::Partial),
                Match::No => None,
            }
        })
    }

    /// Whether the text ends after the marker that ends at `end`, or in the next one.
    pub(super) fn is_cut(&self, text: &str, end: usize) -> bool {
        let rest = text[end..].trim_start();
        rest.is_empty() || self.markers.iter().any(|marker| marker.starts_with(rest) && marker != rest)
    }
}

impl First {
    /// Whether it is at `at`, after a marker that ends at `end`.
    fn is_at(&self, text: &str, end: usize, mut at: usize) -> Match<()> {
        if let Self::Object { before } = self {
            let bound = text.floor_char_boundary(end + 2 * MAX_PART);
            while at < bound {
                match any_literal(text, at, before, false) {
                    Match::Full(end) => at = skip_whitespace(&text[..bound.max(end)], end),
                    Match::Partial => return Match::Partial,
                    Match::No => break,
                }
            }
        }
        let near = &text[at..text.floor_char_boundary(at + MAX_PART)];
        let undecided = if near.len() < text.len() - at { Match::No } else { Match::Partial };
        match (self, near.bytes().next()) {
            (_, None) => Match::Partial,
            // A brace on another line may be anything, for example code.
            (Self::Object { .. }, Some(b'{')) if text[end..at].contains('\n') => {
                match near[1..].trim_start().bytes().next() {
                    None => undecided,
                    Some(b'"' | b'}') => Match::Full(()),
                    Some(_) => Match::No,
                }
            }
            (Self::Object { .. }, Some(b'{')) => Match::Full(()),
            // So may the end of a block there, or a key that no quoted string follows.
            (Self::Key { .. }, Some(b'}')) if !text[end..at].contains('\n') => Match::Full(()),
            (Self::Key { quote }, Some(_)) => {
                let after = near.trim_start_matches(|c: char| c.is_alphanumeric() || "_-.\"".contains(c));
                match after.trim_start().strip_prefix(':') {
                    None if after.trim_start().is_empty() => undecided,
                    Some(_) if after.len() == near.len() => Match::No,
                    Some(_) if !text[end..at].contains('\n') => Match::Full(()),
                    Some(value) => match literal(value.trim_start(), 0, quote, false) {
                        Match::Full(_) => Match::Full(()),
                        Match::Partial => undecided,
                        Match::No => Match::No,
                    },
                    None => Match::No,
                }
            }
            (Self::Marker | Self::Object { .. }, Some(_)) => Match::No,
        }
    }
}
