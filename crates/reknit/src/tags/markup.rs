//! [`Markup`]: a call whose parameters are marked one by one.

use std::ops::Range;

use memchr::{memchr, memchr3};

use super::call::{CallData, Input, ParamData, Params, Slice};
use super::grammar::Closer;
use super::machine::{Machine, Step};
use super::matcher::{self, Matcher};
use super::prose::{Place, Prose};
use super::sheet::{Change, Dropped, RunKind, Sheet, SpanKind};
use super::tail::{Decision, Tail};
use super::template::{Found, Match};
use super::tools::untyped;
use super::value::{self, Value};
use crate::diagnostic::Kind;
use crate::message::CallEnd;

/// A call, and the calls it stands in.
#[derive(Clone, Debug)]
pub(super) struct Markup {
    /// Whether a wrapper stands around the call.
    within: bool,
    /// The block of the call.
    block: usize,
    /// Those of the calls it stands in, the outermost first.
    outer: Vec<usize>,
    state: State,
    /// Everything before this has been searched.
    scan: usize,
}

#[derive(Clone, Debug)]
enum State {
    /// Between parameters.
    Body,
    /// In a value.
    Value(OpenValue),
    /// Behind what may be the end of a value.
    Tail(OpenValue, Tail),
    /// Behind as much of a value as it may have: the call is malformed up to its closing marker.
    PastLimit,
}

#[derive(Clone, Debug)]
struct OpenValue {
    value: Value,
    name: Range<usize>,
    /// `string="false"`: the value is JSON.
    json: bool,
}

impl Markup {
    /// At the opening marker of a call.
    pub(super) fn open(matcher: &Matcher, sheet: &mut Sheet, at: usize, found: &Found, within: bool) -> Self {
        let block = open_call(matcher, sheet, at, found, None);
        Self { within, block, outer: Vec::new(), state: State::Body, scan: found.end }
    }

    pub(super) fn step(&mut self, matcher: &Matcher, sheet: &mut Sheet) -> Step {
        let rules = matcher.markup();
        loop {
            let state = std::mem::replace(&mut self.state, State::Body);
            let (state, wait) = match state {
                State::Body => match self.body(matcher, rules, sheet) {
                    Body::State(state) => (state, false),
                    Body::Wait => (State::Body, true),
                    Body::Over(machine) => return Step::Go(machine),
                },
                State::Value(value) => self.value(matcher, rules, sheet, value),
                State::Tail(value, tail) => self.tail(matcher, rules, sheet, value, tail),
                State::PastLimit => match self.past_limit(rules, sheet) {
                    Body::State(state) => (state, false),
                    Body::Wait => (State::PastLimit, true),
                    Body::Over(machine) => return Step::Go(machine),
                },
            };
            self.state = state;
            if wait {
                return Step::Wait;
            }
        }
    }

    /// The text ends inside the call.
    pub(super) fn cut(&mut self, matcher: &Matcher, sheet: &mut Sheet) {
        let end = sheet.text.len();
        let state = std::mem::replace(&mut self.state, State::Body);
        let how = if let State::PastLimit = state { CallEnd::Malformed } else { CallEnd::Cut };
        match state {
            State::PastLimit => {}
            State::Body => {
                sheet.prose(RunKind::Dropped(Dropped::InCall), end);
                sheet.end_stray(end);
            }
            // Half a closing marker at the end is no value.
            State::Value(mut value) if !matcher.markup().half_closers() => {
                value.value.close(sheet, self.scan.min(end));
            }
            State::Value(mut value) => value.value.close(sheet, end),
            State::Tail(mut value, tail) => {
                value.value.close(sheet, tail.at());
                self.close_value(matcher, sheet, &value);
            }
        }
        sheet.lay(SpanKind::Value(self.block), end);
        sheet.end_call(self.block, how, end);
        for &outer in self.outer.iter().rev() {
            sheet.end_call(outer, CallEnd::Cut, end);
        }
    }

    /// Between parameters: the next one, or the end of the call.
    fn body(&mut self, matcher: &Matcher, rules: &matcher::Markup, sheet: &mut Sheet) -> Body {
        let block = self.block;
        let stray = RunKind::Dropped(Dropped::InCall);
        let first = [rules.parameter.first_byte(), rules.call_close.first_byte(), rules.call.first_byte()];
        loop {
            let bytes = &sheet.text.as_bytes()[self.scan..];
            let Some(ahead) = memchr3(first[0], first[1], first[2], bytes) else {
                self.scan = sheet.text.len();
                sheet.prose(stray, self.scan);
                return Body::Wait;
            };
            let at = self.scan + ahead;
            let (mark, found) = self.mark(rules, sheet, at);
            let found = match found {
                Match::Full(found) => found,
                Match::Partial => {
                    self.scan = at;
                    sheet.prose(stray, at);
                    return Body::Wait;
                }
                Match::No => {
                    self.scan = sheet.text.ceil_char_boundary(at + 1);
                    continue;
                }
            };
            sheet.prose(stray, at);
            sheet.end_stray(at);
            sheet.lay(SpanKind::Markup, found.end);
            self.scan = found.end;
            match mark {
                Mark::Close => return self.close_call(rules, sheet, at, found.end),
                Mark::Param => return Body::State(self.open_param(rules, sheet, &found)),
                Mark::Repair => {
                    let name = sheet.text[found.name].to_owned();
                    repair(rules, sheet, block, &name, at);
                }
                Mark::Call => {
                    self.outer.push(block);
                    self.block = open_call(matcher, sheet, at, &found, Some(block));
                    return Body::State(State::Body);
                }
            }
        }
    }

    /// The marker at `at`; that something may become one counts more than that something else is none.
    fn mark(&self, rules: &matcher::Markup, sheet: &Sheet, at: usize) -> (Mark, Match) {
        let text = &sheet.text;
        let tool = sheet.call_name(self.block);
        let close = rules.call_close.stands(text, at, tool);
        if let Match::Full(_) = close {
            return (Mark::Close, close);
        }
        let param = rules.parameter.find(text, at, rules.parameters(tool), false);
        if let Match::Full(_) = param {
            return (Mark::Param, param);
        }
        let others =
            [(Mark::Call, self.nested(rules, sheet, at)), (Mark::Repair, self.repaired(rules, sheet, at))];
        let mut marks = [(Mark::Close, close), (Mark::Param, param)].into_iter().chain(others);
        let rank = |found: &Match| match found {
            Match::Full(_) => 2,
            Match::Partial => 1,
            Match::No => 0,
        };
        let first = marks.next().expect("there are four");
        marks.fold(first, |best, next| if rank(&next.1) > rank(&best.1) { next } else { best })
    }

    /// A call in a call, where the grammar has them.
    fn nested(&self, rules: &matcher::Markup, sheet: &Sheet, at: usize) -> Match {
        if self.outer.len() >= rules.nesting() {
            return Match::No;
        }
        rules.call.find(&sheet.text, at, &rules.tools, false)
    }

    /// A further closing marker of a value that is read again at each.
    fn repaired(&self, rules: &matcher::Markup, sheet: &Sheet, at: usize) -> Match {
        if !rules.repairs {
            return Match::No;
        }
        let tool = sheet.call_name(self.block);
        for param in sheet.params(self.block) {
            let name = &sheet.text[param.name.clone()];
            if rules.treatment(tool, name).closer == Closer::RepairedAtEach {
                match rules.parameter_close.stands(&sheet.text, at, name) {
                    Match::No => {}
                    Match::Full(found) => return Match::Full(Found { name: param.name.clone(), ..found }),
                    Match::Partial => return Match::Partial,
                }
            }
        }
        Match::No
    }

    fn open_param(&mut self, rules: &matcher::Markup, sheet: &mut Sheet, found: &Found) -> State {
        let block = self.block;
        let name = &sheet.text[found.name.clone()];
        let treatment = rules.treatment(sheet.call_name(block), name);
        if let Some(earlier) = sheet.param_named(block, name) {
            let message = format!("parameter `{name}` is there a second time; the last one stands");
            sheet.note(Kind::RepeatedParameter, found.name.start, message);
            sheet.params_mut(block)[earlier].replaced = true;
        }
        let param = sheet.params(block).len();
        let value = Slice::Range(found.end..found.end);
        let name = found.name.clone();
        let data = ParamData { name, start: found.end, value, typed: None, closed: false, replaced: false };
        sheet.push_param(block, data);
        sheet.changes.push(Change::ParamOpened { block, param });
        State::Value(OpenValue {
            value: Value::new(block, param, found.end, treatment),
            name: found.name.clone(),
            json: sheet.text[found.attributes.clone()].contains("string=\"false\""),
        })
    }

    /// In a value: its closing marker.
    fn value(
        &mut self,
        matcher: &Matcher,
        rules: &matcher::Markup,
        sheet: &mut Sheet,
        mut open: OpenValue,
    ) -> (State, bool) {
        let bound = open.value.start.saturating_add(matcher.limits.param_bytes);
        let close = &rules.parameter_close;
        let may_lack_it =
            open.value.treatment().closer == Closer::Placed && !rules.wrapper_close().is_empty();
        let (at, found) = loop {
            let text = &sheet.text;
            let Some(ahead) = memchr(close.first_byte(), &text.as_bytes()[self.scan..]) else {
                self.scan = text.len();
                break (self.scan, Match::No);
            };
            let at = self.scan + ahead;
            match close.stands(text, at, &text[open.name.clone()]) {
                Match::No => {}
                found => break (at, found),
            }
            // The closing marker may be missing, and the call's own be the next that comes.
            if may_lack_it && at <= bound {
                match rules.call_close.stands(text, at, sheet.call_name(self.block)) {
                    Match::No => {}
                    Match::Partial => break (at, Match::Partial),
                    Match::Full(found) => {
                        open.value.grow(sheet, at);
                        return (State::Tail(open, Tail::without_closer(at, found.end)), false);
                    }
                }
            }
            self.scan = text.ceil_char_boundary(at + 1);
        };
        let certain = sheet.text.floor_char_boundary(at.min(bound));
        if at > bound {
            open.value.close(sheet, certain);
            let message = "a parameter is longer than its limit; its call is malformed";
            sheet.note(Kind::LimitReached, certain, message);
            self.scan = certain;
            return (State::PastLimit, false);
        }
        match found {
            Match::Full(found) => match open.value.treatment().closer {
                Closer::First | Closer::RepairedAtClose | Closer::RepairedAtEach => {
                    open.value.close(sheet, at);
                    self.close_value(matcher, sheet, &open);
                    sheet.lay(SpanKind::Markup, found.end);
                    self.scan = found.end;
                    (State::Body, false)
                }
                Closer::Placed | Closer::Last => {
                    open.value.grow(sheet, at);
                    (State::Tail(open, Tail::behind(at, found.end)), false)
                }
            },
            Match::Partial | Match::No => {
                self.scan = at;
                open.value.grow(sheet, at);
                (State::Value(open), true)
            }
        }
    }

    /// Behind what may be the end of a value.
    fn tail(
        &mut self,
        matcher: &Matcher,
        rules: &matcher::Markup,
        sheet: &mut Sheet,
        mut open: OpenValue,
        mut tail: Tail,
    ) -> (State, bool) {
        let block = open.value.block;
        match tail.step(rules, sheet, block, open.value.treatment().closer, open.name.clone()) {
            Decision::Open => (State::Tail(open, tail), true),
            Decision::Closes => {
                open.value.close(sheet, tail.at());
                self.close_value(matcher, sheet, &open);
                if tail.is_without_closer() {
                    let close = rules.parameter_close.written(&sheet.text[open.name.clone()]);
                    let message = format!("`{close}` is missing; the value ends where the call does");
                    sheet.note(Kind::MissingCloser, tail.at(), message);
                }
                sheet.lay(SpanKind::Markup, tail.end());
                self.scan = tail.end();
                (State::Body, false)
            }
            Decision::Value { scan } => {
                self.scan = scan;
                (State::Value(open), false)
            }
        }
    }

    fn close_value(&self, matcher: &Matcher, sheet: &mut Sheet, open: &OpenValue) {
        let (block, param) = (open.value.block, open.value.param);
        let data = &sheet.params(block)[param];
        let (name, text) = (&sheet.text[data.name.clone()], data.value.of(&sheet.text));
        let typed = match &matcher.tools {
            _ if open.json => untyped(text),
            Some(tools) => tools.typed(sheet.call_name(block), name, text),
            None => None,
        };
        let data = open.value.data(sheet);
        data.typed = typed.map(Box::new);
        data.closed = true;
        sheet.changes.push(Change::ParamClosed { block, param });
    }

    /// The closing marker of the call stands from `at` to `end`.
    fn close_call(&mut self, rules: &matcher::Markup, sheet: &mut Sheet, at: usize, end: usize) -> Body {
        let block = self.block;
        if rules.repairs {
            repair_at_close(rules, sheet, block, at);
        }
        sheet.end_call(block, CallEnd::Closed, end);
        self.behind_call(end)
    }

    /// In a malformed call: its closing marker.
    fn past_limit(&mut self, rules: &matcher::Markup, sheet: &mut Sheet) -> Body {
        let close = &rules.call_close;
        loop {
            let text = &sheet.text;
            let Some(ahead) = memchr(close.first_byte(), &text.as_bytes()[self.scan..]) else {
                self.scan = text.len();
                return Body::Wait;
            };
            self.scan += ahead;
            match close.stands(text, self.scan, sheet.call_name(self.block)) {
                Match::Full(found) => {
                    sheet.lay(SpanKind::Value(self.block), self.scan);
                    sheet.lay(SpanKind::Markup, found.end);
                    sheet.end_call(self.block, CallEnd::Malformed, found.end);
                    self.scan = found.end;
                    return self.behind_call(found.end);
                }
                Match::Partial => return Body::Wait,
                Match::No => self.scan = text.ceil_char_boundary(self.scan + 1),
            }
        }
    }

    /// What goes on behind a call: the one that it stands in, or prose.
    fn behind_call(&mut self, end: usize) -> Body {
        if let Some(outer) = self.outer.pop() {
            self.block = outer;
            return Body::State(State::Body);
        }
        let place = if self.within { Place::Wrapper } else { Place::Text };
        Body::Over(Machine::Prose(Prose::new(end, place)))
    }
}

fn open_call(matcher: &Matcher, sheet: &mut Sheet, at: usize, found: &Found, parent: Option<usize>) -> usize {
    sheet.lay(SpanKind::Markup, found.end);
    sheet.open_call(CallData {
        known: matcher.knows(&sheet.text[found.name.clone()]),
        name: Slice::Range(found.name.clone()),
        range: at..found.end,
        input: Input::Params(Params::default()),
        end: None,
        written: None,
        finalized: false,
        parent,
    })
}

/// A marker in the body of a call.
enum Mark {
    Close,
    Param,
    Call,
    Repair,
}

enum Body {
    State(State),
    Wait,
    Over(Machine),
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
        sheet.params_mut(block)[last].value = value;
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
