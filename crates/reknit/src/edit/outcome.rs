//! [`Outcome`]: where an edit landed and how, or why it did not.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

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

/// In what a place may differ from a search text, from the strictest to the loosest; each allows what those before it
/// allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Nothing.
    Exact,
    /// Line ends.
    LineEnds,
    /// Whitespace at the ends of lines.
    TrailingWhitespace,
    /// Quotes, dashes and spaces that look alike.
    LookAlikes,
    /// The width of indentation, with the same levels.
    Indentation,
    /// Blank lines.
    BlankLines,
    /// Line breaks between tokens.
    LineBreaks,
    /// Lines that the edit keeps.
    Context,
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

/// Lines of a file, counted from 1, both included. An empty place is before its first line, and its last is
/// one less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "(usize, usize)")]
pub struct Lines {
    /// The first line.
    pub first: usize,
    /// The last line.
    pub last: usize,
}

impl From<Lines> for (usize, usize) {
    fn from(lines: Lines) -> Self {
        (lines.first, lines.last)
    }
}

/// Why an edit has no place, and what would help.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rejection {
    /// Why.
    pub reason: Reason,
    /// The place that comes closest.
    pub closest: Option<Closest>,
}

/// The place that comes closest to a search text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Closest {
    /// Its lines.
    pub lines: Lines,
    /// How much of the search text is there, from 0 to 1.
    pub score: f64,
    /// The search text beside what is there, as lines of ` `, `-` (searched) and `+` (there).
    pub diff: String,
}

/// The reasons for which an edit is refused.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// The search text is not in the file.
    NoMatch,
    /// The file has the search text with other whitespace, which the edit depends on.
    Whitespace,
    /// Part of the search text is there, but the file has other lines now.
    Stale,
    /// The file already contains the replacement.
    AlreadyApplied {
        /// Where.
        lines: Lines,
    },
    /// The search text fits more than one place.
    Ambiguous {
        /// In what the places differ from it at most.
        how: How,
        /// Where each place begins.
        lines: Vec<usize>,
    },
    /// The search text is in the file, but not as whole lines or words.
    MidLine {
        /// The lines that contain it.
        lines: Vec<usize>,
    },
    /// An earlier edit of the same answer replaced the text that this one searches for.
    TakenAway {
        /// The index of the earlier edit.
        by: usize,
        /// Where the text was.
        lines: Lines,
    },
    /// The only place is partly inside an earlier edit's replacement.
    Overlaps {
        /// The index of the earlier edit.
        with: usize,
    },
    /// Search and replacement are the same.
    Identical,
    /// There is nothing to search for, and the file has content.
    EmptySearch,
    /// The block can be read in several ways, and not exactly one of them fits the file.
    Unclear {
        /// How many fit.
        fitting: usize,
    },
    /// A comment such as `... rest unchanged ...` stands for lines that would be removed.
    Placeholder {
        /// The comment.
        line: String,
    },
    /// The heading that the place should be below is not in the file, or in several places.
    HeadingNotFound {
        /// The line that was not found.
        heading: String,
    },
    /// The file is not UTF-8, so only an exact match was looked for.
    NotUtf8 {
        /// The first byte that is not.
        at: usize,
    },
    /// An earlier edit of the same answer gave the file another name.
    MovedAway {
        /// The index of the earlier edit.
        by: usize,
        /// The new path.
        to: String,
    },
    /// There is no such file.
    NoFile,
    /// The answer does not name a file.
    NoPath,
}
