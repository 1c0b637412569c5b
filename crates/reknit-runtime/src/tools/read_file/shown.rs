//! [`Shown`]: what the model gets to see of files.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, BufReader, Read as _};
use std::ops::RangeInclusive;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reknit::agent::Content;
use tokio_util::sync::CancellationToken;

use super::request::Request;
use super::text;
use crate::tool::Failure;
use crate::tools::blocking::stopped;
use crate::tools::excerpt::{self, grouped};

/// How many bytes of text are shown, of all files together.
const BYTES: usize = 100_000;
/// How many characters of a line are shown.
const LINE: usize = 2_000;
/// The bytes of a line that are kept in memory: enough for its characters.
const LINE_BYTES: usize = 4 * LINE + 4;
/// Larger files are not read to the end only to count their lines.
const COUNTED: u64 = 64 << 20;
/// The largest image that providers take.
const IMAGE: u64 = 5 << 20;
/// How much of a file is looked at to see what it is.
const BEGINNING: usize = 8_192;

/// What is shown of files.
pub(super) struct Shown<'a> {
    content: Vec<Content>,
    text: String,
    /// How many bytes were shown so far.
    spent: usize,
    cancel: &'a CancellationToken,
}

impl<'a> Shown<'a> {
    pub(super) fn new(cancel: &'a CancellationToken) -> Self {
        Self { content: Vec::new(), text: String::new(), spent: 0, cancel }
    }

    pub(super) fn finish(mut self) -> Vec<Content> {
        self.flush();
        self.content
    }

    /// Shows why a file cannot be read.
    pub(super) fn error(&mut self, path: &str, failure: &Failure) {
        self.heading(path);
        let _ = writeln!(self.text, "Error: {failure}");
    }

    /// Shows lines of a file, or an image.
    pub(super) fn file(&mut self, request: &Request, file: fs::File) -> Result<(), Failure> {
        let path = &request.path;
        let io = |error: io::Error| Failure::other(format!("`{path}`: reading: {error}"));
        let size = file.metadata().map_err(io)?.len();
        let mut reader = BufReader::with_capacity(64 << 10, file);
        let beginning = reader.fill_buf().map_err(io)?;
        let beginning = &beginning[..beginning.len().min(BEGINNING)];
        if let Some(media_type) = image(beginning) {
            return self.image(path, media_type, size, reader);
        }
        if beginning.contains(&0) {
            return Err(Failure::mistake(format!(
                "`{path}`: a binary file of {} bytes ({}), which cannot be shown as text.",
                grouped(size),
                kind(beginning)
            )));
        }
        self.lines(request, size, Lines { reader, cancel: self.cancel, number: 0, is_crlf: false })
    }

    fn image(
        &mut self,
        path: &str,
        media_type: &str,
        size: u64,
        reader: impl io::Read,
    ) -> Result<(), Failure> {
        let too_large = || {
            let (size, largest) = (grouped(size), grouped(IMAGE));
            Failure::mistake(format!(
                "`{path}`: an image of {size} bytes, and only images of up to {largest} bytes can be shown. Use a \
                 command to make it smaller."
            ))
        };
        let mut bytes = Vec::new();
        let read = reader.take(IMAGE + 1).read_to_end(&mut bytes);
        read.map_err(|error| Failure::other(format!("`{path}`: reading: {error}")))?;
        if bytes.len() as u64 > IMAGE {
            return Err(too_large());
        }
        self.heading(path);
        let _ = writeln!(self.text, "An image ({media_type}, {} bytes):", grouped(size));
        self.flush();
        self.content
            .push(Content::Image { media_type: media_type.to_owned(), data: STANDARD.encode(&bytes) });
        Ok(())
    }

    fn lines(&mut self, request: &Request, size: u64, mut lines: Lines<'_>) -> Result<(), Failure> {
        let path = &request.path;
        let io = |error: io::Error| match error.kind() {
            io::ErrorKind::Interrupted => stopped(),
            _ => Failure::other(format!("`{path}`: reading: {error}")),
        };
        let mut shown = Vec::new();
        let mut next = None;
        for range in &request.ranges {
            while lines.number + 1 < *range.start() && lines.skip().map_err(io)? {}
            let (part, stopped_at) = self.range(range, &mut lines).map_err(io)?;
            shown.extend(part);
            if let Some(line) = stopped_at {
                next = Some(line);
                break;
            }
        }
        let last_wanted = request.ranges.last().map_or(0, |range| *range.end());
        let total = if size <= COUNTED {
            while lines.skip().map_err(io)? {}
            Some(lines.number)
        } else {
            None
        };
        self.heading(path);
        let of = match total {
            Some(total) => format!("of {total}"),
            None => format!("of a file of {} bytes", grouped(size)),
        };
        if size == 0 {
            self.text.push_str("The file is empty.\n");
        } else if shown.is_empty() && next.is_none() {
            let first = request.ranges.first().map_or(1, |range| *range.start());
            let lines = total.map_or_else(|| "fewer".to_owned(), |total| total.to_string());
            let _ = writeln!(self.text, "There is no line {first}: the file has {lines} lines.");
        }
        let ends = if lines.is_crlf { " (CRLF line ends)" } else { "" };
        for Part { range, text } in shown {
            let _ = write!(self.text, "Lines {}-{} {of}{ends}:\n{text}", range.start(), range.end());
        }
        if let Some(next) = next {
            let _ = writeln!(
                self.text,
                "(Not all lines are shown, because a call shows at most {} bytes. To read on, use offset {next}.)",
                grouped(BYTES as u64)
            );
        } else if total.is_none_or(|total| last_wanted < total) {
            let _ = writeln!(self.text, "(To read on, use offset {}.)", last_wanted.saturating_add(1));
        }
        Ok(())
    }

    /// The lines of a range, and the line at which it was cut because too much is shown.
    fn range(
        &mut self,
        range: &RangeInclusive<u64>,
        lines: &mut Lines<'_>,
    ) -> io::Result<(Option<Part>, Option<u64>)> {
        let width = range.end().min(&999_999).to_string().len();
        let mut text = String::new();
        let mut line = Vec::new();
        let mut part = None;
        while lines.number < *range.end() {
            if self.spent >= BYTES {
                return Ok((part.map(|range| Part { range, text }), Some(lines.number + 1)));
            }
            line.clear();
            let Some(length) = lines.next(&mut line)? else { break };
            let number = lines.number;
            let shown = String::from_utf8_lossy(&line);
            let mut shown = excerpt::line(&shown, LINE);
            if length > LINE_BYTES {
                // What was kept of it ends before the line does.
                shown = format!(
                    "{}… (a line of {} bytes)",
                    &shown[..shown.floor_char_boundary(LINE)],
                    grouped(length as u64)
                );
            }
            let before = text.len();
            let _ = writeln!(text, "{number:>width$} | {shown}");
            self.spent += text.len() - before;
            part = Some(part.map_or(number, |range: RangeInclusive<u64>| *range.start())..=number);
        }
        Ok((part.map(|range| Part { range, text }), None))
    }

    fn heading(&mut self, path: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let _ = writeln!(self.text, "File: {path}");
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.content.push(text(std::mem::take(&mut self.text)));
        }
    }
}

/// Lines that follow each other.
struct Part {
    range: RangeInclusive<u64>,
    text: String,
}

/// The lines of a file, of which only those that are wanted are kept, and of those only a part.
struct Lines<'a> {
    reader: BufReader<fs::File>,
    cancel: &'a CancellationToken,
    /// How many lines were read.
    number: u64,
    /// Whether a line that was shown ends with CRLF.
    is_crlf: bool,
}

impl Lines<'_> {
    /// Reads a line without its end; its length in bytes. `None` at the end of the file.
    fn next(&mut self, line: &mut Vec<u8>) -> io::Result<Option<usize>> {
        let keep = |bytes: &[u8]| {
            let room = LINE_BYTES - line.len();
            line.extend_from_slice(&bytes[..bytes.len().min(room)]);
        };
        let Some(length) = self.read(keep)? else { return Ok(None) };
        if length <= LINE_BYTES {
            for end in [b'\n', b'\r'] {
                if line.last() == Some(&end) {
                    self.is_crlf |= end == b'\r';
                    line.pop();
                }
            }
        }
        Ok(Some(length))
    }

    /// Reads a line and forgets it; whether there was one.
    fn skip(&mut self) -> io::Result<bool> {
        Ok(self.read(|_| {})?.is_some())
    }

    fn read(&mut self, mut take: impl FnMut(&[u8])) -> io::Result<Option<usize>> {
        let mut length = 0;
        loop {
            if self.cancel.is_cancelled() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let bytes = self.reader.fill_buf()?;
            if bytes.is_empty() {
                self.number += u64::from(length > 0);
                return Ok((length > 0).then_some(length));
            }
            let end = bytes.iter().position(|&byte| byte == b'\n').map(|at| at + 1);
            let bytes = &bytes[..end.unwrap_or(bytes.len())];
            take(bytes);
            let taken = bytes.len();
            self.reader.consume(taken);
            length += taken;
            if end.is_some() {
                self.number += 1;
                return Ok(Some(length));
            }
        }
    }
}

/// The media type of an image that providers take, by its first bytes.
fn image(beginning: &[u8]) -> Option<&'static str> {
    match beginning {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// What a binary file is, by its first bytes.
fn kind(beginning: &[u8]) -> &'static str {
    match beginning {
        [0x7f, b'E', b'L', b'F', ..] => "an ELF program or library",
        [b'P', b'K', 3, 4, ..] => "a ZIP archive or a document in one",
        [0x1f, 0x8b, ..] => "compressed with gzip",
        [b'%', b'P', b'D', b'F', ..] => "a PDF document",
        [b'S', b'Q', b'L', b'i', b't', b'e', ..] => "a SQLite database",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16 text, which `iconv` can convert",
        _ => "of an unknown kind",
    }
}
