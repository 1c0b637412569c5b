//! [`Tail`]: what stands behind the end of a value, if it is the end.

use std::collections::BTreeSet;

use memchr::memchr;

use super::blank::behind_blanks;
use super::grammar::Closer;
use super::markup::OpenCall;
use super::rules::Rules;
use super::sheet::Sheet;
use super::tag::Tag;
use super::template::{Match, Name, any_literal};

/// The text from what may close a value on, which is held back until that is decided.
///
/// It only looks: nothing is laid or shown. If the value closes, its parameters are read again as such; if
/// not, all of it is value and the search goes on behind what decided it, so no byte is looked at more
/// than twice.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    /// Where the value ends, if it does.
    at: usize,
    /// Where its closing marker ends; the same if that is missing.
    end: usize,
    /// Everything before this was looked at.
    scan: usize,
    state: State,
    /// The names of the parameters in it; few have any.
    names: Option<BTreeSet<String>>,
}

#[derive(Clone, Debug)]
enum State {
    /// A parameter or the end of the call is to follow.
    Between,
    /// In a parameter of this name.
    Param { name: Name },
    /// The closing marker is missing and the call's own has come: the wrapper's is to follow.
    CallClosed,
    /// That has come, too: the next call or the end of the text says that the value ended, a closing
    /// marker that all of this was value.
    WrapperClosed,
}

/// What a tail shows.
pub(super) enum Decision {
    /// Nothing yet.
    Open,
    /// The value closes where the tail starts.
    Closes,
    /// All of it is value, in which the search goes on at `scan`.
    Value { scan: usize },
}

impl Tail {
    /// Behind a closing marker.
    pub(super) fn behind(at: usize, end: usize) -> Self {
        Self { at, end, scan: end, state: State::Between, names: None }
    }

    /// At the closing marker of the call, which ends at `end`: that of the value may be missing.
    pub(super) fn without_closer(at: usize, end: usize) -> Self {
        Self { at, end: at, scan: end, state: State::CallClosed, names: None }
    }

    /// Where the value ends, if it does.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Where its closing marker ends; the same if that is missing.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Looks on. The value is of the parameter `param` in `call`.
    pub(super) fn step(
        &mut self,
        rules: &Rules,
        sheet: &Sheet,
        call: &OpenCall,
        closer: Closer,
        param: Name,
    ) -> Decision {
        loop {
            let decision = match self.state {
                State::Between => self.between(rules, sheet, call, closer),
                State::Param { name } => self.param(call.parameters(rules), sheet, name, param),
                State::CallClosed => self.call_closed(rules, sheet),
                State::WrapperClosed => self.wrapper_closed(rules, sheet, call, param),
            };
            if let Some(decision) = decision {
                return decision;
            }
        }
    }

    fn between(&mut self, rules: &Rules, sheet: &Sheet, call: &OpenCall, closer: Closer) -> Option<Decision> {
        let text = &sheet.text;
        self.scan = behind_blanks(text, self.scan);
        if self.scan == text.len() {
            return Some(Decision::Open);
        }
        let close = rules.calls.closes(text, self.scan, call.name);
        if let Match::Full(_) = close {
            return Some(Decision::Closes);
        }
        match (close, call.parameters(rules).open.find(text, self.scan, false)) {
            (_, Match::Full(_)) if closer == Closer::Placed => Some(Decision::Closes),
            (_, Match::Full(found)) => {
                let name = found.name.of(text);
                if sheet.param_named(call.block, name).is_some()
                    || !self.names.get_or_insert_default().insert(name.to_owned())
                {
                    return Some(Decision::Value { scan: self.scan });
                }
                self.state = State::Param { name: found.name };
                self.scan = found.end;
                None
            }
            (Match::Partial, _) | (_, Match::Partial) => Some(Decision::Open),
            (Match::Full(_) | Match::No, Match::No) => Some(Decision::Value { scan: self.scan }),
        }
    }

    /// In the parameter `own`, behind what may be the end of the value of `param`.
    fn param(&mut self, tag: &Tag, sheet: &Sheet, own: Name, param: Name) -> Option<Decision> {
        let text = &sheet.text;
        let Some(ahead) = memchr(tag.close_byte(), &text.as_bytes()[self.scan..]) else {
            self.scan = text.len();
            return Some(Decision::Open);
        };
        let at = self.scan + ahead;
        match [tag.closes(text, at, param), tag.closes(text, at, own)] {
            // The value goes on up to this one at least, which may be its end again.
            [Match::Full(_), _] => Some(Decision::Value { scan: at }),
            [_, Match::Full(end)] => {
                self.state = State::Between;
                self.scan = end;
                None
            }
            [Match::Partial, _] | [_, Match::Partial] => {
                self.scan = at;
                Some(Decision::Open)
            }
            [Match::No, Match::No] => {
                self.scan = text.ceil_char_boundary(at + 1);
                None
            }
        }
    }

    fn call_closed(&mut self, rules: &Rules, sheet: &Sheet) -> Option<Decision> {
        self.scan = behind_blanks(&sheet.text, self.scan);
        if self.scan == sheet.text.len() {
            return Some(if sheet.over { Decision::Closes } else { Decision::Open });
        }
        match any_literal(&sheet.text, self.scan, rules.wrapper_close(), sheet.over) {
            Match::Full(end) => {
                self.state = State::WrapperClosed;
                self.scan = end;
                None
            }
            Match::Partial => Some(Decision::Open),
            Match::No => Some(Decision::Value { scan: self.at + 1 }),
        }
    }

    fn wrapper_closed(
        &mut self,
        rules: &Rules,
        sheet: &Sheet,
        call: &OpenCall,
        param: Name,
    ) -> Option<Decision> {
        let text = &sheet.text;
        let tag = call.parameters(rules);
        let undecided = if sheet.over { Decision::Closes } else { Decision::Open };
        let Some(ahead) = memchr(tag.close_byte(), &text.as_bytes()[self.scan..]) else {
            self.scan = text.len();
            return Some(undecided);
        };
        let at = self.scan + ahead;
        let marks = [tag.closes(text, at, param), any_literal(text, at, rules.wrapper_open(), sheet.over)];
        match marks {
            [Match::Full(_), _] => Some(Decision::Value { scan: at }),
            [_, Match::Full(_)] => Some(Decision::Closes),
            [Match::Partial, _] | [_, Match::Partial] => {
                self.scan = at;
                Some(undecided)
            }
            [Match::No, Match::No] => {
                self.scan = text.ceil_char_boundary(at + 1);
                None
            }
        }
    }
}
