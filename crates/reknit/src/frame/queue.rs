//! What a framer has found and the caller has not taken, and the text of the frame that is still open.

use std::collections::VecDeque;
use std::ops::Range;

use super::utf8::Tally;
use super::{Error, Frame, Kind};
use crate::diagnostic::{self, Diagnostic};

/// Frames and problems in the order of the stream, and their text.
///
/// A problem is queued together with the frame that follows it, or at the end of input. So the caller
/// meets it at the same place whatever the pieces were.
#[derive(Debug, Default)]
pub(super) struct Queue {
    items: VecDeque<Item>,
    /// The data of frames; behind the last one that is queued, that of the open frame.
    data: Arena,
    /// Where the open frame's data starts.
    open: u64,
    /// Event names, ids and comments. Apart from `data`, because a comment may stand between two lines
    /// of one event.
    names: Arena,
    unread: VecDeque<(Problem, u64)>,
    last_id: String,
    returned: u64,
}

/// Something odd, without its words: most are never shown to anyone.
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
        data: Range<u64>,
        event: Range<u64>,
        retry: Option<u64>,
    },
    Comment {
        bytes: Range<u64>,
        text: Range<u64>,
    },
    /// The last event id of the frames behind this.
    Id(Range<u64>),
    Problem(Problem),
    Refused(Error),
}

impl Queue {
    /// The text of the open frame can be appended to this.
    pub(super) fn open(&mut self) -> &mut String {
        &mut self.data.text
    }

    /// The text of the open frame so far.
    pub(super) fn open_text(&self) -> &str {
        &self.data.text[(self.open - self.data.base) as usize..]
    }

    /// Forgets the text of the open frame.
    pub(super) fn discard(&mut self) {
        self.data.text.truncate((self.open - self.data.base) as usize);
    }

    /// Queues the open frame and opens the next.
    pub(super) fn close(&mut self, bytes: Range<u64>) {
        self.close_event(bytes, "", None);
    }

    /// Queues the open frame as an event and opens the next.
    pub(super) fn close_event(&mut self, bytes: Range<u64>, event: &str, retry: Option<u64>) {
        let data = self.open..self.data.end();
        self.open = data.end;
        let event = self.names.push(event);
        self.items.push_back(Item::Frame { bytes, data, event, retry });
    }

    /// Queues a comment; the open frame stays open.
    pub(super) fn comment(&mut self, bytes: Range<u64>, text: &str) {
        let text = self.names.push(text);
        self.items.push_back(Item::Comment { bytes, text });
    }

    /// Sets the last event id of all frames behind this.
    pub(super) fn id(&mut self, id: &str) {
        let id = self.names.push(id);
        self.items.push_back(Item::Id(id));
    }

    /// Queues a problem of the frame that is queued next, or of the end.
    pub(super) fn problem(&mut self, problem: Problem) {
        self.items.push_back(Item::Problem(problem));
    }

    /// Queues `problem` if it happened at all.
    pub(super) fn tallied(&mut self, tally: &mut Tally, problem: fn(Tally) -> Problem) {
        if tally.count > 0 {
            self.problem(problem(std::mem::take(tally)));
        }
    }

    /// Forgets the open frame and queues the error that ends the stream.
    pub(super) fn refuse(&mut self, error: Error) {
        self.discard();
        self.items.push_back(Item::Refused(error));
    }

    /// Frees the text of frames that were taken.
    #[inline]
    pub(super) fn reclaim(&mut self) {
        self.data.reclaim();
        self.names.reclaim();
    }

    /// Asked behind every piece, and most often in vain.
    #[inline]
    pub(super) fn next_frame(&mut self) -> Result<Option<Frame<'_>>, Error> {
        if self.items.is_empty() { Ok(None) } else { self.take_frame() }
    }

    fn take_frame(&mut self) -> Result<Option<Frame<'_>>, Error> {
        while let Some(item) = self.items.pop_front() {
            let (kind, bytes, data, event, retry) = match item {
                Item::Frame { bytes, data, event, retry } => {
                    (Kind::Data, bytes, self.data.take(data), self.names.take(event), retry)
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

    pub(super) fn next_problem(&mut self) -> Option<Diagnostic> {
        let (problem, frame) = self.unread.pop_front()?;
        Some(problem.in_words(frame))
    }

    pub(super) fn last_event_id(&self) -> &str {
        &self.last_id
    }
}

impl Problem {
    fn in_words(self, frame: u64) -> Diagnostic {
        use diagnostic::Kind;
        let (kind, at, message) = match self {
            Self::InvalidUtf8(bad) => {
                let what = counted(bad.count, "invalid byte sequence", "invalid byte sequences");
                (Kind::InvalidUtf8, bad.first, format!("{what} read as U+FFFD"))
            }
            Self::IgnoredLines(lines) => {
                let what = counted(lines.count, "line", "lines");
                (Kind::IgnoredLine, lines.first, format!("{what} ignored: unknown field or invalid value"))
            }
            Self::Unterminated { at, lacks } => {
                (Kind::UnterminatedFrame, at, format!("the input ended without the last {lacks}"))
            }
            Self::Dropped { at, bytes } => {
                let what = counted(bytes, "byte", "bytes");
                (Kind::DroppedFrame, at, format!("the input ended inside the frame: {what} dropped"))
            }
            Self::Trailing { at, bytes } => {
                let what = counted(bytes, "byte", "bytes");
                (Kind::TrailingBytes, at, format!("{what} behind the end of the array dropped"))
            }
        };
        Diagnostic { kind, at, frame, message }
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// How many bytes are worth a move of those behind them.
const RECLAIMED: usize = 1 << 10;

/// Text that is appended at the end and taken from the front, addressed by its place since the start.
#[derive(Debug, Default)]
struct Arena {
    text: String,
    /// The place of the first byte that is still there.
    base: u64,
    /// Up to which place it was taken.
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

    /// Frees what was taken once it is no less than the rest, so that a byte is moved for each one freed;
    /// unless nothing has to be moved, not for every few bytes.
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
