//! [`Channel`]: the header of a message in Harmony's format.
//!
//! `<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>`: a message with a
//! recipient is a call, one in the channel `analysis` is thinking, and any other is text.

use std::ops::Range;

use super::body::Json;
use super::machine::{Machine, Step};
use super::matcher::Matcher;
use super::parsed::Parsed;
use super::prose::{Place, Prose};
use super::series::Series;
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
    pub(super) fn open(matcher: &Matcher, parsed: &Parsed, prose: &Prose, at: usize, found: &Found) -> Self {
        Self { prose: prose.resume_after(matcher, parsed, at), opened: at, scan: found.end }
    }

    pub(super) fn step(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Step {
        loop {
            let text = &parsed.text;
            let ahead = memchr::memchr(b'<', &text.as_bytes()[self.scan..]);
            let at = ahead.map_or(text.len(), |ahead| self.scan + ahead);
            self.scan = at;
            if at - self.opened > MAX_HEAD {
                return Step::Go(Machine::Prose(self.prose.clone()));
            }
            let is_half = [MESSAGE, CHANNEL, CONSTRAIN].iter().any(|marker| marker.starts_with(&text[at..]));
            if parsed.finished && is_half {
                return Step::Go(self.cut(matcher, parsed, at));
            }
            if ahead.is_none() {
                return Step::Wait;
            }
            match [
                literal(text, at, MESSAGE, parsed.finished),
                any_literal(text, at, &[CHANNEL, CONSTRAIN], parsed.finished),
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
        if let Some(name) = self.recipient(&parsed.text[..at]) {
            if matcher.has_no_tools() {
                return Step::Go(Machine::Prose(self.prose.clone()));
            }
            let calls = Series::new(matcher, parsed, &self.prose, self.opened, end);
            let json = Json::named(matcher, parsed, calls, Name::free(name));
            return Step::Go(Machine::Json(Box::new(json)));
        }
        self.prose.end(matcher, parsed, self.opened);
        parsed.add_span(SpanKind::Markup, end);
        let place = if analysis { Place::Thinking } else { Place::Text };
        Step::Go(Machine::Prose(Prose::new(end, place)))
    }

    /// The text ends in the header, of which everything up to `at` is complete: with a recipient it is a call.
    fn cut(&self, matcher: &Matcher, parsed: &mut Parsed, at: usize) -> Machine {
        match self.recipient(&parsed.text[..at]).filter(|_| !matcher.has_no_tools()) {
            Some(name) => {
                let name = matcher.body().bare_name_so_far(&parsed.text, name);
                self.prose.cut_call(matcher, parsed, self.opened, name)
            }
            None => Machine::Prose(self.prose.clone()),
        }
    }

    /// The name of the recipient in the header, which ends with `text`.
    fn recipient(&self, text: &str) -> Option<Range<usize>> {
        let start = self.opened + text[self.opened..].find("to=")? + "to=".len();
        let end =
            text[start..].find(|c: char| c.is_whitespace() || c == '<').map_or(text.len(), |end| start + end);
        Some(start..end)
    }
}
