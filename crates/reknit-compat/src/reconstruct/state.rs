//! [`State`] and its transitions.

use std::collections::BTreeMap;

use reknit::json::{self, Object, PartialJson, Value};
use reknit::{Limits, Text};
use serde::Deserialize;

use super::event::{Delta, ServerEvent};
use super::message::ChatMessage;
use super::written::Written;

/// The status of a message after `message_stop`.
const COMPLETED: &str = "completed";
/// The status of a message whose connection ended before `message_stop`.
const CUT: &str = "cut";

/// All that is known of the message that is being received.
///
/// As JSON it is `{"message", "buffers", "parsedJson"}`, and `indexes` if those of the blocks are not 0, 1, 2
/// and so on. A state that is read back goes on as the one that was written, under default limits.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "Written")]
pub struct State {
    message: Option<ChatMessage>,
    /// The JSON so far of the blocks that receive any, by index.
    json: BTreeMap<u32, PartialJson>,
    /// How deep that JSON may be nested.
    json_depth: Depth,
}

/// [`Limits::json_depth`].
#[derive(Clone, Copy, Debug, PartialEq)]
struct Depth(usize);

impl Default for Depth {
    fn default() -> Self {
        Self(Limits::default().json_depth)
    }
}

/// The state after an event.
///
/// `at` is the time, in the caller's unit, for a block that ends without a `stop_timestamp`.
pub fn next_state(mut state: State, event: &ServerEvent, at: u64) -> State {
    state.apply(event, at);
    state
}

impl State {
    /// Changes the state by an event, and counts what is ignored of it: the event itself, or single fields.
    pub(super) fn apply(&mut self, event: &ServerEvent, at: u64) -> u64 {
        if let ServerEvent::MessageStart { message } = event {
            let (message, ignored) = ChatMessage::new(message.clone());
            *self = Self { message: Some(message), ..self.emptied() };
            return ignored;
        }
        let Some(message) = &mut self.message else { return 1 };
        match event {
            ServerEvent::ContentBlockStart { index, content_block } => {
                self.json.remove(index);
                if Kind::of(content_block).takes_json() {
                    self.json.insert(*index, PartialJson::with_depth(self.json_depth.0));
                }
                message.content.insert(*index, content_block.clone());
                0
            }
            ServerEvent::ContentBlockDelta { index, delta } => {
                let Some(block) = message.content.get_mut(index) else { return 1 };
                match (Kind::of(block), delta) {
                    (Kind::Text, Delta::Text(text)) => grow(block, "text", text),
                    (Kind::Text, Delta::Citation(citation)) => push(block, "citations", citation),
                    (Kind::Thinking, Delta::Thinking(text)) => grow(block, "thinking", text),
                    (Kind::Thinking, Delta::Signature(text)) => grow(block, "signature", text),
                    (Kind::ToolUse | Kind::ToolResult, Delta::InputJson(text)) => {
                        let json = self.json.entry(*index);
                        let json = json.or_insert_with(|| PartialJson::with_depth(self.json_depth.0));
                        push_json(json, text);
                    }
                    _ => return 1,
                }
                0
            }
            ServerEvent::ContentBlockStop { index, stop_timestamp } => {
                let Some(block) = message.content.get_mut(index) else { return 1 };
                finalize(block, self.json.remove(index).unwrap_or_default());
                block.insert("stop_timestamp", stop_timestamp.clone().unwrap_or(Value::from(at)));
                0
            }
            ServerEvent::MessageDelta { delta, others } => {
                delta.iter().chain(others.iter()).map(|(key, value)| message.learn(key, value)).sum()
            }
            ServerEvent::MessageStop => {
                message.status = Some(Value::from(COMPLETED));
                0
            }
            ServerEvent::MessageStart { .. } | ServerEvent::Ping => 0,
            ServerEvent::Other(_) => 1,
        }
    }

    /// The message; `None` before `message_start` and after a reset.
    pub fn message(&self) -> Option<&ChatMessage> {
        self.message.as_ref()
    }

    /// The JSON text so far of the blocks that receive any, by index.
    pub fn buffers(&self) -> impl Iterator<Item = (u32, &Text)> {
        self.json.iter().map(|(index, json)| (*index, json.raw()))
    }

    /// What can be read of those texts, by index.
    pub fn parsed_json(&self) -> impl Iterator<Item = (u32, &Value)> {
        self.json.iter().filter_map(|(index, json)| Some((*index, json.value()?)))
    }

    /// A state that was saved.
    pub(super) fn of(message: Option<ChatMessage>, json: BTreeMap<u32, PartialJson>) -> Self {
        Self { message, json, json_depth: Depth::default() }
    }

    /// An empty state under these limits.
    pub(super) fn limited(limits: &Limits) -> Self {
        Self { json_depth: Depth(limits.json_depth), ..Self::default() }
    }

    /// An empty state under the same limits.
    pub(super) fn emptied(&self) -> Self {
        Self { json_depth: self.json_depth, ..Self::default() }
    }

    /// Whether the message is complete: `message_stop` came.
    pub(super) fn is_complete(&self) -> bool {
        self.has_status(COMPLETED)
    }

    /// Whether the connection ended before the message did.
    pub(super) fn is_cut(&self) -> bool {
        self.has_status(CUT)
    }

    /// The connection ended before the message did.
    pub(super) fn cut(&mut self) {
        if let Some(message) = &mut self.message {
            message.status = Some(Value::from(CUT));
        }
    }

    fn has_status(&self, word: &str) -> bool {
        let status = self.message.as_ref().and_then(ChatMessage::status).and_then(Value::as_str);
        status.as_deref() == Some(word)
    }
}

/// Reads the JSON that a tool block has received.
fn finalize(block: &mut Object, json: PartialJson) {
    let buffer = json.raw().clone();
    let blank = buffer.segments().all(|piece| piece.trim_ascii().is_empty());
    match (Kind::of(block), json.finish()) {
        // Without JSON, the input is what the block started with.
        (Kind::ToolUse, _) if blank => match block.get("input").cloned() {
            None | Some(Value::Null) => drop(block.insert("input", Object::new())),
            Some(input) => {
                let raw = input.to_string().into();
                set_input(block, Ok(input), raw);
            }
        },
        (Kind::ToolUse, read) => set_input(block, read, buffer),
        (Kind::ToolResult, _) if blank => {}
        (Kind::ToolResult, Ok(content)) => {
            block.insert("content", content);
            block.insert("is_error", false);
        }
        (Kind::ToolResult, Err(error)) => {
            block.insert("content", format!("JSON Parse Error: {error}. Raw: {buffer}"));
            block.insert("is_error", true);
        }
        (Kind::Text | Kind::Thinking | Kind::Other, _) => {}
    }
}

/// Gives a call its input. A page relies on an object, so anything else is kept next to an empty one, with the
/// reason.
fn set_input(block: &mut Object, read: Result<Value, json::Error>, raw: Text) {
    let reason = match read {
        Ok(Value::Object(input)) => return drop(block.insert("input", input)),
        Ok(_) => "the input is not an object".to_owned(),
        Err(error) => error.to_string(),
    };
    block.insert("input", Object::new());
    block.insert("input_error", reason);
    block.insert("raw_input", raw);
}

/// What a block is, by its `type`.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Text,
    Thinking,
    ToolUse,
    ToolResult,
    Other,
}

impl Kind {
    pub(super) fn of(block: &Object) -> Self {
        match block.get("type").and_then(Value::as_str).as_deref() {
            Some("text") => Self::Text,
            Some("thinking") => Self::Thinking,
            Some("tool_use") => Self::ToolUse,
            Some("tool_result") => Self::ToolResult,
            Some(_) | None => Self::Other,
        }
    }

    /// Whether the deltas of such a block are JSON.
    pub(super) fn takes_json(self) -> bool {
        matches!(self, Self::ToolUse | Self::ToolResult)
    }
}

/// Adds to the JSON of a block. Whether it is broken is asked when the block is over.
pub(super) fn push_json(json: &mut PartialJson, text: &Text) {
    for piece in text.segments() {
        let _ = json.push(piece);
    }
}

fn grow(block: &mut Object, key: &str, piece: &Text) {
    match block.get_mut(key) {
        Some(Value::String(text)) => piece.segments().for_each(|piece| text.push_str(piece)),
        _ => drop(block.insert(key, piece.clone())),
    }
}

fn push(block: &mut Object, key: &str, value: &Value) {
    match block.get_mut(key) {
        Some(Value::Array(list)) => list.push(value.clone()),
        _ => drop(block.insert(key, vec![value.clone()])),
    }
}
