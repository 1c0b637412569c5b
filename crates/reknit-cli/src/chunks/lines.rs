//! [`Lines`]: the lines of an input that comes in pieces, with their places.

use memchr::memchr;

/// Splits what is pushed into lines.
pub(super) struct Lines {
    held: Vec<u8>,
    /// How much of what is held was returned, and how much was searched for a line end.
    given: usize,
    looked_at: usize,
    /// The byte of the whole input at which what is held begins.
    start: u64,
    /// The number of the next line.
    number: u64,
    state: State,
    /// How long a line may be.
    limit: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Open,
    /// In the rest of a line that was too long.
    Skipping,
    /// The input is over.
    Ended,
}

/// A line, without its end.
pub(super) struct Line<'a> {
    pub(super) place: Place,
    pub(super) body: Body<'a>,
}

/// Where a line is.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    /// Its number, counted from 1.
    pub(super) line: u64,
    /// The byte of the whole input at which it begins.
    pub(super) at: u64,
}

pub(super) enum Body<'a> {
    Bytes(&'a [u8]),
    /// The line is longer than this and was dropped.
    TooLong(usize),
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Self { held: Vec::new(), given: 0, looked_at: 0, start: 0, number: 1, state: State::Open, limit }
    }

    pub(super) fn push(&mut self, piece: &[u8]) {
        self.held.drain(..self.given);
        self.start += self.given as u64;
        self.looked_at -= self.given;
        self.given = 0;
        self.held.extend_from_slice(piece);
    }

    /// The input is over: what is left is a line too.
    pub(super) fn finish(&mut self) {
        if self.state == State::Skipping {
            (self.given, self.looked_at) = (self.held.len(), self.held.len());
        }
        self.state = State::Ended;
    }

    /// The next line that is whole.
    pub(super) fn next(&mut self) -> Option<Line<'_>> {
        loop {
            let from = self.given;
            let end = memchr(b'\n', &self.held[self.looked_at..]).map(|at| self.looked_at + at);
            self.looked_at = end.map_or(self.held.len(), |end| end + 1);
            let length = end.unwrap_or(self.held.len()) - from;
            match (end, self.state) {
                (None, State::Skipping) => {
                    self.given = self.looked_at;
                    return None;
                }
                (Some(_), State::Skipping) => {
                    self.state = State::Open;
                    self.given = self.looked_at;
                    self.number += 1;
                    continue;
                }
                (None, State::Ended) if length == 0 => return None,
                (None, State::Open) if length <= self.limit => return None,
                (None, State::Open) => self.state = State::Skipping,
                (None, State::Ended) | (Some(_), State::Open | State::Ended) => {}
            }
            self.given = self.looked_at;
            let number = self.number;
            if self.state != State::Skipping {
                self.number += 1;
            }
            let mut at = self.start + from as u64;
            let mut bytes = &self.held[from..from + length];
            if at == 0 && bytes.starts_with(BYTE_ORDER_MARK) {
                bytes = &bytes[BYTE_ORDER_MARK.len()..];
                at = BYTE_ORDER_MARK.len() as u64;
            }
            let body = if length > self.limit { Body::TooLong(self.limit) } else { Body::Bytes(bytes) };
            return Some(Line { place: Place { line: number, at }, body });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]], limit: usize) -> Vec<(u64, u64, String)> {
        let mut lines = Lines::new(limit);
        let mut found = Vec::new();
        let mut take = |lines: &mut Lines| {
            while let Some(Line { place, body }) = lines.next() {
                let text = match body {
                    Body::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                    Body::TooLong(limit) => format!("longer than {limit}"),
                };
                found.push((place.line, place.at, text));
            }
        };
        for piece in pieces {
            lines.push(piece);
            take(&mut lines);
        }
        lines.finish();
        take(&mut lines);
        found
    }

    #[test]
    fn any_cut_gives_the_same_lines() {
        let input = b"\xef\xbb\xbfone\r\n\ntwo is long\nthree\n\nfour";
        let whole = lines(&[input], 8);
        let expected = [
            (1, 3, "one\r"),
            (2, 8, ""),
            (3, 9, "longer than 8"),
            (4, 21, "three"),
            (5, 27, ""),
            (6, 28, "four"),
        ];
        assert_eq!(whole, expected.map(|(number, at, text)| (number, at, text.to_owned())));
        assert_eq!(lines(&input.chunks(1).collect::<Vec<_>>(), 8), whole);
        for at in 0..=input.len() {
            assert_eq!(lines(&[&input[..at], &input[at..]], 8), whole, "cut at {at}");
        }
    }

    #[test]
    fn the_last_line_may_be_too_long() {
        let expected = [(1, 0, "a".to_owned()), (2, 2, "longer than 3".to_owned())];
        assert_eq!(lines(&[b"a\nlonger"], 3), expected);
        assert_eq!(lines(&[b"a\nl", b"ong", b"er"], 3), expected);
        assert_eq!(lines(&[b""], 3), []);
    }
}
