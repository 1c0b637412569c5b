//! [`Reader`]: the reads of a recording.

use std::ops::Range;

use memchr::memchr;

use super::error::{Error, Fault};
use super::{Detected, Header, Read, detect};
use crate::diagnostic::{Diagnostic, Kind, Place};
use crate::json::{Object, Value};
use crate::limits::Limits;

/// Reads a recording, which may arrive in pieces cut anywhere.
#[derive(Debug)]
pub struct Reader {
    limits: Limits,
    buffer: Vec<u8>,
    /// Where in the buffer the next line starts.
    start: usize,
    /// How far the buffer has been searched for the end of that line.
    searched: usize,
    /// The position of the buffer in the whole input.
    at: u64,
    /// The number of lines before the next one.
    lines: u64,
    header: Option<Header>,
    input: Input,
    diagnostic: Option<Diagnostic>,
}

#[derive(Debug, PartialEq)]
enum Input {
    Open,
    /// The caller has signalled its end, but there may still be lines in the buffer.
    Ending,
    /// All of it has been read, or the rest is refused.
    Over,
}

/// A line of the buffer.
struct Line {
    range: Range<usize>,
    /// Whether its line end has arrived.
    is_whole: bool,
}

impl Reader {
    /// Creates a reader at the start of a recording.
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
            diagnostic: None,
        }
    }

    /// Takes the next piece of the recording. After an error or [`Reader::finish`] it is ignored.
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

    /// Returns the next read, or `None` if more bytes are needed or the input has ended.
    ///
    /// An error is returned once, after the reads before it, and the rest of the input is refused.
    pub fn next_read(&mut self) -> Result<Option<Read>, Error> {
        let result = self.advance();
        if result.is_err() {
            self.input = Input::Over;
        }
        result
    }

    /// Returns the diagnostic about the end of the recording, if it is cut. Ask for it when there are no reads
    /// left.
    pub fn next_diagnostic(&mut self) -> Option<Diagnostic> {
        self.diagnostic.take()
    }

    /// Signals the end of the input. A read that was waiting for it can then be taken.
    pub fn finish(&mut self) {
        if self.input == Input::Open {
            self.input = Input::Ending;
        }
    }

    /// The header, once [`Reader::next_read`] has read past it. If several exchanges follow each other, it is that of
    /// the last read.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    fn advance(&mut self) -> Result<Option<Read>, Error> {
        while let Some(Line { range, is_whole }) = self.next_line()? {
            let line = &self.buffer[range.clone()];
            if line.trim_ascii().is_empty() {
                continue;
            }
            let number = self.lines;
            let error = |fault| Error { fault, line: number };
            let is_header = detect(line) == Detected::Recording;
            if self.header.is_none() && !is_header {
                return Err(error(Fault::NoHeader));
            }
            match self.parse(line) {
                // A later one that is cut belongs to an exchange of which nothing came.
                parsed if self.header.is_none() || is_header && is_whole => {
                    self.header = Some(parsed.and_then(Header::from_line).map_err(error)?);
                }
                Ok(object) => return Read::from_line(object).map(Some).map_err(error),
                Err(_) if !is_whole => self.drop_line(&range),
                Err(fault) => return Err(error(fault)),
            }
        }
        if self.input == Input::Ending {
            self.input = Input::Over;
            if self.header.is_none() {
                return Err(Error { fault: Fault::NoHeader, line: 1 });
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
            let fault = Fault::TooLong { limit: self.limits.frame_bytes };
            return Err(Error { fault, line: self.lines + 1 });
        }
        let range = self.start..end;
        let is_whole = found.is_some();
        if !is_whole && (self.input == Input::Open || range.is_empty()) {
            return Ok(None);
        }
        self.lines += 1;
        self.start = end + usize::from(is_whole);
        self.searched = self.start;
        Ok(Some(Line { range, is_whole }))
    }

    fn parse(&self, line: &[u8]) -> Result<Object, Fault> {
        let text = str::from_utf8(line).map_err(|_| Fault::NotUtf8)?;
        match Value::parse(text, self.limits.json_depth) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) => Err(Fault::NotARead { what: "it is not an object" }),
            Err(error) => Err(Fault::NotJson { error }),
        }
    }

    /// The input ended inside a line, as it does if the program that recorded it crashed.
    fn drop_line(&mut self, range: &Range<usize>) {
        let place = Place { at: self.at + range.start as u64, frame: self.lines - 1 };
        let message = format!(
            "line {}: the recording ended inside the line: {} bytes dropped",
            self.lines,
            range.len()
        );
        self.diagnostic = Some(place.notice(Kind::CutRecording, message));
    }
}
