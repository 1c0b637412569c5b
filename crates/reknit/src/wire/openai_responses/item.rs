//! [`Item`]: one output item of a response, and its blocks in the message.
//!
//! A message has a text block for each part of its content. Reasoning has a thinking block for each part of its
//! summary and of its text, and one more for what is only sent encrypted. A call is one block, with another for
//! its result if the provider ran it. Any other item is one block with its fields.

use std::collections::BTreeMap;

use super::super::blocks::{TEXT, THINKING};
use super::super::events::{Events, Kept};
use super::super::other_members::Others;
use super::Raw;
use super::call_kind::{CallKind, Inner};
use super::members::Members;
use super::part::{Moment, Part};
use super::shown::{Shown, escape};
use super::step::ItemStep;
use crate::diagnostic::Kind as Odd;
use crate::event::{CallId, Event, Keep, Notation, Opening, Origin, Owner, Runner, Slot};
use crate::json::{Object, Value};

/// Whether a message is commentary or the final answer.
const PHASE: &str = "phase";

#[derive(Clone, Debug)]
pub(super) struct Item {
    place: u32,
    kind: Kind,
    /// The provider's word for the kind.
    word: String,
    id: Option<String>,
    blocks: BTreeMap<Part, Shown>,
    /// The block that was opened first; it has the fields of the item.
    owner: Option<Slot>,
    fields: Object,
    call: Call,
    encrypted: Option<String>,
    /// The string inside the arguments that grows, and where it begins.
    inner: Option<(Inner, usize)>,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Message,
    Reasoning,
    Call(&'static CallKind),
    Result,
    Other,
}

/// The identity of a call, or of the call that a result belongs to.
#[derive(Clone, Debug, Default)]
struct Call {
    id: Option<CallId>,
    name: String,
    runner: Runner,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Open,
    /// It ended, and says that it is incomplete.
    Incomplete,
    /// It ended, but only the end of the response shows whether it is complete.
    Unsure,
    Done,
}

/// What the end of the response says about an item that did not end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rest {
    Whole,
    Missing,
}

impl Item {
    pub(super) fn new(place: u32, raw: Raw<'_>, events: &mut Events) -> Self {
        let word = raw.get("type").and_then(Raw::owned_string).unwrap_or_default();
        let mut item = Self::blank(place, word, raw);
        item.update(raw, events);
        item.begin(raw, events);
        item
    }

    /// An item whose start is missing.
    pub(super) fn unstarted(place: u32, word: &str, id: Option<&str>, events: &mut Events) -> Self {
        let raw = Raw::default();
        let mut item = Self::blank(place, word.to_owned(), raw);
        item.id = id.map(str::to_owned);
        item.begin(raw, events);
        item
    }

    fn blank(place: u32, word: String, raw: Raw<'_>) -> Self {
        let kind = match &*word {
            "message" => Kind::Message,
            "reasoning" => Kind::Reasoning,
            result if result.ends_with("_output") => Kind::Result,
            other => CallKind::of(other).map_or(Kind::Other, Kind::Call),
        };
        let runner = if let Kind::Call(kind) = kind { kind.runner(raw) } else { Runner::Provider };
        Self {
            place,
            kind,
            word,
            id: None,
            blocks: BTreeMap::new(),
            owner: None,
            fields: Object::new(),
            call: Call { runner, ..Call::default() },
            encrypted: None,
            inner: None,
            state: State::Open,
        }
    }

    pub(super) fn is_unsure(&self) -> bool {
        self.state == State::Unsure
    }

    pub(super) fn word(&self) -> &str {
        &self.word
    }

    /// The id of the call, if the client has to answer it.
    pub(super) fn asks_client(&self) -> Option<&str> {
        let asks = matches!(self.kind, Kind::Call(_)) && self.call.runner == Runner::Client;
        self.call.id.as_deref().filter(|_| asks)
    }

    /// The id of the call, if this is its result.
    pub(super) fn answers(&self) -> Option<&str> {
        self.call.id.as_deref().filter(|_| matches!(self.kind, Kind::Result))
    }

    /// `output_item.added` for an item that deltas have begun, or that was added before.
    pub(super) fn start_again(&mut self, raw: Raw<'_>, events: &mut Events) {
        self.update(raw, events);
        self.rename(raw, events);
    }

    /// Reads the final item, from its own last event or from that of the response.
    pub(super) fn finish(&mut self, raw: Raw<'_>, events: &mut Events) {
        self.state = State::Done;
        self.update(raw, events);
        match self.kind {
            Kind::Message | Kind::Reasoning => self.parts(raw, Moment::End, events),
            Kind::Call(kind) => {
                self.rename(raw, events);
                self.settle(&kind.arguments(raw), events);
                self.results(kind, raw, events);
            }
            Kind::Result | Kind::Other => {}
        }
        self.show_all(events);
        // Free text does not show where it ends, and its item may not say that it was cut.
        if self.state == State::Done
            && matches!(self.kind, Kind::Call(kind) if kind.notation == Notation::Plain)
        {
            self.state = State::Unsure;
        }
        self.close(events);
    }

    fn close(&mut self, events: &mut Events) {
        for (part, shown) in &mut self.blocks {
            // A call whose arguments differ from those that the provider sends at the end must not be run.
            let unsure = self.state != State::Done || shown.is_different();
            if !(unsure && *part == Part::Whole) {
                shown.close(events);
            }
        }
    }

    /// Ends an item that was unfinished, or may be incomplete, when the response ended.
    pub(super) fn conclude(&mut self, rest: Rest, events: &mut Events) {
        match self.state {
            State::Done | State::Incomplete => return,
            State::Unsure if rest == Rest::Missing => return,
            State::Unsure => {
                self.state = State::Done;
                return self.close(events);
            }
            State::Open => {}
        }
        self.show_all(events);
        for shown in self.blocks.values_mut() {
            shown.show_start(events);
            if rest == Rest::Whole && shown.is_open() {
                let message = format!("block {} was open when the message ended", shown.slot);
                events.notice(Odd::UnclosedBlock, message);
                shown.close(events);
            }
        }
    }

    /// Reads an event about the item. Returns whether the item has a place for it.
    pub(super) fn step(&mut self, step: ItemStep<'_>, event: &Members<'_>, events: &mut Events) -> bool {
        let fits = match step {
            ItemStep::Part(part, moment) => self.part(part, event.part.unwrap_or_default(), moment, events),
            ItemStep::Text(part, opening) => self.text(part, opening, event, events),
            ItemStep::Arguments(_) => self.text(Part::Whole, TEXT, event, events),
            ItemStep::Inner(inner) => self.inner(inner, event, events),
            ItemStep::ShellOutput => self.output(event, events),
            ItemStep::PartialImage => {
                let image = event.others.iter().map(|(key, value)| (key, events.value(key, value)));
                let image = Value::from(Object::from_iter(image));
                self.push("partial_images", image, events);
                return true;
            }
            ItemStep::Status(status) => {
                self.keep("status", Value::from(status), events);
                true
            }
        };
        if fits {
            self.keep_all(&event.others, events);
        }
        fits
    }

    /// Begins or ends a part of the content or the summary. Returns whether there is a place for it.
    fn part(&mut self, part: Part, raw: Raw<'_>, moment: Moment, events: &mut Events) -> bool {
        if !self.has(part) {
            return false;
        }
        let ([word, text, refusal], others, _) = raw.split_leniently(["type", "text", "refusal"]);
        let word = word.and_then(Raw::string);
        let opening = match (word.as_deref(), self.kind) {
            (Some("output_text" | "text"), _) | (None, Kind::Message) => TEXT,
            (Some("refusal"), _) => Opening::Text { refusal: true },
            (Some("summary_text" | "reasoning_text") | None, _) => THINKING,
            (Some(other), _) => Opening::Other { kind: other.to_owned() },
        };
        let Some(shown) = self.open(part, opening, events) else { return false };
        match (text.or(refusal).and_then(Raw::string), moment) {
            (None, _) => {}
            (Some(text), _) if !shown.grows() => shown.keep("text", Value::from(&*text), events),
            (Some(text), Moment::Begin) => shown.begin(text.into_owned()),
            (Some(text), Moment::End) => shown.settle(0, &text, |_, _| false, events),
        }
        for (key, value) in others.iter() {
            shown.keep(key, value, events);
        }
        if moment == Moment::End {
            shown.show_start(events);
            shown.close(events);
        }
        true
    }

    /// Grows text, thinking or arguments, or takes them whole. Returns whether the item can have them.
    fn text(&mut self, part: Part, opening: Opening, event: &Members<'_>, events: &mut Events) -> bool {
        if !self.has(part) {
            return false;
        }
        let Some(shown) = self.open(part, opening, events) else { return false };
        if let Some(delta) = event.delta {
            if !(shown.is_open() && shown.grows()) {
                return false;
            }
            shown.grow(delta, events);
        }
        match (event.logprobs, event.delta) {
            (Some(logprobs), Some(_)) => {
                let _ = logprobs.elements(|token| shown.push("logprobs", token, events));
            }
            (Some(logprobs), None) => shown.keep("logprobs", logprobs, events),
            (None, _) => {}
        }
        if let Some(annotation) = event.annotation {
            shown.push("annotations", annotation, events);
        }
        match (part, event.whole.and_then(Raw::string)) {
            (_, None) => {}
            (Part::Whole, Some(whole)) => self.settle(&whole, events),
            (_, Some(whole)) if shown.grows() => shown.settle(0, &whole, |_, _| false, events),
            (_, Some(_)) => return false,
        }
        true
    }

    /// Grows a string inside the arguments, or takes it whole. Returns whether it has a place there.
    fn inner(&mut self, inner: Inner, event: &Members<'_>, events: &mut Events) -> bool {
        let Some(shown) = self.blocks.get_mut(&Part::Whole).filter(|shown| shown.is_open() && shown.grows())
        else {
            return false;
        };
        let from = match (self.inner, inner) {
            (Some((known, from)), inner) if known == inner => from,
            (Some((Inner::Command(last), _)), Inner::Command(next)) if next == last + 1 => {
                shown.grow_plain(r#"",""#, events);
                shown.len()
            }
            (None, Inner::Code | Inner::Diff | Inner::Command(0)) if shown.is_empty() => {
                let start = shown.take_start().unwrap_or_default();
                shown.grow_plain(&inner.opening(&start), events);
                shown.len()
            }
            _ => return false,
        };
        self.inner = Some((inner, from));
        if let Some(delta) = event.delta {
            shown.grow_escaped(delta, events);
        }
        if let Some(whole) = event.whole.and_then(Raw::string) {
            shown.settle(from, &escape(&whole), |_, _| false, events);
        }
        true
    }

    /// Takes what a shell printed so far. The lists of the last event are final.
    fn output(&mut self, event: &Members<'_>, events: &mut Events) -> bool {
        let Some(slot) = self.blocks.get(&Part::Whole).map(|shown| shown.slot) else { return false };
        let command = event.part_index.unwrap_or(0);
        if let Some(delta) = event.delta {
            let _ = delta.members(|stream, text| {
                let key = if command == 0 { stream.to_owned() } else { format!("{stream}_{command}") };
                let keep = Keep::Grow(text.owned_string().unwrap_or_default().into());
                events.kept(Owner::Block(slot), &key, keep);
            });
        }
        match event.whole {
            Some(outputs) if command == 0 => self.keep("output", outputs, events),
            Some(outputs) => drop(outputs.elements(|output| self.push("output", output, events))),
            None => {}
        }
        true
    }

    pub(super) fn keep_all(&mut self, fields: &Others<'_>, events: &mut Events) {
        for (key, value) in fields.iter() {
            self.keep(key, value, events);
        }
    }

    fn keep(&mut self, key: &str, value: impl Kept, events: &mut Events) {
        let value = value.into_value(key, events);
        if self.fields.get(key) != Some(&value) {
            self.fields.insert(key, value.clone());
            if self.is_of_each_part(key) {
                for shown in self.blocks.values() {
                    events.keep(Owner::Block(shown.slot), key, value.clone());
                }
            } else if let Some(slot) = self.owner {
                events.keep(Owner::Block(slot), key, value);
            }
        }
    }

    /// Whether each part of the item has a field of it: parts are sent back one by one.
    fn is_of_each_part(&self, key: &str) -> bool {
        matches!(self.kind, Kind::Message) && key == PHASE
    }

    /// Adds to a list among the fields of the item.
    fn push(&mut self, key: &str, value: impl Kept, events: &mut Events) {
        let keep = Keep::Push(value.into_value(key, events));
        keep.store(&mut self.fields, key);
        if let Some(slot) = self.owner {
            events.kept(Owner::Block(slot), key, keep);
        }
    }

    /// Whether items of this kind have such a part.
    fn has(&self, part: Part) -> bool {
        match part {
            Part::Content(_) => matches!(self.kind, Kind::Message | Kind::Reasoning),
            Part::Summary(_) | Part::Encrypted => matches!(self.kind, Kind::Reasoning),
            Part::Whole | Part::Result => matches!(self.kind, Kind::Call(_)),
        }
    }

    /// Opens the blocks that exist before any delta.
    fn begin(&mut self, raw: Raw<'_>, events: &mut Events) {
        match self.kind {
            Kind::Message | Kind::Reasoning => self.parts(raw, Moment::Begin, events),
            Kind::Call(kind) => {
                if !kind.is_ordinary() {
                    // The item goes back as what it was.
                    self.fields.insert("type", &*self.word);
                }
                let (id, name) = self.identity(kind, raw);
                let id = id.unwrap_or_else(|| {
                    let invented = CallId::Invented(format!("call_{}", self.place));
                    let message = format!("call to `{name}` has no id, and was given `{invented}`");
                    events.notice(Odd::MissingId, message);
                    invented
                });
                let runner = self.call.runner;
                self.call = Call { id: Some(id.clone()), name: name.clone(), runner };
                let (notation, origin) = (kind.notation, Origin::Native);
                let opening = Opening::ToolCall { id, name, runner, notation, origin };
                if let Some(shown) = self.open(Part::Whole, opening, events) {
                    shown.begin(kind.arguments(raw));
                }
            }
            Kind::Result => {
                let call_id = raw.get("call_id").and_then(Raw::owned_string);
                self.call.id = call_id.clone().map(CallId::Given);
                let opening = Opening::ToolResult { kind: self.word.clone(), call_id };
                self.open(Part::Whole, opening, events);
            }
            Kind::Other => {
                self.open(Part::Whole, Opening::Other { kind: self.word.clone() }, events);
            }
        }
    }

    /// Reads the parts of a message or of reasoning that the item itself lists.
    fn parts(&mut self, raw: Raw<'_>, moment: Moment, events: &mut Events) {
        let mut list = |key: &str, part: fn(u64) -> Part| {
            let mut index = 0;
            let _ = raw.get(key).unwrap_or(Raw::new("[]")).elements(|raw| {
                if !self.part(part(index), raw, moment, events) {
                    let message = format!("item {} has no place for part {index}", self.place);
                    events.keep_unknown(Odd::UnknownEvent, message, raw);
                }
                index += 1;
            });
        };
        list("summary", Part::Summary);
        list("content", Part::Content);
    }

    /// Takes the members that are not content, arguments or results.
    fn update(&mut self, raw: Raw<'_>, events: &mut Events) {
        let argument = if let Kind::Call(kind) = self.kind { kind.argument(raw) } else { None };
        let _ = raw.members(|key, value| match (key, self.kind) {
            _ if value.is_null() => {}
            ("type", _) => {}
            ("id", _) => self.set_id(value.owned_string(), events),
            ("content" | "summary", Kind::Message | Kind::Reasoning) => {}
            ("encrypted_content", Kind::Reasoning) => self.encrypted = value.owned_string(),
            // The role of an answer is always the same.
            ("role", Kind::Message) if value.text() == r#""assistant""# => {}
            ("call_id", Kind::Call(_) | Kind::Result) | ("name", Kind::Call(_)) => {}
            ("status", _) => self.set_status(value, events),
            (key, Kind::Call(kind)) if argument == Some(key) || kind.results.contains(&key) => {}
            (key, _) => self.keep(key, value, events),
        });
    }

    /// The status of what the provider runs is worth keeping. For anything else, `in_progress` and `completed`
    /// only say that the block is open or closed.
    fn set_status(&mut self, status: Raw<'_>, events: &mut Events) {
        let word = status.string().unwrap_or_default();
        if self.state == State::Done && word == "incomplete" {
            self.state = State::Incomplete;
        }
        let models = match self.kind {
            Kind::Message | Kind::Reasoning => true,
            Kind::Call(_) => self.call.runner == Runner::Client,
            Kind::Result | Kind::Other => false,
        };
        if !(models && matches!(&*word, "in_progress" | "completed")) {
            self.keep("status", status, events);
        }
    }

    fn set_id(&mut self, id: Option<String>, events: &mut Events) {
        if let Some(id) = id.filter(|id| self.id.as_ref() != Some(id)) {
            for shown in self.blocks.values() {
                events.keep(Owner::Block(shown.slot), "id", Value::from(&*id));
            }
            self.id = Some(id);
        }
    }

    fn identity(&self, kind: &CallKind, raw: Raw<'_>) -> (Option<CallId>, String) {
        let word = |key: &str| raw.get(key).and_then(Raw::owned_string);
        let id = word("call_id").or_else(|| self.id.clone()).map(CallId::Given);
        (id, word("name").unwrap_or_else(|| kind.tool().to_owned()))
    }

    /// Takes the identity of an item whose start is missing, which may come later.
    fn rename(&mut self, raw: Raw<'_>, events: &mut Events) {
        let Kind::Call(kind) = self.kind else { return };
        let Some(shown) = self.blocks.get(&Part::Whole).filter(|shown| shown.is_open()) else { return };
        let (id, name) = self.identity(kind, raw);
        // Only a call without its own id uses the id of the item, which may change.
        let Some(id) = raw.get("call_id").and(id).or_else(|| self.call.id.clone()) else { return };
        if self.call.id.as_ref() != Some(&id) || name != self.call.name {
            let block = shown.slot;
            events.push(Event::Named { block, id: id.clone(), name: name.clone().into() });
            self.call = Call { id: Some(id), name, runner: self.call.runner };
        }
    }

    fn settle(&mut self, whole: &str, events: &mut Events) {
        let Kind::Call(kind) = self.kind else { return };
        if let Some(shown) = self.blocks.get_mut(&Part::Whole) {
            let is_json = kind.notation == Notation::Json;
            shown.settle(0, whole, |shown, whole| is_json && same_json(shown, whole), events);
        }
    }

    /// Reads the result of a call that the provider ran.
    fn results(&mut self, kind: &CallKind, raw: Raw<'_>, events: &mut Events) {
        for key in kind.results {
            let Some(value) = raw.get(key).filter(|value| !value.is_null()) else { continue };
            let call_id = self.call.id.as_deref().map(str::to_owned);
            let opening = Opening::ToolResult { kind: self.word.clone(), call_id };
            if let Some(shown) = self.open(Part::Result, opening, events) {
                shown.keep(key, value, events);
            }
        }
    }

    /// Opens the blocks that no event has opened: encrypted thinking, a message without content.
    fn show_all(&mut self, events: &mut Events) {
        match self.kind {
            // The provider encrypts again whenever it sends the item; any complete one will do.
            Kind::Reasoning if self.encrypted.is_some() || self.blocks.is_empty() => {
                let redacted = self.encrypted.clone();
                self.open(Part::Encrypted, Opening::Thinking { redacted }, events);
            }
            Kind::Message if self.blocks.is_empty() => {
                self.open(Part::Content(0), TEXT, events);
            }
            _ => {}
        }
    }

    /// The block of a part, opened if necessary; `None` if there is no slot for it.
    fn open(&mut self, part: Part, opening: Opening, events: &mut Events) -> Option<&mut Shown> {
        if !self.blocks.contains_key(&part) {
            let slot = part.slot(self.place)?;
            // The blocks of an item share its id; some already have it.
            let known = match &opening {
                Opening::ToolCall { id, .. } => Some(id.as_str()),
                Opening::ToolResult { call_id, .. } => call_id.as_deref(),
                Opening::Text { .. } | Opening::Thinking { .. } | Opening::Other { .. } => None,
            };
            let has_id = known.is_some() && known == self.id.as_deref();
            let shown = Shown::new(slot, &opening);
            events.push(Event::Opened { block: slot, choice: 0, opening });
            if let Some(id) = self.id.as_deref().filter(|_| !has_id) {
                events.keep(Owner::Block(slot), "id", Value::from(id));
            }
            if self.owner.is_none() {
                self.owner = Some(slot);
                for (key, value) in self.fields.iter() {
                    events.keep(Owner::Block(slot), key, value.clone());
                }
            } else if let Some(phase) = self.fields.get(PHASE).filter(|_| self.is_of_each_part(PHASE)) {
                events.keep(Owner::Block(slot), PHASE, phase.clone());
            }
            self.blocks.insert(part, shown);
        }
        self.blocks.get_mut(&part)
    }
}

/// Whether two texts are the same JSON, ignoring whitespace and the order of keys.
fn same_json(one: &str, other: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    read(one).is_some_and(|one| read(other) == Some(one))
}
