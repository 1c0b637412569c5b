//! [`Block`]: one part of a message, and the arguments of its calls.

use std::mem;

use serde::{Deserialize, Serialize};

use super::change::{Change, Misfit};
use super::extra::Extra;
use crate::diagnostic::{Diagnostic, Kind, Place};
use crate::event::{Notation, Opening, Runner, Slot, StopReason};
use crate::json::{self, Object, PartialJson, Value};
use crate::limits::Limits;
use crate::text::Text;

/// One part of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub(super) slot: Slot,
    pub(super) choice: u32,
    pub(super) state: State,
    pub(super) body: Body,
    pub(super) extra: Extra,
}

/// How far a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It may go on.
    Open,
    /// The provider said that it is over.
    Closed,
    /// The message ended while it was open.
    Cut,
}

/// What a block holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Text for the reader.
    Text {
        /// The text.
        text: Text,
        /// Whether the model refuses with it.
        refusal: bool,
    },
    /// The model's thinking.
    Thinking {
        /// The text; may be empty where the provider shows none.
        text: Text,
        /// The provider's signature, to be sent back unchanged.
        signature: Text,
        /// What stands for thinking that is not shown.
        redacted: Option<String>,
    },
    /// A call that the model asks for.
    ToolCall(ToolCall),
    /// The result of a call that the provider carried out; its fields are the block's extra ones.
    ToolResult {
        /// The provider's word for the block.
        kind: String,
        /// The id of the call.
        call_id: Option<String>,
    },
    /// Anything else; its fields are the block's extra ones.
    Other {
        /// The provider's word for it.
        kind: String,
    },
}

/// A call that the model asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The id that the result has to name.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Who carries it out.
    pub runner: Runner,
    /// What it is called with.
    pub args: Args,
}

/// The arguments of a call. Only [`Args::Complete`] may be acted on.
#[derive(Clone, Debug, PartialEq)]
pub enum Args {
    /// As far as they have come; if the block is over, they were cut.
    Streaming(Input),
    /// Whole, and closed by the provider.
    Complete(Value),
    /// Closed by the provider, but not JSON.
    Malformed {
        /// What came.
        raw: Text,
        /// What is wrong with it.
        error: json::Error,
    },
}

/// Arguments while they arrive.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// As JSON.
    Json(Box<PartialJson>),
    /// As free text.
    Plain(Text),
}

/// How the arguments of a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnd {
    /// Whole.
    Closed,
    /// The stream, the message or the block ended before they did.
    Cut,
    /// They are not JSON.
    Malformed,
}

impl Block {
    pub(super) fn new(slot: Slot, choice: u32, opening: &Opening, limits: &Limits) -> Self {
        let body = match opening.clone() {
            Opening::Text { refusal } => Body::Text { text: Text::new(), refusal },
            Opening::Thinking { redacted } => {
                Body::Thinking { text: Text::new(), signature: Text::new(), redacted }
            }
            Opening::ToolCall { id, name, runner, notation } => {
                let input = match notation {
                    Notation::Json => Input::Json(Box::new(PartialJson::with_depth(limits.json_depth))),
                    Notation::Plain => Input::Plain(Text::new()),
                };
                Body::ToolCall(ToolCall { id, name, runner, args: Args::Streaming(input) })
            }
            Opening::ToolResult { kind, call_id } => Body::ToolResult { kind, call_id },
            Opening::Other { kind } => Body::Other { kind },
        };
        Self { slot, choice, state: State::Open, body, extra: Extra::default() }
    }

    /// Its address in the message.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// The choice it belongs to.
    pub fn choice(&self) -> u32 {
        self.choice
    }

    /// How far it is.
    pub fn state(&self) -> State {
        self.state
    }

    /// What it holds.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Fields outside the neutral form, under the provider's names.
    pub fn extra(&self) -> &Object {
        &self.extra
    }

    /// How the arguments ended, if it is a call and they did.
    pub fn call_end(&self) -> Option<CallEnd> {
        let Body::ToolCall(call) = &self.body else { return None };
        match (&call.args, self.state) {
            (Args::Streaming(_), State::Open) => None,
            (Args::Streaming(_), State::Closed | State::Cut) => Some(CallEnd::Cut),
            (Args::Complete(_), _) => Some(CallEnd::Closed),
            (Args::Malformed { .. }, _) => Some(CallEnd::Malformed),
        }
    }

    /// How many bytes there are of what grows; `None` if nothing can.
    pub(super) fn length(&self) -> Option<usize> {
        match &self.body {
            _ if self.state != State::Open => None,
            Body::Text { text, .. } | Body::Thinking { text, .. } => Some(text.len()),
            Body::ToolCall(ToolCall { args: Args::Streaming(input), .. }) => Some(input.raw().len()),
            Body::ToolCall(_) | Body::ToolResult { .. } | Body::Other { .. } => None,
        }
    }

    pub(super) fn is_open_call(&self) -> bool {
        self.state == State::Open && matches!(self.body, Body::ToolCall(_))
    }

    pub(super) fn name(&mut self, id: &str, name: &str) -> Result<(), Misfit> {
        let Body::ToolCall(call) = &mut self.body else {
            return Err(Misfit::WrongBlock { block: self.slot });
        };
        id.clone_into(&mut call.id);
        name.clone_into(&mut call.name);
        Ok(())
    }

    pub(super) fn signature_length(&self) -> Option<usize> {
        match &self.body {
            Body::Thinking { signature, .. } if self.state == State::Open => Some(signature.len()),
            _ => None,
        }
    }

    pub(super) fn grow(&mut self, at: usize, piece: &str) -> Result<(), Misfit> {
        let has = self.length().ok_or(Misfit::WrongBlock { block: self.slot })?;
        if has != at {
            return Err(Misfit::Gap { block: self.slot, has, at });
        }
        match &mut self.body {
            Body::Text { text, .. } | Body::Thinking { text, .. } => text.push_str(piece),
            Body::ToolCall(ToolCall { args: Args::Streaming(Input::Plain(text)), .. }) => {
                text.push_str(piece);
            }
            // What is wrong with the arguments is told when they are over: the error stays in them.
            Body::ToolCall(ToolCall { args: Args::Streaming(Input::Json(json)), .. }) => {
                let _ = json.push(piece);
            }
            Body::ToolCall(_) | Body::ToolResult { .. } | Body::Other { .. } => {}
        }
        Ok(())
    }

    pub(super) fn sign(&mut self, at: usize, piece: &str) -> Result<(), Misfit> {
        let block = self.slot;
        match &mut self.body {
            Body::Thinking { signature, .. } if signature.len() == at => signature.push_str(piece),
            Body::Thinking { signature, .. } => return Err(Misfit::Gap { block, has: signature.len(), at }),
            Body::Text { .. } | Body::ToolCall(_) | Body::ToolResult { .. } | Body::Other { .. } => {
                return Err(Misfit::WrongBlock { block });
            }
        }
        Ok(())
    }

    /// The change that closing it now makes; `reason` is why its choice stopped, if it did.
    pub(super) fn closing(&self, reason: Option<StopReason>, place: Place) -> Change<'static> {
        let (end, notice) = match &self.body {
            Body::ToolCall(ToolCall { name, args: Args::Streaming(input), .. }) => match input.verdict() {
                // No arguments at all are none, unless the model was stopped before it could write them.
                Verdict::Absent if matches!(reason, Some(StopReason::Length | StopReason::Filter)) => {
                    let message = format!("arguments of `{name}`: the model was stopped before they came");
                    (Some(CallEnd::Cut), Some(place.notice(Kind::CutArguments, message)))
                }
                Verdict::Whole | Verdict::Absent => {
                    (Some(CallEnd::Closed), input.duplicate_keys(name, place))
                }
                Verdict::Cut => {
                    let message = format!("arguments of `{name}`: closed before their JSON was whole");
                    (Some(CallEnd::Cut), Some(place.notice(Kind::CutArguments, message)))
                }
                Verdict::Malformed(error) => {
                    let message = format!("arguments of `{name}`: {error}");
                    (Some(CallEnd::Malformed), Some(place.notice(Kind::MalformedArguments, message)))
                }
            },
            _ => (None, None),
        };
        Change::Closed { block: self.slot, end, notice }
    }

    /// Closes it, with the `end` that its arguments have; those that are not whole are so for nobody.
    pub(super) fn close(&mut self, end: Option<CallEnd>) {
        self.state = State::Closed;
        if let Body::ToolCall(ToolCall { args, .. }) = &mut self.body
            && let Args::Streaming(input) = args
        {
            match (input.verdict(), end) {
                (Verdict::Whole | Verdict::Absent, Some(CallEnd::Closed)) => {
                    *args = Args::Complete(mem::take(input).into_value());
                }
                (Verdict::Malformed(error), _) => {
                    *args = Args::Malformed { raw: input.raw().clone(), error };
                }
                (Verdict::Whole | Verdict::Absent | Verdict::Cut, _) => {}
            }
        }
    }

    pub(super) fn cut(&mut self) {
        if self.state == State::Open {
            self.state = State::Cut;
        }
    }
}

/// What the arguments would be if they ended here.
enum Verdict {
    Whole,
    /// Nothing came: providers send no text at all for a call without arguments.
    Absent,
    Cut,
    Malformed(json::Error),
}

impl Input {
    /// Everything that came, as it came.
    pub fn raw(&self) -> &Text {
        match self {
            Self::Json(json) => json.raw(),
            Self::Plain(text) => text,
        }
    }

    fn verdict(&self) -> Verdict {
        let Self::Json(json) = self else { return Verdict::Whole };
        match json.check() {
            Ok(()) => Verdict::Whole,
            Err(error) if error.kind == json::ErrorKind::Empty => Verdict::Absent,
            Err(error) if error.kind == json::ErrorKind::Truncated => Verdict::Cut,
            Err(error) => Verdict::Malformed(error),
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
        let duplicates = json.duplicate_keys()?;
        let message = format!(
            "arguments of `{name}`: {} key(s) given twice, the first at byte {}; the last value holds",
            duplicates.count, duplicates.first_at
        );
        Some(place.notice(Kind::DuplicateKey, message))
    }
}

impl Default for Input {
    fn default() -> Self {
        Self::Plain(Text::new())
    }
}
