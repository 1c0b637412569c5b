//! [`Json`]: a call that is a JSON value, or whose arguments are one.
//!
//! A call ends where its JSON ends and not at the first closing marker, which may as well be inside a string.

use super::call::{CallData, Input, Slice};
use super::envelope::{Envelope, Progress};
use super::grammar::Body;
use super::machine::{Machine, Step};
use super::matcher::Matcher;
use super::parsed::Parsed;
use super::prose::Prose;
use super::reader::{Read, Reader};
use super::rules::Look;
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
    /// The name is in the marker.
    named: bool,
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
    /// In an element that is malformed or not a call.
    Broken(Broken),
    /// After an element of a list.
    AfterElement,
    /// After a value. The closing marker, a separator or neither may follow.
    AfterValue,
}

/// A value that is malformed or not a call. It ends with its brackets, at a closing marker, or where the next
/// call begins outside of a string; but not in what was read of it as JSON.
#[derive(Clone, Debug)]
struct Broken {
    nesting: EndFinder,
    /// Whether it has brackets that can end it.
    bracketed: bool,
    read: usize,
    string: InString,
    look: Look,
}

/// Whether a byte is in a string. A string that is not closed ends with its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InString {
    No,
    Yes,
    Escaped,
}

impl InString {
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (_, b'\n') | (Self::Yes, b'"') => Self::No,
            (Self::No, b'"') | (Self::Escaped, _) => Self::Yes,
            (Self::Yes, b'\\') => Self::Escaped,
            (same, _) => same,
        }
    }
}

impl Json {
    /// After a marker without a name. What follows is the whole call, or a list of calls.
    pub(super) fn marked(
        matcher: &Matcher,
        parsed: &Parsed,
        prose: &Prose,
        at: usize,
        found: &Found,
    ) -> Self {
        Self {
            prose: prose.resume_after(matcher, parsed, at),
            opened: at,
            element: found.end,
            scan: found.end,
            list: false,
            bare: false,
            named: false,
            state: State::Start,
            open: None,
            last: None,
        }
    }

    /// At a brace without a marker.
    pub(super) fn bare(matcher: &Matcher, parsed: &Parsed, prose: &Prose, at: usize) -> Self {
        let brace = Found { end: at, ..Found::default() };
        Self { bare: true, ..Self::marked(matcher, parsed, prose, at, &brace) }
    }

    /// After a marker with a name. What follows is the arguments.
    pub(super) fn named(
        matcher: &Matcher,
        parsed: &mut Parsed,
        prose: &Prose,
        at: usize,
        found: &Found,
    ) -> Self {
        let mut json =
            Self { state: State::Head, named: true, ..Self::marked(matcher, parsed, prose, at, found) };
        let name = Slice::Range(matcher.body().bare_name(&parsed.text, found.name.range()).into());
        json.begin(matcher, parsed, name, PartialJson::with_depth(parsed.limits.json_depth));
        parsed.add_span(SpanKind::Markup, found.end);
        json
    }

    pub(super) fn step(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Step {
        let body = matcher.body();
        loop {
            let step = match &mut self.state {
                State::Start => self.start(matcher, parsed),
                State::Head => self.head(body, parsed),
                State::Arguments(_) => self.arguments(parsed),
                State::Envelope(_) => self.envelope(matcher, parsed),
                State::Broken(_) => self.broken(matcher, parsed),
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
            (State::Broken(_), Some(block)) => {
                let end = parsed.text.len();
                parsed.add_span(SpanKind::Value(block), end);
                parsed.end_call(block, End::Malformed, end);
            }
            _ => parsed.cut_call(self.open),
        }
    }

    /// Before the first value, or the next one after a separator.
    fn start(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Option<Step> {
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
            None if self.is_begun(parsed) => Some(self.cut_before_the_name(matcher, parsed, String::new())),
            _ => Some(self.no_call()),
        }
    }

    /// Whether the marker alone, at the end of the text, begins a call. One that ends like a word may as well
    /// be a word.
    fn is_begun(&self, parsed: &Parsed) -> bool {
        let marker = parsed.text[self.opened..self.scan].trim_end();
        self.last.is_none() && !self.bare && (self.list || !marker.ends_with(char::is_alphanumeric))
    }

    /// The text ends in a call whose name is not complete; `name` is what has come of it.
    fn cut_before_the_name(&mut self, matcher: &Matcher, parsed: &mut Parsed, name: String) -> Step {
        let json = PartialJson::with_depth(parsed.limits.json_depth);
        let block = self.begin_named(matcher, parsed, Slice::Owned(Box::new(name)), json, true);
        let end = parsed.text.len();
        parsed.add_span(SpanKind::Markup, end);
        parsed.end_call(block, End::Cut, end);
        self.open = None;
        Step::Go(Machine::Prose(Prose::new(end, self.prose.place_after_calls())))
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
            Some(_) => {
                match any_literal(&parsed.text, self.scan, &body.close, parsed.finished) {
                    // There are no arguments.
                    Match::Full(_) => {
                        self.close(parsed, block);
                        self.state = State::AfterValue;
                    }
                    Match::Partial => return Some(Step::Wait),
                    Match::No => self.malformed(parsed, self.scan, self.scan),
                }
                None
            }
        }
    }

    /// In the arguments of a call whose name is in the marker.
    fn arguments(&mut self, parsed: &mut Parsed) -> Option<Step> {
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
            Read::Bad(at) => {
                self.malformed(parsed, start, at);
                None
            }
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
            self.note_dropped_members(parsed);
        }
        match (progress, self.open) {
            (Progress::On(_), _) => None,
            (Progress::Wait(_), None) if parsed.finished && !self.bare => {
                let State::Envelope(envelope) = &self.state else { return None };
                let name = envelope.name_so_far();
                Some(self.cut_before_the_name(matcher, parsed, name))
            }
            (Progress::Wait(_), None) if parsed.finished => Some(self.no_call()),
            (Progress::Wait(_), _) => Some(Step::Wait),
            (Progress::Done(_), Some(block)) => {
                self.close(parsed, block);
                self.state = if self.list { State::AfterElement } else { State::AfterValue };
                None
            }
            (Progress::Bad(at), Some(_)) => {
                self.malformed(parsed, self.element, at);
                None
            }
            (Progress::Done(_) | Progress::Bad(_), None) if self.list && self.last.is_some() => {
                self.read_again(parsed, self.element, self.element);
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

    /// Reports the members of the object that are neither the name nor the arguments.
    fn note_dropped_members(&mut self, parsed: &mut Parsed) {
        let State::Envelope(envelope) = &mut self.state else { return };
        for (at, name) in envelope.take_dropped() {
            let message = format!("member `{name}` of a call is neither its name nor its arguments");
            parsed.note(Kind::StrayText, at, message);
        }
    }

    /// The element is not JSON or not a call. It is read again, looking only at its brackets, so that the
    /// calls after it are not lost. Everything before `read` was JSON and has been shown.
    fn read_again(&mut self, parsed: &Parsed, from: usize, read: usize) {
        self.scan = from;
        let bracketed = matches!(parsed.text.as_bytes().get(from), Some(b'{' | b'['));
        let (nesting, string, look) = (EndFinder::new(), InString::No, Look::default());
        self.state = State::Broken(Broken { nesting, bracketed, read, string, look });
    }

    /// In a broken value: where it ends.
    fn broken(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Option<Step> {
        let State::Broken(broken) = &mut self.state else { return None };
        let (text, finished, body) = (&parsed.text, parsed.finished, matcher.body());
        while let Some(&byte) = text.as_bytes().get(self.scan) {
            if self.scan >= broken.read && text.is_char_boundary(self.scan) {
                match any_literal(text, self.scan, &body.close, finished) {
                    Match::Full(_) if self.open.is_none() => return Some(self.no_call()),
                    Match::Full(_) => {
                        self.drop_element(parsed);
                        self.state = State::AfterValue;
                        return None;
                    }
                    Match::Partial => return Some(Step::Wait),
                    Match::No => {}
                }
                if broken.string == InString::No {
                    match self.prose.next_call(matcher, text, self.scan, finished, &mut broken.look) {
                        Match::Full(()) if self.open.is_none() => return Some(self.no_call()),
                        Match::Full(()) => {
                            self.drop_element(parsed);
                            return Some(self.leave(parsed, None));
                        }
                        Match::Partial => return Some(Step::Wait),
                        Match::No => {}
                    }
                }
            }
            broken.string = broken.string.after(byte);
            self.scan += 1;
            if broken.nesting.push(&[byte]).is_some() && broken.bracketed && self.scan > broken.read {
                self.drop_element(parsed);
                self.state = if self.list { State::AfterElement } else { State::AfterValue };
                return None;
            }
        }
        Some(if self.open.is_none() && finished { self.no_call() } else { Step::Wait })
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
                    // After one call, another object is one too, whatever its members.
                    self.bare = false;
                    return None;
                }
                Match::Partial => return Some(Step::Wait),
                Match::No => {}
            }
        }
        // Another object is another call.
        if !self.list && !self.named && text.as_bytes().get(self.scan) == Some(&b'{') {
            self.opened = self.scan;
            self.state = State::Start;
            return None;
        }
        let complete = self.last.is_none_or(|block| parsed.call(block).end == Some(End::Closed));
        let missing = body.close.first().filter(|_| complete && !body.close_optional).cloned();
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
        let known = matcher.knows(name.of(&parsed.text));
        self.begin_named(matcher, parsed, name, json, known)
    }

    fn begin_named(
        &mut self,
        matcher: &Matcher,
        parsed: &mut Parsed,
        name: Slice,
        json: PartialJson,
        known: bool,
    ) -> usize {
        if self.last.is_none() {
            parsed.add_prose(self.prose.run_kind(matcher), self.opened);
            parsed.end_prose(self.opened);
        }
        let input = Input::json(json);
        let range = (self.opened..self.opened).into();
        let block = parsed.open_call(CallData { name, range, input, end: None, known, parent: None });
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

    /// The arguments are not JSON from `at` on. Their JSON starts at `from`.
    fn malformed(&mut self, parsed: &mut Parsed, from: usize, at: usize) {
        parsed.note(Kind::MalformedArguments, at, "the arguments of a call are not valid JSON");
        let read = at.max(parsed.decided());
        self.read_again(parsed, from, read);
    }
}
