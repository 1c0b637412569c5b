//! [`Error`]: the texts that programs and models know from Cline.

use super::line::is_whitespace;
use reknit::Hint;
use std::borrow::Cow;

/// Why a diff could not be applied.
///
/// The messages are exactly Cline's, because programs look for them; [`hint`](Self::hint) says more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A divider has no search text before it, and the file has content. In v1 only.
    #[error(
        "Empty SEARCH block detected with non-empty file. This usually indicates a malformed SEARCH marker.\n\
         Please ensure your SEARCH marker follows the correct format:\n\
         - Use '------- SEARCH' (7+ dashes + space + SEARCH)\n"
    )]
    EmptySearch,
    /// The search text does not match.
    #[error("The SEARCH block:\n{search}\n...does not match anything in the file.")]
    NoMatch {
        /// The search text, without whitespace at its end.
        search: String,
    },
    /// A block is closed before its search text has matched. In v1 only.
    #[error("The SEARCH block:\n{search}\n...is malformatted.")]
    Malformatted {
        /// The search text, without whitespace at its end; empty if no block is open.
        search: String,
    },
    /// The match is before one that is already replaced. In v2 only, for an empty search text.
    #[error("The SEARCH block:\n{search}\n...matched an incorrect content in the file.")]
    WrongPlace {
        /// The search text, without whitespace at its end.
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
    /// A block begins after lines that do not belong to a block. In v2 only.
    #[error("Malformed SEARCH/REPLACE block structure: Missing valid closing REPLACE marker")]
    MissingReplace,
    /// A divider occurs outside a block, after lines that do not belong to one. In v2 only.
    #[error("Invalid REPLACE marker detected - could not find matching SEARCH block starting from line 0")]
    SearchWithoutStart,
    /// A divider occurs outside a block, with nothing before it. In v2 only.
    #[error("Invalid SEARCH/REPLACE block structure - no lines available to process")]
    NoLines,
    /// The end of a block occurs outside one, after lines that do not belong to one. In v2 only.
    #[error("Malformed REPLACE block - missing valid separator after line 0")]
    MissingSeparator,
    /// The end of a block occurs outside one, with nothing before it, or in a search text; the message is empty.
    /// In v2 only.
    #[error("")]
    Unsaid,
    /// The final diff ends inside a block. In v2 only.
    #[error("File processing incomplete - SEARCH/REPLACE operations still active during finalization")]
    Incomplete,
}

/// The hint says what is different without the profile.
impl Hint for Error {
    fn hint(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::EmptySearch => {
                "without the profile a misspelt marker is repaired if it can only be read in one way"
            }
            Self::NoMatch { .. } => {
                "without the profile more differences are tolerated, and the closest match is shown"
            }
            Self::Malformatted { .. } => {
                "without the profile a block without a divider is reported with its line, and the others are applied"
            }
            Self::WrongPlace { .. } => {
                "without the profile a block without search text never replaces a file that has content"
            }
            Self::InvalidTransition => {
                "without the profile a marker inside a block is content if the search text matches that way"
            }
            Self::MissingReplace => "without the profile text around the blocks is skipped",
            Self::SearchWithoutStart | Self::NoLines | Self::MissingSeparator | Self::Unsaid => {
                "without the profile a marker in the wrong place is reported with its line, and the blocks are applied"
            }
            Self::Incomplete => {
                "without the profile a block that is cut is reported with its line, and the others are applied"
            }
        })
    }
}

/// A search text as the messages quote it.
pub(super) fn quoted(search: &str) -> String {
    search.trim_end_matches(is_whitespace).to_owned()
}
