//! [`State`] and the one function that changes it.

use std::collections::BTreeMap;
use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::event::{Delta, ServerEvent};
use reknit::Limits;
use reknit::Text;
use reknit::json::{self, Object, PartialJson, Value};

/// The status of a message after `message_stop`.
const COMPLETED: &str = "completed";
/// The status of a message that stopped for an error.
const FAILED: &str = "failed";
/// The status of a message whose connection ended before `message_stop`.
const CUT: &str = "cut";

/// All that is known of the message that is being received.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The message; `None` before `message_start` and after a reset.
    pub message: Option<ChatMessage>,
    /// The JSON text so far of the blocks that receive any, by index.
    pub buffers: BTreeMap<u32, Text>,
    /// What can be read of those texts, by index.
    pub parsed_json: BTreeMap<u32, PartialJson>,
    /// How deep those texts may be nested.
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

/// A chat message in the protocol's own fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatMessage {
    fields: Object,
    content: BTreeMap<u32, Object>,
    finish_reason: Option<Value>,
    status: Option<Value>,
}

/// The state after an event.
///
/// `at` is the time, in the caller's measure; a block whose end brings no `stop_timestamp` gets it.
pub fn next_state(mut state: State, event: &ServerEvent, at: u64) -> State {
    state.apply(event, at);
    state
}

impl State {
    /// Changes the state by an event, and counts what is ignored of it: the event itself, or single fields.
    pub(super) fn apply(&mut self, event: &ServerEvent, at: u64) -> u64 {
        if let ServerEvent::MessageStart { message } = event {
            *self = Self { message: Some(ChatMessage::new(message.clone())), ..self.emptied() };
            return 0;
        }
        let Some(message) = &mut self.message else { return 1 };
        match event {
            ServerEvent::ContentBlockStart { index, content_block } => {
                self.buffers.remove(index);
                self.parsed_json.remove(index);
                if let Kind::ToolUse | Kind::ToolResult = Kind::of(content_block) {
                    self.buffers.insert(*index, Text::new());
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
                        let buffer = self.buffers.entry(*index).or_default();
                        let parsed = self.parsed_json.entry(*index);
                        let parsed = parsed.or_insert_with(|| PartialJson::with_depth(self.json_depth.0));
                        for piece in text.segments() {
                            buffer.push_str(piece);
                            // What is wrong with the text is reported when the block is over.
                            let _ = parsed.push(piece);
                        }
                    }
                    _ => return 1,
                }
                0
            }
            ServerEvent::ContentBlockStop { index, stop_timestamp } => {
                // Whatever comes of them, the texts of a block that is over are not kept.
                let buffer = self.buffers.remove(index).unwrap_or_default();
                let parsed = self.parsed_json.remove(index).unwrap_or_default();
                let Some(block) = message.content.get_mut(index) else { return 1 };
                finalize(block, &buffer, parsed);
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
fn finalize(block: &mut Object, buffer: &Text, parsed: PartialJson) {
    let blank = buffer.segments().all(|piece| piece.trim_ascii().is_empty());
    match (Kind::of(block), parsed.finish()) {
        // Without JSON, the input is what the block started with.
        (Kind::ToolUse, _) if blank => match block.get("input").cloned() {
            None | Some(Value::Null) => drop(block.insert("input", Object::new())),
            Some(input) => {
                let raw = input.to_string().into();
                set_input(block, Ok(input), raw);
            }
        },
        (Kind::ToolUse, read) => set_input(block, read, buffer.clone()),
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
enum Kind {
    Text,
    Thinking,
    ToolUse,
    ToolResult,
    Other,
}

impl Kind {
    fn of(block: &Object) -> Self {
        match block.get("type").and_then(Value::as_str).as_deref() {
            Some("text") => Self::Text,
            Some("thinking") => Self::Thinking,
            Some("tool_use") => Self::ToolUse,
            Some("tool_result") => Self::ToolResult,
            Some(_) | None => Self::Other,
        }
    }
}

impl ChatMessage {
    fn new(mut fields: Object) -> Self {
        let content = match fields.remove("content") {
            Some(Value::Array(blocks)) => blocks,
            _ => Vec::new(),
        };
        let blocks = content.into_iter().filter_map(|block| match block {
            Value::Object(block) => Some(block),
            _ => None,
        });
        let (finish_reason, status) = (fields.remove("finishReason"), fields.remove("status"));
        Self { fields, content: (0..).zip(blocks).collect(), finish_reason, status }
    }

    /// The blocks, by their index.
    pub fn content(&self) -> impl Iterator<Item = (u32, &Object)> {
        self.content.iter().map(|(index, block)| (*index, block))
    }

    /// Why the message ended, in the server's word.
    pub fn finish_reason(&self) -> Option<&Value> {
        self.finish_reason.as_ref()
    }

    /// How far the message is: `completed`, `failed`, `cut`, or what it began with.
    pub fn status(&self) -> Option<&Value> {
        self.status.as_ref()
    }

    /// Another field of the message.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.fields.get(field)
    }

    /// Takes a field of a `message_delta`, and counts it if it is ignored.
    fn learn(&mut self, key: &str, value: &Value) -> u64 {
        match key {
            "stop_reason" | "finishReason" => {
                if !value.is_null() {
                    self.finish_reason = Some(value.clone());
                }
                if value.as_str().as_deref() == Some("error") {
                    self.status = Some(Value::from(FAILED));
                }
            }
            // Other events are what says these.
            "content" | "status" => return 1,
            // Counts are totals so far, so the newer ones replace the older, and the rest stays.
            "usage" => match (self.fields.get_mut(key), value) {
                (Some(Value::Object(usage)), Value::Object(counts)) => {
                    counts.iter().for_each(|(key, count)| set(usage, key, count));
                }
                _ => set(&mut self.fields, key, value),
            },
            _ => set(&mut self.fields, key, value),
        }
        0
    }
}

impl From<&ChatMessage> for Value {
    fn from(message: &ChatMessage) -> Self {
        let mut fields = message.fields.clone();
        let content = message.content.values().map(|block| Value::Object(block.clone()));
        fields.insert("content", Value::Array(content.collect()));
        if let Some(reason) = &message.finish_reason {
            fields.insert("finishReason", reason.clone());
        }
        if let Some(status) = &message.status {
            fields.insert("status", status.clone());
        }
        Value::Object(fields)
    }
}

impl From<Object> for ChatMessage {
    fn from(message: Object) -> Self {
        Self::new(message)
    }
}

impl fmt::Display for ChatMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Value::from(self).fmt(f)
    }
}

impl Serialize for ChatMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Value::from(self).serialize(serializer)
    }
}

/// As `{"message", "buffers", "parsedJson"}`.
impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parsed: BTreeMap<_, _> =
            self.parsed_json.iter().map(|(index, json)| (index, json.value())).collect();
        let mut state = serializer.serialize_struct("State", 3)?;
        state.serialize_field("message", &self.message)?;
        state.serialize_field("buffers", &self.buffers)?;
        state.serialize_field("parsedJson", &parsed)?;
        state.end()
    }
}

/// Gives a field a value; `null` does not replace one.
fn set(fields: &mut Object, key: &str, value: &Value) {
    if !value.is_null() || fields.get(key).is_none() {
        fields.insert(key, value.clone());
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
