//! The headers of a message.

use crate::frame::{Damage, Error, Kind};

/// What the headers of a message say about it. Other headers are checked and passed over.
#[derive(Debug)]
pub(super) struct Headers {
    pub(super) kind: Kind,
    /// The name of the event or the kind of the error.
    pub(super) event: String,
    /// The description of an error, which has no payload.
    pub(super) message: String,
}

impl Default for Headers {
    fn default() -> Self {
        Self { kind: Kind::Data, event: String::new(), message: String::new() }
    }
}

impl Headers {
    /// Reads all headers of a message, which start at `at` in the input.
    pub(super) fn read(&mut self, bytes: &[u8], at: u64) -> Result<(), Error> {
        self.kind = Kind::Data;
        self.event.clear();
        self.message.clear();
        let mut rest = bytes;
        while !rest.is_empty() {
            let start = at + (bytes.len() - rest.len()) as u64;
            let Some((name, value)) = next(&mut rest) else {
                return Err(Error::Damaged { at: start, damage: Damage::Header });
            };
            match (name, value) {
                (b":message-type", Value::Text(b"exception" | b"error")) => self.kind = Kind::Error,
                (b":event-type" | b":exception-type" | b":error-code", Value::Text(text)) => {
                    self.event.clear();
                    self.event.push_str(&String::from_utf8_lossy(text));
                }
                (b":error-message", Value::Text(text)) => {
                    self.message.clear();
                    self.message.push_str(&String::from_utf8_lossy(text));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

enum Value<'a> {
    Text(&'a [u8]),
    /// Any other type.
    Other,
}

/// Takes the next header from `rest`; `None` if it is cut or the type of its value is unknown.
fn next<'a>(rest: &mut &'a [u8]) -> Option<(&'a [u8], Value<'a>)> {
    let length = *rest.split_off_first()?;
    let name = rest.split_off(..length.into())?;
    let length = match *rest.split_off_first()? {
        // True and false.
        0 | 1 => 0,
        // Integers of 8, 16, 32 and 64 bits.
        2 => 1,
        3 => 2,
        4 => 4,
        5 => 8,
        // Bytes.
        6 => text_length(rest)?,
        7 => {
            let length = text_length(rest)?;
            return Some((name, Value::Text(rest.split_off(..length)?)));
        }
        // A time in milliseconds.
        8 => 8,
        // A UUID.
        9 => 16,
        _ => return None,
    };
    rest.split_off(..length)?;
    Some((name, Value::Other))
}

fn text_length(rest: &mut &[u8]) -> Option<usize> {
    let length = rest.split_off(..2)?;
    Some(usize::from(u16::from_be_bytes([length[0], length[1]])))
}
