//! [`Part`]: a block of a message with the tags in its text resolved.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::change::Opening;
use crate::event::{Runner, Slot};
use crate::json::{ErrorKind, Object, PartialJson, Value};
use crate::message::{Block, Body, CallEnd, State};
use crate::text::Text;

/// Where a part stands: the block of the message it is in, and its number in there.
///
/// A part keeps its address for life, and parts stand in the order of their addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "(Slot, u32)", into = "(Slot, u32)")]
pub struct Address {
    /// The block.
    pub block: Slot,
    /// The number of the part in it, counted from 0.
    pub part: u32,
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text for the reader.
    Text {
        /// The text.
        text: Text,
        /// Whether the model refuses with it.
        refusal: bool,
        /// How far it is.
        state: State,
    },
    /// The model's thinking, be it the provider's block or written into the text.
    Thinking {
        /// The text; may be empty where the provider shows none.
        text: Text,
        /// The provider's signature, to be sent back unchanged.
        signature: Text,
        /// What stands for thinking that is not shown.
        redacted: Option<String>,
        /// How far it is.
        state: State,
    },
    /// A call, be it the provider's block or written into the text.
    Call(ToolCall),
    /// The result of a call that the provider carried out; its fields are the block's extra ones.
    ToolResult {
        /// The provider's word for the block.
        kind: String,
        /// The id of the call.
        call_id: Option<String>,
        /// How far it is.
        state: State,
    },
    /// Anything else; its fields are the block's extra ones.
    Other {
        /// The provider's word for it.
        kind: String,
        /// How far it is.
        state: State,
    },
}

/// A call that the model asks for, however it was written.
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
    /// How it was written; only who writes it back has to know.
    pub origin: Origin,
}

/// The arguments of a call. Only [`Args::Complete`] may be acted on.
#[derive(Clone, Debug, PartialEq)]
pub enum Args {
    /// As far as they have come.
    Streaming(Input),
    /// Whole, and closed.
    Complete(Value),
    /// The text or the message ended before they did.
    Cut(Input),
    /// Closed, but not what arguments can be.
    Malformed(Input),
}

/// Arguments while they arrive, and what was there of them if they never were whole.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// As JSON.
    Json(Box<PartialJson>),
    /// As free text.
    Plain(Text),
    /// One by one, in the order they came.
    Params(Vec<Param>),
}

/// A parameter of a call whose parameters are written one by one.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its value: a text that grows, until it is whole and its tool wants something else.
    pub value: Value,
    /// Whether it is whole.
    pub closed: bool,
}

/// How a call was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// As a block of the provider.
    #[default]
    Native,
    /// Into the text of a block.
    Tagged(Tagged),
}

/// Where and how a call is written in a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tagged {
    /// Where it stands in the text of its block, with its markers; empty while it is open.
    pub range: Range<usize>,
    /// Whether the tool is among those that were given; true if none were.
    pub known: bool,
    /// The id of the call that it stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

/// How the arguments of a call are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notation {
    /// As JSON.
    #[default]
    Json,
    /// As free text.
    Plain,
    /// One by one.
    Params,
}

impl From<(Slot, u32)> for Address {
    fn from((block, part): (Slot, u32)) -> Self {
        Self { block, part }
    }
}

impl From<Address> for (Slot, u32) {
    fn from(address: Address) -> Self {
        (address.block, address.part)
    }
}

impl Part {
    pub(super) fn new(opening: &Opening, depth: usize) -> Self {
        let state = State::Open;
        match opening.clone() {
            Opening::Text { refusal } => Self::Text { text: Text::new(), refusal, state },
            Opening::Thinking { redacted } => {
                Self::Thinking { text: Text::new(), signature: Text::new(), redacted, state }
            }
            Opening::ToolCall { id, name, runner, notation, origin } => {
                let input = match notation {
                    Notation::Json => Input::Json(Box::new(PartialJson::with_depth(depth))),
                    Notation::Plain => Input::Plain(Text::new()),
                    Notation::Params => Input::Params(Vec::new()),
                };
                Self::Call(ToolCall { id, name, runner, args: Args::Streaming(input), origin })
            }
            Opening::ToolResult { kind, call_id } => Self::ToolResult { kind, call_id, state },
            Opening::Other { kind } => Self::Other { kind, state },
        }
    }

    /// How far it is.
    pub fn state(&self) -> State {
        match self {
            Self::Text { state, .. }
            | Self::Thinking { state, .. }
            | Self::ToolResult { state, .. }
            | Self::Other { state, .. } => *state,
            Self::Call(call) => match call.args {
                Args::Streaming(_) => State::Open,
                Args::Cut(_) => State::Cut,
                Args::Complete(_) | Args::Malformed(_) => State::Closed,
            },
        }
    }

    /// What of it grows, if it is open and anything can.
    pub(super) fn growing(&self) -> Option<&Text> {
        match self {
            Self::Text { text, state: State::Open, .. }
            | Self::Thinking { text, state: State::Open, .. }
            | Self::Call(ToolCall { args: Args::Streaming(Input::Plain(text)), .. }) => Some(text),
            Self::Call(ToolCall { args: Args::Streaming(Input::Json(json)), .. }) => Some(json.raw()),
            _ => None,
        }
    }

    pub(super) fn grow(&mut self, piece: &str) {
        match self {
            Self::Text { text, .. }
            | Self::Thinking { text, .. }
            | Self::Call(ToolCall { args: Args::Streaming(Input::Plain(text)), .. }) => text.push_str(piece),
            Self::Call(ToolCall { args: Args::Streaming(Input::Json(json)), .. }) => {
                // What is wrong with the arguments is told when they are over: the error stays in them.
                let _ = json.push(piece);
            }
            Self::Call(_) | Self::ToolResult { .. } | Self::Other { .. } => {}
        }
    }

    /// Its signature, if it is open and has one.
    pub(super) fn open_signature(&mut self) -> Option<&mut Text> {
        match self {
            Self::Thinking { signature, state: State::Open, .. } => Some(signature),
            _ => None,
        }
    }

    /// The call, if it is one and open.
    pub(super) fn open_call(&mut self) -> Option<&mut ToolCall> {
        match self {
            Self::Call(call) if matches!(call.args, Args::Streaming(_)) => Some(call),
            _ => None,
        }
    }

    /// The parameters, if it is an open call that has some.
    pub(super) fn open_params(&mut self) -> Option<&mut Vec<Param>> {
        match self {
            Self::Call(ToolCall { args: Args::Streaming(Input::Params(params)), .. }) => Some(params),
            _ => None,
        }
    }

    /// Ends it. `given` are the arguments of a call where they are not what came of them.
    pub(super) fn close(&mut self, end: CallEnd, given: Option<&Value>, until: Option<usize>) {
        match self {
            Self::Text { state, .. }
            | Self::Thinking { state, .. }
            | Self::ToolResult { state, .. }
            | Self::Other { state, .. } => {
                *state = if end == CallEnd::Cut { State::Cut } else { State::Closed };
            }
            Self::Call(call) => call.close(end, given, until),
        }
    }
}

impl ToolCall {
    /// How it ended; nothing while it is open.
    pub fn end(&self) -> Option<CallEnd> {
        match self.args {
            Args::Streaming(_) => None,
            Args::Complete(_) => Some(CallEnd::Closed),
            Args::Cut(_) => Some(CallEnd::Cut),
            Args::Malformed(_) => Some(CallEnd::Malformed),
        }
    }

    /// The arguments so far, for showing; to act on, they have to be [`Args::Complete`].
    pub fn input(&self) -> Option<Cow<'_, Value>> {
        match &self.args {
            Args::Complete(value) => Some(Cow::Borrowed(value)),
            Args::Streaming(input) | Args::Cut(input) | Args::Malformed(input) => input.value(),
        }
    }

    fn close(&mut self, end: CallEnd, given: Option<&Value>, until: Option<usize>) {
        if let (Origin::Tagged(tagged), Some(until)) = (&mut self.origin, until) {
            tagged.range.end = until;
        }
        let Args::Streaming(input) = &mut self.args else { return };
        let input = std::mem::replace(input, Input::Plain(Text::new()));
        self.args = match (end, given) {
            (CallEnd::Closed, Some(value)) => Args::Complete(value.clone()),
            // Arguments that are not whole are so for nobody, whatever a change says.
            (CallEnd::Closed, None) => match input.into_whole() {
                Ok(value) => Args::Complete(value),
                Err(input) => Args::Cut(input),
            },
            (CallEnd::Cut, _) => Args::Cut(input),
            (CallEnd::Malformed, _) => Args::Malformed(input),
        };
    }
}

impl Tagged {
    /// The call as it was written, out of the block that it stands in.
    pub fn raw<'a>(&self, block: &'a Block) -> Option<Cow<'a, str>> {
        let Body::Text { text, .. } = block.body() else { return None };
        let open = self.range.is_empty();
        text.slice(self.range.start..if open { text.len() } else { self.range.end })
    }
}

impl Input {
    /// What there is of the arguments.
    pub fn value(&self) -> Option<Cow<'_, Value>> {
        match self {
            Self::Json(json) => json.value().map(Cow::Borrowed),
            Self::Plain(text) => Some(Cow::Owned(Value::String(text.clone()))),
            Self::Params(params) => Some(Cow::Owned(Value::Object(object(params)))),
        }
    }

    /// The arguments, if they would be whole should they end here.
    pub(super) fn whole(&self) -> Option<Cow<'_, Value>> {
        match self {
            Self::Json(json) => match json.check() {
                Ok(()) => self.value(),
                // No text at all is what a call without arguments has.
                Err(error) if error.kind == ErrorKind::Empty => {
                    Some(Cow::Owned(Value::Object(Object::new())))
                }
                Err(_) => None,
            },
            Self::Plain(_) => self.value(),
            Self::Params(params) => {
                params.iter().all(|param| param.closed).then(|| Value::Object(object(params))).map(Cow::Owned)
            }
        }
    }

    fn into_whole(self) -> Result<Value, Self> {
        match self {
            Self::Json(json) if json.check().is_ok() => {
                Ok(json.finish().expect("a value that is whole can be taken"))
            }
            input => input.whole().map(Cow::into_owned).ok_or(input),
        }
    }
}

/// Where a name is repeated, the last parameter stands.
fn object(params: &[Param]) -> Object {
    let last: BTreeMap<&str, usize> =
        params.iter().enumerate().map(|(number, param)| (param.name.as_str(), number)).collect();
    let standing = params.iter().enumerate().filter(|(number, param)| last[param.name.as_str()] == *number);
    standing.map(|(_, param)| (param.name.clone(), param.value.clone())).collect()
}
