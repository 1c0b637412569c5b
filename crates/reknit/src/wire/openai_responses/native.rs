//! The stream as OpenAI's own `response`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::arguments::Inner;
use super::gate::{Begins, Gate, Verdict};
use super::items::Items;
use super::members::{Members, RESPONSE};
use super::part::{Moment, Part};
use super::step::Step;
use crate::event::Opening;
use crate::frame::Frame;
use crate::json::{Object, Value};
use crate::text::Text;
use crate::wire::Rebuild;

/// The responses of a stream.
///
/// A later event replaces what was built of an item unless it is empty: some servers end with an empty output,
/// empty content or empty arguments. Partial images and audio have no place in a response.
#[derive(Clone, Debug, Default)]
pub(in crate::wire) struct Native {
    done: Vec<Value>,
    gate: Gate,
    response: Option<Object>,
    items: Items<Item>,
}

#[derive(Clone, Debug, Default)]
struct Item {
    fields: Fields,
    summary: BTreeMap<u64, Fields>,
    content: BTreeMap<u64, Fields>,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum State {
    #[default]
    Unstarted,
    Started,
    Done,
}

/// Fields of which one may grow.
#[derive(Clone, Debug, Default)]
struct Fields {
    members: Object,
    growth: Growth,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Growth {
    #[default]
    NotYet,
    Grown,
}

impl Rebuild for Native {
    fn read(&mut self, frame: &Frame<'_>, data: Value) {
        let Ok(members) = Members::read(frame.data) else { return };
        let kind = members.name(frame);
        match (kind, data) {
            (RESPONSE, data @ Value::Object(_)) => {
                self.flush();
                self.done.push(data);
            }
            ("error", data) => {
                // Nothing else comes if there is an error instead of a response.
                let alone = self.response.is_none() && self.done.is_empty();
                if self.gate.fail(&members) && alone {
                    self.done.push(data);
                }
            }
            ("keepalive" | "ping", _) => self.gate.pass(kind, &members),
            (kind, Value::Object(event)) => {
                let step = Step::of(kind);
                let admission = self.gate.admit(&step, kind, &members);
                if admission.begins != Begins::No {
                    self.flush();
                }
                if admission.verdict == Verdict::Read {
                    self.step(&step, &members, event);
                }
            }
            _ => {}
        }
    }

    fn into_messages(mut self: Box<Self>) -> Vec<Value> {
        self.flush();
        self.done
    }
}

impl Native {
    fn step(&mut self, step: &Step<'_>, members: &Members<'_>, mut event: Object) {
        let mut take = |key: &str| event.remove(key).unwrap_or(Value::Null);
        let index = members.part_index.unwrap_or(0);
        match step {
            Step::Response(status) => {
                if let Value::Object(response) = take("response") {
                    self.respond(status, response);
                }
            }
            Step::Added => self.add(members, take("item")),
            Step::Done => {
                let Value::Object(item) = take("item") else { return };
                let (index, id) = (members.output_index, word(&item, "id"));
                let known = self.items.find_whole(index, id.as_deref());
                let place = known
                    .unwrap_or_else(|| self.items.add(index, id.as_deref(), |_| Item::default()).place());
                self.items.set_id(place, id.as_deref());
                if let Some(known) = self.items.get_mut(place) {
                    known.finish(item);
                }
            }
            Step::Part(part, moment) => {
                let part = part(index);
                let word = if matches!(part, Part::Summary(_)) { "reasoning" } else { "message" };
                if let (Some(item), Value::Object(raw)) = (self.item(word, members), take("part")) {
                    item.part(part, *moment, raw);
                }
            }
            Step::Text(word, part, opening) => {
                let (kind, key) = part_words(part(index), opening);
                let Some(item) = self.item(word, members) else { return };
                let part = item.fields_of(part(index), kind);
                match (take("annotation"), take("delta"), take(key)) {
                    (Value::Null, delta @ Value::String(_), _) => part.grow(key, delta),
                    (Value::Null, _, whole @ Value::String(_)) => part.set(key, whole),
                    (Value::Null, ..) => {}
                    (annotation, ..) => part.push("annotations", annotation),
                }
            }
            Step::Arguments(word) => {
                let key = if *word == "custom_tool_call" { "input" } else { "arguments" };
                let Some(item) = self.item(word, members) else { return };
                match take("delta") {
                    Value::Null => item.fields.set(key, take(key)),
                    delta => item.fields.grow(key, delta),
                }
            }
            Step::Inner(word, inner) => {
                let Some(item) = self.item(word, members) else { return };
                let (inner, delta) = (inner(index), take("delta"));
                let whole = ["code", "diff", "command"].into_iter().map(&mut take);
                let whole = whole.filter(|whole| !whole.is_null()).last().unwrap_or_default();
                item.inner(inner, delta, whole);
            }
            Step::ShellOutput => {
                let Some(item) = self.item("shell_call_output", members) else { return };
                item.output(index, take("delta"), take("output"));
            }
            Step::Progress(word, status) => {
                if let Some(item) = self.item(word, members) {
                    item.fields.set("status", Value::from(*status));
                }
            }
            Step::PartialImage | Step::Audio(_) | Step::Unknown => {}
        }
    }

    /// Takes the response that an event carries; fields that it omits stay as they are.
    fn respond(&mut self, status: &str, mut response: Object) {
        let over = matches!(status, "completed" | "incomplete" | "failed" | "cancelled");
        let has_output = matches!(response.get("output"), Some(Value::Array(output)) if !output.is_empty());
        if !(over && has_output) {
            let mut merged = self.response.take().unwrap_or_default();
            response.into_iter().for_each(|(key, value)| drop(merged.insert(key, value)));
            response = merged;
        } else {
            self.items = Items::default();
        }
        self.response = Some(response);
        if over {
            self.gate.end();
            self.flush();
        }
    }

    fn add(&mut self, members: &Members<'_>, item: Value) {
        let Value::Object(item) = item else { return };
        let id = word(&item, "id");
        if let Some(place) = self.items.find_whole(members.output_index, id.as_deref()) {
            let same = self.items.has_id(place, id.as_deref());
            match self.items.get_mut(place) {
                Some(known) if known.state == State::Unstarted => {
                    item.into_iter().for_each(|(key, value)| known.fields.set(&key, value));
                    known.state = State::Started;
                    return self.items.set_id(place, id.as_deref());
                }
                Some(known) if known.state == State::Started && same => return,
                _ => {}
            }
        }
        self.items.add(members.output_index, id.as_deref(), |_| Item::new(item));
    }

    fn item(&mut self, word: &str, members: &Members<'_>) -> Option<&mut Item> {
        let place = self.place(word, members);
        self.items.get_mut(place)
    }

    fn place(&mut self, word: &str, members: &Members<'_>) -> u32 {
        let id = members.item_id.as_deref();
        self.items.find(members.output_index, id).unwrap_or_else(|| {
            let mut item = Item::default();
            id.into_iter().for_each(|id| item.fields.set("id", Value::from(id)));
            item.fields.set("type", Value::from(word));
            self.items.add(members.output_index, id, |_| item).place()
        })
    }

    /// Adds the response that is being built to the finished ones.
    fn flush(&mut self) {
        let items = std::mem::take(&mut self.items);
        let items: Vec<_> = items.into_values().map(Item::into_value).collect();
        let Some(mut response) = self.response.take().or_else(|| (!items.is_empty()).then(Object::new))
        else {
            return;
        };
        if !items.is_empty() {
            response.insert("output", Value::from(items));
        }
        self.done.push(Value::Object(response));
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
        Self { fields: Fields::new(members), summary, content, state: State::Started }
    }

    fn finish(&mut self, members: Object) {
        let before = std::mem::replace(self, Self::new(members));
        self.state = State::Done;
        if self.summary.is_empty() {
            self.summary = before.summary;
        }
        if self.content.is_empty() {
            self.content = before.content;
        }
        for key in ["arguments", "input", "code"] {
            let says_nothing = match self.fields.members.get(key) {
                None | Some(Value::Null) => true,
                Some(Value::String(text)) => text.is_empty(),
                Some(_) => false,
            };
            if let Some(known) = before.fields.members.get(key).filter(|_| says_nothing) {
                self.fields.members.insert(key, known.clone());
            }
        }
    }

    fn part(&mut self, part: Part, moment: Moment, members: Object) {
        let parts = if let Part::Summary(_) = part { &mut self.summary } else { &mut self.content };
        let (Part::Summary(index) | Part::Content(index)) = part else { return };
        let known = parts.remove(&index).unwrap_or_default();
        let mut new = Fields::new(members);
        if moment == Moment::End {
            for key in ["text", "refusal"] {
                let says_nothing = new.members.get(key).and_then(Value::as_text).is_none_or(Text::is_empty);
                if let Some(text) = known.members.get(key).filter(|_| says_nothing) {
                    new.members.insert(key, text.clone());
                }
            }
        }
        parts.insert(index, new);
    }

    fn fields_of(&mut self, part: Part, kind: &str) -> &mut Fields {
        let parts = match part {
            Part::Summary(index) => self.summary.entry(index),
            Part::Content(index) => self.content.entry(index),
            Part::Whole | Part::Result | Part::Encrypted => return &mut self.fields,
        };
        parts.or_insert_with(|| Fields::new(Object::from_iter([("type", kind)])))
    }

    fn inner(&mut self, inner: Inner, delta: Value, whole: Value) {
        let object = |key| Value::Object(Object::from_iter([(key, Value::Null)]));
        match inner {
            Inner::Code if delta.is_null() => self.fields.set("code", whole),
            Inner::Code => self.fields.grow("code", delta),
            Inner::Diff => {
                let known = self.fields.members.get("operation").is_some_and(|known| !known.is_null());
                if !known {
                    self.fields.set("operation", object("diff"));
                }
                let operation = self.fields.members.get_mut("operation").and_then(Value::as_object_mut);
                operation.into_iter().for_each(|operation| grow_or_set(operation, "diff", &delta, &whole));
            }
            Inner::Command(index) => {
                let known = self.fields.members.get("action").is_some_and(|known| !known.is_null());
                if !known {
                    let commands = Object::from_iter([("commands", Value::from(Vec::new()))]);
                    self.fields.set("action", Value::Object(commands));
                }
                let action = self.fields.members.get_mut("action").and_then(Value::as_object_mut);
                let commands = action.and_then(|action| action.get_mut("commands"));
                let Some(commands) = commands.and_then(Value::as_array_mut) else { return };
                if index == commands.len() as u64 {
                    commands.push(Value::from(""));
                }
                let command = usize::try_from(index).ok().and_then(|index| commands.get_mut(index));
                match (command, delta) {
                    (Some(Value::String(text)), Value::String(piece)) => append(text, &piece),
                    (Some(command), Value::Null) if !whole.is_null() => *command = whole,
                    _ => {}
                }
            }
        }
    }

    fn output(&mut self, index: u64, delta: Value, whole: Value) {
        if !matches!(self.fields.members.get("output"), Some(Value::Array(_))) {
            self.fields.set("output", Value::from(Vec::new()));
        }
        let outputs = self.fields.members.get_mut("output").and_then(Value::as_array_mut);
        let (Some(outputs), Ok(index)) = (outputs, usize::try_from(index)) else { return };
        if let Value::Array(whole) = whole {
            outputs.truncate(index);
            outputs.extend(whole);
        }
        if let Value::Object(delta) = delta {
            if index == outputs.len() {
                outputs.push(Value::Object(Object::new()));
            }
            if let Some(output) = outputs.get_mut(index).and_then(Value::as_object_mut) {
                delta.iter().for_each(|(stream, text)| grow_or_set(output, stream, text, &Value::Null));
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
        Self { members, growth: Growth::NotYet }
    }

    fn set(&mut self, key: &str, value: Value) {
        let empty = matches!(&value, Value::String(text) if text.is_empty());
        let says_nothing = value.is_null() || (empty && self.members.get(key).is_some());
        if !says_nothing {
            self.members.insert(key, value);
        }
    }

    fn push(&mut self, key: &str, value: Value) {
        match self.members.get_mut(key) {
            Some(Value::Array(list)) => list.push(value),
            _ => drop(self.members.insert(key, Value::from(vec![value]))),
        }
    }

    /// Appends a delta. The value that came at the start may already be complete.
    fn grow(&mut self, key: &str, delta: Value) {
        let Value::String(piece) = delta else { return };
        let known = self.members.get_mut(key);
        let goes_on =
            |text: &Text| self.growth == Growth::Grown || !text.to_str().starts_with(&*piece.to_str());
        match known {
            Some(Value::String(text)) if goes_on(text) => append(text, &piece),
            _ => drop(self.members.insert(key, Value::String(piece))),
        }
        self.growth = Growth::Grown;
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

fn grow_or_set(fields: &mut Object, key: &str, delta: &Value, whole: &Value) {
    match (fields.get_mut(key), delta, whole) {
        (Some(Value::String(text)), Value::String(piece), _) => append(text, piece),
        (_, Value::String(piece), _) => drop(fields.insert(key, Value::String(piece.clone()))),
        (_, _, Value::Null) => {}
        (_, _, whole) => drop(fields.insert(key, whole.clone())),
    }
}

fn append(text: &mut Text, piece: &Text) {
    piece.segments().for_each(|piece| text.push_str(piece));
}
