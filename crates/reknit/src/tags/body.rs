//! [`Json`]: a call that is a JSON value, or whose arguments are one.
//!
//! A call ends where its JSON ends and not at the first closing marker, which may as well be inside a string.

use std::ops::Range;

use super::call::{CallData, Input, Slice};
use super::envelope::{Envelope, Progress};
use super::grammar::Body;
use super::machine::{Machine, Skip, Step};
use super::matcher::Matcher;
use super::parsed::Parsed;
use super::prose::Prose;
use super::reader::{Read, Reader};
use super::span::SpanKind;
use super::template::{Found, Match, any_literal, literal};
use super::whitespace::skip_whitespace;
use crate::diagnostic::Kind;
use crate::event::End;
use crate::json::{EndFinder, PartialJson};

/// One or more calls after one opening marker.
#[derive(Clone, Debug)]
pub(super) struct Json {
    /// The prose to continue with if this is not a call.
    prose: Prose,
    /// Where the marker of the next call starts. Nothing from here on is decided until it is known to be a
    /// call.
    opened: usize,
    /// Where the JSON of that call starts.
    element: usize,
    scan: usize,
    list: bool,
    bare: bool,
    state: State,
    /// The call that is being read.
    open: Option<usize>,
    /// The last call.
    last: Option<usize>,
}

#[derive(Clone, Debug)]
enum State {
    /// Before the first value.
    Start,
    /// In the JSON object that is a call.
    Envelope(Box<Envelope>),
    /// In the arguments of a call whose name is in the marker.
    Arguments(Reader),
    /// Before the arguments of such a call.
    Head,
    /// In an element of a list that is malformed or not a call. It ends with its brackets, or at a closing
    /// marker, unless that is in what was read of it as JSON.
    Broken { nesting: EndFinder, read: usize },
    /// After an element of a list.
    AfterElement,
    /// After a value. The closing marker, a separator or neither may follow.
    AfterValue,
}

impl Json {
    /// After a marker without a name. What follows is the whole call, or a list of calls.
    pub(super) fn marked(parsed: &Parsed, prose: &Prose, at: usize, found: &Found) -> Self {
        Self {
            prose: prose.resume_after(parsed, at),
            opened: at,
            element: found.end,
            scan: found.end,
            list: false,
            bare: false,
            state: State::Start,
            open: None,
            last: None,
        }
    }

    /// At a brace without a marker.
    pub(super) fn bare(parsed: &Parsed, prose: &Prose, at: usize) -> Self {
        let brace = Found { end: at, ..Found::default() };
        Self { bare: true, ..Self::marked(parsed, prose, at, &brace) }
    }

    /// After a marker with a name. What follows is the arguments.
    pub(super) fn named(
        matcher: &Matcher,
        parsed: &mut Parsed,
        prose: &Prose,
        at: usize,
        found: &Found,
    ) -> Self {
        let mut json = Self { state: State::Head, ..Self::marked(parsed, prose, at, found) };
        let name = Slice::Range(bare_name(matcher.body(), &parsed.text, found).into());
        json.begin(matcher, parsed, name, PartialJson::with_depth(parsed.limits.json_depth));
        parsed.add_span(SpanKind::Markup, found.end);
        json
    }

    pub(super) fn step(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Step {
        let body = matcher.body();
        loop {
            let step = match &mut self.state {
                State::Start => self.start(parsed),
                State::Head => self.head(body, parsed),
                State::Arguments(_) => self.arguments(matcher, parsed),
                State::Envelope(_) => self.envelope(matcher, parsed),
                State::Broken { .. } => self.broken(body, parsed),
                State::AfterElement => self.after_element(parsed),
                State::AfterValue => self.after_value(body, parsed),
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    /// The text ends inside a call.
    pub(super) fn cut(&mut self, parsed: &mut Parsed) {
        match (&self.state, self.open) {
            (State::Broken { .. }, Some(block)) => {
                let end = parsed.text.len();
                parsed.add_span(SpanKind::Value(block), end);
                parsed.end_call(block, End::Malformed, end);
            }
            _ => parsed.cut_call(self.open),
        }
    }

    /// Before the first value, or the next one after a separator.
    fn start(&mut self, parsed: &mut Parsed) -> Option<Step> {
        self.scan = skip_whitespace(&parsed.text, self.scan);
        match parsed.text.as_bytes().get(self.scan) {
            Some(b'{') => {
                let limits = &parsed.limits;
                self.element = self.scan;
                self.state = State::Envelope(Box::new(Envelope::new(limits.param_bytes, limits.json_depth)));
                None
            }
            Some(b'[') if !self.list && !self.bare => {
                self.list = true;
                self.scan += 1;
                None
            }
            Some(b']') if self.list && self.last.is_some() => {
                self.scan += 1;
                parsed.add_span(SpanKind::Markup, self.scan);
                self.state = State::AfterValue;
                None
            }
            None if !parsed.finished => Some(Step::Wait),
            None if self.list && self.last.is_some() => Some(self.leave(parsed, Some("]"))),
            _ => Some(self.no_call()),
        }
    }

    /// After a marker with a name: what may come before the arguments, and their opening brace.
    fn head(&mut self, body: &Body, parsed: &mut Parsed) -> Option<Step> {
        self.scan = skip_whitespace(&parsed.text, self.scan);
        let block = self.open.expect("a name in the marker makes a call");
        match any_literal(&parsed.text, self.scan, &body.before, false) {
            Match::Full(end) => {
                self.scan = end;
                return None;
            }
            Match::Partial if !parsed.finished => return Some(Step::Wait),
            Match::Partial | Match::No => {}
        }
        parsed.add_span(SpanKind::Markup, self.scan);
        match parsed.text.as_bytes().get(self.scan) {
            Some(b'{') => {
                self.state = State::Arguments(Reader::new(&parsed.text, self.scan));
                None
            }
            None => Some(Step::Wait),
            Some(_) => Some(self.malformed(body, parsed, block, self.scan)),
        }
    }

    /// In the arguments of a call whose name is in the marker.
    fn arguments(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Option<Step> {
        let State::Arguments(reader) = &mut self.state else { return None };
        let block = self.open.expect("a name in the marker makes a call");
        let (start, scan, limit) = (reader.start, self.scan, parsed.limits.param_bytes);
        let read = parsed.with_json(block, |text, json| reader.read(text, scan, limit, json));
        let end = match read {
            Read::More => parsed.text.len(),
            Read::Done(end) | Read::Bad(end) => end,
        };
        self.scan = end;
        parsed.args_grew(block, start, end);
        match read {
            Read::More => Some(Step::Wait),
            Read::Done(_) => {
                self.close(parsed, block);
                self.state = State::AfterValue;
                None
            }
            Read::Bad(at) => Some(self.malformed(matcher.body(), parsed, block, at)),
        }
    }

    /// In the JSON object that is a call.
    fn envelope(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Option<Step> {
        let State::Envelope(envelope) = &mut self.state else { return None };
        let strict = self.bare && self.open.is_none();
        let scan = self.scan;
        let progress = match self.open {
            Some(block) => {
                parsed.with_json(block, |text, json| envelope.step(text, scan, Some(json), strict))
            }
            None => envelope.step(&parsed.text, scan, None, strict),
        };
        self.scan = match progress {
            Progress::On(at) | Progress::Wait(at) | Progress::Done(at) | Progress::Bad(at) => at,
        };
        // A bare object that has a name can be anything; if it also has arguments, it is a call.
        let is_call = self.open.is_none() && (!self.bare || envelope.arguments().is_some());
        if let Some(name) = envelope.name().filter(|_| is_call).map(str::to_owned) {
            let held = std::mem::take(&mut envelope.held);
            self.begin(matcher, parsed, Slice::Owned(Box::new(name)), held);
        }
        if let Some(block) = self.open {
            self.add_envelope_spans(parsed, block);
        }
        match (progress, self.open) {
            (Progress::On(_), _) => None,
            (Progress::Wait(_), None) if parsed.finished => Some(self.no_call()),
            (Progress::Wait(_), _) => Some(Step::Wait),
            (Progress::Done(_), Some(block)) => {
                self.close(parsed, block);
                self.state = if self.list { State::AfterElement } else { State::AfterValue };
                None
            }
            (Progress::Bad(at), Some(_)) if self.list => {
                parsed.note(Kind::MalformedArguments, at, "the arguments of a call are not valid JSON");
                self.read_again(at);
                None
            }
            (Progress::Bad(at), Some(block)) => Some(self.malformed(matcher.body(), parsed, block, at)),
            (Progress::Done(_) | Progress::Bad(_), None) if self.list && self.last.is_some() => {
                self.read_again(self.element);
                None
            }
            (Progress::Done(_) | Progress::Bad(_), None) => Some(self.no_call()),
        }
    }

    /// Everything that has been read of the object is markup, except the arguments.
    fn add_envelope_spans(&self, parsed: &mut Parsed, block: usize) {
        let State::Envelope(envelope) = &self.state else { return };
        if let Some(arguments) = envelope.arguments() {
            parsed.add_span(SpanKind::Markup, arguments.start.max(parsed.decided()));
            parsed.args_grew(block, arguments.start, arguments.end);
        }
        if !envelope.in_arguments() {
            parsed.add_span(SpanKind::Markup, self.scan.max(parsed.decided()));
        }
    }

    /// The element is not JSON or not a call. It is read again, looking only at its brackets, so that the
    /// calls after it are not lost. Everything before `read` was JSON and has been shown.
    fn read_again(&mut self, read: usize) {
        self.scan = self.element;
        self.state = State::Broken { nesting: EndFinder::new(), read };
    }

    /// In a broken element: where its brackets close, or the closing marker of the list if that comes first.
    fn broken(&mut self, body: &Body, parsed: &mut Parsed) -> Option<Step> {
        let State::Broken { nesting, read } = &mut self.state else { return None };
        let text = &parsed.text;
        let starts = |at: &usize| any_literal(text, *at, &body.close, parsed.finished) != Match::No;
        let marker = (self.scan.max(*read)..text.len()).find(|at| text.is_char_boundary(*at) && starts(at));
        let end = marker.unwrap_or(text.len());
        if let Some(length) = nesting.push(&text.as_bytes()[self.scan..end]) {
            self.scan += length;
            self.drop_element(parsed);
            self.state = State::AfterElement;
            return None;
        }
        self.scan = end;
        match (any_literal(text, end, &body.close, parsed.finished), self.open) {
            (Match::Full(_), Some(_)) => {
                self.drop_element(parsed);
                self.state = State::AfterValue;
                None
            }
            (Match::Full(_), None) => Some(self.no_call()),
            (Match::Partial | Match::No, None) if parsed.finished => Some(self.no_call()),
            (Match::Partial | Match::No, _) => Some(Step::Wait),
        }
    }

    /// A broken element ends here.
    fn drop_element(&mut self, parsed: &mut Parsed) {
        match self.open.take() {
            Some(block) => {
                parsed.add_span(SpanKind::Value(block), self.scan);
                parsed.end_call(block, End::Malformed, self.scan);
            }
            None => {
                parsed.note(Kind::DroppedText, self.element, "an element in a list of calls is not a call");
                parsed.add_span(SpanKind::Whitespace, self.element);
                parsed.add_span(SpanKind::Dropped, self.scan);
            }
        }
    }

    /// After an element of a list.
    fn after_element(&mut self, parsed: &mut Parsed) -> Option<Step> {
        self.scan = skip_whitespace(&parsed.text, self.scan);
        match parsed.text.as_bytes().get(self.scan) {
            Some(b',') => {
                self.scan += 1;
                parsed.add_span(SpanKind::Markup, self.scan);
                self.opened = self.scan;
                self.state = State::Start;
                None
            }
            Some(b']') => {
                self.scan += 1;
                parsed.add_span(SpanKind::Markup, self.scan);
                self.state = State::AfterValue;
                None
            }
            None if !parsed.finished => Some(Step::Wait),
            _ => Some(self.leave(parsed, Some("]"))),
        }
    }

    /// After the last value: the closing marker, a separator or neither.
    fn after_value(&mut self, body: &Body, parsed: &mut Parsed) -> Option<Step> {
        self.scan = skip_whitespace(&parsed.text, self.scan);
        if self.scan == parsed.text.len() && !parsed.finished {
            return Some(Step::Wait);
        }
        let text = &parsed.text;
        match any_literal(text, self.scan, &body.close, parsed.finished) {
            Match::Full(end) => {
                parsed.add_span(SpanKind::Markup, end);
                if let Some(block) = self.last {
                    parsed.call(block).range.set_end(end);
                }
                self.scan = end;
                return Some(self.leave(parsed, None));
            }
            Match::Partial => return Some(Step::Wait),
            Match::No => {}
        }
        if !body.separator.is_empty() {
            match literal(text, self.scan, &body.separator, parsed.finished) {
                Match::Full(end) => {
                    self.opened = self.scan;
                    self.scan = end;
                    self.state = State::Start;
                    return None;
                }
                Match::Partial => return Some(Step::Wait),
                Match::No => {}
            }
        }
        let missing = body.close.first().filter(|_| !body.close_optional).cloned();
        Some(self.leave(parsed, missing.as_deref()))
    }

    /// Returns to prose. `missing` is the closing marker that should have come before.
    fn leave(&self, parsed: &mut Parsed, missing: Option<&str>) -> Step {
        self.prose.continue_after_calls(parsed, self.scan, missing)
    }

    /// What started here is not a call but prose.
    fn no_call(&self) -> Step {
        match self.last {
            // There have been calls after the marker; only what follows them is not a call.
            Some(_) => Step::Go(Machine::Prose(Prose::new(self.opened, self.prose.place_after_calls()))),
            None => Step::Go(Machine::Prose(self.prose.clone())),
        }
    }

    /// What started here is a call.
    fn begin(&mut self, matcher: &Matcher, parsed: &mut Parsed, name: Slice, json: PartialJson) -> usize {
        if self.last.is_none() {
            parsed.add_prose(self.prose.run_kind(matcher, parsed), self.opened);
            parsed.end_prose(self.opened);
        }
        let known = matcher.knows(name.of(&parsed.text));
        let input = Input::json(json);
        let range = (self.opened..self.opened).into();
        let block = parsed.open_call(CallData {
            name,
            range,
            input,
            end: None,
            known,
            finalized: false,
            parent: None,
        });
        self.open = Some(block);
        self.last = Some(block);
        block
    }

    /// The call is complete.
    fn close(&mut self, parsed: &mut Parsed, block: usize) {
        parsed.add_span(SpanKind::Markup, self.scan.max(parsed.decided()));
        let end = parsed.settle_json(block);
        parsed.end_call(block, end, self.scan);
        self.open = None;
    }

    /// The arguments are not JSON from `at` on.
    fn malformed(&self, body: &Body, parsed: &mut Parsed, block: usize, at: usize) -> Step {
        parsed.note(Kind::MalformedArguments, at, "the arguments of a call are not valid JSON");
        Step::Go(Machine::Skip(Skip::new(
            block,
            body.close.clone(),
            at.max(parsed.decided()),
            self.prose.place_after_calls(),
        )))
    }
}

/// The name of a call in its marker, without the prefix and the number that some models add to it.
fn bare_name(body: &Body, text: &str, found: &Found) -> Range<usize> {
    let Range { mut start, mut end } = found.name.range();
    if !body.name_prefix.is_empty() && text[start..end].starts_with(&body.name_prefix) {
        start += body.name_prefix.len();
    }
    if let (false, Some(index)) = (body.name_index.is_empty(), text[start..end].rfind(&body.name_index)) {
        let number = &text[start + index + body.name_index.len()..end];
        if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
            end = start + index;
        }
    }
    start..end
}
