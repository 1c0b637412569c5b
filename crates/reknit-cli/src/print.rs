//! JSON on standard output.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use serde::Serialize;
use serde_json::Serializer;

use crate::outcome::Trouble;
use crate::view::is_unsafe;

/// Prints a value on a line of its own.
pub(crate) fn print_json(
    out: &mut BufWriter<StdoutLock<'static>>,
    value: &impl Serialize,
) -> Result<(), Trouble> {
    if out.get_ref().is_terminal() {
        value.serialize(&mut Serializer::with_formatter(&mut *out, Harmless))?;
    } else {
        serde_json::to_writer(&mut *out, value)?;
    }
    Ok(out.write_all(b"\n")?)
}

/// The same JSON, with what a terminal would obey written as escapes.
struct Harmless;

impl serde_json::ser::Formatter for Harmless {
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
