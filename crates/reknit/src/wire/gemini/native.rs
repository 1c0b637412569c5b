//! The stream as one `GenerateContentResponse`.

use std::collections::{BTreeMap, BTreeSet};

use super::super::fields::Raw;
use super::super::native_members::{append, grow, put_all};
use super::arguments::Arguments;
use super::candidate::{ANNOTATIONS, goes_on};
use crate::frame::Frame;
use crate::json::{Object, Value};
use crate::wire::{Rebuild, is_heartbeat};

#[derive(Clone, Debug, Default)]
pub(in crate::wire) struct Native {
    response: Object,
    candidates: BTreeMap<u64, Candidate>,
}

#[derive(Clone, Debug, Default)]
struct Candidate {
    fields: Object,
    content: Object,
    parts: Vec<Value>,
    open: Open,
    citations: BTreeSet<String>,
}

/// How the next part may continue the last one.
#[derive(Clone, Debug, Default)]
enum Open {
    #[default]
    Nothing,
    Text,
    Thought,
    Call(Box<Arguments>),
}

impl Rebuild for Native {
    fn read(&mut self, frame: &Frame<'_>, mut response: Object, done: &mut Vec<Value>) {
        if is_heartbeat(frame) {
            return;
        }
        if let Some(Value::Object(_)) = response.get("response")
            && let Some(Value::Object(inner)) = response.remove("response")
        {
            put_all(&mut response, inner);
        }
        if self.is_another(&response) {
            done.extend(self.take());
        }
        for (key, value) in response {
            match (&*key, value) {
                (_, Value::Null) => {}
                ("candidates", Value::Array(candidates)) => {
                    candidates.into_iter().for_each(|candidate| self.candidate(candidate));
                }
                (_, value) => drop(self.response.insert(key, value)),
            }
        }
    }

    fn take(&mut self) -> Option<Value> {
        let Self { response: fields, candidates } = std::mem::take(self);
        if candidates.is_empty() && fields.is_empty() {
            return None;
        }
        let mut response = Object::new();
        if !candidates.is_empty() {
            let candidates = candidates.into_values().map(Candidate::into_value);
            response.insert("candidates", Value::Array(candidates.collect()));
        }
        put_all(&mut response, fields);
        Some(Value::Object(response))
    }
}

impl Native {
    /// Whether this begins another message.
    fn is_another(&self, response: &Object) -> bool {
        let (known, new) = (self.response.get("responseId"), response.get("responseId"));
        let has_another_id = known.is_some() && new.is_some() && known != new;
        self.response.get("error").is_some() || has_another_id && self.has_stopped()
    }

    fn has_stopped(&self) -> bool {
        if self.candidates.is_empty() {
            self.response.get("promptFeedback").is_some_and(|feedback| feedback.get("blockReason").is_some())
        } else {
            self.candidates.values().all(|candidate| candidate.fields.get("finishReason").is_some())
        }
    }

    fn candidate(&mut self, candidate: Value) {
        let Value::Object(candidate) = candidate else { return };
        let index = candidate.get("index").and_then(Value::as_u64).unwrap_or(0);
        let known = self.candidates.entry(index).or_default();
        for (key, value) in candidate {
            match (&*key, value) {
                (_, Value::Null) => {}
                ("content", Value::Object(content)) => known.content(content),
                ("citationMetadata" | "logprobsResult", Value::Object(lists)) => known.extend(&key, lists),
                (_, value) => set(&mut known.fields, key, value),
            }
        }
    }
}

impl Candidate {
    fn content(&mut self, content: Object) {
        for (key, value) in content {
            match (&*key, value) {
                ("parts", Value::Array(parts)) => {
                    for part in parts {
                        if let Value::Object(part) = part {
                            self.part(part);
                        }
                    }
                }
                (_, value) => set(&mut self.content, key, value),
            }
        }
    }

    /// Extends lists to which every frame adds its own elements; citations may be repeated.
    fn extend(&mut self, key: &str, mut lists: Object) {
        if key == "citationMetadata" {
            let known = &mut self.citations;
            for (_, list) in lists.iter_mut() {
                if let Value::Array(list) = list {
                    list.retain(|citation| known.insert(citation.to_string()));
                }
            }
        }
        match self.fields.get_mut(key) {
            Some(Value::Object(known)) => lists.into_iter().for_each(|(key, list)| append(known, key, list)),
            _ => drop(self.fields.insert(key, Value::Object(lists))),
        }
    }

    fn part(&mut self, mut part: Object) {
        if let Some(Value::Object(call)) = part.get_mut("functionCall") {
            // Leaves the member in its place; its value is put back later.
            let call = std::mem::take(call);
            return self.call(part, call);
        }
        let is_text = part.keys().all(|key| key == "text" || ANNOTATIONS.contains(&key));
        if !is_text {
            self.close();
            return self.parts.push(Value::Object(part));
        }
        let is_thought = part.get("thought").and_then(Value::as_bool).unwrap_or(false);
        let filled = |key: &str| part.get(key).and_then(Value::as_text).is_some_and(|text| !text.is_empty());
        let is_signed = filled("thoughtSignature");
        let is_annotated = part.keys().any(|key| !matches!(key, "text" | "thought" | "thoughtSignature"));
        if !filled("text") && !is_signed && !is_annotated {
            return;
        }
        match (&self.open, self.parts.last_mut()) {
            (Open::Text, Some(Value::Object(last))) if !is_thought => join(last, part),
            (Open::Thought, Some(Value::Object(last))) if is_thought => join(last, part),
            _ => {
                self.close();
                self.parts.push(Value::Object(part));
            }
        }
        self.open = match (is_signed, is_thought) {
            (true, _) => Open::Nothing,
            (false, true) => Open::Thought,
            (false, false) => Open::Text,
        };
    }

    fn call(&mut self, mut part: Object, mut call: Object) {
        let continues = call.remove("willContinue").as_ref().and_then(Value::as_bool) == Some(true);
        let partial = call.remove("partialArgs");
        let word = |call: &Object, key: &str| {
            call.get(key).and_then(Value::as_str).filter(|word| !word.is_empty()).map(String::from)
        };
        let (id, name) = (word(&call, "id"), word(&call, "name"));
        let known_id = self.last_call().and_then(|known| word(known, "id"));
        let open = std::mem::take(&mut self.open);
        let mut arguments = match open {
            Open::Call(arguments) if goes_on(known_id.as_deref(), id.as_deref(), name.as_deref()) => {
                if let Some(known) = self.last_call() {
                    call.into_iter().for_each(|(key, value)| set(known, key, value));
                }
                if let Some(Value::Object(last)) = self.parts.last_mut() {
                    part.into_iter().for_each(|(key, value)| set(last, key, value));
                }
                arguments
            }
            open => {
                self.open = open;
                if name.is_none() && call.is_empty() && partial.is_none() {
                    return;
                }
                self.close();
                part.insert("functionCall", Value::Object(call));
                self.parts.push(Value::Object(part));
                Box::default()
            }
        };
        if let Some(Value::Array(partial)) = partial {
            for partial in partial {
                arguments.take(Raw::new(&partial.to_string()));
            }
        }
        self.open = Open::Call(arguments);
        if !continues {
            self.end_call();
        }
    }

    /// Ends the call, because the provider says so.
    fn end_call(&mut self) {
        let Open::Call(mut arguments) = std::mem::take(&mut self.open) else { return };
        if arguments.is_empty() {
            return;
        }
        let whole = arguments.end();
        let text = arguments.text();
        let args = if whole { text.parse().unwrap_or(Value::from(text)) } else { Value::from(text) };
        self.last_call().into_iter().for_each(|call| drop(call.insert("args", args.clone())));
    }

    /// Closes what is open. A call that was to continue gets its arguments as text.
    fn close(&mut self) {
        let Open::Call(mut arguments) = std::mem::take(&mut self.open) else { return };
        arguments.settle();
        let Some(call) = self.last_call() else { return };
        let args = match call.get("args") {
            Some(args) if arguments.is_empty() => args.to_string(),
            _ => arguments.text().to_owned(),
        };
        call.insert("args", Value::from(args));
    }

    fn last_call(&mut self) -> Option<&mut Object> {
        self.parts.last_mut()?.as_object_mut()?.get_mut("functionCall")?.as_object_mut()
    }

    fn into_value(mut self) -> Value {
        self.close();
        let mut candidate = Object::new();
        if !self.parts.is_empty() {
            self.content.insert("parts", Value::from(self.parts));
        }
        if !self.content.is_empty() {
            candidate.insert("content", Value::Object(self.content));
        }
        put_all(&mut candidate, self.fields);
        Value::Object(candidate)
    }
}

/// Joins a part to one of the same kind.
fn join(last: &mut Object, part: Object) {
    for (key, value) in part {
        match (&*key, value) {
            ("text", Value::String(text)) => grow(last, key, &text),
            (_, value) => set(last, key, value),
        }
    }
}

/// An empty value does not replace what was there.
fn set(fields: &mut Object, key: String, value: Value) {
    let is_empty = match &value {
        Value::Null => true,
        Value::Object(object) => object.is_empty(),
        Value::Array(elements) => elements.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if !is_empty || fields.get(&key).is_none() && !value.is_null() {
        fields.insert(key, value);
    }
}
