//! [`Reads`]: the input, read by read.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow};
use reknit::Hint;
use reknit::recording::{self, Detected, Header, Read, Reader};
use reknit::{Diagnostic, Limits};

use super::decompress::{Decompressed, Source};
use crate::outcome::CommandError;

/// The input, read by read: a raw stream as it arrives, a recording as it was recorded.
pub(crate) struct Reads {
    source: Source,
    name: String,
    /// Whether it comes from a file, and so has no times.
    is_stored: bool,
    buffer: Vec<u8>,
    kind: Kind,
    problem: Option<Diagnostic>,
}

/// When a read came, since the start.
#[derive(Clone, Copy, Debug)]
pub(super) enum Time {
    /// By the clock.
    Live(Duration),
    /// As it was recorded.
    Recorded(Duration),
    /// It was there from the start.
    Stored,
}

enum Kind {
    /// Too little has come to know whether it is a recording.
    Unknown(Vec<u8>),
    Raw,
    Recording(Box<Reader>),
}

impl Reads {
    /// Opens a file, or standard input for `-` and for nothing. It may be compressed.
    pub(crate) fn open(file: Option<&Path>) -> Result<Self, CommandError> {
        let raw = Self::open_raw(file)?;
        let source = Box::new(Decompressed::new(raw.source));
        Ok(Self { source, kind: Kind::Unknown(Vec::new()), ..raw })
    }

    /// The same for input that is never a recording and never compressed.
    pub(crate) fn open_raw(file: Option<&Path>) -> Result<Self, CommandError> {
        let (source, name, is_stored): (Source, _, _) = match file {
            Some(path) if path != Path::new("-") => {
                let file = File::open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
                let is_stored = file.metadata().is_ok_and(|metadata| metadata.is_file());
                (Box::new(file), format!("`{}`", path.display()), is_stored)
            }
            _ => (Box::new(io::stdin()), "standard input".to_owned(), false),
        };
        Ok(Self { source, name, is_stored, buffer: vec![0; 64 * 1024], kind: Kind::Raw, problem: None })
    }

    /// The next read; `None` at the end. Those of a raw stream have no time.
    pub(crate) fn next(&mut self) -> Result<Option<Read>, CommandError> {
        loop {
            if let Kind::Recording(reader) = &mut self.kind {
                match reader.next_read() {
                    Ok(None) => {}
                    Ok(read) => return Ok(read),
                    Err(error) => {
                        return Err(CommandError::with_hint(anyhow!("{}: {error}", self.name), error.hint()));
                    }
                }
            }
            let length = self.read().with_context(|| format!("cannot read {}", self.name))?;
            let piece = &self.buffer[..length];
            match &mut self.kind {
                Kind::Unknown(held) => {
                    held.extend_from_slice(piece);
                    match recording::detect(held) {
                        Detected::Undecided if length > 0 => {}
                        Detected::Recording => {
                            let mut reader = Reader::new(&Limits::default());
                            reader.push(held);
                            self.kind = Kind::Recording(Box::new(reader));
                        }
                        Detected::Undecided | Detected::Other => {
                            let first = Read::new(0, std::mem::take(held));
                            self.kind = Kind::Raw;
                            return Ok(Some(first).filter(|first| !first.bytes.is_empty()));
                        }
                    }
                }
                Kind::Raw if length == 0 => return Ok(None),
                Kind::Raw => return Ok(Some(Read::new(0, piece))),
                Kind::Recording(reader) if length == 0 => {
                    reader.finish();
                    let last = reader.next_read();
                    self.problem = self.problem.take().or_else(|| reader.next_diagnostic());
                    return last.map_err(|error| {
                        CommandError::with_hint(anyhow!("{}: {error}", self.name), error.hint())
                    });
                }
                Kind::Recording(reader) => reader.push(piece),
            }
        }
    }

    /// The time of a read that was returned `now`.
    pub(super) fn time(&self, read: &Read, now: Duration) -> Time {
        match self.kind {
            Kind::Recording(_) => Time::Recorded(Duration::from_millis(read.at_ms)),
            Kind::Unknown(_) | Kind::Raw if self.is_stored => Time::Stored,
            Kind::Unknown(_) | Kind::Raw => Time::Live(now),
        }
    }

    /// The header of the recording, if it is one and was read.
    pub(crate) fn header(&self) -> Option<&Header> {
        if let Kind::Recording(reader) = &self.kind { reader.header() } else { None }
    }

    /// What was wrong with a recording that is cut, once all of it was read.
    pub(crate) fn problem(&self) -> Option<&Diagnostic> {
        self.problem.as_ref()
    }

    /// Whether reading it never takes long, because it is a file.
    pub(super) fn is_stored(&self) -> bool {
        self.is_stored
    }

    /// The name of the input, for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn read(&mut self) -> io::Result<usize> {
        loop {
            match self.source.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}
