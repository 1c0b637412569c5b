//! The stream as OpenAI's own `chat.completion`.

use std::collections::BTreeMap;

use super::super::native_members::{append, field, grow, put_all};
use super::super::object::object;
use super::PADDING;
use super::choice::NAMES;
use super::router::{Fragment, Route, Router};
use crate::frame::Frame;
use crate::json::{Array, Object, Value};
use crate::text::Text;
use crate::wire::{Rebuild, is_heartbeat};

/// The `object` of the completion of a text, whole or in chunks.
const TEXT_COMPLETION: &str = "text_completion";

#[derive(Clone, Debug, Default)]
pub(in crate::wire) struct Native {
    completion: Object,
    choices: BTreeMap<u64, Choice>,
}

#[derive(Clone, Debug, Default)]
struct Choice {
    fields: Object,
    message: Object,
    router: Router,
    calls: Vec<Call>,
    /// The position in `reasoning_details` by index and type.
    details: BTreeMap<(String, String), usize>,
}

#[derive(Clone, Debug, Default)]
struct Call {
    fields: Object,
    /// `function` or `custom`: the member with the name and the arguments, which is also the type of the call.
    body: String,
    arguments: Text,
}

impl Rebuild for Native {
    fn read(&mut self, frame: &Frame<'_>, mut chunk: Object, done: &mut Vec<Value>) {
        if chunk.get("choices").is_none() && is_heartbeat(frame) {
            return;
        }
        if frame.event == "error" && chunk.get("error").is_none() {
            chunk = [("error".to_owned(), Value::Object(chunk))].into_iter().collect();
        }
        if self.completion.is_empty()
            && self.choices.is_empty()
            && let Some(Value::Object(last)) = done.last_mut()
            && is_late(&chunk, last)
        {
            let fields = chunk.into_iter().filter(|(key, value)| is_extra(key) && !value.is_null());
            return put_all(last, fields);
        }
        let failed = chunk.get("error").is_some_and(|error| !error.is_null());
        self.chunk(chunk);
        if failed {
            done.extend(self.take());
        }
    }

    fn ends_with_done(&self) -> bool {
        true
    }

    fn take(&mut self) -> Option<Value> {
        let Self { mut completion, choices } = std::mem::take(self);
        if completion.is_empty() && choices.is_empty() {
            return None;
        }
        // An error instead of a completion has no choices.
        if !choices.is_empty() || completion.get("error").is_none() {
            let choices = choices.into_iter().map(|(index, choice)| choice.into_value(index));
            completion.insert("choices", Value::Array(choices.collect()));
        }
        Some(Value::Object(completion))
    }
}

impl Native {
    fn chunk(&mut self, chunk: Object) {
        for (key, value) in chunk {
            match (&*key, value) {
                (_, Value::Null) => {}
                (padding, _) if PADDING.contains(&padding) => {}
                ("object", value) if value.as_str().as_deref() != Some(TEXT_COMPLETION) => {
                    self.completion.insert(key, Value::from("chat.completion"));
                }
                // Some servers leave them empty in the first chunk; later chunks must not change them.
                ("id" | "model", value) => {
                    if value.as_str().is_some_and(|word| !word.is_empty())
                        && self.completion.get(&key).is_none()
                    {
                        self.completion.insert(key, value);
                    }
                }
                ("choices", Value::Array(choices)) => {
                    choices.into_iter().for_each(|choice| self.choice(choice));
                }
                (_, value) => drop(self.completion.insert(key, value)),
            }
        }
    }

    fn choice(&mut self, choice: Value) {
        let Value::Object(mut fields) = choice else { return };
        let index = fields.remove("index").as_ref().and_then(Value::as_u64).unwrap_or(0);
        let choice = self.choices.entry(index).or_default();
        let delta = fields.remove("delta").or_else(|| fields.remove("message"));
        if let Some(Value::Object(delta)) = delta {
            delta.into_iter().for_each(|(key, value)| choice.delta(key, value));
        }
        for (key, value) in fields {
            match (&*key, value) {
                (_, Value::Null) => {}
                ("message", _) => {}
                ("text", Value::String(text)) => grow(&mut choice.fields, key, &text),
                ("logprobs", Value::Object(logprobs)) => {
                    if let Some(Value::Object(all)) = field(&mut choice.fields, "logprobs", Object::new) {
                        logprobs.into_iter().for_each(|(key, tokens)| append(all, key, tokens));
                    }
                }
                (_, value) => drop(choice.fields.insert(key, value)),
            }
        }
    }
}

impl Choice {
    fn delta(&mut self, key: String, value: Value) {
        match (&*key, value) {
            (_, Value::Null) => {}
            ("role", value) => {
                if self.message.get("role").is_none() {
                    self.message.insert(key, value);
                }
            }
            ("content", Value::Array(parts)) => parts.into_iter().for_each(|part| self.content_part(part)),
            ("content", Value::String(text))
                if matches!(self.message.get("content"), Some(Value::Array(_))) =>
            {
                self.content_part(text_part(text));
            }
            ("content" | "refusal" | "reasoning_content" | "reasoning", Value::String(text)) => {
                grow(&mut self.message, key, &text);
            }
            ("tool_calls", Value::Array(fragments)) => {
                fragments.into_iter().for_each(|fragment| self.tool_call(fragment));
            }
            ("function_call" | "audio", Value::Object(pieces)) => {
                if let Some(Value::Object(fields)) = field(&mut self.message, &key, Object::new) {
                    merge(fields, pieces, &["name", "arguments", "data", "transcript"]);
                }
            }
            ("reasoning_details", Value::Array(details)) => {
                details.into_iter().for_each(|detail| self.reasoning_detail(detail));
            }
            (_, Value::Array(list)) => append(&mut self.message, key, Value::Array(list)),
            (_, Value::String(text)) if !NAMES.contains(&&*key) => grow(&mut self.message, key, &text),
            (_, value) => drop(self.message.insert(key, value)),
        }
    }

    /// Takes a part of content that is a list, and joins it to the last part if it continues that.
    fn content_part(&mut self, part: Value) {
        let Some(content) = field(&mut self.message, "content", Vec::new) else { return };
        let mut parts = match std::mem::take(content) {
            Value::Array(parts) => parts,
            Value::String(text) if !text.is_empty() => Array::from_iter([text_part(text)]),
            _ => Array::default(),
        };
        push_part(&mut parts, part);
        *content = Value::Array(parts);
    }

    /// Takes one of `reasoning_details`; those with the same index and type are joined.
    fn reasoning_detail(&mut self, detail: Value) {
        let Value::Object(detail) = detail else { return };
        let details = field(&mut self.message, "reasoning_details", Vec::new);
        let Some(Value::Array(details)) = details else { return };
        let word = |key: &str| detail.get(key).map_or(String::new(), Value::to_string);
        let address = (word("index"), word("type"));
        let is_filled = |detail: &Object, key: &str| {
            detail.get(key).and_then(Value::as_text).is_some_and(|text| !text.is_empty())
        };
        let begins_text = ["text", "summary"].into_iter().any(|key| is_filled(&detail, key));
        let is_signed = |at: &usize| {
            details.get(*at).and_then(Value::as_object).is_some_and(|known| is_filled(known, "signature"))
        };
        // A signature is the last piece of a text, so a text after it is another one.
        if begins_text && self.details.get(&address).is_some_and(is_signed) {
            self.details.remove(&address);
        }
        let known = *self.details.entry(address).or_insert(details.len());
        match details.get_mut(known) {
            Some(Value::Object(known)) => {
                let detail = detail.into_iter().filter(|(_, value)| !value.is_null());
                merge(known, detail, &["text", "summary", "data", "signature"]);
            }
            _ => details.push(Value::Object(detail)),
        }
    }

    fn tool_call(&mut self, fragment: Value) {
        let Value::Object(mut fragment) = fragment else { return };
        let index = fragment.remove("index").as_ref().and_then(Value::as_u64);
        let id = fragment.remove("id");
        let kind = if fragment.get("custom").is_some_and(|custom| !custom.is_null()) {
            "custom"
        } else {
            "function"
        };
        let mut body = match fragment.remove(kind) {
            Some(Value::Object(body)) => body,
            _ => Object::new(),
        };
        let name = body.remove("name");
        let arguments = match body.remove("arguments").or_else(|| body.remove("input")) {
            Some(Value::String(text)) => text,
            Some(object @ Value::Object(_)) => Text::from(object.to_string()),
            _ => Text::new(),
        };
        let (id, name) = (id.as_ref().and_then(Value::as_str), name.as_ref().and_then(Value::as_str));
        let arguments = arguments.to_str();
        let routed = self.router.route(&Fragment {
            index,
            id: id.as_deref(),
            name: name.as_deref(),
            arguments: &arguments,
        });
        let more = fragment.into_iter().chain(body).filter(|(_, value)| !value.is_null());
        let call = match routed {
            Route::New { call, arguments, others } => {
                self.calls.push(Call { body: kind.to_owned(), arguments: arguments.into(), fields: others });
                call
            }
            Route::Known { call, .. } => {
                self.calls[call].arguments.push_str(&arguments);
                call
            }
            // Any fragment may have the `type` of the call.
            Route::Held => {
                let more = more.filter(|(key, _)| key != "type");
                return more.for_each(|(key, value)| self.router.hold(index, &key, value));
            }
        };
        put_all(&mut self.calls[call].fields, more);
    }

    fn into_value(mut self, index: u64) -> Value {
        let calls = std::mem::take(&mut self.calls).into_iter().zip(self.router.calls());
        let calls: Vec<Value> =
            calls.map(|(call, known)| call.into_value(known.id.as_deref(), &known.name)).collect();
        if !calls.is_empty() {
            self.message.insert("tool_calls", Value::from(calls));
        }
        let mut choice = Object::new();
        choice.insert("index", Value::from(index));
        // The completion of a text has no message.
        if self.fields.get("text").is_none() || !self.message.is_empty() {
            choice.insert("message", Value::Object(self.message));
        }
        put_all(&mut choice, self.fields);
        Value::Object(choice)
    }
}

impl Call {
    fn into_value(self, id: Option<&str>, name: &str) -> Value {
        let mut body = Object::new();
        body.insert("name", Value::from(name));
        let arguments = if self.body == "custom" { "input" } else { "arguments" };
        body.insert(arguments, Value::String(self.arguments));
        let mut call = Object::new();
        if let Some(id) = id {
            call.insert("id", Value::from(id));
        }
        call.insert("type", Value::from(&*self.body));
        put_all(&mut call, self.fields);
        call.insert(self.body, Value::Object(body));
        Value::Object(call)
    }
}

/// Whether a chunk after the end belongs to the completion that ended.
fn is_late(chunk: &Object, last: &Object) -> bool {
    let has_choices = chunk.get("choices").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    !has_choices || chunk.get("id").is_some_and(|id| Some(id) == last.get("id"))
}

/// Whether the last value of a chunk's field counts.
fn is_extra(key: &str) -> bool {
    !matches!(key, "id" | "model" | "object" | "choices") && !PADDING.contains(&key)
}

fn text_part(text: Text) -> Value {
    object([("type", "text".into()), ("text", text.into())])
}

/// Adds the members of a piece: these texts grow, and the others replace what was there.
fn merge(known: &mut Object, piece: impl IntoIterator<Item = (String, Value)>, texts: &[&str]) {
    for (key, value) in piece {
        match value {
            Value::String(text) if texts.contains(&&*key) => grow(known, key, &text),
            value => drop(known.insert(key, value)),
        }
    }
}

/// Adds a part of content, and joins it to the last one if both are text or both are thinking.
fn push_part(parts: &mut Vec<Value>, part: Value) {
    let kind = |value: &Value| value.get("type").and_then(Value::as_str).map(std::borrow::Cow::into_owned);
    let joins = matches!(kind(&part).as_deref(), Some("text" | "thinking"));
    let same = joins && parts.last().is_some_and(|last| kind(last) == kind(&part));
    let last = parts.last_mut().and_then(Value::as_object_mut).filter(|_| same);
    match (last, part) {
        (Some(last), Value::Object(part)) => {
            for (key, value) in part {
                match (&*key, value) {
                    ("text" | "thinking", Value::String(text)) => grow(last, key, &text),
                    ("thinking", Value::Array(inner)) => match last.get_mut("thinking") {
                        Some(Value::Array(known)) => {
                            inner.into_iter().for_each(|part| push_part(known, part));
                        }
                        _ => drop(last.insert(key, Value::Array(inner))),
                    },
                    (_, value) => drop(last.insert(key, value)),
                }
            }
        }
        (_, part) => parts.push(part),
    }
}
