//! The stream as OpenAI's own `response`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::call_kind::Inner;
use super::gate::{Begins, Gate};
use super::items::{Address, Items, Put};
use super::members::{Members, RESPONSE};
use super::part::{Moment, Part};
use super::step::{ItemStep, Step};
use crate::event::Opening;
use crate::frame::Frame;
use crate::json::{Object, Value};
use crate::text::Text;
use crate::wire::Rebuild;
use crate::wire::native_members::{append, field, grow, put_all};

/// The responses of a stream.
///
/// A later event replaces what was built of an item unless it is empty: some servers end with an empty output,
/// empty content or empty arguments. Partial images and audio have no place in a response.
#[derive(Clone, Debug, Default)]
pub(in crate::wire) struct Native {
    gate: Gate,
    response: Option<Object>,
    items: Items<Item>,
}

#[derive(Clone, Debug, Default)]
struct Item {
    fields: Fields,
    summary: BTreeMap<u64, Fields>,
    content: BTreeMap<u64, Fields>,
}

/// Fields of which one may grow.
#[derive(Clone, Debug, Default)]
struct Fields {
    members: Object,
    has_grown: bool,
}

impl Rebuild for Native {
    fn read(&mut self, frame: &Frame<'_>, data: Object, done: &mut Vec<Value>) {
        let Ok(members) = Members::read(frame.data) else { return };
        let kind = members.name(frame);
        match kind {
            RESPONSE => {
                done.extend(self.take());
                done.push(data.into());
            }
            "error" => {
                // Nothing else comes if there is an error instead of a response.
                let alone = self.response.is_none() && done.is_empty();
                if self.gate.fail(&members) && alone {
                    done.push(data.into());
                }
            }
            "keepalive" | "ping" => self.gate.pass(kind, &members),
            _ => {
                let step = Step::of(kind, members.part_index.unwrap_or(0));
                let admission = self.gate.admit(&step, kind, &members);
                if admission.begins != Begins::No {
                    done.extend(self.take());
                }
                if admission.refusal.is_none() {
                    self.step(step, &members, data, done);
                }
            }
        }
    }

    fn take(&mut self) -> Option<Value> {
        let items = std::mem::take(&mut self.items);
        let items: Vec<_> = items.into_values().map(Item::into_value).collect();
        let mut response = self.response.take().or_else(|| (!items.is_empty()).then(Object::new))?;
        if !items.is_empty() {
            response.insert("output", Value::from(items));
        }
        Some(Value::Object(response))
    }
}

impl Native {
    fn step(&mut self, step: Step<'_>, members: &Members<'_>, mut event: Object, done: &mut Vec<Value>) {
        let index = members.output_index;
        match step {
            Step::Response(status) => {
                if let Some(Value::Object(response)) = event.remove("response") {
                    self.respond(status, response, done);
                }
            }
            Step::Added => {
                if let Some(Value::Object(item)) = event.remove("item") {
                    self.add(index, item);
                }
            }
            Step::Done => {
                let Some(Value::Object(item)) = event.remove("item") else { return };
                let id = word(&item, "id");
                let place = self.items.finish(Address { index, id: id.as_deref() }, |_| Item::default());
                if let Some(known) = self.items.get_mut(place) {
                    known.finish(item);
                }
            }
            Step::Item(_, ItemStep::PartialImage) | Step::Audio(_) | Step::Unknown => {}
            Step::Item(word, step) => {
                let id = members.item_id.as_deref();
                let place = self.items.find_or_make(Address { index, id }, |_| {
                    let id = id.map(|id| ("id", id));
                    Item::new(id.into_iter().chain([("type", word)]).collect())
                });
                if let Some(item) = self.items.get_mut(place) {
                    item.step(step, members.part_index.unwrap_or(0), &mut event);
                }
            }
        }
    }

    /// Takes the response that an event carries; fields that it omits stay as they are.
    fn respond(&mut self, status: &str, mut response: Object, done: &mut Vec<Value>) {
        let over = matches!(status, "completed" | "incomplete" | "failed" | "cancelled");
        let has_output = matches!(response.get("output"), Some(Value::Array(output)) if !output.is_empty());
        if !(over && has_output) {
            let mut merged = self.response.take().unwrap_or_default();
            put_all(&mut merged, response);
            response = merged;
        } else {
            self.items = Items::default();
        }
        self.response = Some(response);
        if over {
            self.gate.end();
            done.extend(self.take());
        }
    }

    fn add(&mut self, index: Option<u64>, item: Object) {
        let id = word(&item, "id");
        let at = Address { index, id: id.as_deref() };
        if let Put::Late(place) = self.items.start(at, |_| Item::new(item.clone()))
            && let Some(known) = self.items.get_mut(place)
        {
            item.into_iter().for_each(|(key, value)| known.fields.set(&key, value));
        }
    }
}

impl Item {
    fn new(mut members: Object) -> Self {
        let mut parts = |key: &str| {
            let list = members.get_mut(key).and_then(Value::as_array_mut);
            let parts = list.map(std::mem::take).unwrap_or_default();
            let parts = parts.into_iter().enumerate().filter_map(|(index, part)| match part {
                Value::Object(members) => Some((index as u64, Fields::new(members))),
                _ => None,
            });
            parts.collect()
        };
        let (summary, content) = (parts("summary"), parts("content"));
        Self { fields: Fields::new(members), summary, content }
    }

    fn finish(&mut self, members: Object) {
        let Self { fields, summary, content } = Self::new(members);
        self.fields.replace(fields.members, &["arguments", "input", "code"]);
        for (known, parts) in [(&mut self.summary, summary), (&mut self.content, content)] {
            if !parts.is_empty() {
                *known = parts;
            }
        }
    }

    fn step(&mut self, step: ItemStep<'_>, index: u64, event: &mut Object) {
        match step {
            ItemStep::Part(part, moment) => {
                if let (Some(part), Some(Value::Object(members))) = (self.part(part), event.remove("part")) {
                    let texts: &[_] = if moment == Moment::End { &["text", "refusal"] } else { &[] };
                    part.or_default().replace(members, texts);
                }
            }
            ItemStep::Text(part, opening) => {
                let (kind, key) = part_words(part, &opening);
                let Some(part) = self.part(part) else { return };
                let part = part.or_insert_with(|| Fields::new(Object::from_iter([("type", kind)])));
                match event.remove("annotation") {
                    None | Some(Value::Null) => part.take(key, event),
                    Some(annotation) => {
                        append(&mut part.members, "annotations", Value::from(vec![annotation]));
                    }
                }
            }
            ItemStep::Arguments(key) => self.fields.take(key, event),
            ItemStep::Inner(Inner::Code) => self.fields.take("code", event),
            ItemStep::Inner(Inner::Diff) => grow_or_set(self.diff(), "diff", event),
            ItemStep::Inner(Inner::Command(index)) => grow_or_set(self.command(index), "command", event),
            ItemStep::ShellOutput => self.output(index, event),
            ItemStep::Status(status) => self.fields.set("status", Value::from(status)),
            ItemStep::PartialImage => {}
        }
    }

    /// The place of a part; `None` if the part is not in a list.
    fn part(&mut self, part: Part) -> Option<Entry<'_, u64, Fields>> {
        match part {
            Part::Summary(index) => Some(self.summary.entry(index)),
            Part::Content(index) => Some(self.content.entry(index)),
            Part::Whole | Part::Result | Part::Encrypted => None,
        }
    }

    fn diff(&mut self) -> Option<&mut Value> {
        let operation = field(&mut self.fields.members, "operation", Object::new)?.as_object_mut()?;
        field(operation, "diff", Value::default)
    }

    fn command(&mut self, index: u64) -> Option<&mut Value> {
        let no_commands = || Object::from_iter([("commands", Value::from(Vec::new()))]);
        let action = field(&mut self.fields.members, "action", no_commands)?.as_object_mut()?;
        let commands = action.get_mut("commands")?.as_array_mut()?;
        if index == commands.len() as u64 {
            commands.push(Value::from(""));
        }
        commands.get_mut(usize::try_from(index).ok()?)
    }

    fn output(&mut self, index: u64, event: &mut Object) {
        let fields = &mut self.fields.members;
        if !matches!(fields.get("output"), Some(Value::Array(_))) {
            fields.insert("output", Vec::new());
        }
        let outputs = fields.get_mut("output").and_then(Value::as_array_mut);
        let (Some(outputs), Ok(index)) = (outputs, usize::try_from(index)) else { return };
        if let Some(Value::Array(whole)) = event.remove("output") {
            outputs.truncate(index);
            outputs.extend(whole);
        }
        if let Some(Value::Object(delta)) = event.remove("delta") {
            if index == outputs.len() {
                outputs.push(Value::Object(Object::new()));
            }
            let Some(output) = outputs.get_mut(index).and_then(Value::as_object_mut) else { return };
            for (stream, text) in delta {
                if let Value::String(text) = text {
                    grow(output, stream, &text);
                }
            }
        }
    }

    fn into_value(mut self) -> Value {
        for (key, parts) in [("summary", self.summary), ("content", self.content)] {
            let parts: Vec<_> = parts.into_values().map(|part| Value::Object(part.members)).collect();
            if !parts.is_empty() {
                self.fields.members.insert(key, Value::from(parts));
            }
        }
        Value::Object(self.fields.members)
    }
}

impl Fields {
    fn new(members: Object) -> Self {
        Self { members, has_grown: false }
    }

    /// Takes all members again; those of `texts` that are empty stay as they were.
    fn replace(&mut self, members: Object, texts: &[&str]) {
        let before = std::mem::replace(self, Self::new(members));
        for key in texts {
            let says_nothing = match self.members.get(key) {
                None | Some(Value::Null) => true,
                Some(Value::String(text)) => text.is_empty(),
                Some(_) => false,
            };
            if let Some(known) = before.members.get(key).filter(|_| says_nothing) {
                self.members.insert(*key, known.clone());
            }
        }
    }

    /// Takes the delta of a text, or all of the text.
    fn take(&mut self, key: &str, event: &mut Object) {
        match event.remove("delta") {
            None | Some(Value::Null) => self.set(key, event.remove(key).unwrap_or_default()),
            Some(Value::String(piece)) => self.grow(key, &piece),
            Some(_) => {}
        }
    }

    fn set(&mut self, key: &str, value: Value) {
        let empty = matches!(&value, Value::String(text) if text.is_empty());
        let says_nothing = value.is_null() || (empty && self.members.get(key).is_some());
        if !says_nothing {
            self.members.insert(key, value);
        }
    }

    /// Appends a piece. The value that came at the start may already be complete.
    fn grow(&mut self, key: &str, piece: &Text) {
        let begins_again = |known: &Text| !self.has_grown && known.to_str().starts_with(&*piece.to_str());
        if self.members.get(key).and_then(Value::as_text).is_some_and(begins_again) {
            self.members.insert(key, piece.clone());
        } else {
            grow(&mut self.members, key, piece);
        }
        self.has_grown = true;
    }
}

fn word(fields: &Object, key: &str) -> Option<String> {
    fields.get(key).and_then(Value::as_str).map(Cow::into_owned)
}

/// The `type` of a part that a delta begins, and its member that grows.
fn part_words(part: Part, opening: &Opening) -> (&'static str, &'static str) {
    match (part, opening) {
        (_, Opening::Text { refusal: true }) => ("refusal", "refusal"),
        (_, Opening::Text { .. }) => ("output_text", "text"),
        (Part::Summary(_), _) => ("summary_text", "text"),
        _ => ("reasoning_text", "text"),
    }
}

/// Takes the delta of a text, or all of the text, which is in the member `key` of the event.
fn grow_or_set(text: Option<&mut Value>, key: &str, event: &mut Object) {
    let Some(text) = text else { return };
    match (text, event.remove("delta"), event.remove(key)) {
        (Value::String(text), Some(Value::String(piece)), _) => {
            piece.segments().for_each(|piece| text.push_str(piece));
        }
        (text, Some(Value::String(piece)), _) => *text = Value::String(piece),
        (_, _, None | Some(Value::Null)) => {}
        (text, _, Some(whole)) => *text = whole,
    }
}
