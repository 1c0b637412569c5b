//! [`SpanKind`]: what the stretches of a text are.

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

/// Kept small: there are several for each marker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) end: usize,
    /// The block it is of, if it is of one; there are never more than the text has bytes.
    block: u32,
    kind: Stretch,
}

/// [`SpanKind`] without its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stretch {
    Text,
    Thinking,
    Value,
    Markup,
    Blank,
    Dropped,
}

impl Span {
    pub(super) fn new(kind: SpanKind, end: usize) -> Self {
        let (kind, block) = match kind {
            SpanKind::Text(block) => (Stretch::Text, block),
            SpanKind::Thinking(block) => (Stretch::Thinking, block),
            SpanKind::Value(block) => (Stretch::Value, block),
            SpanKind::Markup => (Stretch::Markup, 0),
            SpanKind::Blank => (Stretch::Blank, 0),
            SpanKind::Dropped => (Stretch::Dropped, 0),
        };
        Self { end, block: u32::try_from(block).unwrap_or(u32::MAX), kind }
    }

    /// Whether it is of the same kind and of the same block.
    pub(super) fn is_like(self, other: Self) -> bool {
        (self.kind, self.block) == (other.kind, other.block)
    }

    pub(super) fn kind(self) -> SpanKind {
        let block = self.block as usize;
        match self.kind {
            Stretch::Text => SpanKind::Text(block),
            Stretch::Thinking => SpanKind::Thinking(block),
            Stretch::Value => SpanKind::Value(block),
            Stretch::Markup => SpanKind::Markup,
            Stretch::Blank => SpanKind::Blank,
            Stretch::Dropped => SpanKind::Dropped,
        }
    }
}
