//! [`How`]: the rungs of the ladder, from an exact match to the loosest one.

use std::fmt;

use serde::Serialize;

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

impl How {
    /// All of them, the strictest first.
    pub const ALL: [Self; 8] = [
        Self::Exact,
        Self::LineEnds,
        Self::TrailingWhitespace,
        Self::LookAlikes,
        Self::Indentation,
        Self::BlankLines,
        Self::LineBreaks,
        Self::Context,
    ];

    /// Its name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::LineEnds => "line-ends",
            Self::TrailingWhitespace => "trailing-whitespace",
            Self::LookAlikes => "look-alikes",
            Self::Indentation => "indentation",
            Self::BlankLines => "blank-lines",
            Self::LineBreaks => "line-breaks",
            Self::Context => "context",
        }
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_differ_are_named_as_in_json() {
        for how in How::ALL {
            assert_eq!(serde_json::to_value(how).unwrap(), how.name());
        }
    }
}
