//! [`Markup`]: a call whose parameters are marked one by one.

use memchr::{memchr, memchr3};

use super::call::{CallData, Input, ParamData, Slice};
use super::grammar::Closer;
use super::machine::{Machine, Skip, Step};
use super::matcher::{self, Matcher};
use super::prose::{Place, Prose};
use super::sheet::{Change, Dropped, RunKind, Sheet, SpanKind};
use super::tail::{Decision, Tail};
use super::template::{Found, Match, literal};
use super::tools::untyped;
use super::value::{self, Value};
use crate::diagnostic::Kind;
use crate::message::CallEnd;

/// A call, and the calls it stands in.
#[derive(Clone, Debug)]
pub(super) struct Markup {
    /// Whether a wrapper stands around the call.
    within: bool,
    /// The open calls, the outermost first.
    calls: Vec<OpenCall>,
    state: State,
    /// Everything before this has been searched.
    scan: usize,
}

#[derive(Clone, Debug)]
struct OpenCall {
    block: usize,
    close: String,
}

#[derive(Clone, Debug)]
enum State {
    /// Between parameters.
    Body,
    /// In a value.
    Value(OpenValue),
    /// Behind what may be the end of a value.
    Tail(OpenValue, Tail),
}

#[derive(Clone, Debug)]
struct OpenValue {
    value: Value,
    close: String,
    /// `string="false"`: the value is JSON.
    json: bool,
}

impl Markup {
    /// At the opening marker of a call.
    pub(super) fn open(matcher: &Matcher, sheet: &mut Sheet, at: usize, found: &Found, within: bool) -> Self {
        let mut machine = Self { within, calls: Vec::new(), state: State::Body, scan: found.end };
        machine.open_call(matcher, sheet, at, found);
        machine
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
                State::Value(value) => match self.value(matcher, rules, sheet, value) {
                    Ok((state, wait)) => (state, wait),
                    Err(skip) => return Step::Go(Machine::Skip(skip)),
                },
                State::Tail(value, tail) => self.tail(matcher, rules, sheet, value, tail),
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
        match std::mem::replace(&mut self.state, State::Body) {
            State::Body => {
                sheet.prose(RunKind::Dropped(Dropped::InCall), end);
                sheet.end_stray(end);
            }
            // Half a closing marker at the end is no value.
            State::Value(mut value) => value.value.close(sheet, self.scan.min(end)),
            State::Tail(mut value, tail) => {
                value.value.close(sheet, tail.at());
                self.close_value(matcher, sheet, &value);
            }
        }
        for call in self.calls.drain(..).rev() {
            sheet.lay(SpanKind::Value(call.block), end);
            sheet.end_call(call.block, CallEnd::Cut, end);
        }
    }

    fn open_call(&mut self, matcher: &Matcher, sheet: &mut Sheet, at: usize, found: &Found) {
        sheet.lay(SpanKind::Markup, found.end);
        let name = &sheet.text[found.name.clone()];
        let close = matcher.markup().call_close.written(name);
        let block = sheet.open_call(CallData {
            known: matcher.knows(name),
            name: Slice::Range(found.name.clone()),
            range: at..found.end,
            input: Input::Params(Vec::new()),
            end: None,
            written: None,
            finalized: false,
            parent: self.calls.last().map(|outer| outer.block),
        });
        self.calls.push(OpenCall { block, close });
        self.scan = found.end;
    }

    /// Between parameters: the next one, or the end of the call.
    fn body(&mut self, matcher: &Matcher, rules: &matcher::Markup, sheet: &mut Sheet) -> Body {
        let OpenCall { block, close } = self.calls.last().expect("a call is open").clone();
        let stray = RunKind::Dropped(Dropped::InCall);
        loop {
            let text = &sheet.text;
            let first = [rules.parameter.first_byte(), close.as_bytes()[0], rules.call.first_byte()];
            let Some(ahead) = memchr3(first[0], first[1], first[2], &text.as_bytes()[self.scan..]) else {
                self.scan = text.len();
                sheet.prose(stray, self.scan);
                return Body::Wait;
            };
            let at = self.scan + ahead;
            let tool = sheet.call_name(block);
            let marks = [
                (Mark::Close, literal(text, at, &close, false)),
                (Mark::Param, rules.parameter.find(text, at, rules.parameters(tool), false)),
                (Mark::Call, self.nested(rules, sheet, at)),
                (Mark::Repair, self.repaired(rules, sheet, at)),
            ];
            let undecided = marks.iter().any(|(_, found)| *found == Match::Partial);
            let found = marks.into_iter().find_map(|(mark, found)| match found {
                Match::Full(found) => Some((mark, found)),
                Match::No | Match::Partial => None,
            });
            match found {
                Some((mark, found)) => {
                    sheet.prose(stray, at);
                    sheet.end_stray(at);
                    sheet.lay(SpanKind::Markup, found.end);
                    self.scan = found.end;
                    match mark {
                        Mark::Close => return self.close_call(rules, sheet, found.end),
                        Mark::Param => return Body::State(self.open_param(rules, sheet, &found)),
                        Mark::Repair => {
                            let name = sheet.text[found.name.clone()].to_owned();
                            repair(rules, sheet, block, &name, at);
                        }
                        Mark::Call => {
                            self.open_call(matcher, sheet, at, &found);
                            return Body::State(State::Body);
                        }
                    }
                }
                None if undecided => {
                    self.scan = at;
                    sheet.prose(stray, at);
                    return Body::Wait;
                }
                None => self.scan = sheet.text.ceil_char_boundary(at + 1),
            }
        }
    }

    /// A call in a call, where the grammar has them.
    fn nested(&self, rules: &matcher::Markup, sheet: &Sheet, at: usize) -> Match {
        if self.calls.len() > rules.nesting() {
            return Match::No;
        }
        rules.call.find(&sheet.text, at, &rules.tools, false)
    }

    /// A further closing marker of a value that is read again at each.
    fn repaired(&self, rules: &matcher::Markup, sheet: &Sheet, at: usize) -> Match {
        let block = self.calls.last().expect("a call is open").block;
        let tool = sheet.call_name(block);
        for param in sheet.params(block) {
            let name = &sheet.text[param.name.clone()];
            if rules.treatment(tool, name).closer == Closer::RepairedAtEach {
                match literal(&sheet.text, at, &rules.parameter_close.written(name), false) {
                    Match::No => {}
                    Match::Full(found) => return Match::Full(Found { name: param.name.clone(), ..found }),
                    Match::Partial => return Match::Partial,
                }
            }
        }
        Match::No
    }

    fn open_param(&mut self, rules: &matcher::Markup, sheet: &mut Sheet, found: &Found) -> State {
        let block = self.calls.last().expect("a call is open").block;
        let name = sheet.text[found.name.clone()].to_owned();
        let treatment = rules.treatment(sheet.call_name(block), &name);
        let earlier = sheet.params(block).iter().rposition(|param| sheet.text[param.name.clone()] == name);
        if let Some(earlier) = earlier {
            sheet.note(
                Kind::RepeatedParameter,
                found.name.start,
                format!("parameter `{name}` is there a second time; the last one stands"),
            );
            sheet.params_mut(block)[earlier].replaced = true;
        }
        let param = sheet.params(block).len();
        sheet.params_mut(block).push(ParamData {
            name: found.name.clone(),
            start: found.end,
            value: Slice::Range(found.end..found.end),
            typed: None,
            closed: false,
            replaced: false,
        });
        sheet.changes.push(Change::ParamOpened { block, param });
        State::Value(OpenValue {
            value: Value::new(block, param, found.end, treatment),
            close: rules.parameter_close.written(&name),
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
    ) -> Result<(State, bool), Skip> {
        let bound = open.value.start.saturating_add(matcher.limits.param_bytes);
        let first = open.close.as_bytes()[0];
        let (at, found) = loop {
            let text = &sheet.text;
            let Some(ahead) = memchr(first, &text.as_bytes()[self.scan..]) else {
                self.scan = text.len();
                break (self.scan, Match::No);
            };
            let at = self.scan + ahead;
            match literal(text, at, &open.close, false) {
                Match::No => {}
                found => break (at, found),
            }
            // The closing marker may be missing, and the call's own be the next that comes.
            if open.value.treatment().closer == Closer::Placed
                && !rules.wrapper_close().is_empty()
                && at <= bound
            {
                match literal(text, at, self.close(), false) {
                    Match::No => {}
                    Match::Partial => break (at, Match::Partial),
                    Match::Full(found) => {
                        open.value.grow(sheet, at);
                        return Ok((State::Tail(open, Tail::without_closer(at, found.end)), false));
                    }
                }
            }
            self.scan = text.ceil_char_boundary(at + 1);
        };
        let certain = sheet.text.floor_char_boundary(at.min(bound));
        if at > bound {
            open.value.close(sheet, certain);
            return Err(self.past_limit(sheet, certain));
        }
        match found {
            Match::Full(found) => match open.value.treatment().closer {
                Closer::First | Closer::RepairedAtClose | Closer::RepairedAtEach => {
                    open.value.close(sheet, at);
                    self.close_value(matcher, sheet, &open);
                    sheet.lay(SpanKind::Markup, found.end);
                    self.scan = found.end;
                    Ok((State::Body, false))
                }
                Closer::Placed | Closer::Last => {
                    open.value.grow(sheet, at);
                    Ok((State::Tail(open, Tail::behind(at, found.end)), false))
                }
            },
            Match::Partial | Match::No => {
                self.scan = at;
                open.value.grow(sheet, at);
                Ok((State::Value(open), true))
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
        match tail.step(rules, sheet, block, open.value.treatment().closer, self.close(), &open.close) {
            Decision::Open => (State::Tail(open, tail), true),
            Decision::Closes => {
                open.value.close(sheet, tail.at());
                self.close_value(matcher, sheet, &open);
                if tail.is_without_closer() {
                    sheet.note(
                        Kind::MissingCloser,
                        tail.at(),
                        format!("`{}` is missing; the value ends where the call does", open.close),
                    );
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
        data.typed = typed;
        data.closed = true;
        sheet.changes.push(Change::ParamClosed { block, param });
    }

    fn close_call(&mut self, rules: &matcher::Markup, sheet: &mut Sheet, end: usize) -> Body {
        let OpenCall { block, close } = self.calls.pop().expect("a call is open");
        let tool = sheet.call_name(block).to_owned();
        let names: Vec<_> =
            sheet.params(block).iter().map(|param| sheet.text[param.name.clone()].to_owned()).collect();
        for name in names {
            if rules.treatment(&tool, &name).closer == Closer::RepairedAtClose {
                let start = sheet.call_start(block);
                let body = &sheet.text[start..end - close.len()];
                if let Some(last) = body.rfind(&rules.parameter_close.written(&name)) {
                    let last = start + last;
                    repair(rules, sheet, block, &name, last);
                }
            }
        }
        sheet.end_call(block, CallEnd::Closed, end);
        if !self.calls.is_empty() {
            return Body::State(State::Body);
        }
        let place = if self.within { Place::Wrapper } else { Place::Text };
        Body::Over(Machine::Prose(Prose::new(end, place)))
    }

    /// A value is longer than it may be: the call is malformed up to its closing marker.
    fn past_limit(&mut self, sheet: &mut Sheet, at: usize) -> Skip {
        let inner = self.calls.pop().expect("a call is open");
        sheet.note(Kind::LimitReached, at, "a parameter is longer than its limit; its call is malformed");
        let outer = self.calls.first().map_or(inner.block, |outer| outer.block);
        for call in self.calls.drain(..).rev() {
            sheet.call(call.block).end = Some(CallEnd::Malformed);
        }
        let place = if self.within { Place::Wrapper } else { Place::Text };
        Skip::new(outer, vec![inner.close], at, place)
    }

    fn close(&self) -> &str {
        &self.calls.last().expect("a call is open").close
    }
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
