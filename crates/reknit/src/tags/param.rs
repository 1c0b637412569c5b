//! [`OpenParam`]: a parameter of a call while it arrives, up to the end of its value.

use memchr::memchr;

use super::call::Slice;
use super::change::Change;
use super::grammar::Closer;
use super::markup::OpenCall;
use super::matcher::Matcher;
use super::params::ParamData;
use super::parsed::Parsed;
use super::rules::{Inside, Rules};
use super::span::SpanKind;
use super::tail::{Around, Decision, Tail};
use super::template::{Found, Match, Name, any_literal};
use super::tools::untyped;
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
    /// Everything before this has been searched for the end of the value.
    scan: usize,
    nested: Nested,
    /// What follows a possible end of the value, while it does not decide whether that is the end. Boxed
    /// because few values need it.
    tail: Option<Box<Tail>>,
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

/// What was found in a value.
enum Search {
    Reached(Reached),
    /// A possible end; what follows decides whether it is the end.
    Tail(Tail),
}

/// What is at a place in a value.
enum Marker {
    /// Nothing that counts.
    None,
    /// The text ends before that is decided.
    Undecided,
    /// A marker that belongs to the value and ends here.
    Inside(usize),
    /// The call or its wrapper closes: a possible end of the value.
    Tail(Tail),
    /// The next parameter opens.
    Next,
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
            nested: Nested::default(),
            tail: None,
        }
    }

    /// Continues the search, and shows everything that belongs to the value.
    pub(super) fn step(&mut self, matcher: &Matcher, parsed: &mut Parsed, call: &OpenCall) -> Reached {
        let rules = matcher.rules();
        loop {
            let (param, closer) = (self.name, self.value.treatment.closer);
            let (decision, at, end) = match &mut self.tail {
                Some(tail) => (tail.step(Around { rules, parsed, call, param, closer }), tail.at, tail.end),
                None => {
                    let mut tail = match self.search(matcher, rules, parsed, call) {
                        Search::Tail(tail) => tail,
                        Search::Reached(reached) => return reached,
                    };
                    let decision = tail.step(Around { rules, parsed, call, param, closer });
                    let (at, end) = (tail.at, tail.end);
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
            true => self.close(matcher, parsed, call, at),
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

    /// In the value: its closing marker, or what ends it without one.
    fn search(&mut self, matcher: &Matcher, rules: &Rules, parsed: &mut Parsed, call: &OpenCall) -> Search {
        let bound = self.value.start.saturating_add(parsed.limits.param_bytes);
        let closer = self.value.treatment.closer;
        let tag = call.parameters(rules);
        let (at, found) = loop {
            let text = &parsed.text;
            let rest = &text.as_bytes()[self.scan..];
            let ahead = match rules.looks_ahead() {
                true => rules.next_in_value(rest),
                false => memchr(tag.close_byte(), rest),
            };
            let Some(ahead) = ahead else {
                break (text.len(), Match::No);
            };
            let at = self.scan + ahead;
            if at > bound {
                break (at, Match::No);
            }
            if self.nested.calls.is_empty() {
                match tag.closes(text, at, self.name) {
                    Match::No => {}
                    found => break (at, found),
                }
            }
            self.scan = match self.marker(matcher, rules, parsed, call, at) {
                Marker::None => text.ceil_char_boundary(at + 1),
                Marker::Inside(end) => end,
                Marker::Undecided => break (at, Match::Partial),
                Marker::Tail(tail) => {
                    self.scan = at;
                    return Search::Tail(tail);
                }
                Marker::Next => {
                    self.scan = at;
                    self.close(matcher, parsed, call, at);
                    self.note_missing(
                        rules,
                        parsed,
                        call,
                        at,
                        "the value ends where the next parameter opens",
                    );
                    return Search::Reached(Reached::End(at));
                }
            };
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

    /// What the marker at `at` means for the value, unless it is its closing marker.
    fn marker(
        &mut self,
        matcher: &Matcher,
        rules: &Rules,
        parsed: &Parsed,
        call: &OpenCall,
        at: usize,
    ) -> Marker {
        if !rules.looks_ahead() {
            return Marker::None;
        }
        let (text, finished, nested) = (&parsed.text, parsed.finished, &mut self.nested);
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
            Inside::Call(found) => {
                nested.calls.push(found.name);
                return Marker::Inside(found.end);
            }
            Inside::Mention(end) => {
                nested.mentions += usize::from(open.is_none());
                return Marker::Inside(end);
            }
            Inside::Undecided => return Marker::Undecided,
            Inside::No => {}
        }
        let Some(tools) = matcher.tools.as_ref().filter(|_| open.is_none()) else { return Marker::None };
        if self.value.treatment.closer == Closer::Last {
            return Marker::None;
        }
        match call.parameters(rules).open.find(text, at, finished) {
            Match::Full(found) => {
                let name = found.name.of(text);
                let is_next = tools.has_param(call.tool(parsed), name)
                    && parsed.param_named(call.block, name).is_none();
                if is_next { Marker::Next } else { Marker::None }
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
    fn close(&mut self, matcher: &Matcher, parsed: &mut Parsed, call: &OpenCall, at: usize) {
        self.value.close(parsed, at);
        let (block, param) = (self.value.block, self.value.param);
        if self.json || matcher.tools.is_some() {
            self.give_type(matcher, parsed, call);
        }
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
        let name = self.name.of(&parsed.text);
        let refused = self.json
            || matcher.tools.as_ref().is_some_and(|tools| tools.refuses_text(call.tool(parsed), name));
        if typed.is_none() && refused {
            let message = format!("the value of `{name}` does not have its type; it is kept as a string");
            parsed.note(Kind::WrongType, self.value.start, message);
        }
        parsed.param(block, param).typed = typed.map(Box::new);
    }
}
