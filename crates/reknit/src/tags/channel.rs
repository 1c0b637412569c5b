//! [`Channel`]: the head of a message in Harmony's format, which says what the message is.
//!
//! `<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>`: a message with a
//! recipient is a call, one in the channel `analysis` is thinking, any other is text.

use super::body::Json;
use super::machine::{Machine, Step};
use super::matcher::Matcher;
use super::prose::{Place, Prose};
use super::sheet::Sheet;
use super::span::SpanKind;
use super::template::{Found, Match, Name, any_literal, literal};

pub(super) const START: &str = "<|start|>";
pub(super) const CHANNEL: &str = "<|channel|>";
const CONSTRAIN: &str = "<|constrain|>";
pub(super) const MESSAGE: &str = "<|message|>";
/// What ends a message. On its own it is dropped: a message may end twice.
pub(super) const ENDS: [&str; 3] = ["<|call|>", "<|end|>", "<|return|>"];

/// The longest head.
const LONGEST: usize = 512;

/// The head of a message, held back until it is whole.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    /// Where the prose goes on if this is no head.
    prose: Prose,
    opened: usize,
    scan: usize,
}

impl Channel {
    pub(super) fn open(sheet: &Sheet, prose: &Prose, at: usize, found: &Found) -> Self {
        Self { prose: prose.behind(sheet, at), opened: at, scan: found.end }
    }

    pub(super) fn step(&mut self, matcher: &Matcher, sheet: &mut Sheet) -> Step {
        loop {
            let text = &sheet.text;
            let ahead = memchr::memchr(b'<', &text.as_bytes()[self.scan..]);
            let at = ahead.map_or(text.len(), |ahead| self.scan + ahead);
            self.scan = at;
            if at - self.opened > LONGEST || (ahead.is_none() && sheet.over) {
                return Step::Go(Machine::Prose(self.prose.clone()));
            }
            if ahead.is_none() {
                return Step::Wait;
            }
            let inner = [CHANNEL.to_owned(), CONSTRAIN.to_owned()];
            match [literal(text, at, MESSAGE, sheet.over), any_literal(text, at, &inner, sheet.over)] {
                [Match::Full(end), _] => return self.enter(matcher, sheet, at, end),
                [_, Match::Full(end)] => self.scan = end,
                [Match::Partial, _] | [_, Match::Partial] => return Step::Wait,
                [Match::No, Match::No] => return Step::Go(Machine::Prose(self.prose.clone())),
            }
        }
    }

    /// The head is whole and ends at `at`, the marker behind it at `end`.
    fn enter(&self, matcher: &Matcher, sheet: &mut Sheet, at: usize, end: usize) -> Step {
        let head = &sheet.text[self.opened..at];
        let channel = head.split_once(CHANNEL).map_or("", |(_, rest)| rest.trim_start());
        let analysis = channel.starts_with("analysis");
        if let Some(to) = head.find("to=").map(|to| to + "to=".len()) {
            let length = head[to..].find(|c: char| c.is_whitespace() || c == '<').unwrap_or(head.len() - to);
            let name = self.opened + to..self.opened + to + length;
            if matcher.calls_nothing() {
                return Step::Go(Machine::Prose(self.prose.clone()));
            }
            let found = Found { end, name: Name::free(name), ..Found::default() };
            let json = Json::named(matcher, sheet, &self.prose, self.opened, &found);
            return Step::Go(Machine::Json(Box::new(json)));
        }
        sheet.prose(self.prose.kind(matcher, sheet), self.opened);
        sheet.end_prose(self.opened);
        sheet.lay(SpanKind::Markup, end);
        let place = if analysis { Place::Thinking } else { Place::Text };
        Step::Go(Machine::Prose(Prose::new(end, place)))
    }
}
