//! [`Markup`]: a call whose parameters have markers of their own.

use std::ops::Range;

use memchr::memchr;

use super::call::{CallData, Input, Slice};
use super::grammar::Closer;
use super::machine::{Machine, Step};
use super::matcher::Matcher;
use super::param::{OpenParam, Reached};
use super::params::Params;
use super::parsed::{Dropped, Parsed, RunKind};
use super::prose::{Place, Prose};
use super::rules::Rules;
use super::span::SpanKind;
use super::tag::Tag;
use super::template::{Found, Match, Name};
use super::value;
use super::whitespace::trimmed_end;
use crate::diagnostic::Kind;
use crate::event::End;

/// A call, and the calls that contain it.
#[derive(Clone, Debug)]
pub(super) struct Markup {
    call: OpenCall,
    /// The calls that contain it, the outermost first.
    outer: Vec<OpenCall>,
    state: State,
    /// Everything before this has been searched.
    scan: usize,
}

/// A call that has started.
#[derive(Clone, Debug)]
pub(super) struct OpenCall {
    pub(super) block: usize,
    pub(super) name: Name,
    /// The list that has its parameters.
    list: usize,
    /// Whether it is in a wrapper.
    pub(super) in_wrapper: bool,
}

#[derive(Clone, Debug)]
enum State {
    /// Between parameters.
    Body,
    /// In a parameter.
    Param(OpenParam),
    /// After as much of a value as its limit allows. The call is malformed, up to its closing marker.
    PastLimit,
}

impl OpenCall {
    /// At its opening marker, inside the call of the block `parent`.
    fn open(
        matcher: &Matcher,
        parsed: &mut Parsed,
        at: usize,
        found: &Found,
        parent: Option<usize>,
        in_wrapper: bool,
    ) -> Self {
        parsed.add_span(SpanKind::Markup, found.end);
        let name = found.name.of(&parsed.text);
        let list = matcher.rules().list(name);
        let block = parsed.open_call(CallData {
            known: matcher.knows(name),
            name: Slice::Range(found.name.range().into()),
            range: (at..found.end).into(),
            input: Input::Params(Params::default()),
            end: None,
            parent: parent.map(|parent| parent as u32),
        });
        Self { block, name: found.name, list, in_wrapper }
    }

    /// The name of the tool.
    pub(super) fn tool<'a>(&self, parsed: &'a Parsed) -> &'a str {
        self.name.of(&parsed.text)
    }

    /// Its parameters.
    #[inline]
    pub(super) fn parameters<'a>(&self, rules: &'a Rules) -> &'a Tag {
        rules.parameters(self.list)
    }
}

impl Markup {
    /// At the opening marker of a call.
    pub(super) fn open(
        matcher: &Matcher,
        parsed: &mut Parsed,
        at: usize,
        found: &Found,
        in_wrapper: bool,
    ) -> Self {
        let call = OpenCall::open(matcher, parsed, at, found, None, in_wrapper);
        Self { call, outer: Vec::new(), state: State::Body, scan: found.end }
    }

    pub(super) fn step(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Step {
        let rules = matcher.rules();
        loop {
            let next = match &mut self.state {
                State::Body => self.body(matcher, rules, parsed),
                State::Param(param) => match param.step(matcher, parsed, &self.call) {
                    Reached::Nothing => Next::Wait,
                    reached => {
                        self.state = State::Body;
                        self.after_value(parsed, reached)
                    }
                },
                State::PastLimit => self.past_limit(rules, parsed),
            };
            match next {
                Next::On => {}
                Next::Wait => return Step::Wait,
                Next::Over => {
                    let place = if self.call.in_wrapper { Place::Wrapper } else { Place::Text };
                    return Step::Go(Machine::Prose(Prose::new(self.scan, place)));
                }
            }
        }
    }

    /// The text ends inside the call.
    pub(super) fn cut(&mut self, matcher: &Matcher, parsed: &mut Parsed) {
        let end = parsed.text.len();
        let how = match &mut self.state {
            State::PastLimit => {
                parsed.add_span(SpanKind::Value(self.call.block), end);
                End::Malformed
            }
            State::Body => {
                parsed.add_stray(end);
                End::Cut
            }
            State::Param(param) => {
                param.cut(matcher, parsed, &self.call);
                End::Cut
            }
        };
        parsed.end_call(self.call.block, how, end);
        for outer in self.outer.iter().rev() {
            parsed.end_call(outer.block, End::Cut, end);
        }
    }

    /// Between parameters: the next parameter, or the end of the call.
    fn body(&mut self, matcher: &Matcher, rules: &Rules, parsed: &mut Parsed) -> Next {
        let stray = RunKind::Dropped(Dropped::InCall);
        loop {
            let Some(ahead) = rules.next(&parsed.text.as_bytes()[self.scan..]) else {
                self.scan = parsed.text.len();
                parsed.add_prose(stray, self.scan);
                return Next::Wait;
            };
            let at = self.scan + ahead;
            let close = rules.calls.closes(&parsed.text, at, self.call.name);
            if let Match::Full(end) = close {
                self.pass_marker(parsed, at, end);
                return self.close_call(rules, parsed, at);
            }
            let param = self.call.parameters(rules).open.find(&parsed.text, at, false);
            if let Match::Full(found) = &param {
                self.pass_marker(parsed, at, found.end);
                let mut param = OpenParam::open(matcher, parsed, &self.call, found);
                // A parameter that is complete in this piece never becomes the state, which saves moving it.
                match param.step(matcher, parsed, &self.call) {
                    Reached::Nothing => {
                        self.state = State::Param(param);
                        return Next::Wait;
                    }
                    reached => return self.after_value(parsed, reached),
                }
            }
            let nested = self.nested(rules, parsed, at);
            if let Match::Full(found) = &nested {
                self.pass_marker(parsed, at, found.end);
                let parent = Some(self.call.block);
                let call = OpenCall::open(matcher, parsed, at, found, parent, self.call.in_wrapper);
                self.outer.push(std::mem::replace(&mut self.call, call));
                continue;
            }
            let repaired = self.repaired(rules, parsed, at);
            if let Match::Full((name, end)) = repaired {
                self.pass_marker(parsed, at, end);
                let name = parsed.text[name].to_owned();
                repair(rules, parsed, self.call.block, &name, at);
                continue;
            }
            let over = match nested.found().or(repaired.found()) {
                Match::No => rules.ends_call(&parsed.text, at, &self.call, parsed.finished),
                undecided => undecided,
            };
            match over.or(close.found()).or(param.found()) {
                Match::Full(()) => return self.end_without_closer(rules, parsed, at),
                // One kind of marker may still become complete, even if all others cannot.
                Match::Partial => {
                    self.scan = at;
                    parsed.add_prose(stray, at);
                    return Next::Wait;
                }
                Match::No => self.scan = parsed.text.ceil_char_boundary(at + 1),
            }
        }
    }

    /// Passes a marker of the call, which is at `at` and ends at `end`.
    #[inline]
    fn pass_marker(&mut self, parsed: &mut Parsed, at: usize, end: usize) {
        parsed.add_stray(at);
        parsed.add_span(SpanKind::Markup, end);
        self.scan = end;
    }

    /// Continues after a value, as `reached` says.
    #[inline]
    fn after_value(&mut self, parsed: &mut Parsed, reached: Reached) -> Next {
        match reached {
            Reached::Nothing => Next::Wait,
            Reached::End(end) => {
                parsed.add_span(SpanKind::Markup, end);
                self.scan = end;
                Next::On
            }
            Reached::Limit(at) => {
                self.scan = at;
                self.state = State::PastLimit;
                Next::On
            }
        }
    }

    /// A call inside this call, if the grammar allows them.
    fn nested(&self, rules: &Rules, parsed: &Parsed, at: usize) -> Match<Found> {
        if self.outer.len() >= rules.markup.nesting {
            return Match::No;
        }
        rules.calls.open.find(&parsed.text, at, false)
    }

    /// Another closing marker of a value that is read again at each one: the range of its name, and its end.
    fn repaired(&self, rules: &Rules, parsed: &Parsed, at: usize) -> Match<(Range<usize>, usize)> {
        let tag = self.call.parameters(rules);
        for name in rules.repaired(self.call.tool(parsed), Closer::RepairedAtEach) {
            let Some(param) = parsed.first_param(self.call.block, name) else { continue };
            let range = param.name.range();
            match tag.closes(&parsed.text, at, Name::free(range.clone())) {
                Match::No => {}
                Match::Full(end) => return Match::Full((range, end)),
                Match::Partial => return Match::Partial,
            }
        }
        Match::No
    }

    /// The call closes: its closing marker is at `at` and ends at `scan`.
    fn close_call(&mut self, rules: &Rules, parsed: &mut Parsed, at: usize) -> Next {
        let block = self.call.block;
        if rules.repairs {
            repair_at_close(rules, parsed, &self.call, at);
        }
        parsed.end_call(block, End::Closed, self.scan);
        self.after_call()
    }

    /// The call ends at `at`, where its wrapper closes or the next call begins, without its closing marker.
    fn end_without_closer(&mut self, rules: &Rules, parsed: &mut Parsed, at: usize) -> Next {
        parsed.add_stray(at);
        let OpenCall { block, .. } = self.call;
        let close = rules.calls.closer(self.call.tool(parsed));
        parsed.note(Kind::MissingCloser, at, format!("`{close}` is missing after the parameters of a call"));
        let start = parsed.call_start(block);
        let end = trimmed_end(&parsed.text, start..at).unwrap_or(at);
        parsed.end_call(block, End::Closed, end);
        self.scan = at;
        self.after_call()
    }

    /// In a malformed call: its closing marker.
    fn past_limit(&mut self, rules: &Rules, parsed: &mut Parsed) -> Next {
        loop {
            let text = &parsed.text;
            let Some(ahead) = memchr(rules.calls.close_byte(), &text.as_bytes()[self.scan..]) else {
                self.scan = text.len();
                return Next::Wait;
            };
            self.scan += ahead;
            match rules.calls.closes(text, self.scan, self.call.name) {
                Match::Full(end) => {
                    parsed.add_span(SpanKind::Value(self.call.block), self.scan);
                    parsed.add_span(SpanKind::Markup, end);
                    parsed.end_call(self.call.block, End::Malformed, end);
                    self.scan = end;
                    return self.after_call();
                }
                Match::Partial => return Next::Wait,
                Match::No => self.scan = text.ceil_char_boundary(self.scan + 1),
            }
        }
    }

    /// Continues after a call, with the call that contains it or with prose.
    fn after_call(&mut self) -> Next {
        let Some(outer) = self.outer.pop() else { return Next::Over };
        self.call = outer;
        self.state = State::Body;
        Next::On
    }
}

/// The outcome of a state.
enum Next {
    /// Reading continues, maybe in another state.
    On,
    /// Everything that has come is read.
    Wait,
    /// The outermost call is complete.
    Over,
}

/// Reads the value with this name again, from where the first one starts up to `at`.
fn repair(rules: &Rules, parsed: &mut Parsed, block: usize, name: &str, at: usize) {
    let clean = rules.treatment(parsed.call_name(block), name).clean;
    let Some(first) = parsed.first_param(block, name) else { return };
    let start = first.start as usize;
    if start > at {
        return;
    }
    let value = Slice::Range(value::cleaned(clean, &parsed.text, start..at).into());
    if let Some(last) = parsed.param_named(block, name) {
        parsed.param(block, last).value = value;
    }
}

/// Reads values again if their rule says so, up to their last closing marker before `at`, where the call
/// closes.
fn repair_at_close(rules: &Rules, parsed: &mut Parsed, call: &OpenCall, at: usize) {
    let tool = parsed.call_name(call.block).to_owned();
    let start = parsed.call_start(call.block);
    for name in rules.repaired(&tool, Closer::RepairedAtClose) {
        if let Some(last) = parsed.text[start..at].rfind(&call.parameters(rules).closer(name)) {
            repair(rules, parsed, call.block, name, start + last);
        }
    }
}
