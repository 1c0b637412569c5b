//! [`Tail`]: what follows a possible end of a value.

use std::collections::BTreeSet;

use memchr::memchr;

use super::grammar::Closer;
use super::markup::OpenCall;
use super::parsed::Parsed;
use super::rules::Rules;
use super::tag::Tag;
use super::template::{Match, Name, any_literal};
use super::whitespace::skip_whitespace;

/// The text after a closing marker that may end a value, held back until that is decided.
///
/// This only looks ahead: it decides and shows nothing. If the value ends here, the text after it is read
/// again as parameters. If not, all of it belongs to the value and the search continues after what decided
/// it. So no byte is looked at more than twice.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    /// Where the value ends, if it does.
    at: usize,
    /// Where its closing marker ends; the same if the marker is missing.
    end: usize,
    /// Everything before this has been looked at.
    scan: usize,
    state: State,
    /// The names of the parameters in it. Few tails have any, so it is allocated only then.
    names: Option<BTreeSet<String>>,
}

#[derive(Clone, Debug)]
enum State {
    /// A parameter or the end of the call must follow.
    Between,
    /// In a parameter of this name.
    Param { name: Name },
    /// The closing marker of the value is missing and that of the call has come. That of the wrapper must
    /// follow.
    CallClosed,
    /// That has come as well. If the next call or the end of the text follows, the value has ended; if
    /// another closing marker of the value follows, all of this belongs to the value.
    WrapperClosed,
}

/// What the tail decides.
pub(super) enum Decision {
    /// Nothing yet.
    Open,
    /// The value closes where the tail starts.
    Closes,
    /// All of it belongs to the value, in which the search continues at `scan`.
    Value { scan: usize },
}

impl Tail {
    /// After a closing marker of the value.
    pub(super) fn after_closer(at: usize, end: usize) -> Self {
        Self { at, end, scan: end, state: State::Between, names: None }
    }

    /// At the closing marker of the call, which ends at `end`. That of the value may be missing.
    pub(super) fn without_closer(at: usize, end: usize) -> Self {
        Self { at, end: at, scan: end, state: State::CallClosed, names: None }
    }

    /// Where the value ends, if it does.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Where its closing marker ends; the same if the marker is missing.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Looks further. The value is that of the parameter `param` in `call`.
    pub(super) fn step(
        &mut self,
        rules: &Rules,
        parsed: &Parsed,
        call: &OpenCall,
        closer: Closer,
        param: Name,
    ) -> Decision {
        loop {
            let decision = match self.state {
                State::Between => self.between(rules, parsed, call, closer),
                State::Param { name } => self.param(call.parameters(rules), parsed, name, param),
                State::CallClosed => self.call_closed(rules, parsed),
                State::WrapperClosed => self.wrapper_closed(rules, parsed, call, param),
            };
            if let Some(decision) = decision {
                return decision;
            }
        }
    }

    fn between(
        &mut self,
        rules: &Rules,
        parsed: &Parsed,
        call: &OpenCall,
        closer: Closer,
    ) -> Option<Decision> {
        let text = &parsed.text;
        self.scan = skip_whitespace(text, self.scan);
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
                if parsed.param_named(call.block, name).is_some()
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

    /// In the parameter `own`, after a possible end of the value of `param`.
    fn param(&mut self, tag: &Tag, parsed: &Parsed, own: Name, param: Name) -> Option<Decision> {
        let text = &parsed.text;
        let Some(ahead) = memchr(tag.close_byte(), &text.as_bytes()[self.scan..]) else {
            self.scan = text.len();
            return Some(Decision::Open);
        };
        let at = self.scan + ahead;
        match [tag.closes(text, at, param), tag.closes(text, at, own)] {
            // The value continues at least up to this marker, which is the next possible end.
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

    fn call_closed(&mut self, rules: &Rules, parsed: &Parsed) -> Option<Decision> {
        self.scan = skip_whitespace(&parsed.text, self.scan);
        if self.scan == parsed.text.len() {
            return Some(if parsed.finished { Decision::Closes } else { Decision::Open });
        }
        match any_literal(&parsed.text, self.scan, rules.wrapper_close(), parsed.finished) {
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
        parsed: &Parsed,
        call: &OpenCall,
        param: Name,
    ) -> Option<Decision> {
        let text = &parsed.text;
        let tag = call.parameters(rules);
        let undecided = if parsed.finished { Decision::Closes } else { Decision::Open };
        let Some(ahead) = memchr(tag.close_byte(), &text.as_bytes()[self.scan..]) else {
            self.scan = text.len();
            return Some(undecided);
        };
        let at = self.scan + ahead;
        let marks =
            [tag.closes(text, at, param), any_literal(text, at, rules.wrapper_open(), parsed.finished)];
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
