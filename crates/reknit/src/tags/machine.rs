//! [`Machine`]: the state of a parser.

use super::body::Json;
use super::channel::Channel;
use super::markup::Markup;
use super::matcher::Matcher;
use super::parsed::Parsed;
use super::prose::Prose;
use super::python::Python;
use crate::diagnostic::Kind;

/// What a parser is reading. One machine at a time reads the text.
///
/// It is replaced at every call, so the large ones are boxed.
#[derive(Clone, Debug)]
pub(super) enum Machine {
    Prose(Prose),
    Markup(Box<Markup>),
    Json(Box<Json>),
    Python(Box<Python>),
    Channel(Channel),
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
            Self::Python(python) => python.step(matcher, parsed),
            Self::Channel(channel) => channel.step(matcher, parsed),
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
            Self::Python(python) => python.cut(parsed),
        }
    }
}
