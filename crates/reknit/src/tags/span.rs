//! [`SpanKind`]: what the stretches of a text are.

use std::ops::Range;

/// What a stretch of the text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Text of the block with this index.
    Text(usize),
    /// Thinking of the block with this index.
    Thinking(usize),
    /// A value, or a part of the arguments, of the call with this index.
    Value(usize),
    /// A marker.
    Markup,
    /// Blanks that belong to nothing.
    Blank,
    /// Dropped; a diagnostic says so.
    Dropped,
}

/// A stretch of the text, kept small: there are several for each call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    start: u32,
    end: u32,
}

impl Stretch {
    #[inline]
    pub(super) fn range(self) -> Range<usize> {
        self.start()..self.end as usize
    }

    #[inline]
    pub(super) fn start(self) -> usize {
        self.start as usize
    }

    #[inline]
    pub(super) fn end_at(&mut self, end: usize) {
        self.end = end as u32;
    }
}

impl From<Range<usize>> for Stretch {
    /// Both ends fit: a text has at most [`MOST`](super::MOST) bytes.
    #[inline]
    fn from(range: Range<usize>) -> Self {
        Self { start: range.start as u32, end: range.end as u32 }
    }
}

/// Kept small and quick to compare: there are several for each marker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// It ends where the next one starts, and the last one where the text is not decided any more.
    start: u32,
    /// The block it is of, if it is of one, and in the lowest bits what it is of it.
    what: u32,
}

const KIND_BITS: u32 = 3;
const MARKUP: u32 = 0;
const BLANK: u32 = 1;
const DROPPED: u32 = 2;
const TEXT: u32 = 3;
const THINKING: u32 = 4;
const VALUE: u32 = 5;

impl Span {
    /// Both numbers fit: a text has at most [`MOST`](super::MOST) bytes, and fewer blocks than these.
    #[inline]
    pub(super) fn new(kind: SpanKind, start: usize) -> Self {
        let of = |block: usize, kind| (block as u32) << KIND_BITS | kind;
        let what = match kind {
            SpanKind::Text(block) => of(block, TEXT),
            SpanKind::Thinking(block) => of(block, THINKING),
            SpanKind::Value(block) => of(block, VALUE),
            SpanKind::Markup => MARKUP,
            SpanKind::Blank => BLANK,
            SpanKind::Dropped => DROPPED,
        };
        Self { start: start as u32, what }
    }

    pub(super) fn start(self) -> usize {
        self.start as usize
    }

    /// Whether it is of the same kind and of the same block.
    #[inline]
    pub(super) fn is_like(self, other: Self) -> bool {
        self.what == other.what
    }

    pub(super) fn kind(self) -> SpanKind {
        let block = (self.what >> KIND_BITS) as usize;
        match self.what & ((1 << KIND_BITS) - 1) {
            TEXT => SpanKind::Text(block),
            THINKING => SpanKind::Thinking(block),
            VALUE => SpanKind::Value(block),
            MARKUP => SpanKind::Markup,
            BLANK => SpanKind::Blank,
            _ => SpanKind::Dropped,
        }
    }
}
