//! [`ClineError`]: the texts that programs and models know from Cline.

use super::line::is_whitespace;

/// Why a diff could not be applied.
///
/// The messages are Cline's to the letter, because programs look for them; what they do not say is in
/// [`hint`](Self::hint).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClineError {
    /// A divider has no search text before it, and the file has content. In v1 only.
    #[error(
        "Empty SEARCH block detected with non-empty file. This usually indicates a malformed SEARCH marker.\n\
         Please ensure your SEARCH marker follows the correct format:\n\
         - Use '------- SEARCH' (7+ dashes + space + SEARCH)\n"
    )]
    EmptySearch,
    /// The search text has no place.
    #[error("The SEARCH block:\n{search}\n...does not match anything in the file.")]
    NoMatch {
        /// The search text, without blanks at its end.
        search: String,
    },
    /// A block is closed before it has a place. In v1 only.
    #[error("The SEARCH block:\n{search}\n...is malformatted.")]
    Malformatted {
        /// The search text, without blanks at its end; empty if no block is open.
        search: String,
    },
    /// The place lies before one that is replaced already. In v2 only, for an empty search text.
    #[error("The SEARCH block:\n{search}\n...matched an incorrect content in the file.")]
    WrongPlace {
        /// The search text, without blanks at its end.
        search: String,
    },
    /// A block begins inside another one, or has a second divider. In v2 only.
    #[error(
        "Invalid state transition.\n\
         Valid transitions are:\n\
         - Idle → StateSearch\n\
         - StateSearch → StateReplace"
    )]
    InvalidTransition,
    /// A block begins below lines that belong to none. In v2 only.
    #[error("Malformed SEARCH/REPLACE block structure: Missing valid closing REPLACE marker")]
    MissingReplace,
    /// A divider stands outside a block, below lines that belong to none. In v2 only.
    #[error("Invalid REPLACE marker detected - could not find matching SEARCH block starting from line 0")]
    SearchWithoutStart,
    /// A divider stands where nothing was before it. In v2 only.
    #[error("Invalid SEARCH/REPLACE block structure - no lines available to process")]
    NoLines,
    /// The end of a block stands outside one, below lines that belong to none. In v2 only.
    #[error("Malformed REPLACE block - missing valid separator after line 0")]
    MissingSeparator,
    /// The end of a block stands where there is none, or in a search text; the message is empty. In v2 only.
    #[error("")]
    Unsaid,
    /// The final diff ends inside a block. In v2 only.
    #[error("File processing incomplete - SEARCH/REPLACE operations still active during finalization")]
    Incomplete,
}

impl ClineError {
    /// What would be different without the profile.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::EmptySearch => {
                "without the profile a misspelt marker is repaired if it can be read in one way only"
            }
            Self::NoMatch { .. } => {
                "without the profile more differences are allowed for, and the closest place is shown"
            }
            Self::Malformatted { .. } => {
                "without the profile a block without divider is told with its line, and the others are applied"
            }
            Self::WrongPlace { .. } => {
                "without the profile a file with content is never replaced by a block without search text"
            }
            Self::InvalidTransition => {
                "without the profile a marker inside a block is content if that makes the search text fit"
            }
            Self::MissingReplace => "without the profile text around the blocks is skipped",
            Self::SearchWithoutStart | Self::NoLines | Self::MissingSeparator | Self::Unsaid => {
                "without the profile a marker out of turn is told with its line, and the blocks are applied"
            }
            Self::Incomplete => {
                "without the profile a block that is cut is told with its line, and the others are applied"
            }
        }
    }
}

/// A search text as the messages quote it.
pub(super) fn quoted(search: &str) -> String {
    search.trim_end_matches(is_whitespace).to_owned()
}
