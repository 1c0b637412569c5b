//! [`Machine`]: what is being read.

use super::body::Json;
use super::channel::Channel;
use super::literal::Literal;
use super::markup::Markup;
use super::matcher::Matcher;
use super::prose::{Place, Prose};
use super::sheet::Sheet;
use super::span::SpanKind;
use super::template::{Match, any_literal};
use crate::diagnostic::Kind;
use crate::message::CallEnd;

/// The state of a parser: one machine at a time reads the text.
///
/// It changes at every call, so what is large in it stays where it is.
#[derive(Clone, Debug)]
pub(super) enum Machine {
    Prose(Prose),
    Markup(Box<Markup>),
    Json(Box<Json>),
    Literal(Box<Literal>),
    Channel(Channel),
    Skip(Skip),
}

/// What a machine came to.
pub(super) enum Step {
    /// All that is there is read.
    Wait,
    /// Another machine reads on.
    Go(Machine),
}

impl Machine {
    pub(super) fn step(&mut self, matcher: &Matcher, sheet: &mut Sheet) -> Step {
        match self {
            Self::Prose(prose) => prose.step(matcher, sheet),
            Self::Markup(markup) => markup.step(matcher, sheet),
            Self::Json(json) => json.step(matcher, sheet),
            Self::Literal(literal) => literal.step(matcher, sheet),
            Self::Channel(channel) => channel.step(matcher, sheet),
            Self::Skip(skip) => skip.step(sheet),
        }
    }

    /// The text is over and [`step`](Self::step) has read all of it.
    pub(super) fn cut(&mut self, matcher: &Matcher, sheet: &mut Sheet) {
        match self {
            Self::Prose(prose) => {
                sheet.cut_prose();
                if let Some(missing) = matcher.wrapper_close().filter(|_| prose.is_behind_calls(sheet)) {
                    let message = format!("`{missing}` is missing behind calls that are whole");
                    sheet.note(Kind::MissingCloser, sheet.text.len(), message);
                }
            }
            Self::Channel(_) => sheet.cut_prose(),
            Self::Markup(markup) => markup.cut(matcher, sheet),
            Self::Json(json) => json.cut(sheet),
            Self::Literal(literal) => literal.cut(sheet),
            Self::Skip(skip) => skip.cut(sheet),
        }
    }
}

/// The rest of a call that is malformed, up to its closing marker.
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

    fn step(&mut self, sheet: &mut Sheet) -> Step {
        loop {
            let text = &sheet.text;
            // Not all closing markers of a grammar start alike.
            let starts = |byte: &u8| self.closes.iter().any(|close| close.as_bytes()[0] == *byte);
            let Some(ahead) = text.as_bytes()[self.scan..].iter().position(starts) else {
                self.scan = text.len();
                return Step::Wait;
            };
            self.scan += ahead;
            match any_literal(text, self.scan, &self.closes, sheet.over) {
                Match::Full(end) => {
                    sheet.lay(SpanKind::Value(self.block), self.scan);
                    sheet.lay(SpanKind::Markup, end);
                    sheet.end_call(self.block, CallEnd::Malformed, end);
                    return Step::Go(Machine::Prose(Prose::new(end, self.place)));
                }
                Match::Partial => return Step::Wait,
                Match::No => self.scan = text.ceil_char_boundary(self.scan + 1),
            }
        }
    }

    fn cut(&mut self, sheet: &mut Sheet) {
        let end = sheet.text.len();
        sheet.lay(SpanKind::Value(self.block), end);
        sheet.end_call(self.block, CallEnd::Malformed, end);
    }
}
