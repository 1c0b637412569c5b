//! [`Channel`]: the header of a message in Harmony's format.
//!
//! `<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>`: a message with a
//! recipient is a call, one in the channel `analysis` is thinking, and any other is text.

use super::body::Json;
use super::machine::{Machine, Step};
use super::matcher::Matcher;
use super::parsed::Parsed;
use super::prose::{Place, Prose};
use super::span::SpanKind;
use super::template::{Found, Match, Name, any_literal, literal};

pub(super) const START: &str = "<|start|>";
pub(super) const CHANNEL: &str = "<|channel|>";
const CONSTRAIN: &str = "<|constrain|>";
pub(super) const MESSAGE: &str = "<|message|>";
/// The markers that end a message. One that does not end anything is dropped, because a message may end
/// twice.
pub(super) const ENDS: [&str; 3] = ["<|call|>", "<|end|>", "<|return|>"];

/// The longest header. This bounds how much text is held back after a marker that is not part of a header.
const MAX_HEAD: usize = 512;

/// A header, held back until it is complete.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    /// The prose to continue with if this is not a header.
    prose: Prose,
    opened: usize,
    scan: usize,
}

impl Channel {
    pub(super) fn open(parsed: &Parsed, prose: &Prose, at: usize, found: &Found) -> Self {
        Self { prose: prose.resume_after(parsed, at), opened: at, scan: found.end }
    }

    pub(super) fn step(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Step {
        loop {
            let text = &parsed.text;
            let ahead = memchr::memchr(b'<', &text.as_bytes()[self.scan..]);
            let at = ahead.map_or(text.len(), |ahead| self.scan + ahead);
            self.scan = at;
            if at - self.opened > MAX_HEAD || (ahead.is_none() && parsed.finished) {
                return Step::Go(Machine::Prose(self.prose.clone()));
            }
            if ahead.is_none() {
                return Step::Wait;
            }
            let inner = [CHANNEL.to_owned(), CONSTRAIN.to_owned()];
            match [
                literal(text, at, MESSAGE, parsed.finished),
                any_literal(text, at, &inner, parsed.finished),
            ] {
                [Match::Full(end), _] => return self.enter(matcher, parsed, at, end),
                [_, Match::Full(end)] => self.scan = end,
                [Match::Partial, _] | [_, Match::Partial] => return Step::Wait,
                [Match::No, Match::No] => return Step::Go(Machine::Prose(self.prose.clone())),
            }
        }
    }

    /// The header is complete and ends at `at`, and the marker after it ends at `end`.
    fn enter(&self, matcher: &Matcher, parsed: &mut Parsed, at: usize, end: usize) -> Step {
        parsed.has_channels = true;
        let head = &parsed.text[self.opened..at];
        let channel = head.split_once(CHANNEL).map_or("", |(_, rest)| rest.trim_start());
        let analysis = channel.starts_with("analysis");
        if let Some(to) = head.find("to=").map(|to| to + "to=".len()) {
            let length = head[to..].find(|c: char| c.is_whitespace() || c == '<').unwrap_or(head.len() - to);
            let name = self.opened + to..self.opened + to + length;
            if matcher.has_no_tools() {
                return Step::Go(Machine::Prose(self.prose.clone()));
            }
            let found = Found { end, name: Name::free(name), ..Found::default() };
            let json = Json::named(matcher, parsed, &self.prose, self.opened, &found);
            return Step::Go(Machine::Json(Box::new(json)));
        }
        parsed.add_prose(self.prose.run_kind(matcher), self.opened);
        parsed.end_prose(self.opened);
        parsed.add_span(SpanKind::Markup, end);
        let place = if analysis { Place::Thinking } else { Place::Text };
        Step::Go(Machine::Prose(Prose::new(end, place)))
    }
}
