//! [`OpenParam`]: a parameter of a call while it arrives, up to where its value ends.

use std::ops::Range;

use memchr::memchr;

use super::call::{ParamData, Slice};
use super::change::Change;
use super::grammar::Closer;
use super::markup::OpenCall;
use super::matcher::{Markup, Matcher};
use super::sheet::Sheet;
use super::tail::{Decision, Tail};
use super::template::{Found, Match};
use super::tools::untyped;
use super::value::Value;
use crate::diagnostic::Kind;

/// A parameter whose value has begun.
#[derive(Clone, Debug)]
pub(super) struct OpenParam {
    value: Value,
    name: Range<usize>,
    /// `string="false"`: the value is JSON.
    json: bool,
    /// Everything before this has been searched for the end of the value.
    scan: usize,
    /// What stands behind what may be that end; few values have that, so it is kept elsewhere.
    tail: Option<Box<Tail>>,
}

/// What a search for the end of a value came to.
pub(super) enum Reached {
    /// The end has not come.
    Nothing,
    /// The value is over, and its closing marker ends here.
    End(usize),
    /// There is more of it behind this than it may have.
    Limit(usize),
}

impl OpenParam {
    /// Behind the opening marker `found`.
    pub(super) fn open(rules: &Markup, sheet: &mut Sheet, call: &OpenCall, found: &Found) -> Self {
        let block = call.block;
        let name = &sheet.text[found.name.clone()];
        let treatment = rules.treatment(call.tool(sheet), name);
        let value = match treatment.ampersands {
            true => Slice::Owned(String::new()),
            false => Slice::Range(found.end..found.end),
        };
        let data = ParamData {
            name: found.name.clone(),
            start: found.end,
            value,
            typed: None,
            closed: false,
            replaced: false,
        };
        if let Some(earlier) = sheet.param_named(block, name) {
            let message = format!("parameter `{name}` is there a second time; the last one stands");
            sheet.note(Kind::RepeatedParameter, found.name.start, message);
            sheet.param(block, earlier).replaced = true;
        }
        let param = sheet.open_param(block, data);
        Self {
            value: Value::new(block, param, found.end, treatment),
            name: found.name.clone(),
            json: !found.attributes.is_empty()
                && sheet.text[found.attributes.clone()].contains("string=\"false\""),
            scan: found.end,
            tail: None,
        }
    }

    /// Searches on, and shows everything that is value.
    pub(super) fn step(&mut self, matcher: &Matcher, sheet: &mut Sheet, call: &OpenCall) -> Reached {
        let rules = matcher.markup();
        loop {
            let Some(tail) = &mut self.tail else {
                match self.search(matcher, rules, sheet, call) {
                    Some(reached) => return reached,
                    None => continue,
                }
            };
            match tail.step(rules, sheet, call, self.value.treatment().closer, &self.name) {
                Decision::Open => {
                    self.value.grow(sheet, tail.at());
                    return Reached::Nothing;
                }
                Decision::Closes => {
                    let (at, end) = (tail.at(), tail.end());
                    self.close(matcher, sheet, call, at);
                    if at == end {
                        let close = rules.parameter_close.written(&sheet.text[self.name.clone()]);
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
            None if matcher.markup().half_closers() => self.value.close(sheet, end),
            // Half a closing marker at the end is no value.
            None => self.value.close(sheet, self.scan.min(end)),
        }
    }

    /// In the value: its closing marker. Returns nothing if what stands behind that decides.
    fn search(
        &mut self,
        matcher: &Matcher,
        rules: &Markup,
        sheet: &mut Sheet,
        call: &OpenCall,
    ) -> Option<Reached> {
        let bound = self.value.start.saturating_add(matcher.limits.param_bytes);
        let closer = self.value.treatment().closer;
        let (at, found) = loop {
            let text = &sheet.text;
            let Some(ahead) = memchr(rules.parameter_close.first_byte(), &text.as_bytes()[self.scan..])
            else {
                break (text.len(), Match::No);
            };
            let at = self.scan + ahead;
            match rules.parameter_close.stands(text, at, &text[self.name.clone()]) {
                Match::No => {}
                found => break (at, found),
            }
            // The closing marker may be missing, and the call's own be the next that comes.
            if closer == Closer::Placed && at <= bound && !rules.wrapper_close().is_empty() {
                match rules.call_close.stands(text, at, call.tool(sheet)) {
                    Match::No => {}
                    Match::Partial => break (at, Match::Partial),
                    Match::Full(end) => {
                        self.tail = Some(Box::new(Tail::without_closer(at, end)));
                        return None;
                    }
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
            return Some(Reached::Limit(certain));
        }
        match (found, closer) {
            (Match::Full(end), Closer::First | Closer::RepairedAtClose | Closer::RepairedAtEach) => {
                self.close(matcher, sheet, call, at);
                Some(Reached::End(end))
            }
            (Match::Full(end), Closer::Placed | Closer::Last) => {
                self.tail = Some(Box::new(Tail::behind(at, end)));
                None
            }
            (Match::Partial | Match::No, _) => {
                self.value.grow(sheet, at);
                Some(Reached::Nothing)
            }
        }
    }

    /// The value ends at `at`, and is whole.
    fn close(&mut self, matcher: &Matcher, sheet: &mut Sheet, call: &OpenCall, at: usize) {
        self.value.close(sheet, at);
        let (block, param) = (self.value.block, self.value.param);
        if self.json || matcher.tools.is_some() {
            let text = sheet.params(block)[param].value.of(&sheet.text);
            let typed = match &matcher.tools {
                Some(tools) if !self.json => {
                    tools.typed(call.tool(sheet), &sheet.text[self.name.clone()], text)
                }
                _ => untyped(text),
            };
            sheet.param(block, param).typed = typed.map(Box::new);
        }
        sheet.param(block, param).closed = true;
        sheet.changes.push(Change::ParamClosed { block, param });
    }
}
