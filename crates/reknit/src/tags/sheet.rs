//! [`Sheet`]: the one owned text, and what has been decided of it.

use std::mem;
use std::ops::Range;

use super::blank::{first_solid, last_solid};
use super::call::{CallData, Input};
use super::change::Change;
use super::changes::Changes;
use super::grammar::TextRule;
use super::params::{ParamData, Params};
use super::span::{Span, SpanKind, Stretch};
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
    pub(super) calls: Vec<CallData>,
    /// The parameters of all calls; each call knows which are its own.
    pub(super) params: Vec<ParamData>,
    /// Whether thinking was opened.
    pub(super) thought: bool,
    pub(super) changes: Changes,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) diagnostics_omitted: usize,
    diagnostics_kept: usize,
    /// How many bytes of the text are not of the input, but were put before it.
    pub(super) prefix: usize,
    pub(super) utf8: Utf8,
    spans: Vec<Span>,
    /// Where the last span ends.
    decided: usize,
    rule: TextRule,
    run: Option<Run>,
}

/// The range of a text or of thinking that is open has no end yet; see [`Sheet::block_range`].
#[derive(Clone, Debug)]
pub(super) enum BlockData {
    Text {
        range: Stretch,
        closed: bool,
    },
    Thinking {
        range: Stretch,
        closed: bool,
    },
    /// The call with this number; there is more to one than to a text.
    Call(usize),
}

/// Text or thinking that is open.
#[derive(Clone, Copy, Debug)]
struct Run {
    kind: RunKind,
    /// Nothing but blanks has come if there is no start.
    start: Option<usize>,
    /// The end of what was looked at for blanks.
    seen: usize,
    /// Its span is laid, and gets longer with what is decided.
    laid: bool,
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
            calls: Vec::new(),
            params: Vec::new(),
            thought: false,
            changes: Changes::default(),
            diagnostics: Vec::new(),
            diagnostics_omitted: 0,
            diagnostics_kept,
            prefix: prefix.len(),
            utf8: Utf8::default(),
            spans: Vec::new(),
            decided: 0,
            rule,
            run: None,
        }
    }

    /// Up to where the text is decided.
    #[inline]
    pub(super) fn decided(&self) -> usize {
        self.decided
    }

    /// The spans with their ranges, end to end.
    pub(super) fn spans(&self) -> impl Iterator<Item = (SpanKind, Range<usize>)> {
        let ends = self.spans.iter().skip(1).map(|span| span.start()).chain([self.decided]);
        self.spans.iter().zip(ends).map(|(span, end)| (span.kind(), span.start()..end))
    }

    /// Decides everything up to `end`.
    ///
    /// There are several for each marker, and there is less to it than to a call.
    #[inline(always)]
    pub(super) fn lay(&mut self, kind: SpanKind, end: usize) {
        debug_assert!(end >= self.decided, "a span is laid behind the last one");
        if end <= self.decided {
            return;
        }
        let span = Span::new(kind, mem::replace(&mut self.decided, end));
        if self.spans.last().is_none_or(|last| !last.is_like(span)) {
            self.spans.push(span);
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

    /// Inlined, so that the call is made where it is to stay.
    #[inline(always)]
    pub(super) fn open_call(&mut self, call: CallData) -> usize {
        if !call.known {
            self.note_unknown(&call);
        }
        self.blocks.push(BlockData::Call(self.calls.len()));
        self.calls.push(call);
        let block = self.blocks.len() - 1;
        self.changes.push(Change::Opened { block });
        block
    }

    fn note_unknown(&mut self, call: &CallData) {
        let message = format!("no tool `{}` was given", call.name.of(&self.text));
        self.note(Kind::UnknownTool, call.range.start(), message);
    }

    #[inline]
    pub(super) fn call(&mut self, block: usize) -> &mut CallData {
        match self.blocks[block] {
            BlockData::Call(call) => &mut self.calls[call],
            BlockData::Text { .. } | BlockData::Thinking { .. } => unreachable!("the block is a call"),
        }
    }

    /// The tool of a call.
    pub(super) fn call_name(&self, block: usize) -> &str {
        match self.blocks[block] {
            BlockData::Call(call) => self.calls[call].name.of(&self.text),
            BlockData::Text { .. } | BlockData::Thinking { .. } => "",
        }
    }

    /// The parameters of a call.
    pub(super) fn params(&self, block: usize) -> impl DoubleEndedIterator<Item = &ParamData> {
        self.call_params(block).into_iter().flat_map(|params| params.iter(&self.params))
    }

    /// The last parameter of this name in a call.
    pub(super) fn param_named(&self, block: usize, name: &str) -> Option<usize> {
        self.call_params(block)?.last(&self.params, &self.text, name)
    }

    fn call_params(&self, block: usize) -> Option<&Params> {
        match self.blocks[block] {
            BlockData::Call(call) => match &self.calls[call].input {
                Input::Params(params) => Some(params),
                Input::Json(_) => None,
            },
            BlockData::Text { .. } | BlockData::Thinking { .. } => None,
        }
    }

    #[inline]
    pub(super) fn param(&mut self, block: usize, param: usize) -> &mut ParamData {
        match self.blocks[block] {
            BlockData::Call(call) => match &mut self.calls[call].input {
                Input::Params(params) => params.get_mut(&mut self.params, param),
                Input::Json(_) => unreachable!("the call has parameters"),
            },
            BlockData::Text { .. } | BlockData::Thinking { .. } => unreachable!("the block is a call"),
        }
    }

    /// The value of a parameter so far.
    pub(super) fn param_text(&self, block: usize, param: usize) -> &str {
        let params = self.call_params(block).expect("the block is a call with parameters");
        params.get(&self.params, param).value.of(&self.text)
    }

    /// A parameter of a call has come, empty. Returns its number, and that of the last one of the same name.
    #[inline]
    pub(super) fn open_param(&mut self, block: usize, data: ParamData) -> (usize, Option<usize>) {
        let BlockData::Call(call) = self.blocks[block] else { unreachable!("the block is a call") };
        let Input::Params(params) = &mut self.calls[call].input else {
            unreachable!("the call has parameters")
        };
        let earlier = params.last(&self.params, &self.text, &self.text[data.name.range()]);
        let param = params.len();
        params.push(&mut self.params, &self.text, data);
        self.changes.push(Change::ParamOpened { block, param });
        (param, earlier)
    }

    /// Where a call starts in the text.
    pub(super) fn call_start(&self, block: usize) -> usize {
        match &self.blocks[block] {
            BlockData::Call(call) => self.calls[*call].range.start(),
            BlockData::Text { range, .. } | BlockData::Thinking { range, .. } => range.start(),
        }
    }

    /// Works on the JSON of a call with the text at hand.
    pub(super) fn with_json<T>(&mut self, block: usize, work: impl FnOnce(&str, &mut PartialJson) -> T) -> T {
        let text = mem::take(&mut self.text);
        let result = match &mut self.call(block).input {
            Input::Json(arguments) => work(&text, &mut arguments.json),
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
        if let Input::Json(arguments) = &mut self.call(block).input {
            arguments.written = Some(start..to);
        }
        self.changes.push(Change::ArgsGrew { block, from: from - start, to: to - start });
    }

    /// Adds to the JSON of a call what was written of it.
    pub(super) fn push_json(&mut self, block: usize, json: &str) -> Result<(), json::Error> {
        if json.is_empty() {
            return Ok(());
        }
        let (from, pushed) = self.with_json(block, |_, held| (held.raw().len(), held.push(json)));
        let to = from + json.len();
        self.changes.push(Change::ArgsGrew { block, from, to });
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
        call.range.end_at(at);
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
        !self.calls.is_empty()
    }

    /// Whether nothing but blanks is undecided up to `at`, and no prose is open.
    pub(super) fn is_blank_to(&self, at: usize) -> bool {
        self.run.is_none_or(|run| run.start.is_none()) && first_solid(&self.text, self.decided..at).is_none()
    }

    /// Everything that is not decided up to `to` is prose of this kind.
    pub(super) fn prose(&mut self, kind: RunKind, to: usize) {
        debug_assert!(self.run.is_none_or(|run| run.kind == kind), "prose of another kind has ended");
        if !self.go_on(to) && self.start_run(kind, to) {
            self.go_on(to);
        }
    }

    /// Everything up to `to` is prose of the kind that is open, if one is that has started.
    ///
    /// Most pieces come to this and to nothing else, so it is made part of taking one.
    #[inline(always)]
    pub(super) fn go_on(&mut self, to: usize) -> bool {
        let Some(Run { kind, start: Some(_), seen, laid }) = &mut self.run else { return false };
        let (kind, laid, from) = (*kind, *laid, mem::replace(seen, to));
        if from >= to {
            return true;
        }
        let end = match self.keeps(kind) {
            true => Some(to),
            false => last_solid(&self.text, from..to),
        };
        let Some(end) = end else { return true };
        let from = self.decided;
        match laid {
            true => self.decided = end,
            false => self.lay_run(kind, end),
        }
        if !matches!(kind, RunKind::Dropped(_)) {
            self.changes.push(Change::Grew { block: self.blocks.len() - 1, from, to: end });
        }
        true
    }

    /// Whether blanks around prose of this kind are kept.
    fn keeps(&self, kind: RunKind) -> bool {
        self.rule == TextRule::Keep && kind == RunKind::Text
    }

    /// Looks for the start of prose of this kind up to `to`.
    fn start_run(&mut self, kind: RunKind, to: usize) -> bool {
        let from = self.run.map_or(self.decided, |run| run.seen.max(self.decided));
        let start = match self.keeps(kind) {
            _ if from >= to => None,
            true => Some(from),
            false => first_solid(&self.text, from..to),
        };
        let Some(start) = start else {
            self.run = Some(Run { kind, start: None, seen: to, laid: false });
            return false;
        };
        self.run = Some(Run { kind, start: Some(start), seen: start, laid: false });
        self.lay(SpanKind::Blank, start);
        self.open_run(kind, start);
        true
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
    fn end_stray(&mut self, at: usize) {
        if let Some(Run { kind, start: Some(start), .. }) = self.run.take() {
            self.close_run(kind, start);
        }
        self.lay(SpanKind::Blank, at);
    }

    /// What stands in a call before `at`, where a marker starts, is of no parameter.
    pub(super) fn stray(&mut self, at: usize) {
        if self.is_blank_to(at) {
            self.run = None;
            return self.lay(SpanKind::Blank, at);
        }
        self.prose(RunKind::Dropped(Dropped::InCall), at);
        self.end_stray(at);
    }

    /// The text ends inside prose.
    pub(super) fn cut_prose(&mut self) {
        let end = self.text.len();
        match self.run.take() {
            Some(Run { kind: kind @ RunKind::Dropped(_), start: Some(start), .. }) => {
                self.close_run(kind, start);
            }
            Some(Run { start: Some(_), .. }) => {
                if let Some(BlockData::Text { range, .. } | BlockData::Thinking { range, .. }) =
                    self.blocks.last_mut()
                {
                    range.end_at(self.decided);
                }
            }
            _ if self.rule == TextRule::KeepEmpty && self.decided() < end => {
                self.empty_text();
            }
            _ => {}
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
            RunKind::Text => BlockData::Text { range: (at..at).into(), closed: false },
            RunKind::Thinking => BlockData::Thinking { range: (at..at).into(), closed: false },
            RunKind::Dropped(_) => return,
        };
        self.blocks.push(block);
        self.changes.push(Change::Opened { block: self.blocks.len() - 1 });
    }

    /// Lays the span of the prose that is open.
    fn lay_run(&mut self, kind: RunKind, end: usize) {
        let block = self.blocks.len().wrapping_sub(1);
        match kind {
            RunKind::Text => self.lay(SpanKind::Text(block), end),
            RunKind::Thinking => self.lay(SpanKind::Thinking(block), end),
            RunKind::Dropped(_) => self.lay(SpanKind::Dropped, end),
        }
        if let Some(run) = &mut self.run {
            run.laid = true;
        }
    }

    /// Where the block with this index stands, which is a text or thinking with this range.
    pub(super) fn block_range(&self, index: usize, range: Stretch) -> Range<usize> {
        match self.run {
            Some(Run { kind: RunKind::Text | RunKind::Thinking, start: Some(start), .. })
                if index + 1 == self.blocks.len() =>
            {
                start..self.decided
            }
            _ => range.range(),
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
            (_, Some(BlockData::Text { range, closed } | BlockData::Thinking { range, closed })) => {
                range.end_at(self.decided);
                *closed = true;
                self.changes.push(Change::Closed { block: self.blocks.len() - 1 });
            }
            (_, Some(BlockData::Call(_)) | None) => unreachable!("an open run is the last block"),
        }
    }
}
