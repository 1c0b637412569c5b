//! The stream as Anthropic's own `Message`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{FALLBACK, block_of};
use crate::event::Slot;
use crate::frame::Frame;
use crate::json::{Object, Value};
use crate::text::Text;
use crate::wire::native_members::{append, grow, push};
use crate::wire::slots::Slots;
use crate::wire::{Rebuild, State};

#[derive(Clone, Debug, Default)]
pub(in crate::wire) struct Native {
    state: State,
    message: Option<Object>,
    slots: Slots,
    blocks: BTreeMap<Slot, Block>,
}

#[derive(Clone, Debug)]
struct Block {
    fields: Object,
    input: Input,
}

/// The arguments that deltas bring; without deltas, those of the start event count.
#[derive(Clone, Debug)]
enum Input {
    Start,
    Deltas(Text),
    Closed,
}

impl Rebuild for Native {
    fn read(&mut self, frame: &Frame<'_>, mut data: Object, done: &mut Vec<Value>) {
        let untyped = if data.get("error").is_some() { "error" } else { frame.event };
        let kind = data.get("type").and_then(Value::as_str).map_or(untyped.to_owned(), Cow::into_owned);
        let index = data.get("index").and_then(Value::as_u64).unwrap_or(0);
        match &*kind {
            "message_start" => {
                if let Some(Value::Object(message)) = data.remove("message") {
                    self.start(message, done);
                }
            }
            "message" => {
                self.start(data, done);
                done.extend(self.take());
            }
            // What comes after the end does not belong to the message that is over.
            _ if self.state == State::After => {}
            "content_block_start" => {
                let slot = self.slots.open(index);
                let block = data.remove("content_block").unwrap_or_default();
                if let (Some(model), Some(message)) = (served(&block), &mut self.message) {
                    message.insert("model", model.clone());
                }
                self.blocks.insert(slot, Block::new(block));
            }
            "content_block_delta" => {
                if let Some(Value::Object(delta)) = data.remove("delta") {
                    self.delta(index, delta);
                }
            }
            "content_block_stop" => {
                if let Some(block) = self.slots.get(index).and_then(|slot| self.blocks.get_mut(&slot)) {
                    block.close();
                }
            }
            "message_delta" => self.message_delta(data),
            "message_stop" => {
                self.blocks.values_mut().for_each(Block::close);
                done.extend(self.take());
            }
            // Nothing else comes if there is an error instead of a message.
            "error" if self.message.is_none() && self.blocks.is_empty() => {
                done.push(data.into());
                self.state = State::After;
            }
            "error" => done.extend(self.take()),
            _ => {}
        }
    }

    fn take(&mut self) -> Option<Value> {
        self.state = State::After;
        let blocks = std::mem::take(&mut self.blocks);
        self.slots = Slots::default();
        let mut message = self.message.take().or_else(|| (!blocks.is_empty()).then(Object::new))?;
        let content = blocks.into_values().map(Block::into_value).collect();
        message.insert("content", Value::Array(content));
        Some(Value::Object(message))
    }
}

impl Native {
    fn start(&mut self, mut message: Object, done: &mut Vec<Value>) {
        let same = |earlier: &Object| earlier.get("id").is_some() && earlier.get("id") == message.get("id");
        let last = done.last().and_then(Value::as_object);
        if self.message.as_ref().or(last).is_some_and(same) {
            return;
        }
        done.extend(self.take());
        if let Some(Value::Array(content)) = message.remove("content") {
            for block in content {
                let slot = self.slots.open(self.blocks.len() as u64);
                let mut block = Block::new(block);
                block.input = Input::Closed;
                self.blocks.insert(slot, block);
            }
        }
        self.message = Some(message);
        self.state = State::Within;
    }

    fn message_delta(&mut self, event: Object) {
        let message = self.message.get_or_insert_default();
        for (key, value) in event {
            match (&*key, value) {
                ("type", _) => {}
                ("delta", Value::Object(delta)) => {
                    delta.into_iter().for_each(|(key, value)| set(message, key, value));
                }
                ("usage", Value::Object(counts)) => match message.get_mut("usage") {
                    Some(Value::Object(usage)) => {
                        counts.into_iter().for_each(|(key, value)| set(usage, key, value));
                    }
                    _ => drop(message.insert("usage", Value::Object(counts))),
                },
                (_, value) => set(message, key, value),
            }
        }
    }

    fn delta(&mut self, index: u64, delta: Object) {
        let kind = delta.get("type").and_then(Value::as_str).map_or(String::new(), Cow::into_owned);
        let slot = self.slots.get(index).unwrap_or_else(|| self.slots.open(index));
        // A delta whose block was never started opens it, as the kind that the delta implies.
        let block = self.blocks.entry(slot).or_insert_with(|| {
            let fields = [("type".to_owned(), Value::from(block_of(&kind)))];
            Block::new(Value::Object(fields.into_iter().collect()))
        });
        if block.takes(&kind) {
            block.grow(&kind, delta);
        }
    }
}

impl Block {
    fn new(block: Value) -> Self {
        let fields = if let Value::Object(fields) = block { fields } else { Object::new() };
        Self { fields, input: Input::Start }
    }

    /// Whether a delta fits this block: it is open, and of the right kind.
    fn takes(&self, delta: &str) -> bool {
        let is = |types: &[&str]| {
            self.fields.get("type").and_then(Value::as_str).is_some_and(|kind| types.contains(&&*kind))
        };
        let calls = is(&["tool_use", "server_tool_use", "mcp_tool_use"]);
        let fits = match delta {
            "text_delta" => !calls && !is(&["thinking", "redacted_thinking"]),
            "thinking_delta" | "signature_delta" => !calls && !is(&["text"]),
            "input_json_delta" => !is(&["text", "thinking", "redacted_thinking"]),
            _ => true,
        };
        fits && !matches!(self.input, Input::Closed)
    }

    fn grow(&mut self, kind: &str, delta: Object) {
        for (key, value) in delta {
            match (kind, &*key, value) {
                (_, "type", _) => {}
                ("text_delta", "text", Value::String(text))
                | ("thinking_delta", "thinking", Value::String(text))
                | ("signature_delta", "signature", Value::String(text)) => {
                    grow(&mut self.fields, key, &text);
                }
                ("input_json_delta", "partial_json", Value::String(text)) => self.grow_input(&text),
                ("citations_delta", "citation", citation) => {
                    append(&mut self.fields, "citations".to_owned(), vec![citation].into());
                }
                (_, _, value) => set(&mut self.fields, key, value),
            }
        }
    }

    fn grow_input(&mut self, piece: &Text) {
        if piece.is_empty() {
            return;
        }
        if let Input::Start = self.input {
            self.input = Input::Deltas(Text::new());
        }
        if let Input::Deltas(text) = &mut self.input {
            push(text, piece);
        }
    }

    fn close(&mut self) {
        if let Input::Deltas(text) = std::mem::replace(&mut self.input, Input::Closed) {
            let input = text.to_str().parse().unwrap_or(Value::String(text));
            self.fields.insert("input", input);
        }
    }

    fn into_value(mut self) -> Value {
        match self.input {
            Input::Closed => {}
            Input::Deltas(text) => drop(self.fields.insert("input", Value::String(text))),
            Input::Start => {
                if let Some(input) = self.fields.get_mut("input") {
                    *input = Value::from("");
                }
            }
        }
        Value::Object(self.fields)
    }
}

/// The model that continues after a block, if the block says so.
fn served(block: &Value) -> Option<&Value> {
    let is_fallback = block.get("type")?.as_str()? == FALLBACK;
    block
        .get("to")?
        .get("model")
        .filter(|model| is_fallback && model.as_str().is_some_and(|name| !name.is_empty()))
}

fn set(fields: &mut Object, key: String, value: Value) {
    if !value.is_null() || fields.get(&key).is_none() {
        fields.insert(key, value);
    }
}
