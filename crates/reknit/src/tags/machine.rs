//! [`Machine`]: the state of a parser.

use super::body::Json;
use super::channel::Channel;
use super::literal::Literal;
use super::markup::Markup;
use super::matcher::Matcher;
use super::parsed::Parsed;
use super::prose::{Place, Prose};
use super::span::SpanKind;
use super::template::{Match, any_literal};
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
            Self::Skip(skip) => skip.step(parsed),
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

/// The rest of a malformed call, up to its closing marker.
#[derive(Clone, Debug)]
pub(super) struct Skip {
    block: usize,
    closes: Vec<String>,
    scan: usize,
    place: Place,
}

impl Skip {
    pub(super) fn new(block: usize, closes: Vec<String>, scan: usize, place: Place) -> Self {
        Self { block, closes, scan, place }
    }

    fn step(&mut self, parsed: &mut Parsed) -> Step {
        loop {
            let text = &parsed.text;
            // The closing markers of a grammar can start with different bytes.
            let starts = |byte: &u8| self.closes.iter().any(|close| close.as_bytes()[0] == *byte);
            let Some(ahead) = text.as_bytes()[self.scan..].iter().position(starts) else {
                self.scan = text.len();
                return Step::Wait;
            };
            self.scan += ahead;
            match any_literal(text, self.scan, &self.closes, parsed.finished) {
                Match::Full(end) => {
                    parsed.add_span(SpanKind::Value(self.block), self.scan);
                    parsed.add_span(SpanKind::Markup, end);
                    parsed.end_call(self.block, End::Malformed, end);
                    return Step::Go(Machine::Prose(Prose::new(end, self.place)));
                }
                Match::Partial => return Step::Wait,
                Match::No => self.scan = text.ceil_char_boundary(self.scan + 1),
            }
        }
    }

    fn cut(&mut self, parsed: &mut Parsed) {
        let end = parsed.text.len();
        parsed.add_span(SpanKind::Value(self.block), end);
        parsed.end_call(self.block, End::Malformed, end);
    }
}
