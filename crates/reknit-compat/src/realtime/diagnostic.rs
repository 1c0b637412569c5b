//! [`Diagnostic`]: what was odd about an event.

use reknit::Hint;
use reknit::diagnostic::Kind;
use reknit::json::{Object, Value};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// Something about an event that was not understood, or an unusual effect of it.
///
/// In JSON it has `kind`, `number`, `message` and `hint`, and in `raw` what was not understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The number of the event, counted from 0.
    pub number: u64,
    /// What it is.
    pub kind: DiagnosticKind,
}

/// The kinds of [`Diagnostic`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// The event lacks a field it needs; it changed nothing.
    MalformedEvent {
        /// The field.
        field: String,
        /// The expected type.
        expected: &'static str,
        /// The event.
        raw: Value,
    },
    /// An optional field has an unexpected type.
    MalformedField {
        /// The field.
        field: String,
        /// The expected type.
        expected: &'static str,
        /// Its value.
        raw: Value,
    },
    /// The type of the event is unknown to this version; it changed nothing.
    UnknownEvent {
        /// The event.
        raw: Value,
    },
    /// The event is a duplicate; it changed nothing.
    DuplicateEvent {
        /// Its id.
        id: String,
    },
    /// The text of a message is longer than [`Limits`](reknit::Limits) allow; the rest was refused.
    LimitReached {
        /// The limit in bytes.
        limit: usize,
    },
    /// A message was not finished when something else started or the connection ended; its session has it with the
    /// status `error`.
    InterruptedMessage {
        /// Its id.
        id: String,
    },
    /// There were too many sessions; the one that changed least recently was removed.
    RemovedSession {
        /// Its id.
        id: String,
    },
}

impl DiagnosticKind {
    /// Its name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::MalformedEvent { .. } => "malformed-event",
            Self::MalformedField { .. } => "malformed-field",
            Self::UnknownEvent { .. } => "unknown-event",
            Self::DuplicateEvent { .. } => "duplicate-event",
            Self::LimitReached { .. } => "limit-reached",
            Self::InterruptedMessage { .. } => "interrupted-message",
            Self::RemovedSession { .. } => "removed-session",
        }
    }

    /// What happened, for people.
    pub fn message(&self) -> String {
        match self {
            Self::MalformedEvent { field, expected, .. } => {
                format!("the event has no {expected} `{field}` and changed nothing")
            }
            Self::MalformedField { field, expected, .. } => format!("`{field}` is not a {expected}"),
            Self::UnknownEvent { raw } => {
                let kind = raw.get("type").and_then(Value::as_str).unwrap_or_default();
                format!("unknown event `{kind}`")
            }
            Self::DuplicateEvent { id } => format!("duplicate event `{id}` was ignored"),
            Self::LimitReached { limit } => format!("a message of more than {limit} bytes"),
            Self::InterruptedMessage { id } => format!("message `{id}` was not finished"),
            Self::RemovedSession { id } => format!("session `{id}` was removed to make room for another"),
        }
    }
}

impl Hint for DiagnosticKind {
    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::MalformedEvent { .. } | Self::MalformedField { .. } => {
                "check that the server speaks this protocol".into()
            }
            Self::UnknownEvent { .. } => "the server sends something newer than this version knows".into(),
            Self::DuplicateEvent { .. } => "nothing to do; the server sent it twice".into(),
            Self::LimitReached { .. } => Kind::LimitReached.hint(),
            Self::InterruptedMessage { .. } => {
                "show the message as cut; the server did not say that it is complete".into()
            }
            Self::RemovedSession { .. } => {
                "load the session again when it is needed, or keep more sessions".into()
            }
        }
    }
}

impl Serialize for Diagnostic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = Object::new();
        fields.insert("kind", self.kind.name());
        fields.insert("number", self.number);
        fields.insert("message", self.kind.message());
        fields.insert("hint", &*self.kind.hint());
        match &self.kind {
            DiagnosticKind::MalformedEvent { raw, .. }
            | DiagnosticKind::MalformedField { raw, .. }
            | DiagnosticKind::UnknownEvent { raw } => drop(fields.insert("raw", raw.clone())),
            DiagnosticKind::DuplicateEvent { .. }
            | DiagnosticKind::LimitReached { .. }
            | DiagnosticKind::InterruptedMessage { .. }
            | DiagnosticKind::RemovedSession { .. } => {}
        }
        fields.serialize(serializer)
    }
}
