//! [`SpanKind`]: what each part of a text is.

use std::ops::Range;

/// What a part of the text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpanKind {
    /// Text of the block with this index.
    Text(usize),
    /// Thinking of the block with this index.
    Thinking(usize),
    /// A value or a part of the arguments of the call with this index.
    Value(usize),
    /// A marker.
    Markup,
    /// Whitespace that belongs to no block.
    Whitespace,
    /// Dropped; a diagnostic reports it.
    Dropped,
}

/// A range of the text in half the size of a [`Range`]: there are several for each call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SmallRange {
    start: u32,
    end: u32,
}

impl SmallRange {
    #[inline]
    pub(super) fn range(self) -> Range<usize> {
        self.start()..self.end as usize
    }

    #[inline]
    pub(super) fn start(self) -> usize {
        self.start as usize
    }

    #[inline]
    pub(super) fn set_end(&mut self, end: usize) {
        self.end = end as u32;
    }
}

impl From<Range<usize>> for SmallRange {
    /// Neither end is truncated: a text has at most [`MAX_TEXT_BYTES`](super::MAX_TEXT_BYTES) bytes.
    #[inline]
    fn from(range: Range<usize>) -> Self {
        Self { start: range.start as u32, end: range.end as u32 }
    }
}

/// The start and kind of a part of the text. Small and fast to compare, because there are several for each
/// marker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// It ends where the next one starts; the last one ends where the text is still undecided.
    start: u32,
    /// The index of its block, if it belongs to one, and in the lowest bits its kind.
    what: u32,
}

const KIND_BITS: u32 = 3;
const MARKUP: u32 = 0;
const WHITESPACE: u32 = 1;
const DROPPED: u32 = 2;
const TEXT: u32 = 3;
const THINKING: u32 = 4;
const VALUE: u32 = 5;

impl Span {
    /// No number is truncated: a text has at most [`MAX_TEXT_BYTES`](super::MAX_TEXT_BYTES) bytes and fewer
    /// blocks.
    #[inline]
    pub(super) fn new(kind: SpanKind, start: usize) -> Self {
        let of = |block: usize, kind| (block as u32) << KIND_BITS | kind;
        let what = match kind {
            SpanKind::Text(block) => of(block, TEXT),
            SpanKind::Thinking(block) => of(block, THINKING),
            SpanKind::Value(block) => of(block, VALUE),
            SpanKind::Markup => MARKUP,
            SpanKind::Whitespace => WHITESPACE,
            SpanKind::Dropped => DROPPED,
        };
        Self { start: start as u32, what }
    }

    pub(super) fn start(self) -> usize {
        self.start as usize
    }

    /// Whether it has the same kind and belongs to the same block.
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
            WHITESPACE => SpanKind::Whitespace,
            _ => SpanKind::Dropped,
        }
    }
}
