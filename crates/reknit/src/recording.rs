//! Recordings: a stream kept with its cuts and its times, as lines of JSON.
//!
//! The first line is a [`Header`], every further one a [`Read`]: what came, and how many milliseconds
//! behind the start.
//!
//! ```text
//! {"reknit":"recording","version":1,"dialect":"anthropic","at":"2026-08-01T12:00:00Z"}
//! {"t":310,"text":"event: message_start\nda"}
//! {"t":311,"bytes":"dGE6IOI="}
//! ```
//!
//! A read that is UTF-8 on its own stands there as `text`, any other as base64 `bytes`, so a recording can
//! be looked at and still holds every byte.
//!
//! ```
//! use reknit::Limits;
//! use reknit::recording::{Header, Read, Reader};
//!
//! let mut lines = Header::default().to_line();
//! lines += &Read::new(0, "data: caf").to_line();
//! lines += &Read::new(7, b"\xC3").to_line();
//! assert!(lines.ends_with("{\"t\":7,\"bytes\":\"ww==\"}\n"));
//!
//! let mut reader = Reader::new(&Limits::default());
//! reader.push(lines.as_bytes());
//! reader.finish();
//! assert_eq!(reader.next_read()?, Some(Read::new(0, "data: caf")));
//! assert_eq!(reader.next_read()?, Some(Read::new(7, b"\xC3")));
//! assert_eq!(reader.next_read()?, None);
//! # Ok::<(), reknit::recording::Error>(())
//! ```

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::diagnostic::Kind;
use crate::json::{self, Object, Value};

mod header;
mod reader;
mod secrets;

#[cfg(test)]
mod tests;

pub use header::{Header, Request};
pub use reader::Reader;
pub use secrets::REMOVED;

/// The version of the format that this crate writes, and the only one that it reads.
pub const VERSION: u64 = 1;

/// What one read of a connection gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Read {
    /// When it came, in milliseconds since the start.
    pub at_ms: u64,
    /// What came.
    pub bytes: Vec<u8>,
    /// Members of its line that this version does not know.
    extra: Object,
}

impl Read {
    /// A read of these bytes at this time.
    pub fn new(at_ms: u64, bytes: impl Into<Vec<u8>>) -> Self {
        Self { at_ms, bytes: bytes.into(), extra: Object::new() }
    }

    /// Its line in a recording, with the line end.
    pub fn to_line(&self) -> String {
        let mut line = Object::new();
        line.insert("t", self.at_ms);
        match str::from_utf8(&self.bytes) {
            Ok(text) => line.insert("text", text),
            Err(_) => line.insert("bytes", BASE64.encode(&self.bytes)),
        };
        with_extra(line, &self.extra)
    }

    /// Reads a line back; `number` is its place in the recording.
    fn from_line(line: Object, number: u64) -> Result<Self, Error> {
        let mut line = line;
        let wrong = |what| Error::NotARead { line: number, what };
        let at_ms = line.remove("t").as_ref().and_then(Value::as_u64);
        let at_ms = at_ms.ok_or(wrong("`t` is not a whole number of milliseconds"))?;
        let bytes = match (line.remove("text"), line.remove("bytes")) {
            (Some(Value::String(text)), None) => text.to_str().into_owned().into_bytes(),
            (None, Some(Value::String(text))) => {
                BASE64.decode(&*text.to_str()).map_err(|_| wrong("`bytes` is not base64"))?
            }
            (None, None) => return Err(wrong("there is neither `text` nor `bytes`")),
            (Some(_), Some(_)) => return Err(wrong("there are both `text` and `bytes`")),
            (Some(_), None) | (None, Some(_)) => return Err(wrong("what was read is not a string")),
        };
        Ok(Self { at_ms, bytes, extra: line })
    }
}

/// What the first bytes of an input say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detected {
    /// It is a recording.
    Recording,
    /// It is anything else, such as the stream itself.
    Other,
    /// More bytes are needed to tell. At the end of the input it is anything else.
    Undecided,
}

/// Tells a recording from a raw stream by how it begins.
///
/// ```
/// use reknit::recording::{Detected, detect};
///
/// assert_eq!(detect(br#"{"reknit":"recording","version":1}"#), Detected::Recording);
/// assert_eq!(detect(b"event: message_start"), Detected::Other);
/// assert_eq!(detect(br#"{"rek"#), Detected::Undecided);
/// ```
pub fn detect(beginning: &[u8]) -> Detected {
    const MARKS: [&[u8]; 4] = [b"{", b"\"reknit\"", b":", b"\"recording\""];
    // No writer puts that many blanks there, and whoever asks need not hold back more than this.
    const FAR_ENOUGH: usize = 256;
    let window = &beginning[..beginning.len().min(FAR_ENOUGH)];
    let mut rest = window;
    for mark in MARKS {
        rest = rest.trim_ascii_start();
        let common = rest.len().min(mark.len());
        if rest[..common] != mark[..common] {
            return Detected::Other;
        }
        if common < mark.len() {
            return if window.len() < FAR_ENOUGH { Detected::Undecided } else { Detected::Other };
        }
        rest = &rest[common..];
    }
    Detected::Recording
}

/// Why a recording is read no further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input does not begin as a recording does.
    #[error("line 1: there is no header of a recording")]
    NoHeader,
    /// The header is of another version.
    #[error("line 1: the recording is of version {found}, and this reads version {VERSION}")]
    UnknownVersion {
        /// The version, as it stands there.
        found: String,
    },
    /// A member of the header is not what it must be.
    #[error("line 1: `{member}` is not a string")]
    MalformedHeader {
        /// The name of the member.
        member: &'static str,
    },
    /// A line is not UTF-8.
    #[error("line {line}: not UTF-8")]
    NotUtf8 {
        /// The line, counted from 1.
        line: u64,
    },
    /// A line is not JSON.
    #[error("line {line}: not JSON: {error} of the line")]
    NotJson {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        error: json::Error,
    },
    /// A line is JSON, but not a read.
    #[error("line {line}: not a read: {what}")]
    NotARead {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A line is longer than [`Limits::frame_bytes`](crate::Limits::frame_bytes).
    #[error("line {line}: longer than {limit} bytes")]
    TooLong {
        /// The line, counted from 1.
        line: u64,
        /// The limit.
        limit: usize,
    },
}

impl Error {
    /// The kind that it is explained under.
    pub fn kind(&self) -> Kind {
        match self {
            Self::NoHeader => Kind::NotARecording,
            Self::UnknownVersion { .. } => Kind::UnknownVersion,
            Self::MalformedHeader { .. }
            | Self::NotUtf8 { .. }
            | Self::NotJson { .. }
            | Self::NotARead { .. } => Kind::BrokenRecording,
            Self::TooLong { .. } => Kind::LimitReached,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoHeader => r#"a recording begins with `{"reknit":"recording","version":1}`"#,
            Self::UnknownVersion { .. } => "read it with the version of reknit that wrote it",
            Self::MalformedHeader { .. } => "correct it or take it out of the header",
            Self::NotUtf8 { .. } | Self::NotJson { .. } => "restore the line, or delete it with all below it",
            Self::NotARead { .. } => r#"a read is `{"t":MILLISECONDS,"text":"…"}`, or has base64 `bytes`"#,
            Self::TooLong { .. } => "raise `Limits::frame_bytes` if reads of this length are expected",
        }
    }
}

/// A line with what it has beyond the members that are known, and its line end.
fn with_extra(mut line: Object, extra: &Object) -> String {
    for (name, value) in extra.iter() {
        line.insert(name, value.clone());
    }
    let mut line = Value::from(line).to_string();
    line.push('\n');
    line
}
