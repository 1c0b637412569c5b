//! [`Markup`]: a call whose parameters are marked one by one.

use std::ops::Range;

use memchr::memchr;

use super::call::{CallData, Input, Slice};
use super::grammar::Closer;
use super::machine::{Machine, Step};
use super::matcher::Matcher;
use super::param::{OpenParam, Reached};
use super::params::{ParamData, Params};
use super::prose::{Place, Prose};
use super::rules::Rules;
use super::sheet::{Dropped, RunKind, Sheet};
use super::span::SpanKind;
use super::tag::Tag;
use super::template::{Found, Match, Name};
use super::value;
use crate::message::CallEnd;

/// A call, and the calls it stands in.
#[derive(Clone, Debug)]
pub(super) struct Markup {
    /// Whether a wrapper stands around the call.
    within: bool,
    call: OpenCall,
    /// The calls it stands in, the outermost first.
    outer: Vec<OpenCall>,
    state: State,
    /// Everything before this has been searched.
    scan: usize,
}

/// A call that has begun.
#[derive(Clone, Debug)]
pub(super) struct OpenCall {
    pub(super) block: usize,
    pub(super) name: Name,
    /// The list that its parameters are in.
    list: usize,
}

#[derive(Clone, Debug)]
enum State {
    /// Between parameters.
    Body,
    /// In a parameter.
    Param(OpenParam),
    /// Behind as much of a value as it may have: the call is malformed up to its closing marker.
    PastLimit,
}

impl OpenCall {
    /// At its opening marker, in the call of the block `parent`.
    fn open(matcher: &Matcher, sheet: &mut Sheet, at: usize, found: &Found, parent: Option<usize>) -> Self {
        sheet.lay(SpanKind::Markup, found.end);
        let name = found.name.of(&sheet.text);
        let list = matcher.rules().list(name);
        let block = sheet.open_call(CallData {
            known: matcher.knows(name),
            name: Slice::Range(found.name.range().into()),
            range: (at..found.end).into(),
            input: Input::Params(Params::default()),
            end: None,
            finalized: false,
            parent: parent.map(|parent| parent as u32),
        });
        Self { block, name: found.name, list }
    }

    /// The tool that is called.
    pub(super) fn tool<'a>(&self, sheet: &'a Sheet) -> &'a str {
        self.name.of(&sheet.text)
    }

    /// Its parameters.
    #[inline]
    pub(super) fn parameters<'a>(&self, rules: &'a Rules) -> &'a Tag {
        rules.parameters(self.list)
    }
}

impl Markup {
    /// At the opening marker of a call.
    pub(super) fn open(matcher: &Matcher, sheet: &mut Sheet, at: usize, found: &Found, within: bool) -> Self {
        let call = OpenCall::open(matcher, sheet, at, found, None);
        Self { within, call, outer: Vec::new(), state: State::Body, scan: found.end }
    }

    pub(super) fn step(&mut self, matcher: &Matcher, sheet: &mut Sheet) -> Step {
        let rules = matcher.rules();
        loop {
            let next = match &mut self.state {
                State::Body => self.body(matcher, rules, sheet),
                State::Param(param) => match param.step(matcher, sheet, &self.call) {
                    Reached::Nothing => Next::Wait,
                    reached => {
                        self.state = State::Body;
                        self.behind_value(sheet, reached)
                    }
                },
                State::PastLimit => self.past_limit(rules, sheet),
            };
            match next {
                Next::On => {}
                Next::Wait => return Step::Wait,
                Next::Over => {
                    let place = if self.within { Place::Wrapper } else { Place::Text };
                    return Step::Go(Machine::Prose(Prose::new(self.scan, place)));
                }
            }
        }
    }

    /// The text ends inside the call.
    pub(super) fn cut(&mut self, matcher: &Matcher, sheet: &mut Sheet) {
        let end = sheet.text.len();
        let how = match &mut self.state {
            State::PastLimit => CallEnd::Malformed,
            State::Body => {
                sheet.stray(end);
                CallEnd::Cut
            }
            State::Param(param) => {
                param.cut(matcher, sheet, &self.call);
                CallEnd::Cut
            }
        };
        sheet.lay(SpanKind::Value(self.call.block), end);
        sheet.end_call(self.call.block, how, end);
        for outer in self.outer.iter().rev() {
            sheet.end_call(outer.block, CallEnd::Cut, end);
        }
    }

    /// Between parameters: the next one, or the end of the call.
    fn body(&mut self, matcher: &Matcher, rules: &Rules, sheet: &mut Sheet) -> Next {
        let stray = RunKind::Dropped(Dropped::InCall);
        loop {
            let Some(ahead) = rules.next(&sheet.text.as_bytes()[self.scan..]) else {
                self.scan = sheet.text.len();
                sheet.prose(stray, self.scan);
                return Next::Wait;
            };
            let at = self.scan + ahead;
            let close = rules.calls.closes(&sheet.text, at, self.call.name);
            if let Match::Full(end) = close {
                self.pass_marker(sheet, at, end);
                return self.close_call(rules, sheet, at);
            }
            let param = self.call.parameters(rules).open.find(&sheet.text, at, false);
            if let Match::Full(found) = &param {
                self.pass_marker(sheet, at, found.end);
                let mut param = OpenParam::open(rules, sheet, &self.call, found);
                // One that is there as a whole never becomes the state.
                match param.step(matcher, sheet, &self.call) {
                    Reached::Nothing => {
                        self.state = State::Param(param);
                        return Next::Wait;
                    }
                    reached => return self.behind_value(sheet, reached),
                }
            }
            match self.seldom(rules, sheet, at) {
                Match::Full((Mark::Call(found), end)) => {
                    self.pass_marker(sheet, at, end);
                    let call = OpenCall::open(matcher, sheet, at, &found, Some(self.call.block));
                    self.outer.push(std::mem::replace(&mut self.call, call));
                }
                Match::Full((Mark::Repair(name), end)) => {
                    self.pass_marker(sheet, at, end);
                    let name = sheet.text[name].to_owned();
                    repair(rules, sheet, self.call.block, &name, at);
                }
                Match::No if close == Match::No && param == Match::No => {
                    self.scan = sheet.text.ceil_char_boundary(at + 1);
                }
                // That something may become a marker counts more than that something else is none.
                Match::Partial | Match::No => {
                    self.scan = at;
                    sheet.prose(stray, at);
                    return Next::Wait;
                }
            }
        }
    }

    /// A marker of the call stands from `at` to `end`.
    #[inline]
    fn pass_marker(&mut self, sheet: &mut Sheet, at: usize, end: usize) {
        sheet.stray(at);
        sheet.lay(SpanKind::Markup, end);
        self.scan = end;
    }

    /// A value is over, as `reached` says.
    #[inline]
    fn behind_value(&mut self, sheet: &mut Sheet, reached: Reached) -> Next {
        match reached {
            Reached::Nothing => Next::Wait,
            Reached::End(end) => {
                sheet.lay(SpanKind::Markup, end);
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

    /// A marker at `at` that few grammars have.
    fn seldom(&self, rules: &Rules, sheet: &Sheet, at: usize) -> Match<(Mark, usize)> {
        let nested = self.nested(rules, sheet, at);
        if let Match::Full(found) = nested {
            return Match::Full((Mark::Call(found), found.end));
        }
        match (nested, self.repaired(rules, sheet, at)) {
            (Match::Partial, Match::No) => Match::Partial,
            (_, repaired) => repaired,
        }
    }

    /// A call in a call, where the grammar has them.
    fn nested(&self, rules: &Rules, sheet: &Sheet, at: usize) -> Match<Found> {
        if self.outer.len() >= rules.nesting() {
            return Match::No;
        }
        rules.calls.open.find(&sheet.text, at, false)
    }

    /// A further closing marker of a value that is read again at each.
    fn repaired(&self, rules: &Rules, sheet: &Sheet, at: usize) -> Match<(Mark, usize)> {
        if !rules.repairs {
            return Match::No;
        }
        let tool = self.call.tool(sheet);
        for param in sheet.params(self.call.block) {
            let name = &sheet.text[param.name.range()];
            if rules.treatment_of(tool, name).closer == Closer::RepairedAtEach {
                let name = Name::free(param.name.range());
                match self.call.parameters(rules).closes(&sheet.text, at, name) {
                    Match::No => {}
                    Match::Full(end) => return Match::Full((Mark::Repair(param.name.range()), end)),
                    Match::Partial => return Match::Partial,
                }
            }
        }
        Match::No
    }

    /// The closing marker of the call stands at `at` and has been searched.
    fn close_call(&mut self, rules: &Rules, sheet: &mut Sheet, at: usize) -> Next {
        let block = self.call.block;
        if rules.repairs {
            repair_at_close(rules, sheet, &self.call, at);
        }
        sheet.end_call(block, CallEnd::Closed, self.scan);
        self.behind_call()
    }

    /// In a malformed call: its closing marker.
    fn past_limit(&mut self, rules: &Rules, sheet: &mut Sheet) -> Next {
        loop {
            let text = &sheet.text;
            let Some(ahead) = memchr(rules.calls.close_byte(), &text.as_bytes()[self.scan..]) else {
                self.scan = text.len();
                return Next::Wait;
            };
            self.scan += ahead;
            match rules.calls.closes(text, self.scan, self.call.name) {
                Match::Full(end) => {
                    sheet.lay(SpanKind::Value(self.call.block), self.scan);
                    sheet.lay(SpanKind::Markup, end);
                    sheet.end_call(self.call.block, CallEnd::Malformed, end);
                    self.scan = end;
                    return self.behind_call();
                }
                Match::Partial => return Next::Wait,
                Match::No => self.scan = text.ceil_char_boundary(self.scan + 1),
            }
        }
    }

    /// What goes on behind a call: the one that it stands in, or prose.
    fn behind_call(&mut self) -> Next {
        let Some(outer) = self.outer.pop() else { return Next::Over };
        self.call = outer;
        self.state = State::Body;
        Next::On
    }
}

/// A marker in the body of a call that few grammars have.
enum Mark {
    Call(Found),
    /// Of the value of this name.
    Repair(Range<usize>),
}

/// What a state came to.
enum Next {
    /// It goes on, maybe in another state.
    On,
    /// All that is there is read.
    Wait,
    /// The outermost call is over.
    Over,
}

/// Reads the value of this name again, from where the first one starts up to `at`.
fn repair(rules: &Rules, sheet: &mut Sheet, block: usize, name: &str, at: usize) {
    let clean = rules.treatment_of(sheet.call_name(block), name).clean;
    let named = |param: &&ParamData| sheet.text[param.name.range()] == *name;
    let Some(first) = sheet.params(block).find(named) else { return };
    let start = first.start as usize;
    if start > at {
        return;
    }
    let value = Slice::Range(value::cleaned(clean, &sheet.text, start..at).into());
    if let Some(last) = sheet.param_named(block, name) {
        sheet.param(block, last).value = value;
    }
}

/// Reads the values again that are read up to the last closing marker before `at`, where the call closes.
fn repair_at_close(rules: &Rules, sheet: &mut Sheet, call: &OpenCall, at: usize) {
    let block = call.block;
    let tool = sheet.call_name(block).to_owned();
    let name = |param: &ParamData| sheet.text[param.name.range()].to_owned();
    let names: Vec<_> = sheet.params(block).map(name).collect();
    for name in names {
        if rules.treatment_of(&tool, &name).closer == Closer::RepairedAtClose {
            let start = sheet.call_start(block);
            if let Some(last) = sheet.text[start..at].rfind(&call.parameters(rules).closer(&name)) {
                repair(rules, sheet, block, &name, start + last);
            }
        }
    }
}
