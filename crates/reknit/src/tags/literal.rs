//! [`Literal`]: calls in the notation of Python or Gemma, whose arguments are rewritten as JSON.

use std::ops::Range;

use super::begun::cut_call;
use super::call::{CallData, Input, Slice};
use super::grammar::Calls;
use super::machine::{Machine, Skip, Step};
use super::matcher::{Matcher, OpenerKind};
use super::parsed::Parsed;
use super::prose::Prose;
use super::span::SpanKind;
use super::template::{Found, Match, Name, literal};
use super::transcode::{Notation, Progress, Transcoder};
use super::whitespace::skip_whitespace;
use crate::diagnostic::Kind;
use crate::event::End;
use crate::json::PartialJson;

/// The longest start of a call in a list, up to its first argument. Brackets are common in prose; this bounds
/// how much text is held back after one.
const MAX_HEAD: usize = 256;

/// One call, or a list of calls.
#[derive(Clone, Debug)]
pub(super) struct Literal {
    /// The prose to continue with if this is not a call.
    prose: Prose,
    /// Where the next call starts. Nothing from here on is decided until it is known to be a call.
    opened: usize,
    scan: usize,
    state: State,
    /// Whether what comes later cannot show that this is prose after all. If it can, the call is cut.
    certain: bool,
    /// The call that is being read.
    open: Option<usize>,
}

#[derive(Clone, Debug)]
enum State {
    /// Before the name of a call in a list; `first` if it is the first in the list.
    Head {
        first: bool,
    },
    Arguments(Box<Transcoder>),
    /// In a malformed call of a list.
    Broken(Brackets),
    /// After a call in a list.
    AfterElement,
    /// After a call that is not in a list.
    AfterCall,
}

impl Literal {
    pub(super) fn open(
        matcher: &Matcher,
        parsed: &mut Parsed,
        prose: &Prose,
        at: usize,
        kind: OpenerKind,
        found: &Found,
    ) -> Self {
        let mut machine = Self {
            prose: prose.resume_after(matcher, parsed, at),
            opened: at,
            scan: found.end,
            state: State::Head { first: true },
            certain: true,
            open: None,
        };
        if let (OpenerKind::Gemma, Some(Calls::Gemma(gemma))) = (kind, &matcher.grammar.calls) {
            machine.begin(matcher, parsed, found, Notation::Gemma { quote: gemma.quote.clone() });
        }
        machine
    }

    pub(super) fn step(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Step {
        loop {
            let step = match self.state {
                State::Head { first } => self.head(matcher, parsed, first),
                State::Arguments(_) => self.arguments(matcher, parsed),
                State::Broken(brackets) => self.broken(parsed, brackets),
                State::AfterElement => self.after_element(parsed),
                State::AfterCall => self.after_call(matcher, parsed),
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

    /// In a list: `name(`, followed by an argument or the closing parenthesis.
    fn head(&mut self, matcher: &Matcher, parsed: &mut Parsed, first: bool) -> Option<Step> {
        let near = &parsed.text[..parsed.text.floor_char_boundary(self.scan + MAX_HEAD)];
        let next = skip_whitespace(near, self.scan);
        if !first && parsed.text.as_bytes().get(next) == Some(&b']') {
            // A comma may follow the last call.
            parsed.add_span(SpanKind::Markup, next + 1);
            return Some(self.leave(parsed, next + 1, None));
        }
        let head = match python_head(&parsed.text, self.scan) {
            Match::Full(found) if first && !self.prose.is_in_wrapper() => {
                let known = matcher.knows(found.name.of(&parsed.text));
                match list_start(&parsed.text, self.opened, parsed.finished) {
                    _ if !known => Match::No,
                    Match::Full(certain) => {
                        self.certain = certain;
                        Match::Full(found)
                    }
                    Match::Partial => Match::Partial,
                    Match::No => Match::No,
                }
            }
            head => head,
        };
        match head {
            Match::Full(found) => {
                self.begin(matcher, parsed, &found, Notation::Python);
                None
            }
            Match::Partial if !parsed.finished => Some(Step::Wait),
            Match::Partial | Match::No => {
                let begun = self.begun(matcher, parsed, first).filter(|_| head == Match::Partial);
                Some(match begun {
                    Some(name) => Step::Go(cut_call(matcher, parsed, &self.prose, self.opened, name)),
                    None if first => Step::Go(Machine::Prose(self.prose.clone())),
                    None => self.leave(parsed, self.opened, Some("]")),
                })
            }
        }
    }

    /// What has come of the name of a call in which the text ends. Outside of a list that is certain to be one of
    /// calls, a name with a bracket after it begins one.
    fn begun(&self, matcher: &Matcher, parsed: &Parsed, first: bool) -> Option<Range<usize>> {
        let text = &parsed.text;
        let start = skip_whitespace(text, self.scan);
        let length = text[start..].find(|c: char| !(c.is_alphanumeric() || "_.-".contains(c)));
        let name = start..length.map_or(text.len(), |length| start + length);
        let is_list = !first || self.prose.is_in_wrapper();
        let is_call = || {
            length.is_some()
                && matcher.knows(&text[name.clone()])
                && list_start(text, self.opened, true) != Match::No
        };
        // A comma at the end begins nothing.
        let has_name = first || !name.is_empty();
        (is_list && has_name || is_call()).then(|| name.clone())
    }

    fn arguments(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Option<Step> {
        let State::Arguments(transcoder) = &mut self.state else { return None };
        let block = self.open.expect("arguments belong to a call");
        let bound = transcoder.start.saturating_add(parsed.limits.param_bytes).min(parsed.text.len());
        let bound = parsed.text.floor_char_boundary(bound);
        let progress = match transcoder.read(&parsed.text[..bound], self.scan) {
            Progress::Wait(_) if bound < parsed.text.len() => Progress::Bad(bound),
            progress => progress,
        };
        let (Progress::Wait(end) | Progress::Done(end) | Progress::Bad(end)) = progress;
        self.scan = end.max(self.scan);
        match progress {
            // The bracket that closes the arguments is a marker.
            Progress::Done(end) => {
                parsed.add_span(SpanKind::Value(block), end - 1);
                parsed.add_span(SpanKind::Markup, end);
            }
            Progress::Wait(_) | Progress::Bad(_) => parsed.add_span(SpanKind::Value(block), self.scan),
        }
        let taken = parsed.push_json(block, &transcoder.json);
        transcoder.json.clear();
        match (progress, taken) {
            (Progress::Bad(_), _) | (_, Err(_)) => {
                parsed.note(Kind::MalformedArguments, self.scan, "the arguments of a call are malformed");
                if let Some(Calls::Gemma(gemma)) = &matcher.grammar.calls {
                    let skip = Skip::new(block, gemma.close.clone(), self.scan, self.prose.clone());
                    return Some(Step::Go(Machine::Skip(skip)));
                }
                self.state = State::Broken(Brackets {
                    open: transcoder.depth(),
                    string: transcoder.quote().map(|quote| (quote, false)),
                });
                None
            }
            (Progress::Wait(_), Ok(())) => Some(Step::Wait),
            (Progress::Done(_), Ok(())) => {
                let end = match parsed.settle_json(block) {
                    End::Closed if !self.certain => End::Cut,
                    end => end,
                };
                parsed.end_call(block, end, self.scan);
                self.open = None;
                let list = matches!(matcher.grammar.calls, Some(Calls::Python(_)));
                self.state = if list { State::AfterElement } else { State::AfterCall };
                None
            }
        }
    }

    /// In a malformed call of a list: the end of the call or of the list, or the next list.
    fn broken(&mut self, parsed: &mut Parsed, mut brackets: Brackets) -> Option<Step> {
        let block = self.open.expect("arguments belong to a call");
        let text = &parsed.text;
        while let Some(&byte) = text.as_bytes().get(self.scan) {
            let next_list = byte == b'[' && self.scan > 0 && text.as_bytes()[self.scan - 1] == b'\n';
            let over = match next_list.then(|| python_head(text, self.scan + 1)) {
                Some(Match::Partial) if !parsed.finished => {
                    self.state = State::Broken(brackets);
                    return Some(Step::Wait);
                }
                Some(Match::Full(_)) => true,
                Some(_) | None => brackets.open == 1 && byte == b']' && brackets.string.is_none(),
            };
            if !over {
                brackets.take(byte);
                self.scan += 1;
            }
            if over || brackets.open == 0 {
                parsed.add_span(SpanKind::Value(block), self.scan);
                parsed.end_call(block, End::Malformed, self.scan);
                self.open = None;
                if next_list && over {
                    return Some(self.leave(parsed, self.scan, None));
                }
                self.state = State::AfterElement;
                return None;
            }
        }
        self.state = State::Broken(brackets);
        Some(Step::Wait)
    }

    fn after_element(&mut self, parsed: &mut Parsed) -> Option<Step> {
        self.scan = skip_whitespace(&parsed.text, self.scan);
        match parsed.text.as_bytes().get(self.scan) {
            Some(b',') => {
                self.scan += 1;
                parsed.add_span(SpanKind::Markup, self.scan);
                self.opened = self.scan;
                self.state = State::Head { first: false };
                None
            }
            Some(b']') => {
                parsed.add_span(SpanKind::Markup, self.scan + 1);
                Some(self.leave(parsed, self.scan + 1, None))
            }
            None if !parsed.finished => Some(Step::Wait),
            _ => Some(self.leave(parsed, self.scan, Some("]"))),
        }
    }

    fn after_call(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Option<Step> {
        let Some(Calls::Gemma(gemma)) = &matcher.grammar.calls else { return None };
        self.scan = skip_whitespace(&parsed.text, self.scan);
        match literal(&parsed.text, self.scan, &gemma.close, parsed.finished) {
            Match::Full(end) => {
                parsed.add_span(SpanKind::Markup, end);
                Some(self.leave(parsed, end, None))
            }
            Match::Partial => Some(Step::Wait),
            Match::No => Some(self.leave(parsed, self.scan, Some(&gemma.close))),
        }
    }

    fn begin(&mut self, matcher: &Matcher, parsed: &mut Parsed, found: &Found, notation: Notation) {
        if matches!(self.state, State::Head { first: true }) {
            parsed.add_prose(self.prose.run_kind(matcher), self.opened);
            parsed.end_prose(self.opened);
        }
        parsed.add_span(SpanKind::Markup, found.end);
        let block = parsed.open_call(CallData {
            known: matcher.knows(found.name.of(&parsed.text)),
            name: Slice::Range(found.name.range().into()),
            range: (self.opened..found.end).into(),
            input: Input::json(PartialJson::with_depth(parsed.limits.json_depth)),
            end: None,
            parent: None,
        });
        self.open = Some(block);
        self.scan = found.end;
        self.state =
            State::Arguments(Box::new(Transcoder::new(notation, found.end, parsed.limits.json_depth)));
    }

    /// Returns to prose at `at`. `missing` is the closing marker that should have come before.
    fn leave(&self, parsed: &mut Parsed, at: usize, missing: Option<&str>) -> Step {
        self.prose.continue_after_calls(parsed, at, missing)
    }
}

/// The brackets that are open in Python code.
#[derive(Clone, Copy, Debug)]
struct Brackets {
    open: usize,
    /// In a string that ends with this quote, or with its line; `true` after a backslash.
    string: Option<(u8, bool)>,
}

impl Brackets {
    fn take(&mut self, byte: u8) {
        match (self.string, byte) {
            (Some(_), b'\n') => self.string = None,
            (Some((quote, true)), _) => self.string = Some((quote, false)),
            (Some((quote, false)), b'\\') => self.string = Some((quote, true)),
            (Some((quote, false)), byte) if byte == quote => self.string = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => self.string = Some((byte, false)),
            (None, b'(' | b'[' | b'{') => self.open += 1,
            (None, b')' | b']' | b'}') => self.open = self.open.saturating_sub(1),
            (None, _) => {}
        }
    }
}

/// Whether the bracket at `at`, in text, starts a list of calls and not a link, an index or code in prose: no
/// word or sign comes right before it, a comma or the end of the list follows the first call, and after the list
/// comes no bracket or colon. A list that is longer than [`MAX_HEAD`] is one of calls. It is not known (`false`) if the text
/// ends in the first call or right after it.
fn list_start(text: &str, at: usize, finished: bool) -> Match<bool> {
    let before = text[..at].chars().next_back();
    // A marker may end right before it.
    if before.is_some_and(|c| !c.is_whitespace() && !matches!(c, '>' | '|')) {
        return Match::No;
    }
    let near = &text.as_bytes()[..text.len().min(at + MAX_HEAD)];
    let undecided = match near.len() < text.len() {
        true => Match::Full(true),
        false if finished => Match::Full(false),
        false => Match::Partial,
    };
    let mut brackets = Brackets { open: 0, string: None };
    let mut after_call = false;
    for (place, &byte) in near.iter().enumerate().skip(at) {
        let was_open = brackets.open;
        if after_call && was_open == 1 && brackets.string.is_none() {
            match byte {
                b',' => return Match::Full(true),
                b']' | b' ' | b'\t' | b'\r' | b'\n' => {}
                _ => return Match::No,
            }
        }
        brackets.take(byte);
        after_call |= brackets.open == 1 && was_open == 2;
        if brackets.open == 0 {
            return match near.get(place + 1) {
                Some(b'(' | b'[' | b':') => Match::No,
                Some(_) => Match::Full(true),
                None if finished => Match::Full(true),
                None => undecided,
            };
        }
    }
    undecided
}

/// Matches `name(` if it starts a call: `)` follows, or a name and `=`.
fn python_head(text: &str, at: usize) -> Match<Found> {
    let head = &text[..text.floor_char_boundary((at + MAX_HEAD).min(text.len()))];
    let undecided = if head.len() < text.len() { Match::No } else { Match::Partial };
    let word = |from: usize| {
        let rest = &head[from..];
        let length = rest.find(|c: char| !(c.is_alphanumeric() || "_.-".contains(c)));
        length.map(|length| from..from + length)
    };
    let skip = |from: usize| skip_whitespace(head, from);
    let start = skip(at);
    let Some(name) = word(start) else { return undecided };
    let first = text[name.clone()].chars().next();
    if !first.is_some_and(|c| c.is_alphabetic() || c == '_') || text.as_bytes()[name.end] != b'(' {
        return Match::No;
    }
    let end = name.end + 1;
    let argument = skip(end);
    let found = Match::Full(Found { end, name: Name::free(name), ..Found::default() });
    match head.as_bytes().get(argument) {
        None => undecided,
        Some(b')') => found,
        Some(_) => match word(argument) {
            None => undecided,
            Some(name) if name.is_empty() => Match::No,
            Some(name) => match head.as_bytes().get(skip(name.end)) {
                None => undecided,
                Some(b'=') => found,
                Some(_) => Match::No,
            },
        },
    }
}
