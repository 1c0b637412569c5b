//! [`OpenParam`]: a parameter of a call while it arrives, up to the end of its value.

use std::ops::ControlFlow;

use memchr::memchr;

use super::call::Slice;
use super::changes::Change;
use super::grammar::Closer;
use super::markup::OpenCall;
use super::matcher::Matcher;
use super::params::ParamData;
use super::parsed::Parsed;
use super::rules::{Inside, Rules};
use super::span::SpanKind;
use super::tail::{Around, Decision, Tail};
use super::template::{Found, Match, Name, any_literal};
use super::tools::{Types, untyped};
use super::value::Value;
use super::whitespace::skip_whitespace;
use crate::diagnostic::Kind;

/// A parameter whose value has started.
#[derive(Clone, Debug)]
pub(super) struct OpenParam {
    value: Value,
    name: Name,
    /// Its attributes say `string="false"`: the value is JSON.
    json: bool,
    /// The types that the tool's schema allows.
    types: Option<Types>,
    /// Everything before this has been searched for the end of the value.
    scan: usize,
    nested: Nested,
    /// What follows a possible end of the value, while it does not decide whether that is the end.
    tail: Option<Tail>,
}

/// The markers in a value that other markers in it belong to.
#[derive(Clone, Debug, Default)]
struct Nested {
    /// The calls that are open in the value, by their names. Up to their closing markers, none ends the value.
    calls: Vec<Name>,
    /// How many opening markers of calls are mentioned, each of which may have a closing marker.
    mentions: usize,
    /// How many wrappers are open in the value.
    wrappers: usize,
}

/// The outcome of a search for the end of a value.
#[derive(Clone, Copy)]
pub(super) enum Reached {
    /// The end has not come.
    Nothing,
    /// The value is complete, and its closing marker ends here; if that is missing, the value does.
    End(usize),
    /// The value is longer than its limit, which is here.
    Limit(usize),
}

/// What is at a place in a value.
enum Marker {
    /// Nothing that counts.
    None,
    /// The text ends before that is decided.
    Undecided,
    /// A marker that belongs to the value and ends here.
    Inside(usize),
    /// The closing marker of the value, which ends here.
    Closer(usize),
    /// A possible end of the value; what follows decides whether it is the end.
    Tail(Tail),
    /// The next parameter opens.
    Next,
}

impl OpenParam {
    /// After the opening marker `found`.
    pub(super) fn open(matcher: &Matcher, parsed: &mut Parsed, call: &OpenCall, found: &Found) -> Self {
        let rules = matcher.rules();
        let (tool, name) = (call.tool(parsed), found.name.of(&parsed.text));
        let treatment = rules.treatment(tool, name);
        let types = matcher.types(tool, name);
        let data = ParamData {
            name: found.name.range().into(),
            start: found.end as u32,
            value: match treatment.ampersands {
                true => Slice::Owned(Box::default()),
                false => Slice::Range((found.end..found.end).into()),
            },
            typed: None,
            typed_late: found.json || types.is_some_and(|types| !types.is_text()),
            replaced: false,
        };
        let (param, earlier) = parsed.open_param(call.block, data);
        if let Some(earlier) = earlier {
            let name = found.name.of(&parsed.text);
            let message = format!("parameter `{name}` is repeated; the last value is used");
            parsed.note(Kind::RepeatedParameter, found.name.range().start, message);
            parsed.param(call.block, earlier).replaced = true;
        }
        Self {
            value: Value::new(call.block, param, found.end, treatment),
            name: found.name,
            json: found.json,
            types,
            scan: found.end,
            nested: Nested::default(),
            tail: None,
        }
    }

    /// Continues the search, and shows everything that belongs to the value.
    pub(super) fn step(&mut self, matcher: &Matcher, parsed: &mut Parsed, call: &OpenCall) -> Reached {
        let rules = matcher.rules();
        loop {
            let (param, closer) = (self.name, self.value.treatment.closer);
            let tail = match &mut self.tail {
                Some(tail) => tail,
                None => match self.search(matcher, parsed, call) {
                    ControlFlow::Continue(tail) => self.tail.insert(tail),
                    ControlFlow::Break(reached) => return reached,
                },
            };
            let decision = tail.step(Around { rules, parsed, call, param, closer });
            let (at, end) = (tail.at, tail.end);
            match decision {
                Decision::Open => {
                    self.value.grow(parsed, at);
                    return Reached::Nothing;
                }
                Decision::Closes => {
                    self.close(parsed, at);
                    if at == end {
                        self.note_missing(rules, parsed, call, at, "the value ends where the call ends");
                    }
                    return Reached::End(end);
                }
                Decision::Value { scan } => {
                    self.scan = scan;
                    self.tail = None;
                }
            }
        }
    }

    /// The text ends before the value does.
    pub(super) fn cut(&mut self, matcher: &Matcher, parsed: &mut Parsed, call: &OpenCall) {
        let rules = matcher.rules();
        let end = parsed.text.len();
        let Some(tail) = &self.tail else {
            // Half a closing marker at the end does not belong to the value.
            let at = if rules.markup.half_closers { end } else { self.scan.min(end) };
            self.value.close(parsed, at);
            parsed.add_span(SpanKind::Markup, end);
            return;
        };
        let mut at = tail.at;
        match tail.end > at {
            true => self.close(parsed, at),
            false => self.value.close(parsed, at),
        }
        // The markers that were held back; what follows them belongs to nothing.
        while at < end {
            let next = skip_whitespace(&parsed.text, at);
            parsed.add_span(SpanKind::Whitespace, next);
            let closers = [
                call.parameters(rules).closes(&parsed.text, next, self.name),
                rules.calls.closes(&parsed.text, next, call.name),
                any_literal(&parsed.text, next, rules.wrapper_close(), false),
            ];
            at = match closers.into_iter().find(|closer| *closer != Match::No) {
                Some(Match::Full(end)) => end,
                Some(Match::Partial) => end,
                Some(Match::No) | None => return parsed.add_stray(end),
            };
            parsed.add_span(SpanKind::Markup, at);
        }
    }

    /// In the value: its end, or a possible end and what follows it.
    fn search(
        &mut self,
        matcher: &Matcher,
        parsed: &mut Parsed,
        call: &OpenCall,
    ) -> ControlFlow<Reached, Tail> {
        let rules = matcher.rules();
        let bound = self.value.start.saturating_add(parsed.limits.param_bytes);
        loop {
            let rest = &parsed.text.as_bytes()[self.scan..];
            let ahead = match rules.looks_ahead() {
                true => rules.next_in_value(rest),
                false => memchr(call.parameters(rules).close_byte(), rest),
            };
            let at = self.scan + ahead.unwrap_or(rest.len());
            self.scan = at;
            if at > bound {
                let certain = parsed.text.floor_char_boundary(bound);
                self.value.close(parsed, certain);
                let limit = parsed.limits.param_bytes;
                let message = format!("a parameter is longer than {limit} bytes; its call is malformed");
                parsed.note(Kind::LimitReached, certain, message);
                return ControlFlow::Break(Reached::Limit(certain));
            }
            let marker = match ahead {
                Some(_) => self.marker(matcher, parsed, call, at),
                None => Marker::Undecided,
            };
            match marker {
                Marker::None => self.scan = parsed.text.ceil_char_boundary(at + 1),
                Marker::Inside(end) => self.scan = end,
                Marker::Undecided => {
                    self.value.grow(parsed, at);
                    return ControlFlow::Break(Reached::Nothing);
                }
                Marker::Closer(end) => {
                    self.close(parsed, at);
                    return ControlFlow::Break(Reached::End(end));
                }
                Marker::Tail(tail) => return ControlFlow::Continue(tail),
                Marker::Next => {
                    self.close(parsed, at);
                    let why = "the value ends where the next parameter opens";
                    self.note_missing(rules, parsed, call, at, why);
                    return ControlFlow::Break(Reached::End(at));
                }
            }
        }
    }

    /// What the marker at `at` means for the value.
    fn marker(&mut self, matcher: &Matcher, parsed: &Parsed, call: &OpenCall, at: usize) -> Marker {
        let rules = matcher.rules();
        let (text, finished, nested) = (&parsed.text, parsed.finished, &mut self.nested);
        let closer = self.value.treatment.closer;
        if nested.calls.is_empty() {
            match (call.parameters(rules).closes(text, at, self.name), closer) {
                (Match::Full(end), Closer::Placed | Closer::Last) => {
                    return Marker::Tail(Tail::after_closer(at, end));
                }
                (Match::Full(end), Closer::First | Closer::RepairedAtClose | Closer::RepairedAtEach) => {
                    return Marker::Closer(end);
                }
                (Match::Partial, _) => return Marker::Undecided,
                (Match::No, _) => {}
            }
        }
        if !rules.looks_ahead() {
            return Marker::None;
        }
        let open = nested.calls.last().copied();
        match (rules.calls.closes(text, at, open.unwrap_or(call.name)), open) {
            (Match::Full(end), Some(_)) => {
                nested.calls.pop();
                return Marker::Inside(end);
            }
            (Match::Full(end), None) if nested.mentions > 0 => {
                nested.mentions -= 1;
                return Marker::Inside(end);
            }
            (Match::Full(end), None) => return Marker::Tail(Tail::at_call_closer(at, end)),
            (Match::Partial, _) => return Marker::Undecided,
            (Match::No, _) => {}
        }
        match any_literal(text, at, rules.wrapper_close(), finished) {
            Match::Full(end) if nested.wrappers > 0 => {
                nested.wrappers -= 1;
                return Marker::Inside(end);
            }
            Match::Full(end) if open.is_none() && call.in_wrapper => {
                return Marker::Tail(Tail::at_wrapper_closer(at, end));
            }
            Match::Full(end) => return Marker::Inside(end),
            Match::Partial => return Marker::Undecided,
            Match::No => {}
        }
        match any_literal(text, at, rules.wrapper_open(), finished) {
            Match::Full(end) => {
                nested.wrappers += 1;
                return Marker::Inside(end);
            }
            Match::Partial => return Marker::Undecided,
            Match::No => {}
        }
        match rules.inside(text, at, call, finished) {
            Match::Full(Inside::Call(found)) => {
                nested.calls.push(found.name);
                return Marker::Inside(found.end);
            }
            Match::Full(Inside::Mention(end)) => {
                nested.mentions += usize::from(open.is_none());
                return Marker::Inside(end);
            }
            Match::Partial => return Marker::Undecided,
            Match::No => {}
        }
        if matcher.tools.is_none() || open.is_some() || closer == Closer::Last {
            return Marker::None;
        }
        match call.parameters(rules).open.find(text, at, finished) {
            Match::Full(found) => {
                let name = found.name.of(text);
                let has_param = matcher.types(call.tool(parsed), name).is_some();
                if has_param && parsed.param_named(call.block, name).is_none() {
                    Marker::Next
                } else {
                    Marker::None
                }
            }
            Match::Partial => Marker::Undecided,
            Match::No => Marker::None,
        }
    }

    /// Reports that the closing marker of the value is missing at `at`.
    fn note_missing(&self, rules: &Rules, parsed: &mut Parsed, call: &OpenCall, at: usize, why: &str) {
        let close = call.parameters(rules).closer(self.name.of(&parsed.text));
        parsed.note(Kind::MissingCloser, at, format!("`{close}` is missing; {why}"));
    }

    /// The value ends at `at` and is complete.
    fn close(&mut self, parsed: &mut Parsed, at: usize) {
        self.value.close(parsed, at);
        if self.json || self.types.is_some() {
            self.give_type(parsed);
        }
        let (block, param) = (self.value.block, self.value.param);
        parsed.changes.push(Change::ParamClosed { block, param });
    }

    /// Gives the complete value its type, if it is not a string.
    fn give_type(&self, parsed: &mut Parsed) {
        let (block, param) = (self.value.block, self.value.param);
        let (text, depth) = (parsed.param_text(block, param), parsed.limits.json_depth);
        let (typed, refused) = match self.types {
            Some(types) if !self.json => (types.read(text, depth), types.refuse_text()),
            _ => (untyped(text, depth), self.json),
        };
        if typed.is_none() && refused {
            let name = self.name.of(&parsed.text);
            let message = format!("the value of `{name}` does not have its type; it is kept as a string");
            parsed.note(Kind::WrongType, self.value.start, message);
        }
        parsed.param(block, param).typed = typed.map(Box::new);
    }
}
