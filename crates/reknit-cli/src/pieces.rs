//! [`Pieces`]: the input of a filter, in pieces as they arrive, as they were recorded, or cut anew.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, anyhow};
use reknit::recording::{self, Detected, Header, Read, Reader};
use reknit::{Diagnostic, Limits};

use crate::outcome::Trouble;

/// How to cut the input.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Recut {
    /// One byte at a time.
    Bytes,
    /// At pseudo-random bytes.
    Seed(u64),
}

impl FromStr for Recut {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "bytes" => Ok(Self::Bytes),
            seed => {
                seed.parse().map(Self::Seed).map_err(|_| format!("`{seed}` is neither a number nor `bytes`"))
            }
        }
    }
}

impl Recut {
    /// How long the pieces are, one after the other, without end.
    pub(crate) fn lengths(self) -> impl Iterator<Item = usize> {
        let mut state = match self {
            Self::Bytes => None,
            Self::Seed(seed) => Some(seed),
        };
        std::iter::from_fn(move || Some(state.as_mut().map_or(1, next_length)))
    }
}

/// The input, piece by piece.
pub(crate) struct Pieces {
    reads: Reads,
    waiting: Vec<u8>,
    /// How much of what is waiting was given out.
    given: usize,
    input: Input,
    /// The lengths to cut to; none to leave the reads as they are.
    lengths: Option<Box<dyn Iterator<Item = usize>>>,
}

/// How far the input is.
enum Input {
    Open,
    Ended,
    /// Trouble that is told when all before it was given out.
    Broken(Trouble),
}

impl Pieces {
    /// Opens a file, or standard input for `-` and for nothing.
    pub(crate) fn open(file: Option<&Path>, recut: Option<Recut>) -> Result<Self, Trouble> {
        Ok(Self {
            reads: Reads::open(file)?,
            waiting: Vec::new(),
            given: 0,
            input: Input::Open,
            lengths: recut.map(|recut| Box::new(recut.lengths()) as Box<dyn Iterator<Item = usize>>),
        })
    }

    /// The next piece; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Trouble> {
        let length = self.lengths.as_mut().and_then(Iterator::next);
        self.fill(length.unwrap_or(1));
        let waiting = self.waiting.len() - self.given;
        if waiting == 0 {
            return match std::mem::replace(&mut self.input, Input::Ended) {
                Input::Broken(trouble) => Err(trouble),
                Input::Open | Input::Ended => Ok(None),
            };
        }
        let piece = self.given..self.given + waiting.min(length.unwrap_or(waiting));
        self.given = piece.end;
        Ok(Some(&self.waiting[piece]))
    }

    /// What was wrong with a recording that is cut, once all of it was read.
    pub(crate) fn problem(&self) -> Option<&Diagnostic> {
        self.reads.problem()
    }

    /// Reads until so many bytes are waiting or there are no more.
    fn fill(&mut self, wanted: usize) {
        while self.waiting.len() - self.given < wanted && matches!(self.input, Input::Open) {
            match self.reads.next() {
                Ok(Some(read)) => {
                    self.waiting.drain(..self.given);
                    self.given = 0;
                    self.waiting.extend_from_slice(&read.bytes);
                }
                Ok(None) => self.input = Input::Ended,
                Err(trouble) => self.input = Input::Broken(trouble),
            }
        }
    }
}

/// The input, read by read: a raw stream as it arrives, a recording as it was recorded.
pub(crate) struct Reads {
    source: Box<dyn io::Read>,
    name: String,
    buffer: Vec<u8>,
    kind: Kind,
    problem: Option<Diagnostic>,
}

enum Kind {
    /// What came does not tell yet whether it is a recording.
    Unknown(Vec<u8>),
    Raw,
    Recording(Box<Reader>),
}

impl Reads {
    /// Opens a file, or standard input for `-` and for nothing.
    pub(crate) fn open(file: Option<&Path>) -> Result<Self, Trouble> {
        let (source, name): (Box<dyn io::Read>, _) = match file {
            Some(path) if path != Path::new("-") => {
                let file = File::open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
                (Box::new(file), format!("`{}`", path.display()))
            }
            _ => (Box::new(io::stdin()), "standard input".to_owned()),
        };
        let kind = Kind::Unknown(Vec::new());
        Ok(Self { source, name, buffer: vec![0; 64 * 1024], kind, problem: None })
    }

    /// The next read; `None` at the end. Those of a raw stream have no time.
    pub(crate) fn next(&mut self) -> Result<Option<Read>, Trouble> {
        loop {
            if let Kind::Recording(reader) = &mut self.kind {
                match reader.next_read() {
                    Ok(None) => {}
                    Ok(read) => return Ok(read),
                    Err(error) => {
                        return Err(Trouble::with_hint(anyhow!("{}: {error}", self.name), error.hint()));
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
                    self.problem = self.problem.take().or_else(|| reader.next_problem());
                    return last.map_err(|error| {
                        Trouble::with_hint(anyhow!("{}: {error}", self.name), error.hint())
                    });
                }
                Kind::Recording(reader) => reader.push(piece),
            }
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

    /// What is read, for messages.
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

/// The length of the next piece: mostly short, sometimes long. SplitMix64, so that a seed means the same
/// cuts on every machine.
fn next_length(state: &mut u64) -> usize {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^= mixed >> 31;
    let longest = if mixed.is_multiple_of(4) { 4096 } else { 32 };
    1 + (mixed >> 8) as usize % longest
}
