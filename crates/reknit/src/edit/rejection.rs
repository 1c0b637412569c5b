//! [`Rejection`]: why an edit has no place, in data and in words.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use super::Lines;
use super::ladder::How;
use crate::diagnostic::Hint;

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

impl Reason {
    /// The names of all reasons.
    pub const NAMES: [&'static str; 17] = [
        "no-match",
        "whitespace",
        "stale",
        "already-applied",
        "ambiguous",
        "mid-line",
        "taken-away",
        "overlaps",
        "identical",
        "empty-search",
        "unclear",
        "placeholder",
        "heading-not-found",
        "not-utf8",
        "moved-away",
        "no-file",
        "no-path",
    ];

    /// Its name in JSON and on the page of errors.
    pub fn name(&self) -> &'static str {
        self.name_and_hint().0
    }

    fn name_and_hint(&self) -> (&'static str, &'static str) {
        match self {
            Self::NoMatch => ("no-match", "copy the lines to search for from the file"),
            Self::Whitespace => ("whitespace", "copy the lines with their whitespace from the file"),
            Self::Stale => ("stale", "read the file again and copy the lines from it"),
            Self::AlreadyApplied { .. } => ("already-applied", "nothing to do, if this is what was wanted"),
            Self::Ambiguous { .. } => ("ambiguous", "add lines around the search text until it occurs once"),
            Self::MidLine { .. } => ("mid-line", "search for whole lines, or for whole words of one"),
            Self::TakenAway { .. } => {
                ("taken-away", "search for the text as the earlier edit leaves it, or join the two")
            }
            Self::Overlaps { .. } => ("overlaps", "join the two edits into one"),
            Self::Identical => ("identical", "write the new lines into the replacement"),
            Self::EmptySearch => (
                "empty-search",
                "search for the lines beside the place; only an empty file can be edited without",
            ),
            Self::Unclear { .. } => {
                ("unclear", "put a backslash before the lines of the file that look like the divider")
            }
            Self::Placeholder { .. } => (
                "placeholder",
                "write out the lines that the comment stands for, or leave them out of the search",
            ),
            Self::HeadingNotFound { .. } => {
                ("heading-not-found", "copy the heading from the file, or leave it out")
            }
            Self::NotUtf8 { .. } => ("not-utf8", "search for text that is in the file byte for byte"),
            Self::MovedAway { .. } => (
                "moved-away",
                "write the edits of a file before its move, and a new file of the same name in another answer",
            ),
            Self::NoFile => ("no-file", "name a file that exists, or write the whole file"),
            Self::NoPath => ("no-path", "name the file above the edit"),
        }
    }
}

impl Hint for Reason {
    fn hint(&self) -> Cow<'static, str> {
        self.name_and_hint().1.into()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMatch => f.write_str("search text not found"),
            Self::Whitespace => f.write_str("the file has the search text with other whitespace"),
            Self::Stale => f.write_str("the lines of the search text have changed in the file"),
            Self::AlreadyApplied { lines } => {
                write!(f, "the file already contains the replacement, {lines}")
            }
            Self::Ambiguous { how: How::Context, lines } => {
                write!(f, "search text resembles what starts at {}", Starts(lines))
            }
            Self::Ambiguous { lines, .. } => write!(f, "search text matches at {}", Starts(lines)),
            Self::MidLine { lines } => {
                write!(f, "search text occurs inside {}, not as whole lines or words", Starts(lines))
            }
            Self::TakenAway { by, lines } => {
                write!(f, "edit {} replaced the text that is searched for, {lines}", by + 1)
            }
            Self::Overlaps { with } => {
                write!(f, "search text is partly inside the text that edit {} inserts", with + 1)
            }
            Self::Identical => f.write_str("search text and replacement are the same"),
            Self::EmptySearch => f.write_str("there is nothing to search for, and the file has content"),
            Self::Unclear { fitting } => {
                write!(f, "the block can be read in several ways, of which {fitting} fit the file")
            }
            Self::Placeholder { line } => {
                write!(f, "the comment `{line}` would replace the lines that it stands for")
            }
            Self::HeadingNotFound { heading } => write!(f, "there is not exactly one heading `{heading}`"),
            Self::NotUtf8 { at } => {
                write!(f, "search text not found, and the file is not UTF-8 at byte {at}")
            }
            Self::MovedAway { by, to } => write!(f, "edit {} moved the file to `{to}`", by + 1),
            Self::NoFile => f.write_str("there is no such file"),
            Self::NoPath => f.write_str("the answer does not name a file"),
        }
    }
}

/// `line 3`, `lines 3 and 5` or `lines 3, 5 and 9`.
struct Starts<'a>(&'a [usize]);

impl fmt::Display for Starts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("no line"),
            [line] => write!(f, "line {line}"),
            [lines @ .., last] => {
                let lines: Vec<_> = lines.iter().map(usize::to_string).collect();
                write!(f, "lines {} and {last}", lines.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_name_words_and_hint() {
        let lines = Lines { first: 3, last: 5 };
        let reasons = [
            Reason::NoMatch,
            Reason::Whitespace,
            Reason::Stale,
            Reason::AlreadyApplied { lines },
            Reason::Ambiguous { how: How::Exact, lines: vec![14, 88] },
            Reason::MidLine { lines: vec![3] },
            Reason::TakenAway { by: 0, lines },
            Reason::Overlaps { with: 0 },
            Reason::Identical,
            Reason::EmptySearch,
            Reason::Unclear { fitting: 2 },
            Reason::Placeholder { line: "# ... rest".to_owned() },
            Reason::HeadingNotFound { heading: "class Basket".to_owned() },
            Reason::NotUtf8 { at: 7 },
            Reason::MovedAway { by: 0, to: "b.txt".to_owned() },
            Reason::NoFile,
            Reason::NoPath,
        ];
        assert_eq!(reasons.each_ref().map(Reason::name), Reason::NAMES);
        for reason in reasons {
            for words in [reason.to_string(), reason.hint().into_owned()] {
                assert!(words.starts_with(|first: char| first.is_lowercase()), "{words}");
                assert!(!words.ends_with('.'), "{words}");
            }
        }
    }
}
