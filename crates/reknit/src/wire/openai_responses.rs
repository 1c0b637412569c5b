//! OpenAI's Responses: events named `response.…`, about the whole response, an output item or a part.
//!
//! Items are addressed by `output_index` and parts by their index in the item. Ids are not relied on, because
//! some gateways send new ones with every event. The same text comes up to five times: as deltas, then whole at
//! the end of the text, the part, the item and the response. Later values are authoritative, but nothing that
//! was shown is taken back: what is missing is appended, and a contradiction is reported. Only an event that
//! ends the response completes the message.

use std::collections::BTreeSet;

use super::events::Events;
use super::failure::fail;
use super::fields::{Error, Raw};
use super::{DONE, Translate};
use crate::diagnostic::Kind;
use crate::event::{Event, Keep, Opening, Owner, Slot, Start, Stop, StopReason, Usage};
use crate::frame::Frame;
use crate::json::Object;

mod call_kind;
mod gate;
mod item;
mod items;
mod members;
mod native;
mod part;
mod request;
mod sequence;
mod shown;
mod step;
#[cfg(test)]
mod tests;

use gate::{Admission, Begins, Gate};
use item::{Item, Rest};
use items::{Address, Items, Put, Stage};
use members::{Members, RESPONSE};
pub(super) use native::Native;
pub(super) use request::FORM;
use sequence::Order;
use step::{PREFIX, Step};

pub(super) fn claims(frame: &Frame<'_>) -> bool {
    let data = Raw::new(frame.data);
    let word = |key: &str| data.get(key).and_then(Raw::string);
    word("type").is_some_and(|kind| kind.starts_with(PREFIX)) || word("object").as_deref() == Some(RESPONSE)
}

#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    gate: Gate,
    items: Items<Item>,
    fields: Object,
    has_audio: bool,
    /// Whether an event named an item by a different id than its own, which is reported once.
    has_changing_ids: bool,
}

impl Translate for Fold {
    fn read(&mut self, frame: &Frame<'_>, events: &mut Events) -> Result<(), Error> {
        // Gateways that serve several dialects also end this one with the last frame of Chat Completions.
        if frame.data == DONE {
            return Ok(());
        }
        let data = Raw::new(frame.data);
        let members = Members::read(frame.data)?;
        let kind = members.name(frame);
        match kind {
            "keepalive" | "ping" => {
                self.gate.pass(kind, &members);
                events.push(Event::Ping);
            }
            RESPONSE => {
                self.gate = Gate::within(data.get("id").and_then(Raw::owned_string));
                self.start(data, events);
                let status = data.get("status").and_then(Raw::string).unwrap_or_default();
                self.response(&status, data, frame, events);
            }
            "error" if self.gate.fail(&members) => {
                fail(members.error.unwrap_or(data), ERROR_KINDS, frame, events);
            }
            _ => {
                let step = Step::of(kind, members.part_index.unwrap_or(0));
                if self.admits(&step, kind, &members, events) {
                    self.step(step, kind, &members, frame, events);
                }
            }
        }
        Ok(())
    }

    /// Emits what was held back of the items.
    fn cut(&mut self, events: &mut Events) {
        if self.gate.is_within() {
            self.conclude(Rest::Missing, events);
        }
    }
}

impl Fold {
    /// Whether to read an event. Reports what is odd about it.
    fn admits(&mut self, step: &Step<'_>, kind: &str, members: &Members<'_>, events: &mut Events) -> bool {
        let Admission { begins, order, refusal } = self.gate.admit(step, kind, members);
        match begins {
            Begins::No => {}
            Begins::Response => self.start(members.response.unwrap_or_default(), events),
            Begins::Unseen => {
                events.notice(Kind::MissingStart, "the start of the message is missing");
                self.start(Raw::default(), events);
            }
        }
        match order {
            Order::New | Order::Again => {}
            Order::Gap { from, to } if from == to => {
                events.notice(Kind::MissingEvents, format!("event {from} is missing"));
            }
            Order::Gap { from, to } => {
                events.notice(Kind::MissingEvents, format!("events {from} to {to} are missing"));
            }
            Order::Reused => {
                let number = members.sequence.unwrap_or_default();
                let message = format!("event `{kind}` has the number {number}, which another event had");
                events.notice(Kind::MisnumberedEvent, message);
            }
        }
        let Some((kind, message)) = refusal else { return true };
        events.notice(kind, message);
        false
    }

    fn step(
        &mut self,
        step: Step<'_>,
        kind: &str,
        members: &Members<'_>,
        frame: &Frame<'_>,
        events: &mut Events,
    ) {
        let item = members.item.unwrap_or_default();
        match step {
            Step::Response(status) => {
                self.response(status, members.response.unwrap_or_default(), frame, events);
                for (key, value) in members.others.iter() {
                    self.keep(key, value, events);
                }
            }
            Step::Added => self.add(item, members, events),
            Step::Done => {
                let id = item.get("id").and_then(Raw::string);
                let at = Address { index: members.output_index, id: id.as_deref() };
                let place = self.items.finish(at, |place| Item::new(place, item, events));
                if let Some(known) = self.items.get_mut(place) {
                    known.finish(item, events);
                    known.keep_all(&members.others, events);
                }
            }
            Step::Item(word, step) => {
                let place = self.place(word, kind, members, events);
                let item = self.items.get_mut(place);
                if !item.is_some_and(|item| item.step(step, members, events)) {
                    let message = format!("event `{kind}` does not fit item {place}");
                    events.keep_unknown(Kind::OrphanDelta, message, Raw::new(frame.data));
                }
            }
            Step::Audio(key) => self.audio(key, members.delta, events),
            Step::Unknown => {
                let message = format!("unknown event `{kind}`");
                events.keep_unknown(Kind::UnknownEvent, message, Raw::new(frame.data));
            }
        }
    }

    fn start(&mut self, response: Raw<'_>, events: &mut Events) {
        let word = |key: &str| response.get(key).and_then(Raw::owned_string);
        // Every response is the assistant's, but the items say so only later.
        let start = Start { id: word("id"), model: word("model"), role: Some("assistant".to_owned()) };
        *self = Self { gate: std::mem::take(&mut self.gate), ..Self::default() };
        for (key, value) in [("id", &start.id), ("model", &start.model)] {
            if let Some(value) = value {
                self.fields.insert(key, value.as_str());
            }
        }
        events.started(start);
    }

    fn response(&mut self, status: &str, response: Raw<'_>, frame: &Frame<'_>, events: &mut Events) {
        let over = matches!(status, "completed" | "incomplete" | "failed" | "cancelled");
        let (mut output, mut error, mut reason) = (None, None, None);
        let _ = response.members(|key, value| match key {
            _ if value.is_null() => {}
            "object" | "status" => {}
            "output" if over || value.text() == "[]" => output = Some(value),
            "error" => error = Some(value),
            "usage" => self.count(value, events),
            _ => {
                if key == "incomplete_details" {
                    reason = value.get("reason").and_then(Raw::owned_string);
                }
                self.keep(key, value, events);
            }
        });
        if over && self.gate.end() {
            self.end_items(output.unwrap_or(Raw::new("[]")), status, events);
            self.end(status, reason, events);
            if status == "failed" {
                fail(error.unwrap_or(response), ERROR_KINDS, frame, events);
            }
        }
    }

    /// Reads the items of a response that is over. An empty list says nothing about the streamed items.
    fn end_items(&mut self, output: Raw<'_>, status: &str, events: &mut Events) {
        let mut listed = Vec::new();
        let _ = output.elements(|item| listed.push(item));
        let known = self.items.places();
        for (position, item) in listed.iter().enumerate() {
            let (id, word) = (item.get("id").and_then(Raw::string), item.get("type").and_then(Raw::string));
            let fits =
                |place: &u32| self.items.get(*place).is_some_and(|item| Some(item.word()) == word.as_deref());
            // A recording may lack an item, so the list may have other indexes than the stream. Items are
            // matched by id, or, where ids change, by position if there are as many.
            let place = self.items.find_id(id.as_deref()).filter(fits).or_else(|| {
                let by_order = known.get(position).copied().filter(|_| known.len() == listed.len());
                by_order.or_else(|| u32::try_from(position).ok()).filter(fits)
            });
            let place = place.unwrap_or_else(|| {
                let index = Some(position as u64).filter(|_| known.len() != listed.len());
                let at = Address { index, id: id.as_deref() };
                self.items.add(at, |place| Item::new(place, *item, events)).place()
            });
            self.items.reach(Stage::Done, place, id.as_deref());
            if let Some(known) = self.items.get_mut(place) {
                known.finish(*item, events);
            }
        }
        let rest = if status == "completed" { Rest::Whole } else { Rest::Missing };
        self.conclude(rest, events);
        if self.has_audio && rest == Rest::Whole {
            events.closed(AUDIO);
        }
    }

    /// Ends the items. What is missing of the response is missing of its last item.
    fn conclude(&mut self, rest: Rest, events: &mut Events) {
        let mut items = self.items.values_mut().peekable();
        while let Some(item) = items.next() {
            let is_ended = item.is_unsure() && items.peek().is_some();
            item.conclude(if is_ended { Rest::Whole } else { rest }, events);
        }
    }

    fn end(&mut self, status: &str, reason: Option<String>, events: &mut Events) {
        let stop = match (status, reason) {
            ("failed", _) => return,
            ("completed", _) => Stop { reason: self.waits_for(), detail: status.to_owned() },
            (_, Some(detail)) => Stop { reason: stop_reason(&detail), detail },
            (_, None) => Stop { reason: StopReason::Other, detail: status.to_owned() },
        };
        events.push(Event::Stopped { choice: 0, stop });
        events.push(Event::Ended);
    }

    /// Why a completed response stopped. The next request must answer every call of the client, even if the
    /// model wrote more after it.
    fn waits_for(&self) -> StopReason {
        let answered: BTreeSet<_> = self.items.values().filter_map(Item::answers).collect();
        if self.items.values().filter_map(Item::asks_client).any(|call| !answered.contains(call)) {
            StopReason::Tool
        } else if self.items.values().any(|item| item.word() == "mcp_approval_request") {
            StopReason::Pause
        } else {
            StopReason::End
        }
    }

    /// `output_item.added`
    fn add(&mut self, item: Raw<'_>, members: &Members<'_>, events: &mut Events) {
        let (index, id) = (members.output_index, item.get("id").and_then(Raw::string));
        let at = Address { index, id: id.as_deref() };
        let put = self.items.start(at, |place| Item::new(place, item, events));
        let Some(known) = self.items.get_mut(put.place()) else { return };
        match (put, index) {
            (Put::Late(_), _) => return known.start_again(item, events),
            (Put::Again(place), _) => {
                events.notice(Kind::DuplicateBlock, format!("item {place} was added a second time"));
                return known.start_again(item, events);
            }
            (Put::AtTheEnd(place), Some(index)) => {
                let message = format!("another item has index {index}; this one was put at {place}");
                events.notice(Kind::DuplicateBlock, message);
            }
            (Put::AtTheEnd(_) | Put::AtItsIndex(_), _) => {}
        }
        known.keep_all(&members.others, events);
    }

    /// The place of the item that an event is about. An item that was not added is created as a `word`.
    fn place(&mut self, word: &str, kind: &str, members: &Members<'_>, events: &mut Events) -> u32 {
        let (index, id) = (members.output_index, members.item_id.as_deref());
        let place = self.items.find_or_make(Address { index, id }, |place| {
            let at = index.map_or("without an index".to_owned(), |index| format!("at index {index}"));
            let message = format!("`{kind}` came for an item {at}, which was not added");
            events.notice(Kind::OrphanDelta, message);
            Item::unstarted(place, word, id, events)
        });
        let is_changed = matches!((id, self.items.id(place)), (Some(id), Some(known)) if id != known);
        if is_changed && !self.has_changing_ids {
            self.has_changing_ids = true;
            let message = format!("`{kind}` names item {place} by a different id");
            events.notice(Kind::ChangedId, message);
        }
        place
    }

    /// Audio does not belong to an item; its block is after all others.
    fn audio(&mut self, key: &'static str, delta: Option<Raw<'_>>, events: &mut Events) {
        let Some(text) = delta.and_then(Raw::owned_string) else { return };
        if !self.has_audio {
            self.has_audio = true;
            let opening = Opening::Other { kind: "audio".to_owned() };
            events.push(Event::Opened { block: AUDIO, choice: 0, opening });
        }
        events.kept(Owner::Block(AUDIO), key, Keep::Grow(text.into()));
    }

    /// Keeps a field of the response if its value is new: most events repeat the response.
    fn keep(&mut self, key: &str, value: Raw<'_>, events: &mut Events) {
        let value = events.value(key, value);
        if self.fields.get(key) != Some(&value) {
            self.fields.insert(key, value.clone());
            events.keep(Owner::Message, key, value);
        }
    }

    fn count(&mut self, usage: Raw<'_>, events: &mut Events) {
        let ([input, output, of_input, of_output], ..) = usage.split_leniently([
            "input_tokens",
            "output_tokens",
            "input_tokens_details",
            "output_tokens_details",
        ]);
        let detail = |of: Option<Raw<'_>>, key| of.and_then(|of| of.get(key)).and_then(Raw::number);
        let counts = Usage {
            input: input.and_then(Raw::number),
            output: output.and_then(Raw::number),
            cache_read: detail(of_input, "cached_tokens"),
            cache_write: detail(of_input, "cache_write_tokens"),
            reasoning: detail(of_output, "reasoning_tokens"),
        };
        if !counts.is_empty() {
            events.push(Event::Usage(counts));
        }
        self.keep("usage", usage, events);
    }
}

/// The members that say what kind of error it is: an error may be the event itself, a member of it, or the
/// response's.
const ERROR_KINDS: &[&str] = &["code", "type"];

const AUDIO: Slot = Slot::new(u32::MAX);

fn stop_reason(word: &str) -> StopReason {
    match word {
        "max_output_tokens" | "max_tokens" => StopReason::Length,
        "content_filter" => StopReason::Filter,
        _ => StopReason::Other,
    }
}
