//! Lines to reads.

use std::ops::Range;

use memchr::memchr;

use super::{Detected, Error, Header, Read, detect};
use crate::diagnostic::{Diagnostic, Kind, Place};
use crate::json::{Object, Value};
use crate::limits::Limits;

/// Turns a recording, cut anywhere, back into its reads.
#[derive(Debug)]
pub struct Reader {
    limits: Limits,
    buffer: Vec<u8>,
    /// Where in the buffer the line begins that is not given out yet.
    start: usize,
    /// How far the buffer was searched for the end of that line.
    searched: usize,
    /// The byte of the whole input at which the buffer begins.
    at: u64,
    /// How many lines were given out.
    lines: u64,
    header: Option<Header>,
    input: Input,
    problem: Option<Diagnostic>,
}

#[derive(Debug, PartialEq)]
enum Input {
    Open,
    /// The caller said that it is over; lines may still be waiting.
    Ending,
    /// All of it was read, or the rest refused.
    Over,
}

/// A line of the buffer, and whether its line end was there.
enum Line {
    Whole(Range<usize>),
    Unterminated(Range<usize>),
}

impl Reader {
    /// A reader at the beginning of a recording.
    pub fn new(limits: &Limits) -> Self {
        Self {
            limits: *limits,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            at: 0,
            lines: 0,
            header: None,
            input: Input::Open,
            problem: None,
        }
    }

    /// Takes the next piece of the recording. After an error or [`Reader::finish`] it is not looked at.
    pub fn push(&mut self, piece: &[u8]) {
        if self.input != Input::Open {
            return;
        }
        self.buffer.drain(..self.start);
        self.at += self.start as u64;
        self.searched -= self.start;
        self.start = 0;
        self.buffer.extend_from_slice(piece);
    }

    /// The next read, or `None` if more bytes are needed or the input is over.
    ///
    /// An error is reported once and behind the reads before it; the rest of the input is refused.
    pub fn next_read(&mut self) -> Result<Option<Read>, Error> {
        let result = self.advance();
        if result.is_err() {
            self.input = Input::Over;
        }
        result
    }

    /// What was wrong with the end of the recording; to be asked when there is no read left.
    pub fn next_problem(&mut self) -> Option<Diagnostic> {
        self.problem.take()
    }

    /// Says that the input is over; what was waiting for its end can then be taken.
    pub fn finish(&mut self) {
        if self.input == Input::Open {
            self.input = Input::Ending;
        }
    }

    /// The header, once [`Reader::next_read`] came past it.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    fn advance(&mut self) -> Result<Option<Read>, Error> {
        while let Some(line) = self.next_line()? {
            let (Line::Whole(range) | Line::Unterminated(range)) = &line;
            if self.buffer[range.clone()].trim_ascii().is_empty() {
                continue;
            }
            if self.header.is_none() {
                self.header = Some(self.parse_header(range.clone())?);
                continue;
            }
            match (self.parse(range.clone()), line) {
                (Ok(object), _) => return Read::from_line(object, self.lines).map(Some),
                (Err(_), Line::Unterminated(range)) => self.drop_line(&range),
                (Err(error), Line::Whole(_)) => return Err(error),
            }
        }
        if self.input == Input::Ending {
            self.input = Input::Over;
            if self.header.is_none() {
                return Err(Error::NoHeader);
            }
        }
        Ok(None)
    }

    fn next_line(&mut self) -> Result<Option<Line>, Error> {
        if self.input == Input::Over {
            return Ok(None);
        }
        let found = memchr(b'\n', &self.buffer[self.searched..]).map(|length| self.searched + length);
        let end = found.unwrap_or(self.buffer.len());
        self.searched = end;
        if end - self.start > self.limits.frame_bytes {
            return Err(Error::TooLong { line: self.lines + 1, limit: self.limits.frame_bytes });
        }
        let range = self.start..end;
        let line = match found {
            Some(_) => Line::Whole(range),
            None if self.input == Input::Ending && !range.is_empty() => Line::Unterminated(range),
            None => return Ok(None),
        };
        self.lines += 1;
        self.start = end + usize::from(found.is_some());
        self.searched = self.start;
        Ok(Some(line))
    }

    fn parse_header(&self, range: Range<usize>) -> Result<Header, Error> {
        if detect(&self.buffer[range.clone()]) != Detected::Recording {
            return Err(Error::NoHeader);
        }
        Header::from_line(self.parse(range)?)
    }

    fn parse(&self, range: Range<usize>) -> Result<Object, Error> {
        let line = self.lines;
        let text = str::from_utf8(&self.buffer[range]).map_err(|_| Error::NotUtf8 { line })?;
        match Value::parse(text, self.limits.json_depth) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) => Err(Error::NotARead { line, what: "it is not an object" }),
            Err(error) => Err(Error::NotJson { line, error }),
        }
    }

    /// The input ended inside a line, which is how the recording of a crash ends.
    fn drop_line(&mut self, range: &Range<usize>) {
        let place = Place { at: self.at + range.start as u64, frame: self.lines - 1 };
        let message = format!(
            "line {}: the recording ended inside the line: {} bytes dropped",
            self.lines,
            range.len()
        );
        self.problem = Some(place.notice(Kind::CutRecording, message));
    }
}
