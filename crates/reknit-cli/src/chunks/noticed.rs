//! [`Noticed`]: a diagnostic about a line of the input.

use std::borrow::Cow;

use reknit::Hint;
use reknit::agent::{AgentEvent, Misread};
use reknit::diagnostic::{Kind, Location};
use reknit::json::Value;
use reknit::{Diagnostic, Limits};
use reknit_compat::realtime::{self, DiagnosticKind};
use serde::Serialize;

use super::lines::{Body, Line, Place};
use crate::explain;

/// A line that is not an event, or an event that was dropped.
#[derive(Debug, Serialize)]
pub(super) struct Noticed {
    pub(super) kind: &'static str,
    /// The number of the event, counted from 0, if the line is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<u64>,
    /// The number of the line, counted from 1.
    line: u64,
    /// The byte of the whole input.
    at: u64,
    message: String,
    hint: Cow<'static, str>,
    #[serde(skip)]
    weight: Weight,
}

#[derive(Debug, PartialEq)]
enum Weight {
    /// The line could not be read.
    BadLine,
    Warning,
}

impl Noticed {
    /// An event that was dropped.
    pub(super) fn dropped(event: &AgentEvent, diagnostic: &Diagnostic, Place { line, at }: Place) -> Self {
        let is_of_a_server = matches!(event, AgentEvent::Unknown(event) if event.get("session_id").is_some());
        Self {
            kind: diagnostic.kind.name(),
            event: match diagnostic.location {
                Location::Event(number) => Some(number),
                _ => None,
            },
            line,
            at,
            message: diagnostic.message.clone(),
            hint: if is_of_a_server {
                "read the events of an Agent C server with `--realtime`".into()
            } else {
                diagnostic.hint()
            },
            weight: Weight::Warning,
        }
    }

    /// A diagnostic about an event of a realtime server.
    pub(super) fn from_realtime(diagnostic: &realtime::Diagnostic, Place { line, at }: Place) -> Self {
        Self {
            kind: diagnostic.kind.name(),
            event: Some(diagnostic.number),
            line,
            at,
            message: diagnostic.kind.message(),
            hint: match &diagnostic.kind {
                DiagnosticKind::UnknownEvent { raw } if is_agent_event(raw) => {
                    "read the events of a session without `--realtime`".into()
                }
                kind => kind.hint(),
            },
            weight: match &diagnostic.kind {
                DiagnosticKind::MalformedEvent { .. } => Weight::BadLine,
                _ => Weight::Warning,
            },
        }
    }

    /// A line that is JSON but not an event.
    pub(super) fn misread(misread: &Misread, place: Place) -> Self {
        Self::bad(place, misread.to_string(), misread.hint())
    }

    fn bad(Place { line, at }: Place, message: String, hint: impl Into<Cow<'static, str>>) -> Self {
        let (kind, weight, hint) = (explain::MALFORMED_EVENT, Weight::BadLine, hint.into());
        Self { kind, event: None, line, at, message, hint, weight }
    }

    /// Whether the line could not be read.
    pub(super) fn is_bad_line(&self) -> bool {
        self.weight == Weight::BadLine
    }

    /// The line to print.
    pub(super) fn words(&self) -> String {
        let Self { line, at, message, hint, .. } = self;
        let word = if self.is_bad_line() { "error" } else { "warning" };
        format!("{word}: line {line}, byte {at}: {message}\nhint: {hint}")
    }
}

fn is_agent_event(value: &Value) -> bool {
    matches!(AgentEvent::read(value.clone()), Ok((event, _)) if !matches!(event, AgentEvent::Unknown(_)))
}

/// How much deeper than the arguments and results in it an event may be nested, with what is around them.
const AROUND_VALUES: usize = 16;

/// The JSON of a line; nothing if the line is blank.
pub(super) fn read(line: &Line<'_>, limits: &Limits) -> Result<Option<Value>, Noticed> {
    let bad = |at: usize, message: String, hint: &'static str| {
        Noticed::bad(Place { at: line.place.at + at as u64, ..line.place }, message, hint)
    };
    let bytes = match line.body {
        Body::Bytes(bytes) => bytes,
        Body::TooLong(limit) => {
            let message = format!("the line is longer than {limit} bytes");
            return Err(Noticed {
                kind: Kind::LimitReached.name(),
                ..bad(0, message, "write each event on a line of its own")
            });
        }
    };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        bad(error.valid_up_to(), "the line is not UTF-8".to_owned(), "write the events as UTF-8")
    })?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    Value::parse(text, limits.json_depth + AROUND_VALUES)
        .map(Some)
        .map_err(|error| bad(error.at, format!("the line is not JSON: {}", error.reason()), hint_for(text)))
}

/// What to do about a line that is not JSON.
fn hint_for(line: &str) -> &'static str {
    let is_of_a_provider = ["data:", "event:", ":"].iter().any(|start| line.starts_with(start));
    if is_of_a_provider {
        "for a provider's stream, use the output of `reknit read --events`"
    } else {
        "write each event as one JSON object"
    }
}
