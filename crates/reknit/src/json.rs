//! JSON while it arrives, and JSON that keeps what it was.
//!
//! [`PartialJson`] takes the text of one value in pieces cut anywhere and shows, after each, the value so
//! far, how much of it is settled, and what the piece changed. [`Value`] is what it builds: numbers keep
//! their digits and objects their order. [`Nesting`] only finds where a value ends.
//!
//! ```
//! use reknit::json::{Change, PartialJson, State};
//!
//! let mut arguments = PartialJson::new();
//! arguments.push(r#"{"path": "a.rs", "content": "fn ma"#)?;
//! assert_eq!(arguments.state("/path"), State::Complete);
//! assert_eq!(arguments.state("/content"), State::Partial);
//!
//! arguments.push(r"in() {}\n")?;
//! let changes: Vec<_> = arguments.changes().collect();
//! assert!(matches!(&changes[..], [Change::StringGrew { path, text: "in() {}\n" }] if *path == "/content"));
//!
//! arguments.push(r#"", "lines": 1.10}"#)?;
//! let value = arguments.finish()?;
//! assert_eq!(value.to_string(), r#"{"path":"a.rs","content":"fn main() {}\n","lines":1.10}"#);
//! # Ok::<(), reknit::json::Error>(())
//! ```

mod nesting;
mod string;
mod parser;
mod tree;
mod path;
mod partial;
mod value;
mod object;
mod number;
mod convert;
#[cfg(test)]
mod tests;

pub use convert::exact;
pub use nesting::Nesting;
pub use number::Number;
pub use object::Object;
pub use partial::{Change, PartialJson, State};
pub use path::{Path, Step};
pub use tree::Duplicates;
pub use value::Value;

pub(crate) use object::KeyIndex;
pub(crate) use string::plain_end;

use std::fmt;

/// Why a text is not one JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {at}")]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// The byte of the text at which it went wrong; for a number out of range, its first byte.
    pub at: usize,
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self.kind {
            ErrorKind::Empty => "nothing was sent; read it as no value",
            ErrorKind::Truncated => "the rest never came; ask for the reply again",
            ErrorKind::Unexpected { expected: Expected::End, .. } => {
                "read what follows as a value of its own"
            }
            ErrorKind::Unexpected { .. } | ErrorKind::LeadingZero => {
                "show the error to the model and let it write the value again"
            }
            ErrorKind::Control { .. } => "a line end or tab inside a string is written as an escape",
            ErrorKind::Escape { .. } => "a backslash that means itself is written twice",
            ErrorKind::LoneSurrogate { .. } => "write the character itself or both halves of its pair",
            ErrorKind::Depth { .. } => "raise the depth if the text can be trusted",
            ErrorKind::OutOfRange => "write the number as a string",
        }
    }
}

/// The sorts of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no value: the text is empty or blank.
    #[error("no value")]
    Empty,
    /// The text ends before its value does.
    #[error("the value is cut")]
    Truncated,
    /// A character that cannot stand where it stands.
    #[error("expected {expected}, found {found:?}")]
    Unexpected {
        /// The character.
        found: char,
        /// What could have stood there.
        expected: Expected,
    },
    /// A number such as `01`.
    #[error("a digit after a leading zero")]
    LeadingZero,
    /// A control character in a string that is not written as an escape.
    #[error("raw control character {found:?} in a string")]
    Control {
        /// The character.
        found: char,
    },
    /// A backslash before a character that JSON does not escape.
    #[error("unknown escape `\\{found}`")]
    Escape {
        /// The character behind the backslash.
        found: char,
    },
    /// Half of a surrogate pair, without the other half.
    #[error("lone surrogate {unit:#06x}")]
    LoneSurrogate {
        /// The half.
        unit: u16,
    },
    /// Arrays and objects are nested too deep.
    #[error("nested {limit} deep")]
    Depth {
        /// The depth that is refused.
        limit: usize,
    },
    /// A number that no `f64` comes near, such as `1e400`.
    #[error("number out of range")]
    OutOfRange,
}

/// What could have stood in place of an unexpected character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// A value.
    Value,
    /// A value, or `]`.
    ValueOrClose,
    /// A key.
    Key,
    /// A key, or `}`.
    KeyOrClose,
    /// The colon behind a key.
    Colon,
    /// A comma, or `]`.
    CommaOrBracket,
    /// A comma, or `}`.
    CommaOrBrace,
    /// A digit of a number.
    Digit,
    /// A hexadecimal digit of a `\u` escape.
    HexDigit,
    /// The rest of `null`.
    Null,
    /// The rest of `true`.
    True,
    /// The rest of `false`.
    False,
    /// Nothing: the value is over.
    End,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Value => "a value",
            Self::ValueOrClose => "a value or `]`",
            Self::Key => "a key",
            Self::KeyOrClose => "a key or `}`",
            Self::Colon => "`:`",
            Self::CommaOrBracket => "`,` or `]`",
            Self::CommaOrBrace => "`,` or `}`",
            Self::Digit => "a digit",
            Self::HexDigit => "a hexadecimal digit",
            Self::Null => "`null`",
            Self::True => "`true`",
            Self::False => "`false`",
            Self::End => "the end",
        })
    }
}
