//! The whole input as one frame.

use super::queue::{Problem, Queue};
use super::utf8::{Lossy, Tally};
use super::{Error, admit, is_whitespace};

/// The framer of [`Framing::Whole`](super::Framing::Whole).
#[derive(Debug)]
pub(super) struct Whole {
    limit: usize,
    size: usize,
    lossy: Lossy,
    bad: Tally,
}

impl Whole {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, size: 0, lossy: Lossy::default(), bad: Tally::default() }
    }

    pub(super) fn push(&mut self, piece: &[u8], at: u64, queue: &mut Queue) -> Result<(), Error> {
        admit(piece.len(), self.limit - self.size, at, self.limit)?;
        self.size += piece.len();
        self.lossy.push(piece, at, queue.open(), &mut self.bad);
        Ok(())
    }

    pub(super) fn finish(&mut self, at: u64, queue: &mut Queue) {
        self.lossy.end(at, queue.open(), &mut self.bad);
        if queue.open_text().bytes().all(is_whitespace) {
            return queue.discard();
        }
        queue.tallied(&mut self.bad, Problem::InvalidUtf8);
        let whitespace = queue.open_text().bytes().rev().take_while(|byte| is_whitespace(*byte)).count();
        let end = queue.open().len() - whitespace;
        queue.open().truncate(end);
        queue.close(at - self.size as u64..at - whitespace as u64);
    }
}
