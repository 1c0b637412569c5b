//! [`Json`]: a call that is a JSON value, or whose arguments are one.
//!
//! A call ends where its JSON ends and not at the first closing marker, which may as well be inside a string.

use super::call::Slice;
use super::envelope::Envelope;
use super::grammar::{Body, Calls};
use super::machine::{Machine, Step};
use super::matcher::Matcher;
use super::parsed::Parsed;
use super::reader::{Read, Reader};
use super::rules::Look;
use super::series::Series;
use super::span::SpanKind;
use super::template::{Match, Name, any_literal, literal};
use super::transcode::{Notation, Transcoder};
use super::whitespace::skip_whitespace;
use crate::diagnostic::Kind;
use crate::event::End;
use crate::json::{EndFinder, PartialJson};

/// One or more calls after one opening marker.
#[derive(Clone, Debug)]
pub(super) struct Json {
    calls: Series,
    /// Where the JSON of the next call starts.
    element: usize,
    list: bool,
    bare: bool,
    /// The name is in the marker.
    named: bool,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// Before the first value.
    Start,
    /// In the JSON object that is a call.
    Envelope(Box<Envelope>),
    /// Before the arguments of a call whose name is in the marker.
    Head,
    /// In the arguments of such a call.
    Arguments(Arguments),
    /// In an element that is malformed or not a call.
    Broken(Broken),
    /// After an element of a list.
    AfterElement,
    /// After a value. The closing marker, a separator or neither may follow.
    AfterValue,
}

/// How the arguments of a call whose name is in the marker are read.
#[derive(Clone, Debug)]
enum Arguments {
    Json(Reader),
    /// In Gemma's notation.
    Rewritten(Box<Transcoder>),
}

/// A value that is malformed or not a call. It ends with its brackets, at a closing marker, or where the next
/// call begins outside of a string; but not in what was read of it as JSON.
#[derive(Clone, Debug)]
struct Broken {
    nesting: EndFinder,
    /// Whether it has brackets that can end it.
    bracketed: bool,
    read: usize,
    /// `None` if strings are not told apart, because the notation has other quotes.
    string: Option<InString>,
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
    pub(super) fn marked(calls: Series) -> Self {
        Self { element: calls.scan, calls, list: false, bare: false, named: false, state: State::Start }
    }

    /// At a brace without a marker.
    pub(super) fn bare(calls: Series) -> Self {
        Self { bare: true, ..Self::marked(calls) }
    }

    /// After a marker with a name. What follows is the arguments.
    pub(super) fn named(matcher: &Matcher, parsed: &mut Parsed, calls: Series, name: Name) -> Self {
        let (start, depth) = (calls.scan, parsed.limits.json_depth);
        let state = match &matcher.grammar.calls {
            Some(Calls::Gemma(gemma)) => {
                let notation = Notation::Gemma { quote: gemma.quote.clone() };
                State::Arguments(Arguments::Rewritten(Box::new(Transcoder::new(notation, start, depth))))
            }
            _ => State::Head,
        };
        let mut json = Self { state, named: true, ..Self::marked(calls) };
        let name = matcher.body().bare_name(&parsed.text, name.range());
        json.calls.begin_named(matcher, parsed, name, start);
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
        let end = if let State::Broken(_) = self.state { End::Malformed } else { End::Cut };
        parsed.cut_call(self.calls.open, end);
    }

    /// Before the first value, or the next one after a separator.
    fn start(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Option<Step> {
        let calls = &mut self.calls;
        calls.scan = skip_whitespace(&parsed.text, calls.scan);
        match parsed.text.as_bytes().get(calls.scan) {
            Some(b'{') => {
                let limits = &parsed.limits;
                self.element = calls.scan;
                calls.scan += 1;
                self.state = State::Envelope(Box::new(Envelope::new(limits.param_bytes, limits.json_depth)));
                None
            }
            Some(b'[') if !self.list && !self.bare => {
                self.list = true;
                calls.scan += 1;
                None
            }
            Some(b']') if self.list && calls.last.is_some() => {
                calls.scan += 1;
                parsed.add_span(SpanKind::Markup, calls.scan);
                self.state = State::AfterValue;
                None
            }
            None if !parsed.finished => Some(Step::Wait),
            None if self.list && calls.last.is_some() => Some(calls.leave(parsed, Some("]"))),
            None if self.is_begun(parsed) => Some(self.cut_before_the_name(matcher, parsed, String::new())),
            _ => Some(self.calls.no_call()),
        }
    }

    /// Whether the marker alone, at the end of the text, begins a call. One that ends like a word may as well
    /// be a word.
    fn is_begun(&self, parsed: &Parsed) -> bool {
        let marker = parsed.text[self.calls.opened..self.calls.scan].trim_end();
        self.calls.last.is_none() && !self.bare && (self.list || !marker.ends_with(char::is_alphanumeric))
    }

    /// The text ends in a call whose name is not complete; `name` is what has come of it.
    fn cut_before_the_name(&mut self, matcher: &Matcher, parsed: &mut Parsed, name: String) -> Step {
        let json = PartialJson::with_depth(parsed.limits.json_depth);
        self.calls.begin(matcher, parsed, Slice::Owned(Box::new(name)), json, true);
        let end = parsed.text.len();
        parsed.add_span(SpanKind::Markup, end);
        parsed.cut_call(self.calls.open.take(), End::Cut);
        Step::Go(Machine::Prose(self.calls.prose.after_calls(end)))
    }

    /// After a marker with a name: what may come before the arguments, and their opening brace.
    fn head(&mut self, body: &Body, parsed: &mut Parsed) -> Option<Step> {
        let calls = &mut self.calls;
        calls.scan = skip_whitespace(&parsed.text, calls.scan);
        match any_literal(&parsed.text, calls.scan, &body.before, false) {
            Match::Full(end) => {
                calls.scan = end;
                return None;
            }
            Match::Partial if !parsed.finished => return Some(Step::Wait),
            Match::Partial | Match::No => {}
        }
        parsed.add_span(SpanKind::Markup, calls.scan);
        match parsed.text.as_bytes().get(calls.scan) {
            Some(b'{') => {
                self.state = State::Arguments(Arguments::Json(Reader::new(&parsed.text, calls.scan)));
            }
            None => return Some(Step::Wait),
            Some(_) => match any_literal(&parsed.text, calls.scan, &body.close, parsed.finished) {
                // There are no arguments.
                Match::Full(_) => {
                    calls.close(parsed);
                    self.state = State::AfterValue;
                }
                Match::Partial => return Some(Step::Wait),
                Match::No => {
                    let at = calls.scan;
                    self.malformed(parsed, at, at);
                }
            },
        }
        None
    }

    /// In the arguments of a call whose name is in the marker.
    fn arguments(&mut self, parsed: &mut Parsed) -> Option<Step> {
        let State::Arguments(arguments) = &mut self.state else { return None };
        let calls = &mut self.calls;
        let read = match arguments {
            Arguments::Json(reader) => calls.read(parsed, reader),
            Arguments::Rewritten(transcoder) => calls.rewrite(parsed, transcoder),
        };
        match (read, arguments) {
            (Read::More(_), _) => return Some(Step::Wait),
            (Read::Done(_), _) => {
                calls.close(parsed);
                self.state = State::AfterValue;
            }
            (Read::Bad(at), &mut Arguments::Json(Reader { start, .. })) => self.malformed(parsed, start, at),
            (Read::Bad(_), Arguments::Rewritten(_)) => {
                let at = calls.scan;
                parsed.note(Kind::MalformedArguments, at, "the arguments of a call are malformed");
                self.state = State::Broken(Broken::new(false, at, None));
            }
        }
        None
    }

    /// In the JSON object that is a call.
    fn envelope(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Option<Step> {
        let State::Envelope(envelope) = &mut self.state else { return None };
        let (scan, bare) = (self.calls.scan, self.bare);
        let read = match self.calls.open {
            Some(block) => parsed.with_json(block, |text, json| envelope.read(text, scan, Some(json), bare)),
            None => envelope.read(&parsed.text, scan, None, bare),
        };
        self.calls.scan = read.at();
        let begins = self.calls.open.is_none() && envelope.is_call(bare);
        if begins && let Some(name) = envelope.name.clone() {
            let held = std::mem::take(&mut envelope.held);
            let known = matcher.knows(&name);
            self.calls.begin(matcher, parsed, Slice::Owned(Box::new(name)), held, known);
        }
        if let Some(block) = self.calls.open {
            add_envelope_spans(envelope, parsed, block, self.calls.scan);
        }
        match (read, self.calls.open) {
            (Read::More(_), None) if parsed.finished && !self.bare => {
                let name = envelope.name_so_far();
                return Some(self.cut_before_the_name(matcher, parsed, name));
            }
            (Read::More(_), None) if parsed.finished => return Some(self.calls.no_call()),
            (Read::More(_), _) => return Some(Step::Wait),
            (Read::Done(_), Some(_)) => {
                self.calls.close(parsed);
                self.state = if self.list { State::AfterElement } else { State::AfterValue };
            }
            (Read::Bad(at), Some(_)) => self.malformed(parsed, self.element, at),
            (Read::Done(_) | Read::Bad(_), None) if self.list && self.calls.last.is_some() => {
                self.read_again(parsed, self.element, self.element);
            }
            (Read::Done(_) | Read::Bad(_), None) => return Some(self.calls.no_call()),
        }
        None
    }

    /// The arguments are not JSON from `at` on. Their JSON starts at `from`.
    fn malformed(&mut self, parsed: &mut Parsed, from: usize, at: usize) {
        parsed.note(Kind::MalformedArguments, at, "the arguments of a call are not valid JSON");
        let read = at.max(parsed.decided());
        self.read_again(parsed, from, read);
    }

    /// The element is not JSON or not a call. It is read again, looking only at its brackets, so that the
    /// calls after it are not lost. Everything before `read` was JSON and has been shown.
    fn read_again(&mut self, parsed: &Parsed, from: usize, read: usize) {
        self.calls.scan = from;
        let bracketed = matches!(parsed.text.as_bytes().get(from), Some(b'{' | b'['));
        self.state = State::Broken(Broken::new(bracketed, read, Some(InString::No)));
    }

    /// In a broken value: where it ends.
    fn broken(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Option<Step> {
        let State::Broken(broken) = &mut self.state else { return None };
        let (text, finished, body) = (&parsed.text, parsed.finished, matcher.body());
        let calls = &mut self.calls;
        while let Some(&byte) = text.as_bytes().get(calls.scan) {
            if calls.scan >= broken.read && text.is_char_boundary(calls.scan) {
                match any_literal(text, calls.scan, &body.close, finished) {
                    Match::Full(_) if calls.open.is_none() => return Some(self.calls.no_call()),
                    Match::Full(_) => {
                        self.drop_element(parsed);
                        self.state = State::AfterValue;
                        return None;
                    }
                    Match::Partial => return Some(Step::Wait),
                    Match::No => {}
                }
                if broken.string.is_none_or(|string| string == InString::No) {
                    match calls.prose.next_call(matcher, text, calls.scan, finished, &mut broken.look) {
                        Match::Full(()) if calls.open.is_none() => return Some(self.calls.no_call()),
                        Match::Full(()) => {
                            self.drop_element(parsed);
                            return Some(self.calls.leave(parsed, None));
                        }
                        Match::Partial => return Some(Step::Wait),
                        Match::No => {}
                    }
                }
            }
            broken.string = broken.string.map(|string| string.after(byte));
            calls.scan += 1;
            if broken.nesting.push(&[byte]).is_some() && broken.bracketed && calls.scan > broken.read {
                self.drop_element(parsed);
                self.state = if self.list { State::AfterElement } else { State::AfterValue };
                return None;
            }
        }
        Some(if calls.open.is_none() && finished { calls.no_call() } else { Step::Wait })
    }

    /// A broken element ends here.
    fn drop_element(&mut self, parsed: &mut Parsed) {
        if self.calls.open.is_none() {
            parsed.note(Kind::DroppedText, self.element, "an element in a list of calls is not a call");
            parsed.add_span(SpanKind::Whitespace, self.element);
            parsed.add_span(SpanKind::Dropped, self.calls.scan);
        }
        self.calls.close_malformed(parsed);
    }

    fn after_element(&mut self, parsed: &mut Parsed) -> Option<Step> {
        match self.calls.after_element(parsed) {
            Match::Full(b',') => self.state = State::Start,
            Match::Full(_) => self.state = State::AfterValue,
            Match::Partial => return Some(Step::Wait),
            Match::No => return Some(self.calls.leave(parsed, Some("]"))),
        }
        None
    }

    /// After the last value: the closing marker, a separator or neither.
    fn after_value(&mut self, body: &Body, parsed: &mut Parsed) -> Option<Step> {
        let calls = &mut self.calls;
        calls.scan = skip_whitespace(&parsed.text, calls.scan);
        if calls.scan == parsed.text.len() && !parsed.finished {
            return Some(Step::Wait);
        }
        let text = &parsed.text;
        match any_literal(text, calls.scan, &body.close, parsed.finished) {
            Match::Full(end) => {
                parsed.add_span(SpanKind::Markup, end);
                if let Some(block) = calls.last {
                    parsed.call(block).range.set_end(end);
                }
                calls.scan = end;
                return Some(calls.leave(parsed, None));
            }
            Match::Partial => return Some(Step::Wait),
            Match::No => {}
        }
        if !body.separator.is_empty() {
            match literal(text, calls.scan, &body.separator, parsed.finished) {
                Match::Full(end) => {
                    calls.opened = calls.scan;
                    calls.scan = end;
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
        if !self.list && !self.named && text.as_bytes().get(calls.scan) == Some(&b'{') {
            calls.opened = calls.scan;
            self.state = State::Start;
            return None;
        }
        let complete = calls.last.is_none_or(|block| parsed.call(block).end == Some(End::Closed));
        let missing = body.close.first().filter(|_| complete && !body.close_optional);
        Some(calls.leave(parsed, missing.map(String::as_str)))
    }
}

impl Broken {
    fn new(bracketed: bool, read: usize, string: Option<InString>) -> Self {
        Self { nesting: EndFinder::new(), bracketed, read, string, look: Look::default() }
    }
}

/// Everything that has been read of the object, up to `scan`, is markup, except the arguments. Members that
/// are neither the name nor the arguments are reported.
fn add_envelope_spans(envelope: &mut Envelope, parsed: &mut Parsed, block: usize, scan: usize) {
    if let Some(arguments) = &envelope.arguments {
        parsed.add_span(SpanKind::Markup, arguments.start.max(parsed.decided()));
        parsed.args_grew(block, arguments.start, arguments.end);
    }
    if !envelope.in_arguments() {
        parsed.add_span(SpanKind::Markup, scan.max(parsed.decided()));
    }
    for (at, name) in envelope.dropped.drain(..) {
        let message = format!("member `{name}` of a call is neither its name nor its arguments");
        parsed.note(Kind::StrayText, at, message);
    }
}
