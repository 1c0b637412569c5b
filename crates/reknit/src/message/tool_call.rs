//! [`ToolCall`]: a call and its arguments, which are complete, cut or malformed when it is over.

use std::borrow::Cow;
use std::mem;

use serde::de::DeserializeOwned;

use crate::diagnostic::{Diagnostic, Hint, Kind, Place, counted};
use crate::event::{CallId, End, Origin, Runner, StopReason};
use crate::json::{self, Object, PartialJson, Value};
use crate::text::Text;

/// A tool call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The id that the result has to refer to.
    pub id: CallId,
    /// The tool.
    pub name: String,
    /// Who runs it.
    pub runner: Runner,
    /// The arguments.
    pub args: Args,
    /// Where it was found.
    pub origin: Origin,
    /// The call as the model wrote it, with its markers, if it was found in a text and is over.
    pub raw: Option<Text>,
}

/// The arguments of a call. Only act on [`Args::Complete`].
// Not `#[non_exhaustive]`: whoever runs calls should handle those that are cut or malformed.
#[derive(Clone, Debug, PartialEq)]
pub enum Args {
    /// What has arrived so far.
    Streaming(Input),
    /// They are complete.
    Complete(Value),
    /// The block, the message or the stream ended before they did. This is what arrived of them.
    Cut(Input),
    /// They are over, but not valid.
    Malformed {
        /// Their text.
        raw: Text,
        /// Why they are not valid JSON. `None` if the call was found in a text and its arguments are not an
        /// object, or not written as the grammar requires; a diagnostic says which.
        error: Option<json::Error>,
    },
}

/// Arguments while they arrive.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Input {
    /// JSON.
    Json(Box<PartialJson>),
    /// Free text.
    Plain(Text),
}

/// The arguments of a call cannot be parsed into the requested type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// They are cut, malformed or still arriving.
    #[error("arguments of `{name}`: not complete")]
    Incomplete {
        /// The tool.
        name: String,
    },
    /// They do not have the shape of the type.
    #[error("arguments of `{name}`: {error}")]
    WrongType {
        /// The tool.
        name: String,
        /// What is wrong, and where.
        error: json::DeserializeError,
    },
}

impl Hint for ParseError {
    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Incomplete { .. } => "do not run the call; request the reply again".into(),
            Self::WrongType { error, .. } => error.hint(),
        }
    }
}

impl ToolCall {
    /// How it ended; `None` while it is open.
    pub fn end(&self) -> Option<End> {
        match self.args {
            Args::Streaming(_) => None,
            Args::Complete(_) => Some(End::Closed),
            Args::Cut(_) => Some(End::Cut),
            Args::Malformed { .. } => Some(End::Malformed),
        }
    }

    /// The arguments so far, to display them. To act on them, require [`Args::Complete`].
    pub fn input(&self) -> Option<Cow<'_, Value>> {
        match &self.args {
            Args::Complete(value) => Some(Cow::Borrowed(value)),
            Args::Streaming(input) | Args::Cut(input) => input.value(),
            Args::Malformed { .. } => None,
        }
    }

    /// Parses the arguments into a type of the caller, if they are complete.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ParseError> {
        let name = &self.name;
        let Args::Complete(input) = &self.args else {
            return Err(ParseError::Incomplete { name: name.clone() });
        };
        json::from_value(input).map_err(|error| ParseError::WrongType { name: name.clone(), error })
    }

    /// How a native call ends if it is closed now, with a diagnostic if something is wrong with its
    /// arguments.
    pub(super) fn native_end(
        &self,
        input: &Input,
        reason: Option<StopReason>,
        place: Place,
    ) -> (Option<End>, Option<Diagnostic>) {
        let name = &self.name;
        let (end, notice) = match input.verdict() {
            // A call may have no arguments, but not if the model was stopped before it could write them.
            Verdict::Absent if matches!(reason, Some(StopReason::Length | StopReason::Filter)) => {
                let message = format!("arguments of `{name}`: the model was stopped before it wrote them");
                (End::Cut, Some(place.notice(Kind::CutArguments, message)))
            }
            // Free text does not show where it ends, so it is complete only if the model was done with it.
            Verdict::Complete if input.is_plain() && !is_done(reason) => {
                let message = format!("arguments of `{name}`: the model was stopped while it wrote them");
                (End::Cut, Some(place.notice(Kind::CutArguments, message)))
            }
            Verdict::Complete | Verdict::Absent => (End::Closed, input.duplicate_keys(name, place)),
            Verdict::Cut => {
                let message =
                    format!("arguments of `{name}`: the call was closed before their JSON was complete");
                (End::Cut, Some(place.notice(Kind::CutArguments, message)))
            }
            Verdict::Malformed(error) => {
                let message = format!("arguments of `{name}`: {error}");
                (End::Malformed, Some(place.notice(Kind::MalformedArguments, message)))
            }
        };
        (Some(end), notice)
    }

    pub(super) fn close(&mut self, end: End) {
        let Args::Streaming(input) = &mut self.args else { return };
        let input = mem::take(input);
        self.args = match (end, input.verdict()) {
            (End::Cut, _) | (End::Closed, Verdict::Cut) => Args::Cut(input),
            (End::Closed, Verdict::Complete | Verdict::Absent) => Args::Complete(input.into_value()),
            (End::Closed | End::Malformed, Verdict::Malformed(error)) => {
                Args::Malformed { raw: input.into_raw(), error: Some(error) }
            }
            (End::Malformed, _) => Args::Malformed { raw: input.into_raw(), error: None },
        };
    }
}

/// Whether a model that stopped for this reason had written all that it wanted to.
fn is_done(reason: Option<StopReason>) -> bool {
    match reason {
        None | Some(StopReason::End | StopReason::Tool | StopReason::StopSequence | StopReason::Pause) => {
            true
        }
        Some(StopReason::Length | StopReason::Refusal | StopReason::Filter | StopReason::Other) => false,
    }
}

/// What the arguments are if they end here.
enum Verdict {
    Complete,
    /// No text arrived: providers send none for a call without arguments.
    Absent,
    Cut,
    Malformed(json::Error),
}

impl Input {
    /// The text that has arrived.
    pub fn raw(&self) -> &Text {
        match self {
            Self::Json(json) => json.raw(),
            Self::Plain(text) => text,
        }
    }

    fn is_plain(&self) -> bool {
        matches!(self, Self::Plain(_))
    }

    fn verdict(&self) -> Verdict {
        let Self::Json(json) = self else { return Verdict::Complete };
        match json.check() {
            Ok(()) => Verdict::Complete,
            Err(error) if error.kind() == json::ErrorKind::Empty => Verdict::Absent,
            Err(error) if error.kind() == json::ErrorKind::Truncated => Verdict::Cut,
            Err(error) => Verdict::Malformed(error),
        }
    }

    /// The value so far.
    pub fn value(&self) -> Option<Cow<'_, Value>> {
        match self {
            Self::Json(json) => json.value().map(Cow::Borrowed),
            Self::Plain(text) => Some(Cow::Owned(Value::String(text.clone()))),
        }
    }

    /// How a call that was found in a text ends if its markers are complete. Its arguments have to be a
    /// complete object.
    pub(super) fn tagged_end(&self) -> End {
        let is_object = self.value().is_some_and(|value| matches!(*value, Value::Object(_)));
        match self.verdict() {
            Verdict::Complete if is_object => End::Closed,
            Verdict::Absent => End::Closed,
            Verdict::Complete | Verdict::Malformed(_) => End::Malformed,
            Verdict::Cut => End::Cut,
        }
    }

    fn into_raw(self) -> Text {
        match self {
            Self::Json(json) => json.into_raw(),
            Self::Plain(text) => text,
        }
    }

    fn into_value(self) -> Value {
        match self {
            Self::Json(json) => json.finish().unwrap_or(Value::Object(Object::new())),
            Self::Plain(text) => Value::String(text),
        }
    }

    fn duplicate_keys(&self, name: &str, place: Place) -> Option<Diagnostic> {
        let Self::Json(json) = self else { return None };
        let (count, first_at) = json.duplicate_keys()?;
        let keys = counted(count as u64, "duplicate key");
        let message =
            format!("arguments of `{name}`: {keys}, the first at byte {first_at}; the last value is used");
        Some(place.notice(Kind::DuplicateKey, message))
    }
}

impl Default for Input {
    fn default() -> Self {
        Self::Plain(Text::new())
    }
}
