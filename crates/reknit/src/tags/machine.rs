//! [`Machine`]: the state of a parser.

use super::body::Json;
use super::channel::Channel;
use super::literal::Literal;
use super::markup::Markup;
use super::matcher::Matcher;
use super::parsed::Parsed;
use super::prose::Prose;
use super::rules::Look;
use super::span::SpanKind;
use super::template::{Match, literal};
use crate::diagnostic::Kind;
use crate::event::End;

/// What a parser is reading. One machine at a time reads the text.
///
/// It is replaced at every call, so the large ones are boxed.
#[derive(Clone, Debug)]
pub(super) enum Machine {
    Prose(Prose),
    Markup(Box<Markup>),
    Json(Box<Json>),
    Literal(Box<Literal>),
    Channel(Channel),
    Skip(Skip),
}

/// The outcome of a step.
pub(super) enum Step {
    /// Everything that has come is read.
    Wait,
    /// Another machine continues.
    Go(Machine),
}

impl Machine {
    pub(super) fn step(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Step {
        match self {
            Self::Prose(prose) => prose.step(matcher, parsed),
            Self::Markup(markup) => markup.step(matcher, parsed),
            Self::Json(json) => json.step(matcher, parsed),
            Self::Literal(literal) => literal.step(matcher, parsed),
            Self::Channel(channel) => channel.step(matcher, parsed),
            Self::Skip(skip) => skip.step(matcher, parsed),
        }
    }

    /// The text has ended, and [`step`](Self::step) has read all of it.
    pub(super) fn cut(&mut self, matcher: &Matcher, parsed: &mut Parsed) {
        match self {
            Self::Prose(prose) => {
                parsed.cut_prose();
                if let Some(missing) = matcher.wrapper_close().filter(|_| prose.is_after_calls(parsed)) {
                    let message = format!("`{missing}` is missing after the last call");
                    parsed.note(Kind::MissingCloser, parsed.text.len(), message);
                }
            }
            Self::Channel(_) => parsed.cut_prose(),
            Self::Markup(markup) => markup.cut(matcher, parsed),
            Self::Json(json) => json.cut(parsed),
            Self::Literal(literal) => literal.cut(parsed),
            Self::Skip(skip) => skip.cut(parsed),
        }
    }
}

/// The rest of a malformed call, up to its closing marker or the next call.
#[derive(Clone, Debug)]
pub(super) struct Skip {
    block: usize,
    close: String,
    scan: usize,
    /// The prose in which the call began.
    prose: Prose,
    look: Look,
}

impl Skip {
    pub(super) fn new(block: usize, close: String, scan: usize, prose: Prose) -> Self {
        Self { block, close, scan, prose, look: Look::default() }
    }

    fn step(&mut self, matcher: &Matcher, parsed: &mut Parsed) -> Step {
        while self.scan < parsed.text.len() {
            let (text, finished) = (&parsed.text, parsed.finished);
            let next = self.prose.next_call(matcher, text, self.scan, finished, &mut self.look);
            match (literal(text, self.scan, &self.close, finished), next) {
                (Match::Full(end), _) => return self.end(parsed, end),
                (_, Match::Full(())) => return self.end(parsed, self.scan),
                (Match::Partial, _) | (_, Match::Partial) => return Step::Wait,
                (Match::No, Match::No) => self.scan = text.ceil_char_boundary(self.scan + 1),
            }
        }
        Step::Wait
    }

    /// The call ends; its closing marker, if it has one, ends at `end`.
    fn end(&self, parsed: &mut Parsed, end: usize) -> Step {
        parsed.add_span(SpanKind::Value(self.block), self.scan);
        parsed.add_span(SpanKind::Markup, end);
        parsed.end_call(self.block, End::Malformed, end);
        Step::Go(Machine::Prose(Prose::new(end, self.prose.place_after_calls())))
    }

    fn cut(&mut self, parsed: &mut Parsed) {
        let end = parsed.text.len();
        parsed.add_span(SpanKind::Value(self.block), end);
        parsed.end_call(self.block, End::Malformed, end);
    }
}
