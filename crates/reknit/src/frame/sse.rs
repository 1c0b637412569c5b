//! Server-sent events, as specified in <https://html.spec.whatwg.org/multipage/server-sent-events.html>.

mod line;

use memchr::memchr2;

use super::queue::{Problem, Queue};
use super::utf8::{Lossy, Tally};
use super::{Error, Kind, admit};
use line::{DATA, Field, Part, after_line, is_open_data, line_end, milliseconds};

/// The framer of [`Framing::Sse`](super::Framing::Sse).
///
/// What counts towards the limit: for an event, its lines without the blank one and without comments; for a
/// comment, its line. A line counts as its bytes and one more for the line end, even if that is CRLF.
#[derive(Debug)]
pub(super) struct Sse {
    limit: usize,
    ending: Ending,
    state: State,
    /// The text of [`State::Held`]. It is here so that its memory is reused.
    held: Vec<u8>,
    /// Decodes the text of [`State::Data`].
    lossy: Lossy,
    event: Event,
    /// Lines ignored and invalid bytes read since the last event with data.
    ignored: Tally,
    bad: Tally,
}

/// What happens to an event at the end of the input that is not terminated by a blank line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    /// It is returned if its last line is complete. Recordings often lack the last blank line.
    Lenient,
    /// It is dropped.
    Strict,
}

#[derive(Clone, Copy, Debug)]
enum State {
    LineStart,
    /// At the start of a line, after a CR that ended the piece. It may be half of a CRLF: the line ends either
    /// way, but an LF that follows must be skipped, or it would count as a blank line.
    AfterCr,
    /// In a cut line, which is held as it is until its end arrives.
    Held {
        start: u64,
    },
    /// In a cut line of data, whose text is appended to the open frame as it arrives.
    Data {
        start: u64,
        /// The invalid bytes before this line.
        bad_before: Tally,
    },
}

/// The event that is being read.
#[derive(Debug, Default)]
struct Event {
    /// From its first line to the end of its last.
    start: u64,
    end: u64,
    size: usize,
    data_lines: u64,
    name: String,
    id: String,
    /// Whether `id` has not been queued yet.
    id_changed: bool,
    retry: Option<u64>,
}

impl Event {
    /// Whether it has neither data nor a name.
    fn is_empty(&self) -> bool {
        self.data_lines == 0 && self.name.is_empty()
    }
}

impl Sse {
    pub(super) fn new(limit: usize, ending: Ending) -> Self {
        Self {
            limit,
            ending,
            state: State::LineStart,
            held: Vec::new(),
            lossy: Lossy::default(),
            event: Event::default(),
            ignored: Tally::default(),
            bad: Tally::default(),
        }
    }

    pub(super) fn push(&mut self, piece: &[u8], at: u64, queue: &mut Queue) -> Result<(), Error> {
        // Validating the whole piece as UTF-8 at once is much faster than line by line.
        let piece = Part::new(piece);
        let mut start = match self.state {
            State::LineStart => 0,
            State::AfterCr => usize::from(piece.bytes.first() == Some(&b'\n')),
            State::Held { .. } | State::Data { .. } => match memchr2(b'\n', b'\r', piece.bytes) {
                None => return self.extend(piece, at, queue),
                Some(end) => {
                    self.extend(piece.range(0, end), at, queue)?;
                    self.close_line(at + end as u64, queue)?;
                    after_line(piece.bytes, end)
                }
            },
        };
        while let Some(length) = line_end(&piece.bytes[start..]) {
            self.line(piece.range(start, start + length), at + start as u64, queue)?;
            start = after_line(piece.bytes, start + length);
        }
        if start < piece.bytes.len() {
            return self.open_line(piece.range(start, piece.bytes.len()), at + start as u64, queue);
        }
        match piece.bytes.last() {
            Some(b'\r') => self.state = State::AfterCr,
            Some(_) => self.state = State::LineStart,
            None => {}
        }
        Ok(())
    }

    pub(super) fn finish(&mut self, at: u64, queue: &mut Queue) {
        match self.state {
            State::LineStart | State::AfterCr => self.finish_event(at, queue),
            State::Held { .. } if self.held[0] == b':' => self.finish_event(at, queue),
            // The cut line could not have become a field, so no event is lost with it. It is ignored, as any
            // unknown line is.
            State::Held { start } if self.event.is_empty() && !may_be_field(&self.held) => {
                self.ignored.add(start);
            }
            State::Held { start } | State::Data { start, .. } => self.drop_event(start, at, queue),
        }
        self.report(queue);
    }

    /// Queues the problems since the last event with data, because there will not be another event.
    pub(super) fn report(&mut self, queue: &mut Queue) {
        // How much of a cut line has been read depends on the cuts, and what is reported must not.
        if let State::Data { bad_before, .. } = self.state {
            self.bad = bad_before;
        }
        queue.tallied(&mut self.ignored, Problem::IgnoredLines);
        queue.tallied(&mut self.bad, Problem::InvalidUtf8);
    }

    /// The input ended at `at`, after a complete line.
    fn finish_event(&mut self, at: u64, queue: &mut Queue) {
        match self.ending {
            Ending::Lenient if self.event.data_lines > 0 => {
                queue.problem(Problem::Unterminated { at, lacks: "blank line" });
                self.dispatch(queue);
            }
            // An event with a name was about to have data.
            _ if !self.event.is_empty() => self.drop_event(at, at, queue),
            _ => {}
        }
    }

    /// The input ended at `at`, inside an event whose last line starts at `line`.
    fn drop_event(&mut self, line: u64, at: u64, queue: &mut Queue) {
        let start = if self.event.size == 0 { line } else { self.event.start };
        queue.discard();
        queue.problem(Problem::Dropped { at: start, bytes: at - start });
    }

    /// Takes the first part of a cut line.
    fn open_line(&mut self, part: Part<'_>, at: u64, queue: &mut Queue) -> Result<(), Error> {
        self.held.clear();
        self.state = State::Held { start: at };
        self.extend(part, at, queue)
    }

    /// Takes the next part of the cut line.
    fn extend(&mut self, part: Part<'_>, at: u64, queue: &mut Queue) -> Result<(), Error> {
        match self.state {
            State::LineStart | State::AfterCr => {}
            State::Held { start } => {
                let is_comment = self.held.first().or(part.bytes.first()) == Some(&b':');
                let before = if is_comment { 0 } else { self.event.size };
                admit(part.bytes.len(), self.limit - before - self.held.len(), at, self.limit)?;
                if self.held.is_empty() && is_open_data(part.bytes) {
                    self.open_data(part, start, queue);
                    return Ok(());
                }
                self.held.extend_from_slice(part.bytes);
                if is_open_data(&self.held) {
                    let held = std::mem::take(&mut self.held);
                    self.open_data(Part::new(&held), start, queue);
                    self.held = held;
                }
            }
            State::Data { start, .. } => {
                let before = self.event.size + (at - start) as usize;
                admit(part.bytes.len(), self.limit - before, at, self.limit)?;
                self.append(part, at, queue);
            }
        }
        Ok(())
    }

    /// Starts to append the text of a cut line of data to the open frame.
    fn open_data(&mut self, part: Part<'_>, start: u64, queue: &mut Queue) {
        self.state = State::Data { start, bad_before: self.bad };
        if self.event.data_lines > 0 {
            queue.open().push('\n');
        }
        let value = DATA.len() + usize::from(part.bytes[DATA.len()] == b' ');
        self.append(part.from(value), start + value as u64, queue);
    }

    /// Appends a part of a cut line of data to the open frame.
    #[inline]
    fn append(&mut self, part: Part<'_>, at: u64, queue: &mut Queue) {
        match part.text {
            Some(text) if self.lossy.is_between() => queue.open().push_str(text),
            _ => self.lossy.push(part.bytes, at, queue.open(), &mut self.bad),
        }
    }

    /// Ends the cut line at `end`.
    fn close_line(&mut self, end: u64, queue: &mut Queue) -> Result<(), Error> {
        match self.state {
            State::LineStart | State::AfterCr => Ok(()),
            State::Held { start } => {
                let held = std::mem::take(&mut self.held);
                let result = self.line(Part::new(&held), start, queue);
                self.held = held;
                result
            }
            State::Data { start, .. } => {
                self.admit_line(start, end)?;
                self.lossy.end(end, queue.open(), &mut self.bad);
                self.event.data_lines += 1;
                self.state = State::LineStart;
                Ok(())
            }
        }
    }

    /// Reads a complete line that starts at `at`.
    fn line(&mut self, line: Part<'_>, at: u64, queue: &mut Queue) -> Result<(), Error> {
        match line.bytes {
            [] => {
                self.dispatch(queue);
                Ok(())
            }
            [b':', ..] => self.comment(line, at, queue),
            _ => {
                self.admit_line(at, at + line.bytes.len() as u64)?;
                self.field(line, at, queue);
                Ok(())
            }
        }
    }

    /// Adds a line to the size of the event, if it fits.
    fn admit_line(&mut self, start: u64, end: u64) -> Result<(), Error> {
        let size = (end - start) as usize + 1;
        admit(size, self.limit - self.event.size, start, self.limit)?;
        if self.event.size == 0 {
            self.event.start = start;
        }
        self.event.size += size;
        self.event.end = end;
        Ok(())
    }

    fn field(&mut self, line: Part<'_>, at: u64, queue: &mut Queue) {
        let Some((field, value_at)) = line.field() else { return self.ignored.add(at) };
        let value = line.from(value_at);
        let value_at = at + value_at as u64;
        match field {
            Field::Data => {
                if self.event.data_lines > 0 {
                    queue.open().push('\n');
                }
                self.event.data_lines += 1;
                value.decode(value_at, queue.open(), &mut self.bad);
            }
            Field::Event => {
                self.event.name.clear();
                value.decode(value_at, &mut self.event.name, &mut self.bad);
            }
            Field::Id if value.bytes.contains(&0) => self.ignored.add(at),
            Field::Id => {
                self.event.id.clear();
                self.event.id_changed = true;
                value.decode(value_at, &mut self.event.id, &mut self.bad);
            }
            Field::Retry => match milliseconds(value.bytes) {
                Some(retry) => self.event.retry = Some(retry),
                None => self.ignored.add(at),
            },
        }
    }

    fn comment(&mut self, line: Part<'_>, at: u64, queue: &mut Queue) -> Result<(), Error> {
        let len = line.bytes.len();
        admit(len + 1, self.limit, at, self.limit)?;
        let value_at = if line.bytes.starts_with(b": ") { 2 } else { 1 };
        let value = line.from(value_at);
        let bytes = at..at + len as u64;
        match value.text.or_else(|| str::from_utf8(value.bytes).ok()) {
            Some(text) => queue.comment(bytes, text),
            None => {
                let (mut text, mut bad) = (String::new(), Tally::default());
                value.decode(at + value_at as u64, &mut text, &mut bad);
                queue.tallied(&mut bad, Problem::InvalidUtf8);
                queue.comment(bytes, &text);
            }
        }
        Ok(())
    }

    /// Handles a blank line: queues the event if it has data.
    fn dispatch(&mut self, queue: &mut Queue) {
        let event = &mut self.event;
        if event.id_changed {
            queue.id(&event.id);
            event.id_changed = false;
        }
        if event.data_lines > 0 {
            queue.tallied(&mut self.ignored, Problem::IgnoredLines);
            queue.tallied(&mut self.bad, Problem::InvalidUtf8);
            // Servers send `retry` on its own, without data. It is returned with the next event that has
            // data.
            queue.close_as(event.start..event.end, Kind::Data, &event.name, event.retry.take());
        }
        event.name.clear();
        event.data_lines = 0;
        event.size = 0;
    }
}

/// Whether a line that begins like this can be a field.
fn may_be_field(begun: &[u8]) -> bool {
    let fields: [&[u8]; 4] = [b"data:", b"event:", b"id:", b"retry:"];
    fields.iter().any(|field| field.starts_with(begun) || begun.starts_with(field))
}
