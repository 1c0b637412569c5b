//! Detects the framing of a stream.

use super::aws_event_stream::{PRELUDE, has_lengths};
use super::{Error, Framing, admit, is_whitespace};
use crate::json::EndFinder;

/// Looks at the very first bytes and the first ones that are not whitespace, and holds all bytes back until they
/// show the framing.
#[derive(Debug)]
pub(super) struct Detector {
    limit: usize,
    /// Where the text starts in the input.
    start: u64,
    held: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Before the first byte.
    Start,
    /// In the lengths of a message of an AWS event stream, as its first byte suggests, after `seen` bytes.
    Prelude {
        prelude: [u8; PRELUDE],
        seen: usize,
    },
    Whitespace,
    /// On the first line of an object.
    Object(EndFinder),
}

impl Detector {
    pub(super) fn new(limit: usize, start: u64) -> Self {
        Self { limit, start, held: Vec::new(), state: State::Start }
    }

    /// Returns the framing if `piece` shows it, and otherwise holds `piece` back.
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<Option<Framing>, Error> {
        let found = piece.iter().position(|&byte| self.decides(byte));
        let undecided = found.unwrap_or(piece.len());
        let room = self.limit - self.held.len();
        admit(undecided, room, self.start + self.held.len() as u64, self.limit)?;
        match found {
            Some(at) => Ok(Some(self.decided_by(piece[at]))),
            None => {
                self.held.extend_from_slice(piece);
                Ok(None)
            }
        }
    }

    /// The framing of an input that ended before it was decided, or `None` if there is only whitespace.
    pub(super) fn finish(&self) -> Option<Framing> {
        match self.state {
            State::Start | State::Whitespace => None,
            State::Prelude { .. } => Some(Framing::AwsEventStream),
            State::Object(_) => Some(Framing::Whole),
        }
    }

    /// The bytes held back.
    pub(super) fn held(&self) -> &[u8] {
        &self.held
    }

    /// Whether the framing is known at this byte.
    fn decides(&mut self, byte: u8) -> bool {
        match &mut self.state {
            // No text begins with one of these, and no message is long enough to begin with another.
            State::Start if byte <= 1 => {
                let mut prelude = [0; PRELUDE];
                prelude[0] = byte;
                self.state = State::Prelude { prelude, seen: 1 };
                false
            }
            State::Start => {
                self.state = State::Whitespace;
                self.decides(byte)
            }
            State::Prelude { prelude, seen } => {
                prelude[*seen] = byte;
                *seen += 1;
                *seen == PRELUDE
            }
            State::Whitespace if byte == b'{' => {
                let mut finder = EndFinder::new();
                finder.push(&[byte]);
                self.state = State::Object(finder);
                false
            }
            State::Whitespace => !is_whitespace(byte),
            State::Object(_) if byte == b'\n' => true,
            State::Object(finder) => {
                finder.push(&[byte]);
                false
            }
        }
    }

    fn decided_by(&self, byte: u8) -> Framing {
        match self.state {
            State::Prelude { prelude, .. } if has_lengths(&prelude) => Framing::AwsEventStream,
            State::Whitespace if byte == b'[' => Framing::JsonArray,
            State::Start | State::Prelude { .. } | State::Whitespace => Framing::Sse,
            State::Object(finder) if finder.depth() == 0 => Framing::Lines,
            State::Object(_) => Framing::Whole,
        }
    }
}
