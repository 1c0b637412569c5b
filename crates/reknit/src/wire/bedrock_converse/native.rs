//! The stream as the response of `Converse`.

use std::collections::BTreeMap;

use super::{EXCEPTION, METADATA, PADDING, is_event};
use crate::event::{Keep, Slot};
use crate::frame::{self, Frame};
use crate::json::{Object, Value};
use crate::text::Text;
use crate::wire::native_members::{append, grow, push, put_all};
use crate::wire::object::object;
use crate::wire::slots::Slots;
use crate::wire::{Rebuild, State};

#[derive(Clone, Debug, Default)]
pub(in crate::wire) struct Native {
    role: Option<Value>,
    /// What the response has next to its message.
    fields: Object,
    slots: Slots,
    blocks: BTreeMap<Slot, Slotted>,
    /// After `messageStop`, metadata may follow.
    state: State,
}

#[derive(Clone, Debug)]
struct Slotted {
    block: Block,
    is_open: bool,
}

#[derive(Clone, Debug)]
enum Block {
    Text {
        text: Text,
        citations: Vec<Value>,
    },
    Thinking(Object),
    Redacted(Value),
    Call {
        fields: Object,
        input: Text,
    },
    /// A result, an image or something else, under the name of its start.
    Other {
        kind: String,
        fields: Object,
    },
}

impl Rebuild for Native {
    fn read(&mut self, frame: &Frame<'_>, mut data: Object, done: &mut Vec<Value>) {
        if data.get("output").is_some() {
            done.extend(self.take());
            return done.push(data.into());
        }
        let named = is_event(frame.event) || frame.kind == frame::Kind::Error;
        let wrapped = data.keys().find(|key| is_event(key)).map(str::to_owned);
        let (name, payload) = match wrapped.filter(|_| !named) {
            Some(name) => {
                let payload = data.remove(&name).unwrap_or(Value::Null);
                (name, payload)
            }
            None => (frame.event.to_owned(), data.into()),
        };
        let is_error_body = name.is_empty() && payload.get("message").is_some();
        if is_error_body && self.state == State::Before {
            return done.push(payload);
        }
        if let Value::Object(payload) = payload {
            self.event(&name, frame.kind, payload, done);
        }
    }

    fn take(&mut self) -> Option<Value> {
        let Self { role, fields, blocks, state, .. } = std::mem::take(self);
        if state == State::Before {
            return None;
        }
        let content: Vec<_> = blocks.into_values().map(Slotted::into_value).collect();
        let role = role.unwrap_or_else(|| "assistant".into());
        let message = object([("role", role), ("content", content.into())]);
        let mut response = Object::new();
        response.insert("output", object([("message", message)]));
        put_all(&mut response, fields);
        Some(response.into())
    }
}

impl Native {
    fn event(&mut self, name: &str, kind: frame::Kind, mut payload: Object, done: &mut Vec<Value>) {
        payload.remove(PADDING);
        let index = payload.remove("contentBlockIndex").and_then(|index| index.as_u64()).unwrap_or(0);
        let is_late = self.state == State::After;
        if kind == frame::Kind::Error || name.ends_with(EXCEPTION) {
            // Nothing else comes if there is an error instead of a message.
            if self.state == State::Before {
                done.push(object([(name, payload.into())]));
            }
            return;
        }
        match name {
            "messageStart" => {
                done.extend(self.take());
                self.role = payload.remove("role");
                self.state = State::Within;
            }
            METADATA => {
                self.begin();
                put_all(&mut self.fields, payload);
            }
            // What comes after the end does not belong to the message that is over.
            _ if is_late => {}
            "contentBlockStart" => {
                self.begin();
                if let Some(Value::Object(start)) = payload.remove("start") {
                    start.into_iter().for_each(|(kind, fields)| self.start(index, kind, fields));
                }
            }
            "contentBlockDelta" => {
                self.begin();
                if let Some(Value::Object(delta)) = payload.remove("delta") {
                    delta.into_iter().for_each(|(kind, value)| self.delta(index, &kind, value));
                }
            }
            "contentBlockStop" => {
                let slotted = self.slots.get(index).and_then(|slot| self.blocks.get_mut(&slot));
                slotted.into_iter().for_each(Slotted::close);
            }
            "messageStop" => {
                self.begin();
                self.blocks.values_mut().for_each(Slotted::close);
                put_all(&mut self.fields, payload);
                self.state = State::After;
            }
            _ => {}
        }
    }

    fn begin(&mut self) {
        if self.state == State::Before {
            self.state = State::Within;
        }
    }

    fn start(&mut self, index: u64, kind: String, fields: Value) {
        let Value::Object(fields) = fields else { return };
        let slot = self.slots.open(index);
        let block = match &*kind {
            "toolUse" => Block::Call { fields, input: Text::new() },
            _ => Block::Other { kind, fields },
        };
        self.blocks.insert(slot, Slotted::new(block));
    }

    fn delta(&mut self, index: u64, kind: &str, value: Value) {
        let slot = self.slots.get(index).unwrap_or_else(|| self.slots.open(index));
        let new = || Slotted::new(Block::of_delta(kind, &value));
        let Slotted { block, is_open } = self.blocks.entry(slot).or_insert_with(new);
        if *is_open {
            block.grow(kind, value);
        }
    }
}

impl Slotted {
    fn new(block: Block) -> Self {
        Self { block, is_open: true }
    }

    /// Ends the block: the arguments of a call are complete.
    fn close(&mut self) {
        if let (Block::Call { fields, input }, true) = (&mut self.block, self.is_open) {
            let text = std::mem::take(input);
            let value = match &*text.to_str() {
                "" => Value::Object(Object::new()),
                json => json.parse().unwrap_or_else(|_| text.clone().into()),
            };
            fields.insert("input", value);
        }
        self.is_open = false;
    }

    fn into_value(mut self) -> Value {
        if let (Block::Call { fields, input }, true) = (&mut self.block, self.is_open) {
            fields.insert("input", std::mem::take(input));
        }
        self.block.into_value()
    }
}

impl Block {
    /// A block without a start, as the kind that its first delta implies.
    fn of_delta(kind: &str, value: &Value) -> Self {
        match kind {
            "text" | "citation" => Self::Text { text: Text::new(), citations: Vec::new() },
            "reasoningContent" if value.get("redactedContent").is_some() => Self::Redacted(Value::Null),
            "reasoningContent" => Self::Thinking(Object::new()),
            "toolUse" => Self::Call { fields: Object::new(), input: Text::new() },
            other => Self::Other { kind: other.to_owned(), fields: Object::new() },
        }
    }

    fn grow(&mut self, kind: &str, value: Value) {
        match (self, kind, value) {
            (Self::Text { text, .. }, "text", Value::String(piece)) => push(text, &piece),
            (Self::Text { citations, .. }, "citation", citation) => citations.push(citation),
            (Self::Redacted(content), "reasoningContent", Value::Object(mut delta)) => {
                if let Some(more) = delta.remove("redactedContent") {
                    *content = more;
                }
            }
            (Self::Thinking(fields), "reasoningContent", Value::Object(delta)) => {
                for (key, value) in delta {
                    match value {
                        Value::String(piece) => grow(fields, key, &piece),
                        value => drop(fields.insert(key, value)),
                    }
                }
            }
            (Self::Call { input, .. }, "toolUse", Value::Object(mut delta)) => {
                if let Some(Value::String(piece)) = delta.remove("input") {
                    push(input, &piece);
                }
            }
            // Pieces of an image cannot be joined, because its bytes are encoded in Base64.
            (Self::Other { fields, .. }, "image", Value::Object(image)) => {
                for (key, value) in image {
                    let keep = if fields.get(&key).is_some() { Keep::Push(value) } else { Keep::Set(value) };
                    keep.store(fields, &key);
                }
            }
            (Self::Other { fields, .. }, kind, value) => {
                let key = if kind == "toolResult" { "content" } else { kind };
                let more = match value {
                    Value::Array(_) => value,
                    single => vec![single].into(),
                };
                append(fields, key.to_owned(), more);
            }
            _ => {}
        }
    }

    fn into_value(self) -> Value {
        match self {
            Self::Text { text, citations } if citations.is_empty() => object([("text", text.into())]),
            Self::Text { text, citations } => {
                let content = vec![object([("text", text.into())])];
                let cited = object([("content", content.into()), ("citations", citations.into())]);
                object([("citationsContent", cited)])
            }
            Self::Thinking(fields) => {
                object([("reasoningContent", object([("reasoningText", fields.into())]))])
            }
            Self::Redacted(content) => object([("reasoningContent", object([("redactedContent", content)]))]),
            Self::Call { fields, .. } => object([("toolUse", fields.into())]),
            Self::Other { kind, fields } => object([(&*kind, fields.into())]),
        }
    }
}
