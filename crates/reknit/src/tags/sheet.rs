//! [`Sheet`]: the one owned text, and what has been decided of it.

use std::mem;
use std::ops::Range;

use super::blank::{first_solid, last_solid};
use super::call::{CallData, Input, ParamData};
use super::grammar::TextRule;
use super::utf8::Utf8;
use crate::diagnostic::{Diagnostic, Kind, Place};
use crate::json::{self, PartialJson, Value};
use crate::message::CallEnd;

/// The text so far, cut into spans, and the blocks that the spans make.
///
/// A span is laid when it is decided and is never taken up again. Spans lie end to end, so whatever a
/// machine does, every byte before [`decided`](Self::decided) is accounted for.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    pub(super) text: String,
    /// Nothing follows the text.
    pub(super) over: bool,
    pub(super) blocks: Vec<BlockData>,
    calls: usize,
    /// Whether thinking was opened.
    pub(super) thought: bool,
    pub(super) changes: Vec<Change>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) diagnostics_omitted: usize,
    diagnostics_kept: usize,
    /// How many bytes of the text are not of the input, but were put before it.
    pub(super) prefix: usize,
    pub(super) utf8: Utf8,
    spans: Vec<Span>,
    rule: TextRule,
    run: Option<Run>,
}

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
struct Span {
    end: usize,
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
    fn new(kind: SpanKind, end: usize) -> Self {
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

    fn kind(self) -> SpanKind {
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

#[derive(Clone, Debug)]
pub(super) enum BlockData {
    Text { range: Range<usize>, closed: bool },
    Thinking { range: Range<usize>, closed: bool },
    Call(CallData),
}

/// What a piece changed; what a range names is in [`Parser::text`](super::Parser::text).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A block has come.
    Opened {
        /// Its index.
        block: usize,
    },
    /// A text or thinking block has got longer.
    Grew {
        /// Its index.
        block: usize,
        /// Where in the text the new part starts.
        from: usize,
        /// Where it ends.
        to: usize,
    },
    /// A parameter of a call has come, empty.
    ParamOpened {
        /// The index of the call.
        block: usize,
        /// The number of the parameter in the call.
        param: usize,
    },
    /// A parameter of a call has got longer.
    ParamGrew {
        /// The index of the call.
        block: usize,
        /// The number of the parameter in the call.
        param: usize,
        /// Where in the parameter's value the new part starts.
        from: usize,
        /// Where it ends.
        to: usize,
    },
    /// A parameter of a call is whole.
    ParamClosed {
        /// The index of the call.
        block: usize,
        /// The number of the parameter in the call.
        param: usize,
    },
    /// The JSON text of a call's arguments has got longer; see [`Call::args_text`](super::Call::args_text).
    ArgsGrew {
        /// The index of the call.
        block: usize,
        /// Where in that text the new part starts.
        from: usize,
        /// Where it ends.
        to: usize,
    },
    /// A block is over.
    Closed {
        /// Its index.
        block: usize,
    },
}

/// Text or thinking that is open.
#[derive(Clone, Copy, Debug)]
struct Run {
    kind: RunKind,
    /// Nothing but blanks has come if there is no start.
    start: Option<usize>,
    /// The end of what was looked at for blanks.
    seen: usize,
}

/// What a stretch of prose becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunKind {
    Text,
    Thinking,
    Dropped(Dropped),
}

/// Why prose is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dropped {
    /// It stands behind a call.
    BehindCall,
    /// It stands inside a call, beside its parameters.
    InCall,
    /// The profile shows no thinking.
    Thinking,
}

impl Sheet {
    pub(super) fn new(prefix: &str, rule: TextRule, diagnostics_kept: usize) -> Self {
        Self {
            text: prefix.to_owned(),
            over: false,
            blocks: Vec::new(),
            calls: 0,
            thought: false,
            changes: Vec::new(),
            diagnostics: Vec::new(),
            diagnostics_omitted: 0,
            diagnostics_kept,
            prefix: prefix.len(),
            utf8: Utf8::default(),
            spans: Vec::new(),
            rule,
            run: None,
        }
    }

    /// Up to where the text is decided.
    #[inline]
    pub(super) fn decided(&self) -> usize {
        self.spans.last().map_or(0, |span| span.end)
    }

    /// The spans with their ranges, end to end.
    pub(super) fn spans(&self) -> impl Iterator<Item = (SpanKind, Range<usize>)> {
        let starts = std::iter::once(0).chain(self.spans.iter().map(|span| span.end));
        starts.zip(&self.spans).map(|(start, span)| (span.kind(), start..span.end))
    }

    /// Decides everything up to `end`.
    #[inline]
    pub(super) fn lay(&mut self, kind: SpanKind, end: usize) {
        let decided = self.decided();
        debug_assert!(end >= decided, "a span is laid behind the last one");
        let span = Span::new(kind, end);
        match self.spans.last_mut() {
            Some(last) if (last.kind, last.block) == (span.kind, span.block) => last.end = end,
            _ if end > decided => self.spans.push(span),
            _ => {}
        }
    }

    pub(super) fn note(&mut self, kind: Kind, at: usize, message: impl Into<String>) {
        if self.diagnostics.len() == self.diagnostics_kept {
            self.diagnostics_omitted += 1;
            return;
        }
        let at = self.utf8.input_byte(at.saturating_sub(self.prefix)) as u64;
        self.diagnostics.push(Place { at, frame: 0 }.notice(kind, message));
    }

    pub(super) fn open_call(&mut self, call: CallData) -> usize {
        self.calls += 1;
        if !call.known {
            let name = call.name.of(&self.text).to_owned();
            self.note(Kind::UnknownTool, call.range.start, format!("no tool `{name}` was given"));
        }
        self.blocks.push(BlockData::Call(call));
        let block = self.blocks.len() - 1;
        self.changes.push(Change::Opened { block });
        block
    }

    pub(super) fn call(&mut self, block: usize) -> &mut CallData {
        match &mut self.blocks[block] {
            BlockData::Call(call) => call,
            BlockData::Text { .. } | BlockData::Thinking { .. } => unreachable!("the block is a call"),
        }
    }

    /// The tool of a call.
    pub(super) fn call_name(&self, block: usize) -> &str {
        match &self.blocks[block] {
            BlockData::Call(call) => call.name.of(&self.text),
            BlockData::Text { .. } | BlockData::Thinking { .. } => "",
        }
    }

    /// The parameters of a call.
    pub(super) fn params(&self, block: usize) -> &[ParamData] {
        match &self.blocks[block] {
            BlockData::Call(CallData { input: Input::Params(params), .. }) => &params.list,
            _ => &[],
        }
    }

    pub(super) fn params_mut(&mut self, block: usize) -> &mut Vec<ParamData> {
        match &mut self.call(block).input {
            Input::Params(params) => &mut params.list,
            Input::Json(_) => unreachable!("the call has parameters"),
        }
    }

    /// The last parameter of this name in a call.
    pub(super) fn param_named(&self, block: usize, name: &str) -> Option<usize> {
        match &self.blocks[block] {
            BlockData::Call(CallData { input: Input::Params(params), .. }) => params.last(&self.text, name),
            _ => None,
        }
    }

    pub(super) fn push_param(&mut self, block: usize, param: ParamData) {
        let Self { blocks, text, .. } = self;
        if let BlockData::Call(CallData { input: Input::Params(params), .. }) = &mut blocks[block] {
            params.push(text, param);
        }
    }

    /// Where a call starts in the text.
    pub(super) fn call_start(&self, block: usize) -> usize {
        match &self.blocks[block] {
            BlockData::Call(call) => call.range.start,
            BlockData::Text { range, .. } | BlockData::Thinking { range, .. } => range.start,
        }
    }

    /// Works on the JSON of a call with the text at hand.
    pub(super) fn with_json<T>(&mut self, block: usize, work: impl FnOnce(&str, &mut PartialJson) -> T) -> T {
        let text = mem::take(&mut self.text);
        let result = match &mut self.call(block).input {
            Input::Json(json) => work(&text, json),
            Input::Params(_) => unreachable!("the call has JSON"),
        };
        self.text = text;
        result
    }

    /// The JSON text of a call's arguments, which starts at `start`, is there up to `to`.
    pub(super) fn args_grew(&mut self, block: usize, start: usize, to: usize) {
        let from = self.decided().max(start);
        if to <= from {
            return;
        }
        self.lay(SpanKind::Value(block), to);
        self.call(block).written = Some(start..to);
        let (from, to) = (from - start, to - start);
        match self.changes.last_mut() {
            Some(Change::ArgsGrew { block: last, to: end, .. }) if *last == block && *end == from => {
                *end = to;
            }
            _ => self.changes.push(Change::ArgsGrew { block, from, to }),
        }
    }

    /// Adds to the JSON of a call what was written of it.
    pub(super) fn push_json(&mut self, block: usize, json: &str) -> Result<(), json::Error> {
        if json.is_empty() {
            return Ok(());
        }
        let (from, pushed) = self.with_json(block, |_, held| (held.raw().len(), held.push(json)));
        let to = from + json.len();
        match self.changes.last_mut() {
            Some(Change::ArgsGrew { block: last, to: end, .. }) if *last == block => *end = to,
            _ => self.changes.push(Change::ArgsGrew { block, from, to }),
        }
        pushed
    }

    /// The JSON of a call is whole: whether it is arguments.
    ///
    /// None at all are no arguments, and some models write the object into a string.
    pub(super) fn settle_json(&mut self, block: usize) -> CallEnd {
        let depth = crate::Limits::default().json_depth;
        let settled = self.with_json(block, |_, json| {
            let text = match json.value() {
                Some(Value::Object(_)) => return CallEnd::Closed,
                None | Some(Value::Null) => "{}".into(),
                Some(Value::String(text)) => text.to_str().into_owned(),
                Some(_) => return CallEnd::Malformed,
            };
            let mut inner = PartialJson::with_depth(depth);
            match inner.push(&text).and_then(|()| inner.check()) {
                Ok(()) if matches!(inner.value(), Some(Value::Object(_))) => {
                    *json = inner;
                    CallEnd::Closed
                }
                _ => CallEnd::Malformed,
            }
        });
        if settled == CallEnd::Malformed {
            let at = self.call_start(block);
            self.note(Kind::MalformedArguments, at, "the arguments of a call are no object");
        }
        settled
    }

    /// A call ends at `at`.
    pub(super) fn end_call(&mut self, block: usize, end: CallEnd, at: usize) {
        let call = self.call(block);
        call.range.end = at;
        call.end = Some(end);
        self.changes.push(Change::Closed { block });
    }

    /// The text ends inside the call `open`, or behind one that is whole.
    pub(super) fn cut_call(&mut self, open: Option<usize>) {
        let end = self.text.len();
        if let Some(block) = open {
            self.lay(SpanKind::Value(block), end);
            self.end_call(block, CallEnd::Cut, end);
        }
        self.lay(SpanKind::Blank, end);
    }

    /// Whether a call has come.
    #[inline]
    pub(super) fn has_calls(&self) -> bool {
        self.calls > 0
    }

    /// Whether nothing but blanks is undecided up to `at`, and no prose is open.
    pub(super) fn is_blank_to(&self, at: usize) -> bool {
        self.run.is_none_or(|run| run.start.is_none())
            && first_solid(&self.text[self.decided()..at]).is_none()
    }

    /// Everything that is not decided up to `to` is prose of this kind.
    #[inline]
    pub(super) fn prose(&mut self, kind: RunKind, to: usize) {
        let decided = self.decided();
        let run = self.run.get_or_insert(Run { kind, start: None, seen: decided });
        debug_assert_eq!(run.kind, kind, "prose ends before prose of another kind starts");
        let kept = self.rule == TextRule::Keep && kind == RunKind::Text;
        let from = run.seen.max(decided);
        run.seen = to;
        if from >= to {
            return;
        }
        if run.start.is_none() {
            let solid = if kept { Some(0) } else { first_solid(&self.text[from..to]) };
            let Some(solid) = solid else { return };
            run.start = Some(from + solid);
            self.lay(SpanKind::Blank, from + solid);
            self.open_run(kind, from + solid);
        }
        let end = if kept { Some(to) } else { last_solid(&self.text[from..to]).map(|end| from + end) };
        if let Some(end) = end {
            self.grow_run(kind, end);
        }
    }

    /// Ends the text or thinking at `at`, where something else starts.
    pub(super) fn end_prose(&mut self, at: usize) {
        let empty = self.rule == TextRule::KeepEmpty && self.run.is_none_or(|run| run.start.is_none());
        self.end_stray(at);
        if empty && let Some(block) = self.empty_text() {
            self.close_text(block);
        }
    }

    /// Ends what is dropped at `at`, where something else starts.
    pub(super) fn end_stray(&mut self, at: usize) {
        if let Some(Run { kind, start: Some(start), .. }) = self.run.take() {
            self.close_run(kind, start);
        }
        self.lay(SpanKind::Blank, at);
    }

    /// The text ends inside prose.
    pub(super) fn cut_prose(&mut self) {
        let end = self.text.len();
        if let Some(Run { kind: kind @ RunKind::Dropped(_), start: Some(start), .. }) = self.run.take() {
            self.close_run(kind, start);
        } else if self.rule == TextRule::KeepEmpty && self.decided() < end {
            self.empty_text();
        }
        self.lay(SpanKind::Blank, end);
    }

    /// A text without a character, unless one stands there already.
    fn empty_text(&mut self) -> Option<usize> {
        if matches!(self.blocks.last(), Some(BlockData::Text { .. })) {
            return None;
        }
        self.open_run(RunKind::Text, self.decided());
        Some(self.blocks.len() - 1)
    }

    fn close_text(&mut self, block: usize) {
        if let BlockData::Text { closed, .. } = &mut self.blocks[block] {
            *closed = true;
        }
        self.changes.push(Change::Closed { block });
    }

    fn open_run(&mut self, kind: RunKind, at: usize) {
        let block = match kind {
            RunKind::Text => BlockData::Text { range: at..at, closed: false },
            RunKind::Thinking => BlockData::Thinking { range: at..at, closed: false },
            RunKind::Dropped(_) => return,
        };
        self.blocks.push(block);
        self.changes.push(Change::Opened { block: self.blocks.len() - 1 });
    }

    #[inline]
    fn grow_run(&mut self, kind: RunKind, to: usize) {
        let block = self.blocks.len().wrapping_sub(1);
        let from = self.decided();
        match kind {
            RunKind::Text => self.lay(SpanKind::Text(block), to),
            RunKind::Thinking => self.lay(SpanKind::Thinking(block), to),
            RunKind::Dropped(_) => return self.lay(SpanKind::Dropped, to),
        }
        if let Some(BlockData::Text { range, .. } | BlockData::Thinking { range, .. }) =
            self.blocks.last_mut()
        {
            range.end = to;
        }
        match self.changes.last_mut() {
            Some(Change::Grew { block: last, to: end, .. }) if *last == block && *end == from => *end = to,
            _ => self.changes.push(Change::Grew { block, from, to }),
        }
    }

    fn close_run(&mut self, kind: RunKind, start: usize) {
        let length = self.decided() - start;
        match (kind, self.blocks.last_mut()) {
            (RunKind::Dropped(why), _) => {
                let (kind, what) = match why {
                    Dropped::BehindCall => (Kind::DroppedText, "of text behind a call dropped"),
                    Dropped::InCall => (Kind::StrayText, "of no parameter dropped inside a call"),
                    Dropped::Thinking => (Kind::DroppedText, "of thinking not shown by this profile"),
                };
                let bytes = if length == 1 { "byte" } else { "bytes" };
                self.note(kind, start, format!("{length} {bytes} {what}"));
            }
            (_, Some(BlockData::Text { closed, .. } | BlockData::Thinking { closed, .. })) => {
                *closed = true;
                self.changes.push(Change::Closed { block: self.blocks.len() - 1 });
            }
            (_, Some(BlockData::Call(_)) | None) => unreachable!("an open run is the last block"),
        }
    }
}
