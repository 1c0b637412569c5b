//! [`Names`]: the names that can be in a marker.

use super::exact::Exact;
use super::template::{Found, Match, Name};

/// The names that a marker may contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Any name.
    Free,
    /// Any name that a tool can have.
    Tool,
    /// These names.
    Listed(Vec<String>),
}

impl Names {
    pub(super) fn has(&self, name: &str) -> bool {
        match self {
            Self::Free => !name.is_empty() && !name.contains('{'),
            Self::Tool => name.chars().all(is_tool_name) && name.chars().any(char::is_alphanumeric),
            Self::Listed(names) => names.iter().any(|known| known == name),
        }
    }

    /// The number of a name in the list, if there is a list.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        match self {
            Self::Free | Self::Tool => None,
            Self::Listed(names) => {
                (0..).zip(names).find(|(_, known)| *known == name).map(|(number, _)| number)
            }
        }
    }

    /// Whether `start` may be the start of a name, or a name and the start of `next`.
    pub(super) fn may_become(&self, start: &str, next: &str) -> bool {
        match self {
            // A brace starts the JSON that follows a marker without a name.
            Self::Free => !start.contains('{'),
            Self::Tool => {
                let rest = start.trim_start().trim_start_matches(is_tool_name);
                next.starts_with(rest) || next.starts_with(rest.trim_start())
            }
            Self::Listed(names) => names.iter().any(|known| {
                let rest = start.strip_prefix(&**known);
                known.starts_with(start) || rest.is_some_and(|rest| next.starts_with(rest))
            }),
        }
    }
}

/// Whether a tool's name can contain `c`. Providers allow less, gateways and servers of tools a little more.
pub(super) fn is_tool_name(c: char) -> bool {
    c.is_alphanumeric() || "_-.:/$@".contains(c)
}

/// A marker, written out with each of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Markers {
    markers: Vec<Exact>,
    /// For each byte, how many names start with a smaller byte.
    starts: Box<[u32; 257]>,
    /// The number of bytes before the name and after it.
    around: (usize, usize),
}

impl Markers {
    /// The markers with each of `names` between `before` and `after`. The names are sorted, so that those
    /// with the same first byte are adjacent.
    pub(super) fn new(before: &str, names: &[String], after: &str) -> Self {
        let mut starts = Box::new([0; 257]);
        for name in names {
            starts[usize::from(name.as_bytes()[0]) + 1] += 1;
        }
        for byte in 1..starts.len() {
            starts[byte] += starts[byte - 1];
        }
        Self {
            starts,
            markers: names.iter().map(|name| Exact::new(format!("{before}{name}{after}"))).collect(),
            around: (before.len(), after.len()),
        }
    }

    /// Matches one of the markers at `at`.
    #[inline]
    pub(super) fn find(&self, text: &str, at: usize) -> Match<Found> {
        let (before, after) = self.around;
        let alike = match text.as_bytes().get(at + before).map(|&byte| usize::from(byte)) {
            Some(byte) => self.starts[byte]..self.starts[byte + 1],
            // Up to the name all markers are the same, so one is enough.
            None => 0..u32::from(!self.markers.is_empty()),
        };
        let mut begun = false;
        for number in alike {
            match self.markers[number as usize].find(text, at) {
                Match::Full(end) => {
                    let name = Name::listed(at + before..end - after, number);
                    return Match::Full(Found { end, name, ..Found::default() });
                }
                Match::Partial => begun = true,
                Match::No => {}
            }
        }
        if begun { Match::Partial } else { Match::No }
    }
}
