//! Standard output: JSON, and bytes as they are.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use serde::Serialize;
use serde_json::Serializer;

use crate::outcome::CommandError;
use crate::view::{is_unsafe, sanitized};

/// Where a command prints.
pub(crate) enum Out {
    Stdout(BufWriter<StdoutLock<'static>>),
    /// Kept until it is its turn.
    Kept(Vec<u8>),
}

impl Out {
    pub(crate) fn stdout() -> Self {
        Self::Stdout(BufWriter::new(io::stdout().lock()))
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::Kept(kept) => kept.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::Kept(kept) => kept.flush(),
        }
    }
}

/// Output that may be a terminal.
pub(crate) trait Output: Write {
    /// Whether it goes to a terminal, and so must not contain anything that controls one.
    fn is_on_terminal(&self) -> bool;
}

impl Output for BufWriter<StdoutLock<'static>> {
    fn is_on_terminal(&self) -> bool {
        self.get_ref().is_terminal()
    }
}

impl Output for Out {
    fn is_on_terminal(&self) -> bool {
        match self {
            Self::Stdout(out) => out.is_on_terminal(),
            // It is printed in the end.
            Self::Kept(_) => io::stdout().is_terminal(),
        }
    }
}

/// Prints a value on a line of its own.
pub(crate) fn print_json(out: &mut impl Output, value: &impl Serialize) -> Result<(), CommandError> {
    if out.is_on_terminal() {
        value.serialize(&mut Serializer::with_formatter(&mut *out, Sanitized))?;
    } else {
        serde_json::to_writer(&mut *out, value)?;
    }
    Ok(out.write_all(b"\n")?)
}

/// Prints bytes as they are; on a terminal, control characters are shown as visible ones.
pub(crate) fn print_bytes<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Result<(), CommandError> {
    let mut out = BufWriter::new(io::stdout().lock());
    if out.get_ref().is_terminal() {
        let bytes = pieces.collect::<Vec<_>>().concat();
        out.write_all(sanitized(&String::from_utf8_lossy(&bytes)).as_bytes())?;
    } else {
        for piece in pieces {
            out.write_all(piece)?;
        }
    }
    Ok(out.flush()?)
}

/// The same JSON, with everything that could control a terminal written as escapes.
struct Sanitized;

impl serde_json::ser::Formatter for Sanitized {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_unsafe) {
            out.write_all(&rest.as_bytes()[..at])?;
            let mut chars = rest[at..].chars();
            let mut units = [0; 2];
            for unit in chars.next().unwrap_or_default().encode_utf16(&mut units) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = chars.as_str();
        }
        out.write_all(rest.as_bytes())
    }
}
