//! [`Python`]: a list of calls in the notation of Python, whose arguments are rewritten as JSON.

use std::ops::Range;

use super::machine::Step;
use super::matcher::Matcher;
use super::parsed::Parsed;
use super::reader::Read;
use super::series::Series;
use super::span::SpanKind;
use super::template::{Found, Match, Name};
use super::transcode::{Notation, Transcoder};
use super::whitespace::skip_whitespace;
use crate::diagnostic::Kind;
use crate::event::End;

/// The longest start of a call in a list, up to its first argument. Brackets are common in prose; this bounds
/// how much text is held back after one.
const MAX_HEAD: usize = 256;

/// A list of calls.
#[derive(Clone, Debug)]
pub(super) struct Python {
    calls: Series,
    state: State,
    /// Whether what comes later cannot show that this is prose after all. If it can, the call is cut.
    certain: bool,
}

#[derive(Clone, Debug)]
enum State {
    /// Before the name of a call.
    Head,
    Arguments(Box<Transcoder>),
    /// In a malformed call.
    Broken(Brackets),
    /// After a call.
    AfterElement,
}

impl Python {
    pub(super) fn open(calls: Series) -> Self {
        Self { calls, state: State::Head, certain: true }
    }

    pub(super) fn step(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Step {
        loop {
            let step = match self.state {
                State::Head => self.head(matcher, parsed),
                State::Arguments(_) => self.arguments(parsed),
                State::Broken(brackets) => self.broken(parsed, brackets),
                State::AfterElement => self.after_element(parsed),
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    /// The text ends inside a call.
    pub(super) fn cut(&mut self, parsed: &mut Parsed) {
        let end = if let State::Broken(_) = self.state { End::Malformed } else { End::Cut };
        parsed.cut_call(self.calls.open, end);
    }

    /// `name(`, followed by an argument or the closing parenthesis.
    fn head(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Option<Step> {
        let calls = &mut self.calls;
        let first = calls.last.is_none();
        let near = &parsed.text[..parsed.text.floor_char_boundary(calls.scan + MAX_HEAD)];
        let next = skip_whitespace(near, calls.scan);
        if !first && parsed.text.as_bytes().get(next) == Some(&b']') {
            // A comma may follow the last call.
            calls.scan = next + 1;
            parsed.add_span(SpanKind::Markup, calls.scan);
            return Some(calls.leave(parsed, None));
        }
        let head = match python_head(&parsed.text, calls.scan) {
            Match::Full(found) if first && !calls.prose.is_in_wrapper() => {
                match matcher.knows(found.name.of(&parsed.text)) {
                    true => list_start(&parsed.text, calls.opened, parsed.finished).map(|certain| {
                        self.certain = certain;
                        found
                    }),
                    false => Match::No,
                }
            }
            head => head,
        };
        match head {
            Match::Full(found) => {
                self.calls.begin_named(matcher, parsed, found.name.range(), found.end);
                let depth = parsed.limits.json_depth;
                let transcoder = Transcoder::new(Notation::Python, found.end, depth);
                self.state = State::Arguments(Box::new(transcoder));
                None
            }
            Match::Partial if !parsed.finished => Some(Step::Wait),
            Match::Partial | Match::No => {
                let begun = self.begun(matcher, parsed).filter(|_| head == Match::Partial);
                let calls = &mut self.calls;
                Some(match begun {
                    Some(name) => Step::Go(calls.prose.cut_call(matcher, parsed, calls.opened, name)),
                    None if first => calls.no_call(),
                    None => {
                        calls.scan = calls.opened;
                        calls.leave(parsed, Some("]"))
                    }
                })
            }
        }
    }

    /// What has come of the name of a call in which the text ends. Outside of a list that is certain to be one of
    /// calls, a name with a bracket after it begins one.
    fn begun(&self, matcher: &Matcher, parsed: &Parsed) -> Option<Range<usize>> {
        let text = &parsed.text;
        let first = self.calls.last.is_none();
        let start = skip_whitespace(text, self.calls.scan);
        let length = text[start..].find(|c: char| !(c.is_alphanumeric() || "_.-".contains(c)));
        let name = start..length.map_or(text.len(), |length| start + length);
        let is_list = !first || self.calls.prose.is_in_wrapper();
        let is_call = || {
            length.is_some()
                && matcher.knows(&text[name.clone()])
                && list_start(text, self.calls.opened, true) != Match::No
        };
        // A comma at the end begins nothing.
        let has_name = first || !name.is_empty();
        (is_list && has_name || is_call()).then(|| name.clone())
    }

    fn arguments(&mut self, parsed: &mut Parsed) -> Option<Step> {
        let State::Arguments(transcoder) = &mut self.state else { return None };
        match self.calls.rewrite(parsed, transcoder) {
            Read::More(_) => return Some(Step::Wait),
            Read::Done(end) => {
                let block = self.calls.open.take().expect("arguments belong to a call");
                let how = match parsed.settle_json(block) {
                    End::Closed if !self.certain => End::Cut,
                    how => how,
                };
                parsed.end_call(block, how, end);
                self.state = State::AfterElement;
            }
            Read::Bad(_) => {
                let at = self.calls.scan;
                parsed.note(Kind::MalformedArguments, at, "the arguments of a call are malformed");
                self.state = State::Broken(Brackets {
                    open: transcoder.depth(),
                    string: transcoder.quote().map(|quote| (quote, false)),
                });
            }
        }
        None
    }

    /// In a malformed call: the end of the call or of the list, or the next list.
    fn broken(&mut self, parsed: &mut Parsed, mut brackets: Brackets) -> Option<Step> {
        let (text, calls) = (&parsed.text, &mut self.calls);
        while let Some(&byte) = text.as_bytes().get(calls.scan) {
            let next_list = byte == b'[' && calls.scan > 0 && text.as_bytes()[calls.scan - 1] == b'\n';
            let over = match next_list.then(|| python_head(text, calls.scan + 1)) {
                Some(Match::Partial) if !parsed.finished => {
                    self.state = State::Broken(brackets);
                    return Some(Step::Wait);
                }
                Some(Match::Full(_)) => true,
                Some(_) | None => brackets.open == 1 && byte == b']' && brackets.string.is_none(),
            };
            if !over {
                brackets.take(byte);
                calls.scan += 1;
            }
            if over || brackets.open == 0 {
                calls.close_malformed(parsed);
                if next_list && over {
                    return Some(calls.leave(parsed, None));
                }
                self.state = State::AfterElement;
                return None;
            }
        }
        self.state = State::Broken(brackets);
        Some(Step::Wait)
    }

    fn after_element(&mut self, parsed: &mut Parsed) -> Option<Step> {
        match self.calls.after_element(parsed) {
            Match::Full(b',') => {
                self.state = State::Head;
                None
            }
            Match::Full(_) => Some(self.calls.leave(parsed, None)),
            Match::Partial => Some(Step::Wait),
            Match::No => Some(self.calls.leave(parsed, Some("]"))),
        }
    }
}

/// The brackets that are open in Python code.
#[derive(Clone, Copy, Debug)]
struct Brackets {
    open: usize,
    /// In a string that ends with this quote, or with its line; `true` after a backslash.
    string: Option<(u8, bool)>,
}

impl Brackets {
    fn take(&mut self, byte: u8) {
        match (self.string, byte) {
            (Some(_), b'\n') => self.string = None,
            (Some((quote, true)), _) => self.string = Some((quote, false)),
            (Some((quote, false)), b'\\') => self.string = Some((quote, true)),
            (Some((quote, false)), byte) if byte == quote => self.string = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => self.string = Some((byte, false)),
            (None, b'(' | b'[' | b'{') => self.open += 1,
            (None, b')' | b']' | b'}') => self.open = self.open.saturating_sub(1),
            (None, _) => {}
        }
    }
}

/// Whether the bracket at `at`, in text, starts a list of calls and not a link, an index or code in prose: no
/// word or sign comes right before it, a comma or the end of the list follows the first call, and after the list
/// comes no bracket or colon. A list that is longer than [`MAX_HEAD`] is one of calls. It is not known (`false`) if the text
/// ends in the first call or right after it.
fn list_start(text: &str, at: usize, finished: bool) -> Match<bool> {
    let before = text[..at].chars().next_back();
    // A marker may end right before it.
    if before.is_some_and(|c| !c.is_whitespace() && !matches!(c, '>' | '|')) {
        return Match::No;
    }
    let near = &text.as_bytes()[..text.len().min(at + MAX_HEAD)];
    let undecided = match near.len() < text.len() {
        true => Match::Full(true),
        false if finished => Match::Full(false),
        false => Match::Partial,
    };
    let mut brackets = Brackets { open: 0, string: None };
    let mut after_call = false;
    for (place, &byte) in near.iter().enumerate().skip(at) {
        let was_open = brackets.open;
        if after_call && was_open == 1 && brackets.string.is_none() {
            match byte {
                b',' => return Match::Full(true),
                b']' | b' ' | b'\t' | b'\r' | b'\n' => {}
                _ => return Match::No,
            }
        }
        brackets.take(byte);
        after_call |= brackets.open == 1 && was_open == 2;
        if brackets.open == 0 {
            return match near.get(place + 1) {
                Some(b'(' | b'[' | b':') => Match::No,
                Some(_) => Match::Full(true),
                None if finished => Match::Full(true),
                None => undecided,
            };
        }
    }
    undecided
}

/// Matches `name(` if it starts a call: `)` follows, or a name and `=`.
fn python_head(text: &str, at: usize) -> Match<Found> {
    let head = &text[..text.floor_char_boundary((at + MAX_HEAD).min(text.len()))];
    let undecided = if head.len() < text.len() { Match::No } else { Match::Partial };
    let word = |from: usize| {
        let rest = &head[from..];
        let length = rest.find(|c: char| !(c.is_alphanumeric() || "_.-".contains(c)));
        length.map(|length| from..from + length)
    };
    let skip = |from: usize| skip_whitespace(head, from);
    let start = skip(at);
    let Some(name) = word(start) else { return undecided };
    let first = text[name.clone()].chars().next();
    if !first.is_some_and(|c| c.is_alphabetic() || c == '_') || text.as_bytes()[name.end] != b'(' {
        return Match::No;
    }
    let end = name.end + 1;
    let argument = skip(end);
    let found = Match::Full(Found { end, name: Name::free(name), ..Found::default() });
    match head.as_bytes().get(argument) {
        None => undecided,
        Some(b')') => found,
        Some(_) => match word(argument) {
            None => undecided,
            Some(name) if name.is_empty() => Match::No,
            Some(name) => match head.as_bytes().get(skip(name.end)) {
                None => undecided,
                Some(b'=') => found,
                Some(_) => Match::No,
            },
        },
    }
}
