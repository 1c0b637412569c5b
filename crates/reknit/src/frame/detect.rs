//! Which framing a stream has.

use super::{Error, Framing, admit, is_blank};
use crate::json::Nesting;

/// Looks at the first bytes that are not blank, and holds all bytes back until they have told.
#[derive(Debug)]
pub(super) struct Detector {
    limit: usize,
    /// Where the text starts.
    start: u64,
    held: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Blank,
    /// On the first line of an object.
    Object(Nesting),
}

impl Detector {
    pub(super) fn new(limit: usize, start: u64) -> Self {
        Self { limit, start, held: Vec::new(), state: State::Blank }
    }

    /// Returns the framing if `piece` tells it; if not, holds `piece` back.
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<Option<Framing>, Error> {
        let found = piece.iter().position(|&byte| self.tells(byte));
        let undecided = found.unwrap_or(piece.len());
        let room = self.limit - self.held.len();
        admit(undecided, room, self.start + self.held.len() as u64, self.limit)?;
        match found {
            Some(at) => Ok(Some(self.told_by(piece[at]))),
            None => {
                self.held.extend_from_slice(piece);
                Ok(None)
            }
        }
    }

    /// The framing of an input that ended before it could be told; `None` if it is blank.
    pub(super) fn finish(&self) -> Option<Framing> {
        match self.state {
            State::Blank => None,
            State::Object(_) => Some(Framing::Whole),
        }
    }

    /// What was held back.
    pub(super) fn held(&self) -> &[u8] {
        &self.held
    }

    fn tells(&mut self, byte: u8) -> bool {
        match &mut self.state {
            State::Blank if byte == b'{' => {
                let mut nesting = Nesting::new();
                nesting.push(&[byte]);
                self.state = State::Object(nesting);
                false
            }
            State::Blank => !is_blank(byte),
            State::Object(_) if byte == b'\n' => true,
            State::Object(nesting) => {
                nesting.push(&[byte]);
                false
            }
        }
    }

    fn told_by(&self, byte: u8) -> Framing {
        match self.state {
            State::Blank if byte == b'[' => Framing::JsonArray,
            State::Blank => Framing::Sse,
            State::Object(nesting) if nesting.depth() == 0 => Framing::Lines,
            State::Object(_) => Framing::Whole,
        }
    }
}
