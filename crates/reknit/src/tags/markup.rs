//! [`Markup`]: a call whose parameters are marked one by one.

use std::ops::Range;

use memchr::memchr;

use super::call::{CallData, Input, ParamData, Params, Slice};
use super::grammar::Closer;
use super::machine::{Machine, Step};
use super::matcher::{self, Matcher};
use super::param::{OpenParam, Reached};
use super::prose::{Place, Prose};
use super::sheet::{Dropped, RunKind, Sheet};
use super::span::SpanKind;
use super::template::{Found, Match};
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
    name: Range<usize>,
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
        let name = found.name.clone();
        let block = sheet.open_call(CallData {
            known: matcher.knows(&sheet.text[name.clone()]),
            name: Slice::Range(name.clone()),
            range: at..found.end,
            input: Input::Params(Params::default()),
            end: None,
            written: None,
            finalized: false,
            parent,
        });
        Self { block, name }
    }

    /// The tool that is called.
    pub(super) fn tool<'a>(&self, sheet: &'a Sheet) -> &'a str {
        &sheet.text[self.name.clone()]
    }
}

impl Markup {
    /// At the opening marker of a call.
    pub(super) fn open(matcher: &Matcher, sheet: &mut Sheet, at: usize, found: &Found, within: bool) -> Self {
        let call = OpenCall::open(matcher, sheet, at, found, None);
        Self { within, call, outer: Vec::new(), state: State::Body, scan: found.end }
    }

    pub(super) fn step(&mut self, matcher: &Matcher, sheet: &mut Sheet) -> Step {
        let rules = matcher.markup();
        loop {
            let next = match &mut self.state {
                State::Body => self.body(matcher, rules, sheet),
                State::Param(param) => match param.step(matcher, sheet, &self.call) {
                    Reached::Nothing => Next::Wait,
                    Reached::End(end) => {
                        sheet.lay(SpanKind::Markup, end);
                        self.scan = end;
                        self.state = State::Body;
                        Next::On
                    }
                    Reached::Limit(at) => {
                        self.scan = at;
                        self.state = State::PastLimit;
                        Next::On
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
    fn body(&mut self, matcher: &Matcher, rules: &matcher::Markup, sheet: &mut Sheet) -> Next {
        let stray = RunKind::Dropped(Dropped::InCall);
        loop {
            let Some(ahead) = rules.next(&sheet.text.as_bytes()[self.scan..]) else {
                self.scan = sheet.text.len();
                sheet.prose(stray, self.scan);
                return Next::Wait;
            };
            let at = self.scan + ahead;
            let (mark, end) = match self.mark(rules, sheet, at) {
                Match::Full(found) => found,
                Match::Partial => {
                    self.scan = at;
                    sheet.prose(stray, at);
                    return Next::Wait;
                }
                Match::No => {
                    self.scan = sheet.text.ceil_char_boundary(at + 1);
                    continue;
                }
            };
            sheet.stray(at);
            sheet.lay(SpanKind::Markup, end);
            self.scan = end;
            match mark {
                Mark::Close => return self.close_call(rules, sheet, at),
                Mark::Param(found) => {
                    self.state = State::Param(OpenParam::open(rules, sheet, &self.call, &found));
                    return Next::On;
                }
                Mark::Repair(name) => {
                    let name = sheet.text[name].to_owned();
                    repair(rules, sheet, self.call.block, &name, at);
                }
                Mark::Call(found) => {
                    let call = OpenCall::open(matcher, sheet, at, &found, Some(self.call.block));
                    self.outer.push(std::mem::replace(&mut self.call, call));
                }
            }
        }
    }

    /// The marker at `at`, and where it ends; that something may become one counts more than that something
    /// else is none.
    fn mark(&self, rules: &matcher::Markup, sheet: &Sheet, at: usize) -> Match<(Mark, usize)> {
        let text = &sheet.text;
        let tool = self.call.tool(sheet);
        let close = rules.call_close.stands(text, at, tool);
        if let Match::Full(end) = close {
            return Match::Full((Mark::Close, end));
        }
        let param = rules.parameter.find(text, at, rules.parameters(tool), false);
        if let Match::Full(found) = param {
            let end = found.end;
            return Match::Full((Mark::Param(found), end));
        }
        let nested = self.nested(rules, sheet, at);
        if let Match::Full(found) = nested {
            let end = found.end;
            return Match::Full((Mark::Call(found), end));
        }
        let repaired = self.repaired(rules, sheet, at);
        if let Match::Full(_) = repaired {
            return repaired;
        }
        match (close, param, nested, repaired) {
            (Match::No, Match::No, Match::No, Match::No) => Match::No,
            _ => Match::Partial,
        }
    }

    /// A call in a call, where the grammar has them.
    fn nested(&self, rules: &matcher::Markup, sheet: &Sheet, at: usize) -> Match<Found> {
        if self.outer.len() >= rules.nesting() {
            return Match::No;
        }
        rules.call.find(&sheet.text, at, &rules.tools, false)
    }

    /// A further closing marker of a value that is read again at each.
    fn repaired(&self, rules: &matcher::Markup, sheet: &Sheet, at: usize) -> Match<(Mark, usize)> {
        if !rules.repairs {
            return Match::No;
        }
        let tool = self.call.tool(sheet);
        for param in sheet.params(self.call.block) {
            let name = &sheet.text[param.name.clone()];
            if rules.treatment(tool, name).closer == Closer::RepairedAtEach {
                match rules.parameter_close.stands(&sheet.text, at, name) {
                    Match::No => {}
                    Match::Full(end) => return Match::Full((Mark::Repair(param.name.clone()), end)),
                    Match::Partial => return Match::Partial,
                }
            }
        }
        Match::No
    }

    /// The closing marker of the call stands at `at` and has been searched.
    fn close_call(&mut self, rules: &matcher::Markup, sheet: &mut Sheet, at: usize) -> Next {
        let block = self.call.block;
        if rules.repairs {
            repair_at_close(rules, sheet, block, at);
        }
        sheet.end_call(block, CallEnd::Closed, self.scan);
        self.behind_call()
    }

    /// In a malformed call: its closing marker.
    fn past_limit(&mut self, rules: &matcher::Markup, sheet: &mut Sheet) -> Next {
        let close = &rules.call_close;
        loop {
            let text = &sheet.text;
            let Some(ahead) = memchr(close.first_byte(), &text.as_bytes()[self.scan..]) else {
                self.scan = text.len();
                return Next::Wait;
            };
            self.scan += ahead;
            match close.stands(text, self.scan, self.call.tool(sheet)) {
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

/// A marker in the body of a call.
enum Mark {
    Close,
    Param(Found),
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
fn repair(rules: &matcher::Markup, sheet: &mut Sheet, block: usize, name: &str, at: usize) {
    let clean = rules.treatment(sheet.call_name(block), name).clean;
    let named = |param: &&ParamData| &sheet.text[param.name.clone()] == name;
    let Some(first) = sheet.params(block).iter().find(named) else { return };
    let start = first.start;
    if start > at {
        return;
    }
    let value = Slice::Range(value::cleaned(clean, &sheet.text, start..at));
    if let Some(last) = sheet.params(block).iter().rposition(|param| named(&param)) {
        sheet.param(block, last).value = value;
    }
}

/// Reads the values again that are read up to the last closing marker before `at`, where the call closes.
fn repair_at_close(rules: &matcher::Markup, sheet: &mut Sheet, block: usize, at: usize) {
    let tool = sheet.call_name(block).to_owned();
    let name = |param: &ParamData| sheet.text[param.name.clone()].to_owned();
    let names: Vec<_> = sheet.params(block).iter().map(name).collect();
    for name in names {
        if rules.treatment(&tool, &name).closer == Closer::RepairedAtClose {
            let start = sheet.call_start(block);
            if let Some(last) = sheet.text[start..at].rfind(&rules.parameter_close.written(&name)) {
                repair(rules, sheet, block, &name, start + last);
            }
        }
    }
}
