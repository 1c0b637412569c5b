//! [`Outcome`]: where an edit landed and how, or why it did not.

use std::fmt;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::Lines;
use super::ladder::How;
use super::rejection::Rejection;

/// What became of one edit.
///
/// In JSON it is `{"outcome": "applied", …}` with the fields of the [`Match`], `{"outcome": "unchanged"}`, or
/// `{"outcome": "rejected", …}` with those of the [`Rejection`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Outcome {
    /// It has its place.
    Applied(Match),
    /// It asks for what is there, beside edits that are applied.
    Unchanged,
    /// It has no place, and nothing of it is in the plan.
    Rejected(Box<Rejection>),
}

/// Where an edit lands.
///
/// In JSON it is `{"how", "lines": [first, last]}`, and if there are any `inside`, the index of an earlier edit, and
/// `notes`. An edit that has several places has all of them in `places`, and `lines` is the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Match {
    /// In what the file differs from the search text at most.
    pub how: How,
    /// The lines of the file as it was; several places if the edit is for all of them.
    #[serde(flatten, serialize_with = "first_and_all")]
    pub lines: Vec<Lines>,
    /// The earlier edit, by its index, whose replacement the place is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<usize>,
    /// What is done otherwise than the edit says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

fn first_and_all<S: Serializer>(places: &[Lines], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    if let Some(first) = places.first() {
        map.serialize_entry("lines", first)?;
    }
    if places.len() > 1 {
        map.serialize_entry("places", places)?;
    }
    map.end()
}

/// Something that is done otherwise than an edit says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Note {
    /// A line of the file is kept, though search and replacement have another one there.
    Kept {
        /// Its number, counted from 1.
        line: usize,
        /// The line.
        text: String,
    },
    /// A line that search and replacement have is not in the file, and is not written.
    NotWritten {
        /// The line.
        text: String,
    },
    /// A line that the edit removes is not in the file.
    Gone {
        /// The line.
        text: String,
    },
    /// A line that the edit adds is already in the file.
    There {
        /// The line.
        text: String,
    },
    /// A repeated divider was read once.
    DoubledDivider {
        /// Its line in the answer, counted from 1.
        line: usize,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept { line, text } => write!(f, "line {line} stays as it is in the file: `{text}`"),
            Self::NotWritten { text } => write!(f, "a line that is not in the file is not written: `{text}`"),
            Self::Gone { text } => write!(f, "a line to remove is not in the file: `{text}`"),
            Self::There { text } => write!(f, "a line to add is already in the file: `{text}`"),
            Self::DoubledDivider { line } => {
                write!(f, "line {line} of the answer: a repeated divider was read once")
            }
        }
    }
}
