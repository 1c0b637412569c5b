//! [`Tail`]: what follows a possible end of a value.

use std::collections::BTreeSet;

use memchr::memchr;

use super::grammar::Closer;
use super::markup::OpenCall;
use super::parsed::Parsed;
use super::rules::Rules;
use super::template::{Match, Name, any_literal};
use super::whitespace::skip_whitespace;

/// The text after a marker that may end a value, held back until that is decided.
///
/// This only looks ahead: it decides and shows nothing. If the value ends here, the text after it is read
/// again as parameters or as prose. If not, all of it belongs to the value and the search continues after what
/// decided it. So no byte is looked at more than twice.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    /// Where the value ends, if it does.
    pub(super) at: usize,
    /// Where its closing marker ends; the same if the marker is missing.
    pub(super) end: usize,
    /// Everything before this has been looked at.
    scan: usize,
    /// The wrapper closes and the call does not.
    is_lone: bool,
    state: State,
    /// The names of the parameters in it.
    names: BTreeSet<String>,
}

#[derive(Clone, Debug)]
enum State {
    /// After the closing marker of the value. A parameter or the end of the call must follow.
    Between,
    /// In a parameter of this name.
    Param { name: Name },
    /// The closing marker of the value is missing, and that of the call or of the wrapper has come.
    WithoutCloser { wrapper_closed: bool },
    /// The same, and text follows. If its line has a closing marker of the value, all of this belongs to the
    /// value.
    Line,
}

/// The value that may end, and where it is.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) rules: &'a Rules,
    pub(super) parsed: &'a Parsed,
    pub(super) call: &'a OpenCall,
    /// The name of its parameter.
    pub(super) param: Name,
    pub(super) closer: Closer,
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
        Self { at, end, scan: end, is_lone: false, state: State::Between, names: BTreeSet::new() }
    }

    /// At the closing marker of the call, which ends at `end`. That of the value may be missing.
    pub(super) fn at_call_closer(at: usize, end: usize) -> Self {
        let state = State::WithoutCloser { wrapper_closed: false };
        Self { at, end: at, scan: end, is_lone: false, state, names: BTreeSet::new() }
    }

    /// At the closing marker of the wrapper, which ends at `end`. Those of the value and of the call may be
    /// missing.
    pub(super) fn at_wrapper_closer(at: usize, end: usize) -> Self {
        let state = State::WithoutCloser { wrapper_closed: true };
        Self { at, end: at, scan: end, is_lone: true, state, names: BTreeSet::new() }
    }

    /// Looks further.
    pub(super) fn step(&mut self, around: Around<'_>) -> Decision {
        loop {
            let decision = match self.state {
                State::Between => self.between(around),
                State::Param { name } => self.param(around, name),
                State::WithoutCloser { wrapper_closed } => self.without(around, wrapper_closed),
                State::Line => self.line(around),
            };
            if let Some(decision) = decision {
                return decision;
            }
        }
    }

    fn between(&mut self, around: Around<'_>) -> Option<Decision> {
        let Around { rules, parsed, call, closer, .. } = around;
        let text = &parsed.text;
        self.scan = skip_whitespace(text, self.scan);
        if self.scan == text.len() {
            return Some(Decision::Open);
        }
        let close = rules.calls.closes(text, self.scan, call.name);
        if let Match::Full(_) = close {
            return Some(Decision::Closes);
        }
        let param = call.parameters(rules).open.find(text, self.scan, false);
        if let Match::Full(found) = param {
            let name = found.name.of(text);
            if closer == Closer::Placed {
                return Some(Decision::Closes);
            }
            if parsed.param_named(call.block, name).is_some() || !self.names.insert(name.to_owned()) {
                return Some(Decision::Value { scan: self.scan });
            }
            self.state = State::Param { name: found.name };
            self.scan = found.end;
            return None;
        }
        let over = rules.ends_call(text, self.scan, call, parsed.finished);
        Some(match close.found().or(param.found()).or(over) {
            Match::Full(()) => Decision::Closes,
            Match::Partial => Decision::Open,
            Match::No => Decision::Value { scan: self.scan },
        })
    }

    /// In the parameter `own`, after a possible end of the value.
    fn param(
        &mut self,
        Around { rules, parsed, call, param, .. }: Around<'_>,
        own: Name,
    ) -> Option<Decision> {
        let text = &parsed.text;
        let tag = call.parameters(rules);
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

    /// After the closing marker of the call or of the wrapper: the next call or text ends the value.
    fn without(&mut self, around: Around<'_>, wrapper_closed: bool) -> Option<Decision> {
        let Around { rules, parsed, call, param, closer } = around;
        let text = &parsed.text;
        self.scan = skip_whitespace(text, self.scan);
        // If the text ends here, it may have been cut inside the value.
        if self.scan == text.len() {
            return Some(Decision::Open);
        }
        let tag = call.parameters(rules);
        match tag.closes(text, self.scan, param) {
            Match::Full(_) => return Some(Decision::Value { scan: self.scan }),
            Match::Partial => return Some(Decision::Open),
            Match::No => {}
        }
        if !wrapper_closed {
            match any_literal(text, self.scan, rules.wrapper_close(), parsed.finished) {
                Match::Full(end) => {
                    self.state = State::WithoutCloser { wrapper_closed: true };
                    self.scan = end;
                    return None;
                }
                Match::Partial => return Some(Decision::Open),
                Match::No => {}
            }
        }
        match rules.begins(text, self.scan, parsed.finished) {
            Match::Full(_) => return Some(Decision::Closes),
            Match::Partial => return Some(Decision::Open),
            Match::No => {}
        }
        // Between the calls in a wrapper there is no text, and that the wrapper alone closes in the middle of a
        // line is a mention.
        let mention = self.is_lone && !text[self.at..self.scan].contains('\n');
        if closer == Closer::Last || mention || (call.in_wrapper && !wrapper_closed) {
            return Some(Decision::Value { scan: self.scan });
        }
        self.state = State::Line;
        None
    }

    fn line(&mut self, Around { rules, parsed, call, param, .. }: Around<'_>) -> Option<Decision> {
        let text = &parsed.text;
        let tag = call.parameters(rules);
        let Some(ahead) = rules.next_on_line(&text.as_bytes()[self.scan..]) else {
            self.scan = text.len();
            return Some(Decision::Open);
        };
        let at = self.scan + ahead;
        self.scan = at;
        if text.as_bytes()[at] == b'\n' {
            return Some(Decision::Closes);
        }
        match tag.closes(text, at, param) {
            Match::Full(_) => return Some(Decision::Value { scan: at }),
            Match::Partial => return Some(Decision::Open),
            Match::No => {}
        }
        let param = tag.open.find(text, at, parsed.finished);
        let opens = param.or(rules.calls.open.find(text, at, parsed.finished));
        let wrapper = any_literal(text, at, rules.wrapper_open(), parsed.finished);
        match opens.found().or(wrapper.found()) {
            Match::Full(()) => return Some(Decision::Closes),
            Match::Partial => return Some(Decision::Open),
            Match::No => {}
        }
        self.scan = text.ceil_char_boundary(at + 1);
        None
    }
}
