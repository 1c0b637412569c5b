//! [`Series`]: the calls after one opening marker, whose arguments become JSON.

use std::ops::Range;

use super::call::{CallData, Input, Slice};
use super::machine::{Machine, Step};
use super::matcher::Matcher;
use super::parsed::Parsed;
use super::prose::Prose;
use super::reader::{Read, Reader};
use super::span::SpanKind;
use super::template::Match;
use super::transcode::Transcoder;
use super::whitespace::skip_whitespace;
use crate::diagnostic::Kind;
use crate::event::End;
use crate::json::PartialJson;

/// One or more calls after one opening marker, and how far they have been read.
#[derive(Clone, Debug)]
pub(super) struct Series {
    /// The prose to continue with if this is not a call.
    pub(super) prose: Prose,
    /// Where the next call starts. Nothing from here on is decided until it is known to be a call.
    pub(super) opened: usize,
    pub(super) scan: usize,
    /// The call that is being read.
    pub(super) open: Option<usize>,
    /// The last call.
    pub(super) last: Option<usize>,
}

impl Series {
    /// After the opening marker at `at`, which ends at `end`.
    pub(super) fn new(matcher: &Matcher, parsed: &Parsed, prose: &Prose, at: usize, end: usize) -> Self {
        let prose = prose.resume_after(matcher, parsed, at);
        Self { prose, opened: at, scan: end, open: None, last: None }
    }

    /// What started at `opened` is a call, and `json` is what has come of its arguments. `known` says whether
    /// there is a tool of this name. Returns its block.
    pub(super) fn begin(
        &mut self,
        matcher: &Matcher,
        parsed: &mut Parsed,
        name: Slice,
        json: PartialJson,
        known: bool,
    ) -> usize {
        if self.last.is_none() {
            self.prose.end(matcher, parsed, self.opened);
        }
        let input = Input::json(json);
        let range = (self.opened..self.opened).into();
        let block = parsed.open_call(CallData { name, range, input, end: None, known, parent: None });
        self.open = Some(block);
        self.last = Some(block);
        block
    }

    /// What started at `opened` is a call, and its name is in the marker, which ends at `end`.
    pub(super) fn begin_named(
        &mut self,
        matcher: &Matcher,
        parsed: &mut Parsed,
        name: Range<usize>,
        end: usize,
    ) {
        let known = matcher.knows(&parsed.text[name.clone()]);
        let json = PartialJson::with_depth(parsed.limits.json_depth);
        let block = self.begin(matcher, parsed, Slice::Range(name.into()), json, known);
        parsed.call(block).range.set_end(end);
        parsed.add_span(SpanKind::Markup, end);
        self.scan = end;
    }

    /// Reads arguments that are written as JSON.
    pub(super) fn read(&mut self, parsed: &mut Parsed, reader: &mut Reader) -> Read {
        let block = self.open.expect("arguments belong to a call");
        let limit = parsed.limits.param_bytes;
        let read = parsed.with_json(block, |text, json| reader.read(text, self.scan, limit, json));
        self.scan = read.at();
        parsed.args_grew(block, reader.start, self.scan);
        read
    }

    /// Reads arguments that are rewritten as JSON.
    pub(super) fn rewrite(&mut self, parsed: &mut Parsed, transcoder: &mut Transcoder) -> Read {
        let block = self.open.expect("arguments belong to a call");
        let bound = transcoder.start.saturating_add(parsed.limits.param_bytes).min(parsed.text.len());
        let bound = parsed.text.floor_char_boundary(bound);
        let read = match transcoder.read(&parsed.text[..bound], self.scan) {
            Read::More(_) if bound < parsed.text.len() => Read::Bad(bound),
            read => read,
        };
        self.scan = read.at().max(self.scan);
        match read {
            // The bracket that closes the arguments is a marker.
            Read::Done(end) => {
                parsed.add_span(SpanKind::Value(block), end - 1);
                parsed.add_span(SpanKind::Markup, end);
            }
            Read::More(_) | Read::Bad(_) => parsed.add_span(SpanKind::Value(block), self.scan),
        }
        let taken = parsed.push_json(block, &transcoder.json);
        transcoder.json.clear();
        match taken {
            Ok(()) => read,
            Err(_) => Read::Bad(self.scan),
        }
    }

    /// The arguments of the open call are complete.
    pub(super) fn close(&mut self, parsed: &mut Parsed) {
        if let Some(block) = self.open.take() {
            parsed.add_span(SpanKind::Markup, self.scan.max(parsed.decided()));
            let end = parsed.settle_json(block);
            parsed.end_call(block, end, self.scan);
        }
    }

    /// The open call is malformed and ends here.
    pub(super) fn close_malformed(&mut self, parsed: &mut Parsed) {
        if let Some(block) = self.open.take() {
            parsed.add_span(SpanKind::Value(block), self.scan);
            parsed.end_call(block, End::Malformed, self.scan);
        }
    }

    /// After an element of a list: the comma before the next one, or the bracket that ends the list.
    pub(super) fn after_element(&mut self, parsed: &mut Parsed) -> Match<u8> {
        self.scan = skip_whitespace(&parsed.text, self.scan);
        match parsed.text.as_bytes().get(self.scan) {
            Some(&sign @ (b',' | b']')) => {
                self.scan += 1;
                parsed.add_span(SpanKind::Markup, self.scan);
                self.opened = self.scan;
                Match::Full(sign)
            }
            None if !parsed.finished => Match::Partial,
            _ => Match::No,
        }
    }

    /// Returns to prose. `missing` is the closing marker that should have come before.
    pub(super) fn leave(&self, parsed: &mut Parsed, missing: Option<&str>) -> Step {
        if let Some(missing) = missing {
            let message = format!("`{missing}` is missing after a complete call");
            parsed.note(Kind::MissingCloser, parsed.decided(), message);
        }
        Step::Go(Machine::Prose(self.prose.after_calls(self.scan)))
    }

    /// What started at `opened` is not a call but prose.
    pub(super) fn no_call(&self) -> Step {
        Step::Go(Machine::Prose(match self.last {
            // There have been calls after the marker; only what follows them is not a call.
            Some(_) => self.prose.after_calls(self.opened),
            None => self.prose.clone(),
        }))
    }
}
