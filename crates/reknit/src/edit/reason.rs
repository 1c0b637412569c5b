//! What [`Reason`] and [`How`] are called, and what to do about a rejection.

use std::fmt;
use std::str::FromStr;

use super::outcome::{How, Lines, Reason};

impl How {
    /// Every rung, the strictest first.
    pub const ALL: [Self; 9] = [
        Self::Exact,
        Self::LineEnds,
        Self::TrailingBlanks,
        Self::LookAlikes,
        Self::Indentation,
        Self::Trimmed,
        Self::BlankLines,
        Self::Anchors,
        Self::Distance,
    ];

    /// Its name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::LineEnds => "line-ends",
            Self::TrailingBlanks => "trailing-blanks",
            Self::LookAlikes => "look-alikes",
            Self::Indentation => "indentation",
            Self::Trimmed => "trimmed",
            Self::BlankLines => "blank-lines",
            Self::Anchors => "anchors",
            Self::Distance => "distance",
        }
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for How {
    type Err = UnknownRung;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|how| how.name() == name)
            .ok_or_else(|| UnknownRung { name: name.to_owned() })
    }
}

/// No rung of the ladder has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no rung of the ladder is called `{name}`")]
pub struct UnknownRung {
    /// The name that was given.
    pub name: String,
}

impl UnknownRung {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "use one of exact, line-ends, trailing-blanks, look-alikes, indentation, trimmed, blank-lines, anchors, distance"
    }
}

/// `line 3`, `lines 3-5`, or `before line 3`.
impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self { first, last } if last < first => write!(f, "before line {first}"),
            Self { first, last } if last == first => write!(f, "line {first}"),
            Self { first, last } => write!(f, "lines {first}-{last}"),
        }
    }
}

impl Reason {
    /// The names of all reasons.
    pub const NAMES: [&'static str; 16] = [
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
        "heading-not-found",
        "not-utf8",
        "moved-away",
        "no-file",
        "no-path",
    ];

    /// Its name in JSON and on the page of errors.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NoMatch => "no-match",
            Self::Whitespace => "whitespace",
            Self::Stale => "stale",
            Self::AlreadyApplied { .. } => "already-applied",
            Self::Ambiguous { .. } => "ambiguous",
            Self::MidLine { .. } => "mid-line",
            Self::TakenAway { .. } => "taken-away",
            Self::Overlaps { .. } => "overlaps",
            Self::Identical => "identical",
            Self::EmptySearch => "empty-search",
            Self::Unclear { .. } => "unclear",
            Self::HeadingNotFound { .. } => "heading-not-found",
            Self::NotUtf8 { .. } => "not-utf8",
            Self::MovedAway { .. } => "moved-away",
            Self::NoFile => "no-file",
            Self::NoPath => "no-path",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoMatch => "copy the lines to search from the file as it is",
            Self::Whitespace => "copy the lines with their blanks from the file as it is",
            Self::Stale => "read the file again and copy the lines from it",
            Self::AlreadyApplied { .. } => "nothing to do if this is what was wanted",
            Self::Ambiguous { .. } => "add lines around the search text until it occurs once",
            Self::MidLine { .. } => "search for whole lines",
            Self::TakenAway { .. } => "search for the text as the earlier edit leaves it, or join the two",
            Self::Overlaps { .. } => "join the two edits into one",
            Self::Identical => "write what is to stand there instead into the replacement",
            Self::EmptySearch => "search for the lines beside the place; only an empty file needs none",
            Self::Unclear { .. } => "put a backslash before the lines of the file that look like the divider",
            Self::HeadingNotFound { .. } => "copy the heading from the file as it is, or leave it out",
            Self::NotUtf8 { .. } => "search for text that is in the file byte for byte",
            Self::MovedAway { .. } => {
                "write the edits of a file before its move, and a new file of the same name in another answer"
            }
            Self::NoFile => "name a file that exists, or write the whole file",
            Self::NoPath => "name the file above the edit",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMatch => f.write_str("search text not found"),
            Self::Whitespace => f.write_str("search text differs from the file in blanks"),
            Self::Stale => f.write_str("the file has other lines now than the search text"),
            Self::AlreadyApplied { lines } => {
                write!(f, "the replacement stands in the file already, {lines}")
            }
            Self::Ambiguous { how, lines } if *how >= How::Anchors => {
                write!(f, "search text is like what begins at lines {lines:?}")
            }
            Self::Ambiguous { lines, .. } => write!(f, "search text occurs at lines {lines:?}"),
            Self::MidLine { lines } => {
                write!(f, "search text occurs within lines {lines:?}, not as whole lines")
            }
            Self::TakenAway { by, lines } => {
                write!(f, "edit {} replaced the text that is searched, {lines}", by + 1)
            }
            Self::Overlaps { with } => write!(f, "search text reaches over the border of edit {}", with + 1),
            Self::Identical => f.write_str("search text and replacement are the same"),
            Self::EmptySearch => f.write_str("there is nothing to search for, and the file has content"),
            Self::Unclear { fitting } => {
                write!(f, "the block can be read in several ways, of which {fitting} fit the file")
            }
            Self::HeadingNotFound { heading } => write!(f, "there is not exactly one line `{heading}`"),
            Self::NotUtf8 { at } => {
                write!(f, "search text not found, and the file is not UTF-8 at byte {at}")
            }
            Self::MovedAway { by, to } => write!(f, "edit {} moved the file to `{to}`", by + 1),
            Self::NoFile => f.write_str("there is no such file"),
            Self::NoPath => f.write_str("the answer names no file"),
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
            Reason::HeadingNotFound { heading: "class Basket".to_owned() },
            Reason::NotUtf8 { at: 7 },
            Reason::MovedAway { by: 0, to: "b.txt".to_owned() },
            Reason::NoFile,
            Reason::NoPath,
        ];
        assert_eq!(reasons.each_ref().map(Reason::name), Reason::NAMES);
        for reason in reasons {
            for words in [reason.to_string(), reason.hint().to_owned()] {
                assert!(words.starts_with(|first: char| first.is_lowercase()), "{words}");
                assert!(!words.ends_with('.'), "{words}");
            }
        }
    }

    #[test]
    fn rungs_are_found_by_their_names() {
        for how in How::ALL {
            assert_eq!(how.name().parse(), Ok(how));
            assert_eq!(serde_json::to_value(how).unwrap(), how.name());
        }
        let unknown = "fuzzy".parse::<How>().unwrap_err();
        assert_eq!(unknown.to_string(), "no rung of the ladder is called `fuzzy`");
        assert!(How::ALL.iter().all(|how| unknown.hint().contains(how.name())));
    }

    #[test]
    fn lines_are_told_as_one_or_several_or_none() {
        assert_eq!(Lines { first: 3, last: 3 }.to_string(), "line 3");
        assert_eq!(Lines { first: 3, last: 5 }.to_string(), "lines 3-5");
        assert_eq!(Lines { first: 3, last: 2 }.to_string(), "before line 3");
    }
}
