//! [`Pieces`]: the input of a filter, in pieces as they arrive or cut anew.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use anyhow::Context;

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

/// The input, piece by piece.
pub(crate) struct Pieces {
    source: Box<dyn Read>,
    name: String,
    buffer: Vec<u8>,
    /// What of the buffer was read and not given out yet.
    waiting: std::ops::Range<usize>,
    cut: Cut,
}

enum Cut {
    AsRead,
    Bytes,
    Random(u64),
}

impl Pieces {
    /// Opens a file, or standard input for `-` and for nothing.
    pub(crate) fn open(file: Option<&Path>, recut: Option<Recut>) -> anyhow::Result<Self> {
        let (source, name): (Box<dyn Read>, _) = match file {
            Some(path) if path != Path::new("-") => {
                let file = File::open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
                (Box::new(file), format!("`{}`", path.display()))
            }
            _ => (Box::new(io::stdin()), "standard input".to_owned()),
        };
        let cut = match recut {
            None => Cut::AsRead,
            Some(Recut::Bytes) => Cut::Bytes,
            Some(Recut::Seed(seed)) => Cut::Random(seed),
        };
        Ok(Self { source, name, buffer: vec![0; 64 * 1024], waiting: 0..0, cut })
    }

    /// The next piece; `None` at the end.
    pub(crate) fn next(&mut self) -> anyhow::Result<Option<&[u8]>> {
        if self.waiting.is_empty() {
            let read = self.read().with_context(|| format!("cannot read {}", self.name))?;
            self.waiting = 0..read;
        }
        let length = match &mut self.cut {
            Cut::AsRead => self.waiting.len(),
            Cut::Bytes => 1,
            Cut::Random(state) => next_length(state),
        };
        let end = self.waiting.end.min(self.waiting.start + length);
        let piece = self.waiting.start..end;
        self.waiting.start = end;
        Ok(Some(&self.buffer[piece]).filter(|piece| !piece.is_empty()))
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
