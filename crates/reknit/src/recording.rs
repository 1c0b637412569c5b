//! Recordings: a stream with its cuts and times, as lines of JSON.
//!
//! The first line is a [`Header`]. Every other line is a [`Read`]: what arrived, and how many milliseconds
//! after the start.
//!
//! ```text
//! {"reknit":"recording","version":1,"dialect":"anthropic","at":"2026-08-01T12:00:00Z"}
//! {"t":310,"text":"event: message_start\nda"}
//! {"t":311,"bytes":"dGE6IOI="}
//! ```
//!
//! A read that is valid UTF-8 is stored as `text`, any other as `bytes` in base64. A recording is thus
//! readable and still contains every byte.
//!
//! A session has several exchanges. Its recording is their recordings, one after the other: another header
//! begins the next one, and its times are counted from there.
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

use crate::json::{Object, Value};

mod error;
mod header;
mod reader;
mod secrets;

#[cfg(test)]
mod tests;

pub use error::Error;
pub use header::Header;
pub use reader::Reader;

use error::Fault;

/// The format version that this crate writes, and the only one that it reads.
const VERSION: u64 = 1;

/// What one read from a connection returned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Read {
    /// When it arrived, in milliseconds since the start.
    pub at_ms: u64,
    /// The bytes that arrived.
    pub bytes: Vec<u8>,
    /// Unknown members of its line, which are kept.
    extra: Object,
}

impl Read {
    /// Creates a read.
    pub fn new(at_ms: u64, bytes: impl Into<Vec<u8>>) -> Self {
        Self { at_ms, bytes: bytes.into(), extra: Object::new() }
    }

    /// A read that failed: what was read before is not all of the response.
    ///
    /// ```
    /// use reknit::recording::Read;
    ///
    /// let read = Read::failed(12, "connection reset");
    /// assert_eq!(read.to_line(), "{\"t\":12,\"text\":\"\",\"error\":\"connection reset\"}\n");
    /// assert!(read.error().is_some());
    /// ```
    pub fn failed(at_ms: u64, error: impl Into<Value>) -> Self {
        Self { at_ms, bytes: Vec::new(), extra: [("error", error)].into_iter().collect() }
    }

    /// Why it failed, if it did.
    pub fn error(&self) -> Option<&Value> {
        self.extra.get("error")
    }

    /// Its line in a recording, including the line end.
    pub fn to_line(&self) -> String {
        let mut line = Object::new();
        line.insert("t", self.at_ms);
        match str::from_utf8(&self.bytes) {
            Ok(text) => line.insert("text", text),
            Err(_) => line.insert("bytes", BASE64.encode(&self.bytes)),
        };
        with_extra(line, &self.extra)
    }

    /// Parses a line.
    fn from_line(mut line: Object) -> Result<Self, Fault> {
        let wrong = |what| Fault::NotARead { what };
        let at_ms = line.remove("t").as_ref().and_then(Value::as_u64);
        let at_ms = at_ms.ok_or(wrong("`t` is not a whole number of milliseconds"))?;
        let bytes = match (line.remove("text"), line.remove("bytes")) {
            (Some(Value::String(text)), None) => text.to_str().into_owned().into_bytes(),
            (None, Some(Value::String(text))) => {
                BASE64.decode(&*text.to_str()).map_err(|_| wrong("`bytes` is not base64"))?
            }
            (None, None) => return Err(wrong("it has neither `text` nor `bytes`")),
            (Some(_), Some(_)) => return Err(wrong("it has both `text` and `bytes`")),
            (Some(_), None) => return Err(wrong("`text` is not a string")),
            (None, Some(_)) => return Err(wrong("`bytes` is not a string")),
        };
        Ok(Self { at_ms, bytes, extra: line })
    }
}

/// What the first bytes of an input show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detected {
    /// The input is a recording.
    Recording,
    /// The input is something else, such as a raw stream.
    Other,
    /// More bytes are needed. If there are none, the input is not a recording.
    Undecided,
}

/// Distinguishes a recording from a raw stream by its first bytes.
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
    // No writer puts that much whitespace there, and this way callers never have to hold back more.
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

/// A line with its unknown members added, and its line end.
fn with_extra(mut line: Object, extra: &Object) -> String {
    for (name, value) in extra.iter() {
        line.insert(name, value.clone());
    }
    let mut line = Value::from(line).to_string();
    line.push('\n');
    line
}
