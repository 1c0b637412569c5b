//! Standard output: JSON, and bytes as they are.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use serde::Serialize;
use serde_json::Serializer;

use crate::outcome::CommandError;
use crate::view::{is_unsafe, sanitized};

/// Prints a value on a line of its own.
pub(crate) fn print_json(
    out: &mut BufWriter<StdoutLock<'static>>,
    value: &impl Serialize,
) -> Result<(), CommandError> {
    if out.get_ref().is_terminal() {
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
