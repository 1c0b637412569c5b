//! [`OpenParam`]: a parameter of a call while it arrives, up to where its value ends.

use memchr::memchr;

use super::call::Slice;
use super::change::Change;
use super::grammar::Closer;
use super::markup::OpenCall;
use super::matcher::Matcher;
use super::params::ParamData;
use super::rules::Rules;
use super::sheet::Sheet;
use super::tail::{Decision, Tail};
use super::template::{Found, Match, Name};
use super::tools::untyped;
use super::value::Value;
use crate::diagnostic::Kind;

/// A parameter whose value has begun.
#[derive(Clone, Debug)]
pub(super) struct OpenParam {
    value: Value,
    name: Name,
    /// `string="false"`: the value is JSON.
    json: bool,
    /// Everything before this has been searched for the end of the value.
    scan: usize,
    /// What stands behind what may be that end and does not decide it yet; few values have that, so it is
    /// kept elsewhere.
    tail: Option<Box<Tail>>,
}

/// What a search for the end of a value came to.
#[derive(Clone, Copy)]
pub(super) enum Reached {
    /// The end has not come.
    Nothing,
    /// The value is over, and its closing marker ends here.
    End(usize),
    /// There is more of it behind this than it may have.
    Limit(usize),
}

/// What was found in a value.
enum Search {
    Reached(Reached),
    /// What may be its end: what stands behind it decides.
    Tail(Tail),
}

impl OpenParam {
    /// Behind the opening marker `found`.
    pub(super) fn open(rules: &Rules, sheet: &mut Sheet, call: &OpenCall, found: &Found) -> Self {
        let treatment = rules.treatment(&sheet.text, call.name, found.name);
        let data = ParamData {
            name: found.name.range().into(),
            start: found.end as u32,
            value: match treatment.ampersands {
                true => Slice::Owned(Box::default()),
                false => Slice::Range((found.end..found.end).into()),
            },
            typed: None,
            closed: false,
            replaced: false,
        };
        let (param, earlier) = sheet.open_param(call.block, data);
        if let Some(earlier) = earlier {
            let name = found.name.of(&sheet.text);
            let message = format!("parameter `{name}` is there a second time; the last one stands");
            sheet.note(Kind::RepeatedParameter, found.name.range().start, message);
            sheet.param(call.block, earlier).replaced = true;
        }
        Self {
            value: Value::new(call.block, param, found.end, treatment),
            name: found.name,
            json: found.json,
            scan: found.end,
            tail: None,
        }
    }

    /// Searches on, and shows everything that is value.
    pub(super) fn step(&mut self, matcher: &Matcher, sheet: &mut Sheet, call: &OpenCall) -> Reached {
        let rules = matcher.rules();
        loop {
            let closer = self.value.treatment().closer;
            let (decision, at, end) = match &mut self.tail {
                Some(tail) => (tail.step(rules, sheet, call, closer, self.name), tail.at(), tail.end()),
                None => {
                    let mut tail = match self.search(matcher, rules, sheet, call) {
                        Search::Tail(tail) => tail,
                        Search::Reached(reached) => return reached,
                    };
                    let decision = tail.step(rules, sheet, call, closer, self.name);
                    let (at, end) = (tail.at(), tail.end());
                    if let Decision::Open = decision {
                        self.tail = Some(Box::new(tail));
                    }
                    (decision, at, end)
                }
            };
            match decision {
                Decision::Open => {
                    self.value.grow(sheet, at);
                    return Reached::Nothing;
                }
                Decision::Closes => {
                    self.close(matcher, sheet, call, at);
                    if at == end {
                        let name = self.name.of(&sheet.text);
                        let close = call.parameters(rules).closer(name);
                        let message = format!("`{close}` is missing; the value ends where the call does");
                        sheet.note(Kind::MissingCloser, at, message);
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
    pub(super) fn cut(&mut self, matcher: &Matcher, sheet: &mut Sheet, call: &OpenCall) {
        let end = sheet.text.len();
        match &self.tail {
            Some(tail) => {
                let at = tail.at();
                self.close(matcher, sheet, call, at);
            }
            None if matcher.rules().half_closers() => self.value.close(sheet, end),
            // Half a closing marker at the end is no value.
            None => self.value.close(sheet, self.scan.min(end)),
        }
    }

    /// In the value: its closing marker.
    fn search(&mut self, matcher: &Matcher, rules: &Rules, sheet: &mut Sheet, call: &OpenCall) -> Search {
        let bound = self.value.start.saturating_add(matcher.limits.param_bytes);
        let closer = self.value.treatment().closer;
        let tag = call.parameters(rules);
        let (at, found) = loop {
            let text = &sheet.text;
            let Some(ahead) = memchr(tag.close_byte(), &text.as_bytes()[self.scan..]) else {
                break (text.len(), Match::No);
            };
            let at = self.scan + ahead;
            match tag.closes(text, at, self.name) {
                Match::No => {}
                found => break (at, found),
            }
            // The closing marker may be missing, and the call's own be the next that comes.
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
            let certain = sheet.text.floor_char_boundary(bound);
            self.value.close(sheet, certain);
            let message = "a parameter is longer than its limit; its call is malformed";
            sheet.note(Kind::LimitReached, certain, message);
            return Search::Reached(Reached::Limit(certain));
        }
        match (found, closer) {
            (Match::Full(end), Closer::First | Closer::RepairedAtClose | Closer::RepairedAtEach) => {
                self.close(matcher, sheet, call, at);
                Search::Reached(Reached::End(end))
            }
            (Match::Full(end), Closer::Placed | Closer::Last) => Search::Tail(Tail::behind(at, end)),
            (Match::Partial | Match::No, _) => {
                self.value.grow(sheet, at);
                Search::Reached(Reached::Nothing)
            }
        }
    }

    /// The value ends at `at`, and is whole.
    fn close(&mut self, matcher: &Matcher, sheet: &mut Sheet, call: &OpenCall, at: usize) {
        self.value.close(sheet, at);
        let (block, param) = (self.value.block, self.value.param);
        if self.json || matcher.tools.is_some() {
            self.give_type(matcher, sheet, call);
        }
        sheet.param(block, param).closed = true;
        sheet.changes.push(Change::ParamClosed { block, param });
    }

    /// The value is whole, and may be something else than a string.
    fn give_type(&self, matcher: &Matcher, sheet: &mut Sheet, call: &OpenCall) {
        let (block, param) = (self.value.block, self.value.param);
        let text = sheet.param_text(block, param);
        let typed = match &matcher.tools {
            Some(tools) if !self.json => tools.typed(call.tool(sheet), self.name.of(&sheet.text), text),
            _ => untyped(text),
        };
        sheet.param(block, param).typed = typed.map(Box::new);
    }
}
