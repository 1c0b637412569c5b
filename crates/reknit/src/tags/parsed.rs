//! [`Parsed`]: the text of a parser, and everything that has been found in it.

use std::mem;
use std::ops::Range;

use super::call::{CallData, Input};
use super::changes::Change;
use super::changes::Changes;
use super::grammar::TextRule;
use super::params::{ParamData, Params};
use super::span::{SmallRange, Span, SpanKind};
use super::utf8::Utf8;
use super::whitespace::{trimmed_end, trimmed_start};
use crate::diagnostic::{Diagnostics, Kind, Place, counted};
use crate::event::End;
use crate::json::{self, PartialJson, Value};
use crate::limits::Limits;

/// The text so far, divided into spans, and the blocks that the spans belong to.
///
/// A span is added when it is decided and never changes its kind. Spans are adjacent, so whatever a machine
/// does, every byte before [`decided`](Self::decided) is accounted for.
#[derive(Clone, Debug, Default)]
pub(super) struct Parsed {
    pub(super) text: String,
    /// Nothing follows the text.
    pub(super) finished: bool,
    pub(super) blocks: Vec<BlockData>,
    pub(super) calls: Vec<CallData>,
    /// The parameters of all calls; each call knows which are its own.
    pub(super) params: Vec<ParamData>,
    /// Whether thinking has been opened.
    pub(super) has_thinking: bool,
    /// Whether there was a header of a channel.
    pub(super) has_channels: bool,
    /// The rest of the text, which has ended, follows backticks that may have opened a code span.
    pub(super) in_open_span: bool,
    pub(super) changes: Changes,
    pub(super) diagnostics: Diagnostics,
    pub(super) limits: Limits,
    /// How many bytes at the start of the text are the grammar's prefix and not part of the input.
    pub(super) prefix: usize,
    pub(super) utf8: Utf8,
    spans: Vec<Span>,
    /// Where the last span ends.
    decided: usize,
    text_rule: TextRule,
    run: Option<Run>,
}

#[derive(Clone, Debug)]
pub(super) enum BlockData {
    /// Text or thinking.
    Prose { thinking: bool, range: SmallRange, closed: bool },
    /// The call with this number. Calls are stored elsewhere because they are larger than the other blocks.
    Call(usize),
}

/// Text, thinking or dropped prose that is open.
#[derive(Clone, Copy, Debug)]
struct Run {
    kind: RunKind,
    /// `None` if only whitespace has come so far.
    start: Option<usize>,
    /// Everything before this has been searched for whitespace.
    seen: usize,
}

/// What prose becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunKind {
    Text,
    Thinking,
    Dropped(Dropped),
}

/// Why prose is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dropped {
    /// It is inside a call, outside of its parameters.
    InCall,
    /// The grammar does not show thinking.
    Thinking,
}

impl Parsed {
    pub(super) fn new(prefix: &str, text_rule: TextRule, limits: Limits) -> Self {
        Self { text: prefix.to_owned(), limits, prefix: prefix.len(), text_rule, ..Self::default() }
    }

    /// Everything before this is decided.
    #[inline]
    pub(super) fn decided(&self) -> usize {
        self.decided
    }

    /// The spans with their ranges, which are adjacent.
    pub(super) fn spans(&self) -> impl Iterator<Item = (SpanKind, Range<usize>)> {
        let ends = self.spans.iter().skip(1).map(|span| span.start()).chain([self.decided]);
        self.spans.iter().zip(ends).map(|(span, end)| (span.kind(), span.start()..end))
    }

    /// Decides everything up to `end`: it is of this kind.
    ///
    /// Inlined because there are several spans for each marker, and this is shorter than calling it.
    #[inline(always)]
    pub(super) fn add_span(&mut self, kind: SpanKind, end: usize) {
        debug_assert!(end >= self.decided, "a span is added after the last one");
        if end <= self.decided {
            return;
        }
        let span = Span::new(kind, mem::replace(&mut self.decided, end));
        if self.spans.last().is_none_or(|last| !last.is_like(span)) {
            self.spans.push(span);
        }
    }

    pub(super) fn note(&mut self, kind: Kind, at: usize, message: impl Into<String>) {
        let at = self.utf8.input_byte(at.saturating_sub(self.prefix)) as u64;
        self.diagnostics.add(self.limits.diagnostics, || Place { at, frame: 0 }.notice(kind, message));
    }

    /// Inlined, so that the compiler builds the call in place instead of copying it.
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
        let message = format!("`{}` is not one of the given tools", call.name.of(&self.text));
        self.note(Kind::UnknownTool, call.range.start(), message);
    }

    #[inline]
    pub(super) fn call(&mut self, block: usize) -> &mut CallData {
        let number = self.call_number(block);
        &mut self.calls[number]
    }

    #[inline]
    fn call_number(&self, block: usize) -> usize {
        match self.blocks[block] {
            BlockData::Call(number) => number,
            BlockData::Prose { .. } => unreachable!("the block is a call"),
        }
    }

    /// The name of the tool that a call names.
    pub(super) fn call_name(&self, block: usize) -> &str {
        self.calls[self.call_number(block)].name.of(&self.text)
    }

    /// The first parameter of this name in a call.
    pub(super) fn first_param(&self, block: usize, name: &str) -> Option<&ParamData> {
        let params = self.call_params(block);
        Some(params.get(&self.params, params.first(&self.params, &self.text, name)?))
    }

    /// The number of the last parameter of this name in a call.
    pub(super) fn param_named(&self, block: usize, name: &str) -> Option<usize> {
        self.call_params(block).last(&self.params, &self.text, name)
    }

    fn call_params(&self, block: usize) -> &Params {
        match &self.calls[self.call_number(block)].input {
            Input::Params(params) => params,
            Input::Json(_) => unreachable!("the call has parameters"),
        }
    }

    #[inline]
    pub(super) fn param(&mut self, block: usize, param: usize) -> &mut ParamData {
        let number = self.call_number(block);
        match &mut self.calls[number].input {
            Input::Params(params) => params.get_mut(&mut self.params, param),
            Input::Json(_) => unreachable!("the call has parameters"),
        }
    }

    /// The value of a parameter so far.
    pub(super) fn param_text(&self, block: usize, param: usize) -> &str {
        self.call_params(block).get(&self.params, param).value.of(&self.text)
    }

    /// Opens an empty parameter of a call. Returns its number, and that of the last parameter of the same
    /// name.
    #[inline]
    pub(super) fn open_param(&mut self, block: usize, data: ParamData) -> (usize, Option<usize>) {
        let number = self.call_number(block);
        let Input::Params(params) = &mut self.calls[number].input else {
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
        self.calls[self.call_number(block)].range.start()
    }

    /// Calls `work` with the text and the JSON of a call.
    pub(super) fn with_json<T>(&mut self, block: usize, work: impl FnOnce(&str, &mut PartialJson) -> T) -> T {
        let number = self.call_number(block);
        match &mut self.calls[number].input {
            Input::Json(arguments) => work(&self.text, &mut arguments.json),
            Input::Params(_) => unreachable!("the call has JSON"),
        }
    }

    /// The JSON text of a call's arguments starts at `start` and has been read up to `to`.
    pub(super) fn args_grew(&mut self, block: usize, start: usize, to: usize) {
        let from = self.decided().max(start);
        if to <= from {
            return;
        }
        self.add_span(SpanKind::Value(block), to);
        if let Input::Json(arguments) = &mut self.call(block).input {
            arguments.written = Some(start..to);
        }
        self.changes.push(Change::ArgsGrew { block, from: from - start, to: to - start });
    }

    /// Adds `json`, which was rewritten from another notation, to the JSON of a call.
    pub(super) fn push_json(&mut self, block: usize, json: &str) -> Result<(), json::Error> {
        if json.is_empty() {
            return Ok(());
        }
        let (from, pushed) = self.with_json(block, |_, held| (held.raw().len(), held.push(json)));
        let to = from + json.len();
        self.changes.push(Change::ArgsGrew { block, from, to });
        pushed
    }

    /// The JSON of a call is complete. Decides whether it can be the arguments of a call.
    ///
    /// An absent value or `null` means no arguments, and some models write the object into a string.
    pub(super) fn settle_json(&mut self, block: usize) -> End {
        let depth = self.limits.json_depth;
        if self.with_json(block, |_, json| json.raw().is_empty()) {
            // If the depth does not even allow this, there is no value, which is reported below.
            let _ = self.push_json(block, "{}");
        }
        let repeated = self.with_json(block, |_, json| json.duplicate_keys());
        if let Some((count, _)) = repeated {
            let at = self.call_start(block);
            let keys = counted(count as u64, "repeated key");
            self.note(Kind::DuplicateKey, at, format!("the arguments have {keys}; the last value is used"));
        }
        let settled = self.with_json(block, |_, json| {
            let text = match json.value() {
                Some(Value::Object(_)) => return End::Closed,
                Some(Value::Null) => "{}".into(),
                Some(Value::String(text)) => text.to_str().into_owned(),
                Some(_) | None => return End::Malformed,
            };
            let mut inner = PartialJson::with_depth(depth);
            match inner.push(&text).and_then(|()| inner.check()) {
                Ok(()) if matches!(inner.value(), Some(Value::Object(_))) => {
                    *json = inner;
                    End::Closed
                }
                _ => End::Malformed,
            }
        });
        if settled == End::Malformed {
            let at = self.call_start(block);
            self.note(Kind::MalformedArguments, at, "the arguments of a call are not an object");
        }
        settled
    }

    /// A call ends at `at`.
    pub(super) fn end_call(&mut self, block: usize, mut end: End, at: usize) {
        if self.in_open_span && end == End::Closed {
            end = End::Cut;
            let start = self.call_start(block);
            self.note(Kind::CutArguments, start, "a call is in a code span that is not closed");
        }
        let call = self.call(block);
        call.range.set_end(at);
        call.end = Some(end);
        self.changes.push(Change::Closed { block });
    }

    /// The text ends inside the call `open`, or after a complete one.
    pub(super) fn cut_call(&mut self, open: Option<usize>, how: End) {
        let end = self.text.len();
        if let Some(block) = open {
            self.add_span(SpanKind::Value(block), end);
            self.end_call(block, how, end);
        }
        self.add_span(SpanKind::Whitespace, end);
    }

    /// Whether there has been a call.
    #[inline]
    pub(super) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Whether only whitespace and markers are between the last call and `at`.
    pub(super) fn is_after_call(&self, at: usize) -> bool {
        matches!(self.blocks.last(), Some(BlockData::Call(_))) && self.is_whitespace_up_to(at)
    }

    /// Whether everything undecided up to `at` is whitespace, and no prose is open.
    pub(super) fn is_whitespace_up_to(&self, at: usize) -> bool {
        self.run.is_none_or(|run| run.start.is_none())
            && trimmed_start(&self.text, self.decided..at).is_none()
    }

    /// Everything undecided up to `to` is prose of this kind.
    pub(super) fn add_prose(&mut self, kind: RunKind, to: usize) {
        debug_assert!(self.run.is_none_or(|run| run.kind == kind), "prose of another kind has ended");
        if !self.extend_run(to) && self.start_run(kind, to) {
            self.extend_run(to);
        }
    }

    /// How many more bytes of text are accepted.
    pub(super) fn room(&self) -> usize {
        self.limits.text_bytes.saturating_sub(self.text.len() - self.prefix)
    }

    /// Extends the open prose up to `to`. Returns false if none is open that has more than whitespace.
    ///
    /// Inlined because most pieces need this and nothing else.
    #[inline(always)]
    pub(super) fn extend_run(&mut self, to: usize) -> bool {
        let Some(Run { kind, start: Some(start), seen }) = &mut self.run else { return false };
        let (kind, start, from) = (*kind, *start, mem::replace(seen, to));
        if from >= to {
            return true;
        }
        let end = match self.keeps_whitespace(kind) {
            true => Some(to),
            false => trimmed_end(&self.text, from..to),
        };
        let Some(end) = end else { return true };
        let from = self.decided;
        match from > start {
            // It has a span, which grows with what is decided.
            true => self.decided = end,
            false => self.add_run_span(kind, end),
        }
        if let (RunKind::Text | RunKind::Thinking, Some(BlockData::Prose { range, .. })) =
            (kind, self.blocks.last_mut())
        {
            range.set_end(end);
            self.changes.push(Change::Grew { block: self.blocks.len() - 1, from, to: end });
        }
        true
    }

    /// Whether prose is open that has more than whitespace.
    pub(super) fn has_run(&self) -> bool {
        matches!(self.run, Some(Run { start: Some(_), .. }))
    }

    /// Whether whitespace around prose of this kind is kept.
    fn keeps_whitespace(&self, kind: RunKind) -> bool {
        self.text_rule == TextRule::Keep && kind == RunKind::Text
    }

    /// Looks for the start of prose of this kind up to `to`. Returns whether it is there.
    fn start_run(&mut self, kind: RunKind, to: usize) -> bool {
        let from = self.run.map_or(self.decided, |run| run.seen.max(self.decided));
        let start = match self.keeps_whitespace(kind) {
            _ if from >= to => None,
            true => Some(from),
            false => trimmed_start(&self.text, from..to),
        };
        let Some(start) = start else {
            self.run = Some(Run { kind, start: None, seen: to });
            return false;
        };
        self.run = Some(Run { kind, start: Some(start), seen: start });
        self.add_span(SpanKind::Whitespace, start);
        self.open_run(kind, start);
        true
    }

    /// Ends the prose at `at`, where something else starts. A grammar may want an empty text before a call.
    pub(super) fn end_prose(&mut self, at: usize) {
        let empty = self.text_rule == TextRule::KeepEmpty && self.run.is_none_or(|run| run.start.is_none());
        self.end_run(at);
        if empty && self.empty_text() {
            self.close_block();
        }
    }

    /// Ends the prose at `at`, where something else starts.
    fn end_run(&mut self, at: usize) {
        if let Some(Run { kind, start: Some(start), .. }) = self.run.take() {
            self.close_run(kind, start);
        }
        self.add_span(SpanKind::Whitespace, at);
    }

    /// Everything undecided in a call before `at`, where a marker starts, belongs to no parameter.
    pub(super) fn add_stray(&mut self, at: usize) {
        if self.is_whitespace_up_to(at) {
            self.run = None;
            return self.add_span(SpanKind::Whitespace, at);
        }
        self.add_prose(RunKind::Dropped(Dropped::InCall), at);
        self.end_run(at);
    }

    /// The text ends inside prose.
    pub(super) fn cut_prose(&mut self) {
        let end = self.text.len();
        match self.run.take() {
            Some(Run { kind: kind @ RunKind::Dropped(_), start: Some(start), .. }) => {
                self.close_run(kind, start);
            }
            Some(Run { start: Some(_), .. }) => {}
            _ if self.text_rule == TextRule::KeepEmpty && self.decided() < end => {
                self.empty_text();
            }
            _ => {}
        }
        self.add_span(SpanKind::Whitespace, end);
    }

    /// Opens an empty text, unless the last block is a text. Returns whether it did.
    fn empty_text(&mut self) -> bool {
        if matches!(self.blocks.last(), Some(BlockData::Prose { thinking: false, .. })) {
            return false;
        }
        self.open_run(RunKind::Text, self.decided());
        true
    }

    /// The last block, which is text or thinking, is complete.
    fn close_block(&mut self) {
        if let Some(BlockData::Prose { closed, .. }) = self.blocks.last_mut() {
            *closed = true;
        }
        self.changes.push(Change::Closed { block: self.blocks.len() - 1 });
    }

    fn open_run(&mut self, kind: RunKind, at: usize) {
        if let RunKind::Dropped(_) = kind {
            return;
        }
        let thinking = kind == RunKind::Thinking;
        self.blocks.push(BlockData::Prose { thinking, range: (at..at).into(), closed: false });
        self.changes.push(Change::Opened { block: self.blocks.len() - 1 });
    }

    /// Adds the first span of the open prose.
    fn add_run_span(&mut self, kind: RunKind, end: usize) {
        let block = self.blocks.len().wrapping_sub(1);
        match kind {
            RunKind::Text => self.add_span(SpanKind::Text(block), end),
            RunKind::Thinking => self.add_span(SpanKind::Thinking(block), end),
            RunKind::Dropped(_) => self.add_span(SpanKind::Dropped, end),
        }
    }

    fn close_run(&mut self, kind: RunKind, start: usize) {
        let RunKind::Dropped(why) = kind else { return self.close_block() };
        let (kind, what) = match why {
            Dropped::InCall => (Kind::StrayText, "in a call outside of its parameters"),
            Dropped::Thinking => (Kind::DroppedText, "of thinking, which this profile does not show"),
        };
        let length = self.decided() - start;
        self.note(kind, start, format!("dropped {} {what}", counted(length as u64, "byte")));
    }
}
