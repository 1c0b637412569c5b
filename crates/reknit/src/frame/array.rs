//! The elements of one JSON array.

use super::queue::{Problem, Queue};
use super::utf8::{Lossy, Tally};
use super::{Error, admit, is_whitespace};
use crate::json::EndFinder;

/// The framer of [`Framing::JsonArray`](super::Framing::JsonArray).
///
/// Elements are delimited by their brackets and quotes alone. Whether they are valid JSON is left to their
/// reader. An element in brackets or quotes ends with its last byte, so it is returned without waiting for
/// the comma, which arrives with the next element. Its bytes are what counts towards the limit.
#[derive(Debug)]
pub(super) struct Array {
    limit: usize,
    state: State,
    lossy: Lossy,
    bad: Tally,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Before the opening bracket of the array.
    Before,
    /// In the array, between elements.
    Between,
    /// In an object, an array or a string.
    Nested { start: u64, finder: EndFinder },
    /// In a number or a literal.
    Bare { start: u64 },
    /// After the closing bracket of the array.
    After,
    /// After the array, at or after the first byte that should not be there.
    Trailing { start: u64 },
}

impl Array {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, state: State::Before, lossy: Lossy::default(), bad: Tally::default() }
    }

    pub(super) fn push(&mut self, mut piece: &[u8], mut at: u64, queue: &mut Queue) -> Result<(), Error> {
        while !piece.is_empty() {
            let used = match self.state {
                State::Before => self.before(piece),
                State::Between => self.between(piece, at),
                State::Nested { start, finder } => self.nested(piece, at, start, finder, queue)?,
                State::Bare { start } => self.bare(piece, at, start, queue)?,
                State::After => self.after(piece, at),
                State::Trailing { .. } => return Ok(()),
            };
            piece = &piece[used..];
            at += used as u64;
        }
        Ok(())
    }

    pub(super) fn finish(&mut self, at: u64, queue: &mut Queue) {
        match self.state {
            State::Before | State::After => {}
            State::Between => queue.problem(Problem::Unterminated { at, lacks: "closing bracket" }),
            State::Nested { start, .. } | State::Bare { start } => {
                queue.discard();
                queue.problem(Problem::Dropped { at: start, bytes: at - start });
            }
            State::Trailing { start } => queue.problem(Problem::Trailing { at: start, bytes: at - start }),
        }
    }

    fn before(&mut self, piece: &[u8]) -> usize {
        let whitespace = count_whitespace(piece);
        match piece.get(whitespace) {
            None => whitespace,
            Some(b'[') => {
                self.state = State::Between;
                whitespace + 1
            }
            // Not an array after all but, say, an error object. It is read as an element.
            Some(_) => {
                self.state = State::Between;
                whitespace
            }
        }
    }

    fn between(&mut self, piece: &[u8], at: u64) -> usize {
        let skipped = piece.iter().take_while(|&&byte| is_whitespace(byte) || byte == b',').count();
        let start = at + skipped as u64;
        match piece.get(skipped) {
            None => skipped,
            Some(b']') => {
                self.state = State::After;
                skipped + 1
            }
            Some(b'{' | b'[' | b'"') => {
                self.state = State::Nested { start, finder: EndFinder::new() };
                skipped
            }
            Some(_) => {
                self.state = State::Bare { start };
                skipped
            }
        }
    }

    fn nested(
        &mut self,
        piece: &[u8],
        at: u64,
        start: u64,
        mut finder: EndFinder,
        queue: &mut Queue,
    ) -> Result<usize, Error> {
        match finder.push(piece) {
            None => {
                self.extend(piece, at, start, queue)?;
                self.state = State::Nested { start, finder };
                Ok(piece.len())
            }
            Some(end) => {
                self.extend(&piece[..end], at, start, queue)?;
                self.close(start..at + end as u64, queue);
                Ok(end)
            }
        }
    }

    fn bare(&mut self, piece: &[u8], at: u64, start: u64, queue: &mut Queue) -> Result<usize, Error> {
        let end = piece.iter().position(|&byte| is_whitespace(byte) || matches!(byte, b',' | b']'));
        self.extend(&piece[..end.unwrap_or(piece.len())], at, start, queue)?;
        if let Some(end) = end {
            self.close(start..at + end as u64, queue);
        }
        Ok(end.unwrap_or(piece.len()))
    }

    fn after(&mut self, piece: &[u8], at: u64) -> usize {
        let whitespace = count_whitespace(piece);
        if whitespace < piece.len() {
            self.state = State::Trailing { start: at + whitespace as u64 };
        }
        whitespace
    }

    fn extend(&mut self, part: &[u8], at: u64, start: u64, queue: &mut Queue) -> Result<(), Error> {
        admit(part.len(), self.limit - (at - start) as usize, at, self.limit)?;
        self.lossy.push(part, at, queue.open(), &mut self.bad);
        Ok(())
    }

    fn close(&mut self, bytes: std::ops::Range<u64>, queue: &mut Queue) {
        self.lossy.end(bytes.end, queue.open(), &mut self.bad);
        queue.tallied(&mut self.bad, Problem::InvalidUtf8);
        queue.close(bytes);
        self.state = State::Between;
    }
}

fn count_whitespace(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| is_whitespace(byte)).count()
}
