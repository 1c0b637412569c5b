//! [`OpenParam`]: a parameter of a call while it arrives, up to the end of its value.

use memchr::memchr;

use super::call::Slice;
use super::change::Change;
use super::grammar::Closer;
use super::markup::OpenCall;
use super::matcher::Matcher;
use super::params::ParamData;
use super::parsed::Parsed;
use super::rules::Rules;
use super::tail::{Decision, Tail};
use super::template::{Found, Match, Name};
use super::tools::untyped;
use super::value::Value;
use crate::diagnostic::Kind;

/// A parameter whose value has started.
#[derive(Clone, Debug)]
pub(super) struct OpenParam {
    value: Value,
    name: Name,
    /// Its attributes say `string="false"`: the value is JSON.
    json: bool,
    /// Everything before this has been searched for the end of the value.
    scan: usize,
    /// What follows a possible end of the value, while it does not decide whether that is the end. Boxed
    /// because few values need it.
    tail: Option<Box<Tail>>,
}

/// The outcome of a search for the end of a value.
#[derive(Clone, Copy)]
pub(super) enum Reached {
    /// The end has not come.
    Nothing,
    /// The value is complete, and its closing marker ends here.
    End(usize),
    /// The value is longer than its limit, which is here.
    Limit(usize),
}

/// What was found in a value.
enum Search {
    Reached(Reached),
    /// A possible end; what follows decides whether it is the end.
    Tail(Tail),
}

impl OpenParam {
    /// After the opening marker `found`.
    pub(super) fn open(matcher: &Matcher, parsed: &mut Parsed, call: &OpenCall, found: &Found) -> Self {
        let rules = matcher.rules();
        let treatment = rules.treatment(&parsed.text, call.name, found.name);
        let data = ParamData {
            name: found.name.range().into(),
            start: found.end as u32,
            value: match treatment.ampersands {
                true => Slice::Owned(Box::default()),
                false => Slice::Range((found.end..found.end).into()),
            },
            typed: None,
            typed_late: found.json
                || matcher
                    .tools
                    .as_ref()
                    .is_some_and(|tools| tools.is_typed_late(call.tool(parsed), found.name.of(&parsed.text))),
            closed: false,
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
            scan: found.end,
            tail: None,
        }
    }

    /// Continues the search, and shows everything that belongs to the value.
    pub(super) fn step(&mut self, matcher: &Matcher, parsed: &mut Parsed, call: &OpenCall) -> Reached {
        let rules = matcher.rules();
        loop {
            let closer = self.value.treatment().closer;
            let (decision, at, end) = match &mut self.tail {
                Some(tail) => (tail.step(rules, parsed, call, closer, self.name), tail.at(), tail.end()),
                None => {
                    let mut tail = match self.search(matcher, rules, parsed, call) {
                        Search::Tail(tail) => tail,
                        Search::Reached(reached) => return reached,
                    };
                    let decision = tail.step(rules, parsed, call, closer, self.name);
                    let (at, end) = (tail.at(), tail.end());
                    if let Decision::Open = decision {
                        self.tail = Some(Box::new(tail));
                    }
                    (decision, at, end)
                }
            };
            match decision {
                Decision::Open => {
                    self.value.grow(parsed, at);
                    return Reached::Nothing;
                }
                Decision::Closes => {
                    self.close(matcher, parsed, call, at);
                    if at == end {
                        let name = self.name.of(&parsed.text);
                        let close = call.parameters(rules).closer(name);
                        let message = format!("`{close}` is missing; the value ends where the call ends");
                        parsed.note(Kind::MissingCloser, at, message);
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
        let end = parsed.text.len();
        match &self.tail {
            Some(tail) => {
                let at = tail.at();
                self.close(matcher, parsed, call, at);
            }
            None if matcher.rules().half_closers() => self.value.close(parsed, end),
            // Half a closing marker at the end does not belong to the value.
            None => self.value.close(parsed, self.scan.min(end)),
        }
    }

    /// In the value: its closing marker.
    fn search(&mut self, matcher: &Matcher, rules: &Rules, parsed: &mut Parsed, call: &OpenCall) -> Search {
        let bound = self.value.start.saturating_add(parsed.limits.param_bytes);
        let closer = self.value.treatment().closer;
        let tag = call.parameters(rules);
        let (at, found) = loop {
            let text = &parsed.text;
            let Some(ahead) = memchr(tag.close_byte(), &text.as_bytes()[self.scan..]) else {
                break (text.len(), Match::No);
            };
            let at = self.scan + ahead;
            match tag.closes(text, at, self.name) {
                Match::No => {}
                found => break (at, found),
            }
            // The closing marker may be missing, so that the call's closing marker comes first.
            if closer == Closer::Placed && at <= bound && !rules.wrapper_close().is_empty() {
                match rules.calls.closes(text, at, call.name) {
                    Match::No => {}
                    Match::Partial => break (at, Match::Partial),
                    Match::Full(end) => return Search::Tail(Tail::without_closer(at, end)),
                }
            }
            self.scan = text.ceil_char_boundary(at + 1);
        };
        self.scan = at;
        if at > bound {
            let certain = parsed.text.floor_char_boundary(bound);
            self.value.close(parsed, certain);
            let limit = parsed.limits.param_bytes;
            let message = format!("a parameter is longer than {limit} bytes; its call is malformed");
            parsed.note(Kind::LimitReached, certain, message);
            return Search::Reached(Reached::Limit(certain));
        }
        match (found, closer) {
            (Match::Full(end), Closer::First | Closer::RepairedAtClose | Closer::RepairedAtEach) => {
                self.close(matcher, parsed, call, at);
                Search::Reached(Reached::End(end))
            }
            (Match::Full(end), Closer::Placed | Closer::Last) => Search::Tail(Tail::after_closer(at, end)),
            (Match::Partial | Match::No, _) => {
                self.value.grow(parsed, at);
                Search::Reached(Reached::Nothing)
            }
        }
    }

    /// The value ends at `at` and is complete.
    fn close(&mut self, matcher: &Matcher, parsed: &mut Parsed, call: &OpenCall, at: usize) {
        self.value.close(parsed, at);
        let (block, param) = (self.value.block, self.value.param);
        if self.json || matcher.tools.is_some() {
            self.give_type(matcher, parsed, call);
        }
        parsed.param(block, param).closed = true;
        parsed.changes.push(Change::ParamClosed { block, param });
    }

    /// Gives the complete value its type, if it is not a string.
    fn give_type(&self, matcher: &Matcher, parsed: &mut Parsed, call: &OpenCall) {
        let (block, param) = (self.value.block, self.value.param);
        let text = parsed.param_text(block, param);
        let typed = match &matcher.tools {
            Some(tools) if !self.json => {
                tools.typed(call.tool(parsed), self.name.of(&parsed.text), text, parsed.limits.json_depth)
            }
            _ => untyped(text, parsed.limits.json_depth),
        };
        parsed.param(block, param).typed = typed.map(Box::new);
    }
}
