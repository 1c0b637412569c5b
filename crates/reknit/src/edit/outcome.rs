//! [`Outcome`]: where an edit landed and how, or why it did not.

use serde::Serialize;

/// What became of one edit.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It has its place.
    Applied(Match),
    /// It has none, and nothing of it is in the plan.
    Rejected(Box<Rejection>),
}

/// Where an edit lands.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The rung of the ladder that held.
    pub how: How,
    /// The lines of the file as it was; several places if the edit is for all of them.
    pub lines: Vec<Lines>,
    /// How much of the search text stands there, from 0 to 1.
    pub score: f64,
    /// The next best place.
    pub runner_up: Option<Place>,
    /// The earlier edit, by its index, in whose replacement the place lies.
    pub inside: Option<usize>,
}

/// The rungs of the ladder, from the strictest to the loosest; each allows what those before it allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Byte for byte.
    Exact,
    /// But for the line ends.
    LineEnds,
    /// But for blanks at the ends of lines.
    TrailingBlanks,
    /// But for quotes, dashes and blanks that look alike.
    LookAlikes,
    /// All lines are indented by the same amount more or less.
    Indentation,
    /// But for blanks at both ends of each line.
    Trimmed,
    /// But for blank lines.
    BlankLines,
    /// First and last line hold, and most of what is between them.
    Anchors,
    /// Most of it holds, and nothing else in the file comes close.
    Distance,
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

/// A place that an edit could mean, and how well it fits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Place {
    /// Its lines.
    pub lines: Lines,
    /// How much of the search text stands there, from 0 to 1.
    pub score: f64,
}

/// Why an edit has no place, and what would help.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    /// Why.
    pub reason: Reason,
    /// The place that comes closest.
    pub closest: Option<Closest>,
}

/// The place that comes closest to a search text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Closest {
    /// Where, and how close.
    #[serde(flatten)]
    pub place: Place,
    /// The search text beside what stands there, as lines of ` `, `-` (searched) and `+` (there).
    pub diff: String,
}

/// The reasons for which an edit is refused.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// The search text is nowhere in the file, nor anything that is surely it.
    NoMatch,
    /// The closest place differs in blanks only, but not in a way that a rung allows.
    Whitespace,
    /// A part of the search text is there, but the file has other lines now.
    Stale,
    /// The replacement stands in the file already.
    AlreadyApplied {
        /// Where.
        lines: Lines,
    },
    /// The search text fits more than one place.
    Ambiguous {
        /// The rung on which it does.
        how: How,
        /// Where each place begins.
        lines: Vec<usize>,
    },
    /// The search text stands in the file, but not as whole lines.
    MidLine {
        /// The lines in which it does.
        lines: Vec<usize>,
    },
    /// An earlier edit of the same answer replaced the text that this one searches.
    TakenAway {
        /// The index of the earlier edit.
        by: usize,
        /// Where the text was.
        lines: Lines,
    },
    /// The only place lies across the border of an earlier edit's replacement.
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
    /// The lines that the place should stand below are not in the file, or in several places.
    HeadingNotFound {
        /// The line that was not found.
        heading: String,
    },
    /// The file is not UTF-8, so nothing looser than an exact match was tried.
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
    /// The answer names no file.
    NoPath,
}
