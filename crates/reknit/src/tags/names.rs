//! [`Names`]: the names that may stand in a marker.

use super::exact::Exact;
use super::template::{Found, Match, Name};

/// The names that a marker may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Any.
    Free,
    /// These.
    Listed(Vec<String>),
}

impl Names {
    pub(super) fn has(&self, name: &str) -> bool {
        match self {
            Self::Free => !name.is_empty() && self.may_become(name),
            Self::Listed(names) => names.iter().any(|known| known == name),
        }
    }

    /// The number of a name in the list, if there is one.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        match self {
            Self::Free => None,
            Self::Listed(names) => {
                (0..).zip(names).find(|(_, known)| *known == name).map(|(number, _)| number)
            }
        }
    }

    /// Whether some name starts with `start`.
    pub(super) fn may_become(&self, start: &str) -> bool {
        match self {
            // A brace starts the JSON of a marker without a name.
            Self::Free => !start.contains('{'),
            Self::Listed(names) => names.iter().any(|known| known.starts_with(start)),
        }
    }
}

/// A marker written out with each of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Markers {
    markers: Vec<Exact>,
    /// For each byte, how many names start with one before it.
    starts: Box<[u32; 257]>,
    /// How many bytes stand before the name, and how many behind it.
    around: (usize, usize),
}

impl Markers {
    /// With each of `names` between `before` and `behind`. They are sorted, so that those that start with the
    /// same byte stand together.
    pub(super) fn new(before: &str, names: &[String], behind: &str) -> Self {
        let mut starts = Box::new([0; 257]);
        for name in names {
            starts[usize::from(name.as_bytes()[0]) + 1] += 1;
        }
        for byte in 1..starts.len() {
            starts[byte] += starts[byte - 1];
        }
        Self {
            starts,
            markers: names.iter().map(|name| Exact::new(format!("{before}{name}{behind}"))).collect(),
            around: (before.len(), behind.len()),
        }
    }

    /// The one that stands at `at`, with its name.
    #[inline]
    pub(super) fn find(&self, text: &[u8], at: usize) -> Match<Found> {
        let (before, behind) = self.around;
        let rest = &text[at..];
        let alike = match rest.get(before).map(|&byte| usize::from(byte)) {
            Some(byte) => self.starts[byte]..self.starts[byte + 1],
            // Up to the name they are the same.
            None => 0..u32::from(!self.markers.is_empty()),
        };
        let mut begun = false;
        for number in alike {
            let marker = &self.markers[number as usize];
            match marker.strip(rest) {
                Match::Full(rest) => {
                    let end = text.len() - rest.len();
                    let name = Name::listed(at + before..end - behind, number);
                    return Match::Full(Found { end, name, ..Found::default() });
                }
                Match::Partial => begun = true,
                Match::No => {}
            }
        }
        if begun { Match::Partial } else { Match::No }
    }
}
