//! What a framer has found and the caller has not taken yet, and the text of the frame that is still open.

use std::collections::VecDeque;
use std::ops::Range;

use super::utf8::Tally;
use super::{Error, Frame, Kind};
use crate::diagnostic::{self, Diagnostic, Place, counted};

/// Frames and problems in stream order, and their text.
///
/// A problem is queued right before the frame that it belongs to, or at the end of the input. The caller
/// thus sees it at the same point however the input was cut.
#[derive(Debug, Default)]
pub(super) struct Queue {
    items: VecDeque<Item>,
    /// The data of the queued frames, followed by that of the open frame.
    data: Arena,
    /// Where the data of the open frame starts.
    open: u64,
    /// Event names, ids and comments. They are not in `data` because a comment may occur between two lines
    /// of one event.
    names: Arena,
    /// Problems whose turn has come, each with the number of its frame.
    unread: VecDeque<(Problem, u64)>,
    last_id: String,
    /// How many frames have been returned.
    returned: u64,
}

/// Something odd. It is put into words only when it is asked for, because most are never shown.
#[derive(Debug)]
pub(super) enum Problem {
    InvalidUtf8(Tally),
    IgnoredLines(Tally),
    Unterminated { at: u64, lacks: &'static str },
    Dropped { at: u64, bytes: u64 },
    Trailing { at: u64, bytes: u64 },
}

#[derive(Debug)]
enum Item {
    Frame {
        bytes: Range<u64>,
        kind: Kind,
        data: Range<u64>,
        event: Range<u64>,
        retry: Option<u64>,
    },
    Comment {
        bytes: Range<u64>,
        text: Range<u64>,
    },
    /// The last event id of the frames after this.
    Id(Range<u64>),
    Problem(Problem),
    Refused(Error),
}

impl Queue {
    /// The string to append the text of the open frame to.
    pub(super) fn open(&mut self) -> &mut String {
        &mut self.data.text
    }

    /// The text of the open frame so far.
    pub(super) fn open_text(&self) -> &str {
        &self.data.text[(self.open - self.data.base) as usize..]
    }

    /// Discards the text of the open frame.
    pub(super) fn discard(&mut self) {
        self.data.text.truncate((self.open - self.data.base) as usize);
    }

    /// Queues the open frame, which is nothing but data, and opens the next.
    pub(super) fn close(&mut self, bytes: Range<u64>) {
        self.close_as(bytes, Kind::Data, "", None);
    }

    /// Queues the open frame and opens the next.
    pub(super) fn close_as(&mut self, bytes: Range<u64>, kind: Kind, event: &str, retry: Option<u64>) {
        let data = self.open..self.data.end();
        self.open = data.end;
        let event = self.names.push(event);
        self.items.push_back(Item::Frame { bytes, kind, data, event, retry });
    }

    /// Queues a comment. The open frame stays open.
    pub(super) fn comment(&mut self, bytes: Range<u64>, text: &str) {
        let text = self.names.push(text);
        self.items.push_back(Item::Comment { bytes, text });
    }

    /// Sets the last event id of all frames after this.
    pub(super) fn id(&mut self, id: &str) {
        let id = self.names.push(id);
        self.items.push_back(Item::Id(id));
    }

    /// Queues a problem with the frame that is queued next, or with the end of the input.
    pub(super) fn problem(&mut self, problem: Problem) {
        self.items.push_back(Item::Problem(problem));
    }

    /// Queues `problem` if it occurred at all, and resets its tally.
    pub(super) fn tallied(&mut self, tally: &mut Tally, problem: fn(Tally) -> Problem) {
        if tally.count > 0 {
            self.problem(problem(std::mem::take(tally)));
        }
    }

    /// Discards the open frame and queues the error that ends the stream.
    pub(super) fn refuse(&mut self, error: Error) {
        self.discard();
        self.items.push_back(Item::Refused(error));
    }

    /// Frees the text of frames that have been taken.
    #[inline]
    pub(super) fn reclaim(&mut self) {
        self.data.reclaim();
        self.names.reclaim();
    }

    /// Callers ask after every piece, and usually there is nothing, so that case is inlined.
    #[inline]
    pub(super) fn next_frame(&mut self) -> Result<Option<Frame<'_>>, Error> {
        if self.items.is_empty() { Ok(None) } else { self.take_frame() }
    }

    fn take_frame(&mut self) -> Result<Option<Frame<'_>>, Error> {
        while let Some(item) = self.items.pop_front() {
            let (kind, bytes, data, event, retry) = match item {
                Item::Frame { bytes, kind, data, event, retry } => {
                    (kind, bytes, self.data.take(data), self.names.take(event), retry)
                }
                Item::Comment { bytes, text } => (Kind::Comment, bytes, self.names.take(text), "", None),
                Item::Id(id) => {
                    self.last_id.clear();
                    self.last_id.push_str(self.names.take(id));
                    continue;
                }
                Item::Problem(problem) => {
                    self.unread.push_back((problem, self.returned));
                    continue;
                }
                Item::Refused(error) => return Err(error),
            };
            let number = self.returned;
            self.returned += 1;
            return Ok(Some(Frame { number, bytes, kind, event, data, id: &self.last_id, retry }));
        }
        Ok(None)
    }

    pub(super) fn next_diagnostic(&mut self) -> Option<Diagnostic> {
        let (problem, frame) = self.unread.pop_front()?;
        Some(problem.in_words(frame))
    }
}

impl Problem {
    fn in_words(self, frame: u64) -> Diagnostic {
        use diagnostic::Kind;
        let (kind, at, message) = match self {
            Self::InvalidUtf8(bad) => {
                let what = counted(bad.count, "invalid byte sequence");
                (Kind::InvalidUtf8, bad.first, format!("{what} read as U+FFFD"))
            }
            Self::IgnoredLines(lines) => {
                let what = counted(lines.count, "line");
                (Kind::IgnoredLine, lines.first, format!("{what} ignored: unknown field or invalid value"))
            }
            Self::Unterminated { at, lacks } => {
                (Kind::UnterminatedFrame, at, format!("the input ended without the last {lacks}"))
            }
            Self::Dropped { at, bytes } => {
                let what = counted(bytes, "byte");
                (Kind::DroppedFrame, at, format!("the input ended inside the frame: {what} dropped"))
            }
            Self::Trailing { at, bytes } => {
                let what = counted(bytes, "byte");
                (Kind::TrailingBytes, at, format!("{what} after the end of the array dropped"))
            }
        };
        Place { at, frame }.notice(kind, message)
    }
}

/// Fewer bytes than this are not worth moving the bytes after them.
const RECLAIMED: usize = 1 << 10;

/// Text that is appended to at the end and taken from at the front. Positions count from the first byte ever
/// appended.
#[derive(Debug, Default)]
struct Arena {
    text: String,
    /// The position of the first byte that has not been freed.
    base: u64,
    /// The position up to which it has been taken.
    taken: u64,
}

impl Arena {
    fn end(&self) -> u64 {
        self.base + self.text.len() as u64
    }

    fn push(&mut self, text: &str) -> Range<u64> {
        let start = self.end();
        self.text.push_str(text);
        start..self.end()
    }

    fn take(&mut self, range: Range<u64>) -> &str {
        self.taken = range.end;
        &self.text[(range.start - self.base) as usize..(range.end - self.base) as usize]
    }

    /// Frees what has been taken if nothing has to be moved for it, or if it is at least as long as the rest and
    /// not too short. So at most one byte is moved for each byte freed.
    #[inline]
    fn reclaim(&mut self) {
        let taken = (self.taken - self.base) as usize;
        let rest = self.text.len() - taken;
        if taken > 0 && (rest == 0 || taken >= rest.max(RECLAIMED)) {
            self.text.drain(..taken);
            self.base = self.taken;
        }
    }
}
