//! [`ChatMessage`]: the message in the protocol's fields.

use std::collections::BTreeMap;
use std::fmt;

use reknit::json::{Object, Value};

/// The status of a message that stopped for an error.
const FAILED: &str = "failed";

/// A chat message in the protocol's fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatMessage {
    fields: Object,
    pub(super) content: BTreeMap<u32, Object>,
    finish_reason: Option<Value>,
    pub(super) status: Option<Value>,
}

impl ChatMessage {
    /// The message with these fields, and how much of its content was ignored because it is not a block.
    pub(super) fn new(mut fields: Object) -> (Self, u64) {
        let (content, mut ignored) = match fields.remove("content") {
            Some(Value::Array(blocks)) => (blocks.into(), 0),
            None | Some(Value::Null) => (Vec::new(), 0),
            Some(_) => (Vec::new(), 1),
        };
        let mut blocks = Vec::new();
        for block in content {
            match block {
                Value::Object(block) => blocks.push(block),
                _ => ignored += 1,
            }
        }
        let (finish_reason, status) = (fields.remove("finishReason"), fields.remove("status"));
        (Self { fields, content: (0..).zip(blocks).collect(), finish_reason, status }, ignored)
    }

    /// The blocks, by their index.
    pub fn content(&self) -> impl Iterator<Item = (u32, &Object)> {
        self.content.iter().map(|(index, block)| (*index, block))
    }

    /// Why the message ended, as the server says it.
    pub fn finish_reason(&self) -> Option<&Value> {
        self.finish_reason.as_ref()
    }

    /// The status: `completed`, `failed`, `cut`, or what the message started with.
    pub fn status(&self) -> Option<&Value> {
        self.status.as_ref()
    }

    /// Another field of the message.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.fields.get(field)
    }

    /// Takes a field of a `message_delta`, and counts it if it is ignored.
    pub(super) fn learn(&mut self, key: &str, value: &Value) -> u64 {
        match key {
            "stop_reason" | "finishReason" => {
                if !value.is_null() {
                    self.finish_reason = Some(value.clone());
                }
                if value.as_str().as_deref() == Some("error") {
                    self.status = Some(Value::from(FAILED));
                }
            }
            // Only other events change these.
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
    /// Content that is not a block is left out.
    fn from(message: Object) -> Self {
        Self::new(message).0
    }
}

impl fmt::Display for ChatMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Value::from(self).fmt(f)
    }
}

/// Gives a field a value; `null` does not replace one.
fn set(fields: &mut Object, key: &str, value: &Value) {
    if !value.is_null() || fields.get(key).is_none() {
        fields.insert(key, value.clone());
    }
}
