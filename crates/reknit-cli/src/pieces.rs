//! [`Pieces`]: the input of a filter, in pieces as they arrive, as they were recorded, or cut again.

use std::io;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use reknit::Diagnostic;

use crate::outcome::CommandError;

mod decompress;
mod read_ahead;
mod reads;

use read_ahead::{Incoming, ReadAhead};
pub(crate) use reads::Reads;

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
    read_ahead: ReadAhead,
    waiting: Vec<u8>,
    /// How much of what is waiting was returned.
    given: usize,
    input: Input,
    cut: Cut,
}

/// How far the input is.
enum Input {
    Open,
    /// What was wrong with the end of a recording.
    Ended(Option<Diagnostic>),
    /// An error that is returned after everything before it.
    Broken(CommandError),
}

/// How reads are cut into pieces.
enum Cut {
    /// Not at all.
    Never,
    /// To these lengths, of which the first is next.
    To { next: usize, lengths: Box<dyn Iterator<Item = usize>> },
}

/// How often `meanwhile` is called while nothing comes.
const TICK: Duration = Duration::from_millis(100);

impl Pieces {
    /// Opens a file, or standard input for `-` and for nothing.
    ///
    /// An interrupt (Ctrl-C) ends the input from now on, and not the program.
    pub(crate) fn open(file: Option<&Path>, recut: Option<Recut>) -> Result<Self, CommandError> {
        Self::of(Reads::open(file)?, recut)
    }

    /// The same for input that is never a recording.
    pub(crate) fn open_raw(file: Option<&Path>, recut: Option<Recut>) -> Result<Self, CommandError> {
        Self::of(Reads::open_raw(file)?, recut)
    }

    fn of(reads: Reads, recut: Option<Recut>) -> Result<Self, CommandError> {
        let mut cut =
            recut.map_or(Cut::Never, |recut| Cut::To { next: 1, lengths: Box::new(recut.lengths()) });
        cut.advance();
        let read_ahead = ReadAhead::open(reads)?;
        Ok(Self { read_ahead, waiting: Vec::new(), given: 0, input: Input::Open, cut })
    }

    /// The next piece; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, CommandError> {
        while !self.is_ready(Duration::MAX) {}
        let waiting = self.waiting.len() - self.given;
        if waiting == 0 {
            return match std::mem::replace(&mut self.input, Input::Ended(None)) {
                Input::Broken(error) => Err(error),
                ended => {
                    self.input = ended;
                    Ok(None)
                }
            };
        }
        let piece = self.given..self.given + waiting.min(self.cut.length().unwrap_or(waiting));
        self.given = piece.end;
        self.cut.advance();
        Ok(Some(&self.waiting[piece]))
    }

    /// Waits for the next piece, or the end, and calls `meanwhile` regularly until then. Returns when it came.
    pub(crate) fn wait(
        &mut self,
        mut meanwhile: impl FnMut(Option<Duration>) -> io::Result<()>,
    ) -> io::Result<Option<Duration>> {
        let mut within = Duration::ZERO;
        while !self.is_ready(within) {
            meanwhile(self.elapsed())?;
            within = TICK;
        }
        Ok(self.at())
    }

    /// Whether the next piece, or the end, is there or comes within a time.
    fn is_ready(&mut self, within: Duration) -> bool {
        let wanted = self.cut.length().unwrap_or(1);
        while self.waiting.len() - self.given < wanted && matches!(self.input, Input::Open) {
            match self.read_ahead.next(within) {
                None => return false,
                Some(Incoming::Read { bytes, .. }) => {
                    self.waiting.drain(..self.given);
                    self.given = 0;
                    self.waiting.extend_from_slice(&bytes);
                }
                Some(Incoming::End(problem)) => self.input = Input::Ended(problem),
                Some(Incoming::Broken(error)) => self.input = Input::Broken(error),
            }
        }
        true
    }

    /// When the last piece came, since the start; `None` if it was there from the start.
    pub(crate) fn at(&self) -> Option<Duration> {
        self.read_ahead.at()
    }

    /// How long the input has taken so far; `None` if it was there from the start.
    fn elapsed(&self) -> Option<Duration> {
        self.read_ahead.elapsed()
    }

    /// Whether the input ended because the user pressed Ctrl-C.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.read_ahead.is_interrupted()
    }

    /// What was wrong with a recording that is cut, once all of it was read.
    pub(crate) fn problem(&self) -> Option<&Diagnostic> {
        if let Input::Ended(problem) = &self.input { problem.as_ref() } else { None }
    }
}

impl Cut {
    /// How long the next piece is to be.
    fn length(&self) -> Option<usize> {
        match self {
            Self::Never => None,
            Self::To { next, .. } => Some(*next),
        }
    }

    fn advance(&mut self) {
        if let Self::To { next, lengths } = self {
            *next = lengths.next().unwrap_or(1);
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
