//! The stream as Ollama's last object, joined with everything that came before it.

use super::super::native_members::{append, field, grow};
use crate::frame::Frame;
use crate::json::{Object, Value};
use crate::wire::{Rebuild, is_heartbeat};

#[derive(Clone, Debug, Default)]
pub(in crate::wire) struct Native {
    reply: Object,
}

impl Rebuild for Native {
    fn read(&mut self, frame: &Frame<'_>, object: Object, done: &mut Vec<Value>) {
        if is_heartbeat(frame) {
            return;
        }
        for (key, value) in object {
            match (&*key, value) {
                (_, Value::Null) => {}
                ("response" | "thinking", Value::String(text)) => grow(&mut self.reply, key, &text),
                ("logprobs", value) => append(&mut self.reply, key, value),
                ("message", Value::Object(message)) => self.message(message),
                (_, value) => drop(self.reply.insert(key, value)),
            }
        }
        if self.reply.get("done").and_then(Value::as_bool) == Some(true) || self.reply.get("error").is_some()
        {
            done.extend(self.take());
        }
    }

    fn take(&mut self) -> Option<Value> {
        let reply = std::mem::take(&mut self.reply);
        (!reply.is_empty()).then(|| reply.into())
    }
}

impl Native {
    fn message(&mut self, message: Object) {
        let Some(Value::Object(known)) = field(&mut self.reply, "message", Object::new) else { return };
        for (key, value) in message {
            match (&*key, value) {
                (_, Value::Null) => {}
                ("content" | "thinking", Value::String(text)) => grow(known, key, &text),
                ("tool_calls" | "images", value) => append(known, key, value),
                (_, value) => drop(known.insert(key, value)),
            }
        }
    }
}
