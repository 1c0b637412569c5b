//! The stream as the response of Cohere's Chat.

use std::collections::BTreeMap;

use super::super::native_members::{append, grow, put_all};
use super::TOOL_PLAN;
use crate::frame::Frame;
use crate::json::{Object, Value};
use crate::wire::Rebuild;

#[derive(Clone, Debug, Default)]
pub(in crate::wire) struct Native(Option<Reply>);

#[derive(Clone, Debug, Default)]
struct Reply {
    fields: Object,
    message: Object,
    contents: BTreeMap<u64, Part>,
    calls: BTreeMap<u64, Part>,
}

/// A text, thinking or a call.
#[derive(Clone, Debug, Default)]
struct Part {
    fields: Object,
    is_over: bool,
}

impl Rebuild for Native {
    fn read(&mut self, frame: &Frame<'_>, mut data: Object, done: &mut Vec<Value>) {
        let kind = data.remove("type").and_then(|kind| kind.as_str().map(Into::into));
        let kind: String = kind.unwrap_or_else(|| frame.event.to_owned());
        let index = data.remove("index").and_then(|index| index.as_u64()).unwrap_or(0);
        if data.get("message").is_some() {
            done.extend(self.take());
            return done.push(data.into());
        }
        if kind == "message-start" {
            self.start(&data, done);
        }
        let mut delta = match data.remove("delta") {
            Some(Value::Object(delta)) => delta,
            _ => Object::new(),
        };
        let message = match delta.remove("message") {
            Some(Value::Object(message)) => message,
            _ => Object::new(),
        };
        // What comes after the end does not belong to the message that is over.
        if self.0.is_none() && (!done.is_empty() || !kind.contains('-')) {
            return;
        }
        let reply = self.0.get_or_insert_default();
        if let Some(logprobs) = data.remove("logprobs") {
            append(&mut reply.fields, "logprobs".to_owned(), vec![logprobs].into());
        }
        if let Some(id) = data.remove("id").filter(|_| kind == "message-start") {
            reply.fields.insert("id", id);
        }
        reply.read(&kind, index, message);
        if kind == "message-end" {
            put_all(&mut reply.fields, delta);
            done.extend(self.take());
        }
    }

    fn take(&mut self) -> Option<Value> {
        let Reply { mut fields, mut message, contents, calls } = self.0.take()?;
        for (key, parts) in [("content", contents), ("tool_calls", calls)] {
            let list: Vec<Value> = parts.into_values().map(|part| part.fields.into()).collect();
            if !list.is_empty() {
                message.insert(key, list);
            }
        }
        let reason = ["finish_reason", "usage", "logprobs", "error"].map(|key| (key, fields.remove(key)));
        fields.insert("message", message);
        put_all(&mut fields, reason.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
        Some(fields.into())
    }
}

impl Native {
    fn start(&mut self, data: &Object, done: &mut Vec<Value>) {
        let known = self.0.as_ref().map(|reply| reply.fields.get("id"));
        let known = known.unwrap_or_else(|| done.last().and_then(|done| done.get("id")));
        if data.get("id").is_none() || known != data.get("id") {
            done.extend(self.take());
            self.0 = Some(Reply::default());
        }
    }
}

impl Reply {
    fn read(&mut self, kind: &str, index: u64, message: Object) {
        let ended = match kind {
            "content-end" => self.contents.get_mut(&index),
            "tool-call-end" => self.calls.get_mut(&index),
            _ => None,
        };
        ended.into_iter().for_each(|part| part.is_over = true);
        for (key, value) in message {
            match (kind, &*key, value) {
                (_, TOOL_PLAN, Value::String(piece)) if piece.is_empty() => {}
                (_, TOOL_PLAN, Value::String(piece)) => grow(&mut self.message, key, &piece),
                ("content-start" | "content-delta", "content", Value::Object(content)) => {
                    self.contents.entry(index).or_default().grow(content);
                }
                ("tool-call-start", "tool_calls", Value::Object(call)) => {
                    self.calls.insert(index, Part { fields: call, is_over: false });
                }
                ("tool-call-delta", "tool_calls", Value::Object(delta)) => {
                    if let Some(call) = self.calls.get_mut(&index) {
                        call.grow(delta);
                    }
                }
                ("citation-start", "citations", citation) => {
                    append(&mut self.message, key, vec![citation].into());
                }
                // The lists of the start are empty.
                ("message-start", _, Value::Array(list)) if list.is_empty() => {}
                ("message-start", _, value) => drop(self.message.insert(key, value)),
                _ => {}
            }
        }
    }
}

impl Part {
    fn grow(&mut self, delta: Object) {
        if !self.is_over {
            join(&mut self.fields, delta);
        }
    }
}

/// Adds a delta to what is known: texts grow, and objects are joined.
fn join(known: &mut Object, delta: Object) {
    for (key, value) in delta {
        match (known.get_mut(&key), value) {
            (Some(Value::String(_)), Value::String(piece)) => grow(known, key, &piece),
            (Some(Value::Object(known)), Value::Object(delta)) => join(known, delta),
            (_, value) => drop(known.insert(key, value)),
        }
    }
}
