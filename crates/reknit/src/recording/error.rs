//! [`Error`]: why a recording cannot be read any further.

use super::VERSION;
use crate::diagnostic::{Hint, Kind};
use crate::json;
use std::borrow::Cow;

/// Why a recording cannot be read any further.
///
/// ```
/// use reknit::Limits;
/// use reknit::diagnostic::Kind;
/// use reknit::recording::Reader;
///
/// let mut reader = Reader::new(&Limits::default());
/// reader.push(b"{\"reknit\":\"recording\",\"version\":1}\n{\"t\":1}\n");
/// let error = reader.next_read().unwrap_err();
/// assert_eq!((error.kind(), error.line), (Kind::BrokenRecording, 2));
/// assert_eq!(error.to_string(), "line 2: not a read: it has neither `text` nor `bytes`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct Error {
    pub(super) fault: Fault,
    /// The line, counted from 1.
    pub line: u64,
}

impl Error {
    /// The kind of the error, which is explained in `docs/errors.md`.
    pub fn kind(&self) -> Kind {
        match self.fault {
            Fault::NoHeader => Kind::NotARecording,
            Fault::UnknownVersion { .. } => Kind::UnknownVersion,
            Fault::MalformedHeader { .. }
            | Fault::NotUtf8
            | Fault::NotJson { .. }
            | Fault::NotARead { .. } => Kind::BrokenRecording,
            Fault::TooLong { .. } => Kind::LimitReached,
        }
    }
}

impl Hint for Error {
    fn hint(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self.fault {
            Fault::NoHeader => r#"a recording starts with `{"reknit":"recording","version":1}`"#,
            Fault::UnknownVersion { .. } => "read it with the version of reknit that wrote it",
            Fault::MalformedHeader { .. } => "correct it, or remove it from the header",
            Fault::NotUtf8 | Fault::NotJson { .. } => "restore the line, or delete it and all lines after it",
            Fault::NotARead { .. } => r#"a read is `{"t":MILLISECONDS,"text":"…"}`, or has base64 `bytes`"#,
            Fault::TooLong { .. } => "if reads of this length are expected, raise `Limits::frame_bytes`",
        })
    }
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error("missing recording header")]
    NoHeader,
    #[error("the recording has version {found}, but only version {VERSION} can be read")]
    UnknownVersion { found: String },
    #[error("`{member}` is not a string")]
    MalformedHeader { member: &'static str },
    #[error("not UTF-8")]
    NotUtf8,
    #[error("not JSON: {error} of the line")]
    NotJson { error: json::Error },
    #[error("not a read: {what}")]
    NotARead { what: &'static str },
    #[error("longer than {limit} bytes")]
    TooLong { limit: usize },
}
