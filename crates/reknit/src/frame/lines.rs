//! One frame per non-blank line.

use memchr::memchr;

use super::queue::{Problem, Queue};
use super::utf8::{Lossy, Tally};
use super::{Error, admit, is_whitespace};

/// The framer of [`Framing::Lines`](super::Framing::Lines).
///
/// The bytes of a line and its LF count towards the limit.
#[derive(Debug)]
pub(super) struct Lines {
    limit: usize,
    state: State,
    lossy: Lossy,
    bad: Tally,
}

#[derive(Clone, Copy, Debug)]
enum State {
    LineStart,
    InLine { start: u64 },
}

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, state: State::LineStart, lossy: Lossy::default(), bad: Tally::default() }
    }

    pub(super) fn push(&mut self, mut piece: &[u8], mut at: u64, queue: &mut Queue) -> Result<(), Error> {
        while let Some(end) = memchr(b'\n', piece) {
            let start = self.extend(&piece[..end], at, end + 1, queue)?;
            at += end as u64;
            self.close(start, at, queue);
            self.state = State::LineStart;
            piece = &piece[end + 1..];
            at += 1;
        }
        if !piece.is_empty() {
            let start = self.extend(piece, at, piece.len(), queue)?;
            self.state = State::InLine { start };
        }
        Ok(())
    }

    pub(super) fn finish(&mut self, at: u64, queue: &mut Queue) {
        if let State::InLine { start } = self.state {
            self.lossy.end(at, queue.open(), &mut self.bad);
            if !is_blank_line(queue.open_text()) {
                queue.problem(Problem::Unterminated { at, lacks: "line end" });
            }
            self.close(start, at, queue);
        }
    }

    /// Appends `part`, which counts as `size` bytes towards the limit. Returns where the line starts.
    fn extend(&mut self, part: &[u8], at: u64, size: usize, queue: &mut Queue) -> Result<u64, Error> {
        let start = match self.state {
            State::LineStart => at,
            State::InLine { start } => start,
        };
        admit(size, self.limit - (at - start) as usize, at, self.limit)?;
        self.lossy.push(part, at, queue.open(), &mut self.bad);
        Ok(start)
    }

    fn close(&mut self, start: u64, mut end: u64, queue: &mut Queue) {
        self.lossy.end(end, queue.open(), &mut self.bad);
        if is_blank_line(queue.open_text()) {
            return queue.discard();
        }
        if queue.open_text().ends_with('\r') {
            queue.open().pop();
            end -= 1;
        }
        queue.tallied(&mut self.bad, Problem::InvalidUtf8);
        queue.close(start..end);
    }
}

fn is_blank_line(text: &str) -> bool {
    text.bytes().all(is_whitespace)
}
