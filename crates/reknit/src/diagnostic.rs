//! [`Diagnostic`]: what was odd in a stream, and where.

use serde::{Deserialize, Serialize};

/// Something in the stream that was dropped, repaired or not understood.
///
/// A diagnostic never stops the reading; what does is an error of the stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Plain", into = "Plain")]
pub struct Diagnostic {
    /// What sort of thing it is; callers match on this.
    pub kind: Kind,
    /// The byte of the whole input at which it stands.
    pub at: u64,
    /// The number of the frame it is in, counted from 0.
    pub frame: u64,
    /// What happened, for people.
    pub message: String,
}

impl Diagnostic {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        self.kind.hint()
    }
}

/// The sorts of [`Diagnostic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// Bytes that are not UTF-8 were read as U+FFFD.
    InvalidUtf8,
    /// A server-sent event held lines that no rule of the format reads.
    IgnoredLine,
    /// The input ended before the blank line, bracket or line end that closes a frame; the frame was read.
    UnterminatedFrame,
    /// The input ended inside a line or a value; what was there of the frame was dropped.
    DroppedFrame,
    /// Bytes behind the end of a JSON array were dropped.
    TrailingBytes,
}

impl Kind {
    /// What to do about a diagnostic of this kind.
    pub fn hint(self) -> &'static str {
        match self {
            Self::InvalidUtf8 => "check whether something between provider and reader re-encodes the stream",
            Self::IgnoredLine => "check that the input is the body of the response, without headers",
            Self::UnterminatedFrame => "the recording lacks its last line end; nothing was lost",
            Self::DroppedFrame => "the connection ended early; ask for the reply again",
            Self::TrailingBytes => "check that the input is one response, not several joined",
        }
    }
}

/// The form on the wire: with the hint, which reading back derives from the kind.
#[derive(Serialize, Deserialize)]
struct Plain {
    kind: Kind,
    at: u64,
    frame: u64,
    message: String,
    #[serde(skip_deserializing)]
    hint: &'static str,
}

impl From<Diagnostic> for Plain {
    fn from(d: Diagnostic) -> Self {
        Self { hint: d.kind.hint(), kind: d.kind, at: d.at, frame: d.frame, message: d.message }
    }
}

impl From<Plain> for Diagnostic {
    fn from(p: Plain) -> Self {
        Self { kind: p.kind, at: p.at, frame: p.frame, message: p.message }
    }
}
