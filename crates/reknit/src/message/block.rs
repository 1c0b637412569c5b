//! [`Block`]: a part of a message. The arguments of calls.

use std::borrow::Cow;
use std::mem;

use serde::de::DeserializeOwned;

use super::change::Change;
use super::extra::Extra;
use super::misfit::Misfit;
use crate::diagnostic::{Diagnostic, Hint, Kind, Place, counted};
use crate::event::{CallId, End, Notation, Opening, Origin, Runner, Slot, StopReason};
use crate::json::{self, Object, PartialJson, Value};
use crate::limits::Limits;
use crate::text::Text;

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub(super) slot: Slot,
    pub(super) choice: u32,
    pub(super) end: Option<End>,
    pub(super) body: Body,
    pub(super) extra: Extra,
}

/// The content of a block.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Body {
    /// Text for the reader.
    Text {
        /// The text.
        text: Text,
        /// Whether the model refuses the request with it.
        refusal: bool,
    },
    /// The model's thinking.
    Thinking {
        /// The text; empty if the provider does not show it.
        text: Text,
        /// The provider's signature, which has to be sent back unchanged.
        signature: Text,
        /// A placeholder for thinking that is not shown, which has to be sent back unchanged.
        redacted: Option<String>,
    },
    /// A tool call.
    ToolCall(ToolCall),
    /// The result of a call that the provider ran. Its fields are in [`Block::extra`].
    ToolResult {
        /// The provider's word for the block.
        kind: String,
        /// The id of the call.
        call_id: Option<String>,
    },
    /// Anything else. Its fields are in [`Block::extra`].
    Other {
        /// The provider's word for it.
        kind: String,
    },
}

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

impl Block {
    pub(super) fn new(slot: Slot, choice: u32, opening: &Opening, limits: &Limits) -> Self {
        let body = match opening.clone() {
            Opening::Text { refusal } => Body::Text { text: Text::new(), refusal },
            Opening::Thinking { redacted } => {
                Body::Thinking { text: Text::new(), signature: Text::new(), redacted }
            }
            Opening::ToolCall { id, name, runner, notation, origin } => {
                let input = match notation {
                    Notation::Json => Input::Json(Box::new(PartialJson::with_depth(limits.json_depth))),
                    Notation::Plain => Input::Plain(Text::new()),
                };
                Body::ToolCall(ToolCall { id, name, runner, args: Args::Streaming(input), origin, raw: None })
            }
            Opening::ToolResult { kind, call_id } => Body::ToolResult { kind, call_id },
            Opening::Other { kind } => Body::Other { kind },
        };
        Self { slot, choice, end: None, body, extra: Extra::default() }
    }

    /// Its address in the message.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// The choice that it belongs to.
    pub fn choice(&self) -> u32 {
        self.choice
    }

    /// How it ended; `None` while it may still grow. Only the end of a call can be malformed.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Its content.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Fields that are not part of the neutral form, under the provider's names.
    pub fn extra(&self) -> &Object {
        &self.extra
    }

    /// The length in bytes of the part that grows; `None` if nothing can.
    pub(super) fn length(&self) -> Option<usize> {
        match &self.body {
            _ if self.end.is_some() => None,
            Body::Text { text, .. } | Body::Thinking { text, .. } => Some(text.len()),
            Body::ToolCall(ToolCall { args: Args::Streaming(input), .. }) => Some(input.raw().len()),
            Body::ToolCall(_) | Body::ToolResult { .. } | Body::Other { .. } => None,
        }
    }

    pub(super) fn is_open_call(&self) -> bool {
        self.end.is_none() && matches!(self.body, Body::ToolCall(_))
    }

    pub(super) fn name(&mut self, id: &CallId, name: &str) -> Result<(), Misfit> {
        let Body::ToolCall(call) = &mut self.body else { return Err(self.misfit()) };
        call.id.clone_from(id);
        name.clone_into(&mut call.name);
        Ok(())
    }

    pub(super) fn signature_length(&self) -> Option<usize> {
        match &self.body {
            Body::Thinking { signature, .. } if self.end.is_none() => Some(signature.len()),
            _ => None,
        }
    }

    pub(super) fn grow(&mut self, at: usize, piece: &str) -> Result<(), Misfit> {
        let has = self.length().ok_or_else(|| self.misfit())?;
        if has != at {
            return Err(Misfit::gap(&format!("block {}", self.slot), has, at));
        }
        match &mut self.body {
            Body::Text { text, .. } | Body::Thinking { text, .. } => text.push_str(piece),
            Body::ToolCall(ToolCall { args: Args::Streaming(Input::Plain(text)), .. }) => {
                text.push_str(piece);
            }
            // Invalid arguments are reported when they are over: the error stays in `json`.
            Body::ToolCall(ToolCall { args: Args::Streaming(Input::Json(json)), .. }) => {
                let _ = json.push(piece);
            }
            Body::ToolCall(_) | Body::ToolResult { .. } | Body::Other { .. } => {}
        }
        Ok(())
    }

    pub(super) fn sign(&mut self, at: usize, piece: &str) -> Result<(), Misfit> {
        match &mut self.body {
            Body::Thinking { signature, .. } if signature.len() == at => {
                signature.push_str(piece);
                Ok(())
            }
            Body::Thinking { signature, .. } => {
                Err(Misfit::gap(&format!("the signature of block {}", self.slot), signature.len(), at))
            }
            Body::Text { .. } | Body::ToolCall(_) | Body::ToolResult { .. } | Body::Other { .. } => {
                Err(self.misfit())
            }
        }
    }

    /// The error for a change that this block cannot make.
    pub(super) fn misfit(&self) -> Misfit {
        Misfit::new(format!("block {} is over, or not of the kind that the change expects", self.slot))
    }

    /// The change that closes it now. `given` is the end that the event names, and `reason` is why its choice
    /// stopped, if it has.
    pub(super) fn closing<'a>(
        &self,
        given: Option<End>,
        raw: Option<&'a str>,
        reason: Option<StopReason>,
        place: Place,
    ) -> Change<'a> {
        let (end, notice) = match &self.body {
            Body::ToolCall(call) => match (given, &call.args) {
                (None, Args::Streaming(input)) => call.native_end(input, reason, place),
                (Some(End::Closed), Args::Streaming(input)) => (Some(input.tagged_end()), None),
                (given, _) => (given, None),
            },
            // Text and thinking cannot be malformed, whatever they say.
            Body::Text { .. } | Body::Thinking { .. } | Body::ToolResult { .. } | Body::Other { .. } => {
                (given.filter(|end| *end == End::Cut), None)
            }
        };
        Change::Closed { block: self.slot, end, notice, raw: raw.map(Into::into) }
    }

    /// Closes it with this end, or with a worse one if its arguments are not complete: a change must not make
    /// a follower run a call that the sender would not.
    pub(super) fn close(&mut self, end: Option<End>, raw: Option<&str>) {
        self.end = match &mut self.body {
            Body::ToolCall(call) => {
                call.raw = raw.map(Text::from);
                call.close(end.unwrap_or(End::Closed));
                call.end()
            }
            _ if end == Some(End::Cut) => end,
            _ => Some(End::Closed),
        };
    }

    pub(super) fn cut(&mut self) {
        if self.end.is_none() {
            self.end = Some(End::Cut);
            if let Body::ToolCall(call) = &mut self.body {
                call.close(End::Cut);
            }
        }
    }
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
    fn native_end(
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

    fn close(&mut self, end: End) {
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
    fn tagged_end(&self) -> End {
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
