//! [`Error`]: why a text is not one JSON value.

use std::borrow::Cow;
use std::fmt;

use crate::diagnostic::Hint;

/// Why a text is not one JSON value.
///
/// ```
/// use reknit::json::{ErrorKind, Value};
///
/// let error = "[1, 2,]".parse::<Value>().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Syntax);
/// assert_eq!(error.to_string(), "expected a value, found ']' at byte 6");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault} at byte {at}")]
pub struct Error {
    pub(super) fault: Fault,
    /// The byte of the text at which the error was found. For a number out of range, the byte after it.
    pub at: usize,
}

impl Error {
    /// The kind of error.
    pub fn kind(&self) -> ErrorKind {
        match self.fault {
            Fault::Empty => ErrorKind::Empty,
            Fault::Truncated => ErrorKind::Truncated,
            Fault::Unexpected { .. }
            | Fault::Trailing { .. }
            | Fault::LeadingZero
            | Fault::Control { .. }
            | Fault::Escape { .. }
            | Fault::LoneSurrogate { .. } => ErrorKind::Syntax,
            Fault::TooDeep { .. } => ErrorKind::TooDeep,
            Fault::OutOfRange => ErrorKind::OutOfRange,
        }
    }

    /// The message without the byte, for callers that describe the place in their own terms.
    pub fn reason(&self) -> impl fmt::Display {
        self.fault
    }
}

impl Hint for Error {
    fn hint(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self.fault {
            Fault::Empty => "there is no text; treat it as if no value was sent",
            Fault::Truncated => "the rest of the value is missing; request the reply again",
            Fault::Trailing { .. } => "parse what follows as a separate value",
            Fault::Unexpected { .. } | Fault::LeadingZero => {
                "show the error to the model and ask it to write the value again"
            }
            Fault::Control { .. } => "write line breaks and tabs inside a string as escapes: `\\n`, `\\t`",
            Fault::Escape { .. } => "write a literal backslash as `\\\\`",
            Fault::LoneSurrogate { .. } => "write the character itself, or both halves of its surrogate pair",
            Fault::TooDeep { .. } => "raise the depth limit if the text can be trusted",
            Fault::OutOfRange => "write the number as a string",
        })
    }
}

/// The kinds of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no value: the text is empty or only whitespace.
    Empty,
    /// The text ends inside the value.
    Truncated,
    /// The text is not valid JSON, or something follows the value.
    Syntax,
    /// Arrays and objects are nested too deeply.
    TooDeep,
    /// A number is outside the range of `f64`, such as `1e400`.
    OutOfRange,
}

/// An [`ErrorKind`] with the details that its message gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error("no value")]
    Empty,
    #[error("the value is cut")]
    Truncated,
    #[error("expected {expected}, found {found:?}")]
    Unexpected { found: char, expected: &'static str },
    #[error("unexpected {found:?} after the value")]
    Trailing { found: char },
    #[error("a digit after a leading zero")]
    LeadingZero,
    #[error("unescaped control character {found:?} in a string")]
    Control { found: char },
    #[error("unknown escape `\\{found}`")]
    Escape { found: char },
    #[error("lone surrogate {unit:#06x}")]
    LoneSurrogate { unit: u16 },
    #[error("nested too deeply (limit {limit})")]
    TooDeep { limit: usize },
    #[error("number out of range")]
    OutOfRange,
}
