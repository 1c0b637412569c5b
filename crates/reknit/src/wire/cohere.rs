//! Cohere's Chat, version 2: server-sent events whose `data` has a `type`.
//!
//! Texts and thinking are addressed by one `index`, calls by another, and both are over when the event that ends
//! them comes. Before its calls the model writes a plan, which is a text. Only `message-end` completes a message.

use std::collections::{BTreeMap, BTreeSet};

use super::blocks::{Blocks, TEXT, THINKING};
use super::events::Events;
use super::failure::{fail, failed};
use super::fields::{Error, Faults, Raw};
use super::other_members::Others;
use super::{DONE, State, Translate};
use crate::diagnostic::Kind;
use crate::event::{Event, Notation, Opening, Owner, Slot, Start, StopReason, Usage};
use crate::frame::Frame;
use crate::json::Value;

mod native;
mod request;

pub(super) use native::Native;
pub(super) use request::FORM;

/// The plan for the calls after it, which is a text; also the `type` that is kept with it.
const TOOL_PLAN: &str = "tool_plan";

pub(super) fn claims(frame: &Frame<'_>) -> bool {
    let data = Raw::new(frame.data);
    let kind = data.get("type").and_then(Raw::string);
    match kind.as_deref() {
        Some(
            "message-start" | "message-end" | "content-start" | "content-delta" | "content-end"
            | "tool-plan-delta" | "tool-call-start" | "tool-call-delta" | "tool-call-end" | "citation-start"
            | "citation-end",
        ) => true,
        Some(_) => false,
        None => is_whole(data),
    }
}

/// Whether this is a whole reply, of a request without a stream.
fn is_whole(data: Raw<'_>) -> bool {
    let Ok(([message, reason], _)) = data.split(["message", "finish_reason"]) else { return false };
    let has_message = message.is_some_and(|message| message.text().starts_with('{'));
    has_message && reason.is_some_and(|reason| reason.string_body().is_some())
}

#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    state: State,
    id: Option<String>,
    blocks: BTreeMap<Part, Open>,
    /// A call that ended before any arguments came. Only the next event shows whether it has no arguments or
    /// the model was stopped before it could write them.
    bare: Option<Slot>,
    slots: u32,
}

/// A part of the message that is a block; contents and calls are numbered one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// The latest plan.
    Plan,
    Content(u64),
    Call(u64),
}

/// A block, which may be over.
#[derive(Clone, Copy, Debug)]
struct Open {
    slot: Slot,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// A call without arguments so far.
    Bare,
    Open,
    Over,
}

impl Translate for Fold {
    fn read(&mut self, frame: &Frame<'_>, events: &mut Events) -> Result<(), Error> {
        // Gateways that serve several dialects also end this one with OpenAI's last frame, as some recorders do.
        if frame.data == DONE {
            return Ok(());
        }
        let data = Raw::new(frame.data);
        let ([kind, id, index, delta, message], others) =
            data.split(["type", "id", "index", "delta", "message"])?;
        let kind = kind.and_then(Raw::string).unwrap_or(frame.event.into());
        let id = id.and_then(Raw::owned_string);
        match message {
            None if kind.contains('-') => {
                let delta = delta.unwrap_or_default();
                if kind == "message-start" {
                    self.start(id, delta.get("message").unwrap_or_default(), events);
                }
                let index = index.and_then(Raw::number).unwrap_or(0);
                self.event(&kind, index, delta, &others, data, events)
            }
            // Errors have nothing but a message.
            Some(message) if message.string_body().is_some() => {
                fail(data, &["type"], frame, events);
                self.state = State::After;
                Ok(())
            }
            Some(message) if is_whole(data) => self.whole(id, message, others, data, events),
            _ => {
                let message = format!("unknown event `{kind}`");
                events.keep_unknown(Kind::UnknownEvent, message, data);
                Ok(())
            }
        }
    }

    fn repeats(&self) -> bool {
        true
    }
}

impl Fold {
    fn event(
        &mut self,
        kind: &str,
        index: u64,
        delta: Raw<'_>,
        others: &Others<'_>,
        data: Raw<'_>,
        events: &mut Events,
    ) -> Result<(), Error> {
        let message = delta.get("message").unwrap_or_default();
        self.state.begin("message", events);
        let mut faults = Faults::default();
        let mut owner = Owner::Message;
        if kind != "message-end" {
            self.close_bare(events);
        }
        match kind {
            "message-start" => {}
            "content-start" | "content-delta" => {
                let content = message.get("content").unwrap_or_default();
                faults.note("`content`", self.content(index, content, events));
                owner = self.slot(Part::Content(index)).map_or(owner, Owner::Block);
            }
            "content-end" => self.end(Part::Content(index), events),
            "tool-plan-delta" => {
                if let Some(plan) = message.get(TOOL_PLAN) {
                    self.plan(plan, events);
                }
            }
            "tool-call-start" | "tool-call-delta" => {
                let call = message.get("tool_calls").unwrap_or_default();
                faults.note("`tool_calls`", self.call(kind, index, call, events));
                owner = self.slot(Part::Call(index)).map_or(owner, Owner::Block);
            }
            "tool-call-end" => self.end(Part::Call(index), events),
            "citation-start" => {
                let citation = message.get("citations").unwrap_or_default();
                self.citation(citation, events);
            }
            // A citation comes whole with its start.
            "citation-end" => {}
            "message-end" => {
                let ([], end, read) = delta.split_leniently([]);
                faults.note("`delta`", read);
                self.message_end(end, data, events);
            }
            _ => {
                let message = format!("unknown event `{kind}`");
                events.keep_unknown(Kind::UnknownEvent, message, data);
                return Ok(());
            }
        }
        others.iter().for_each(|(key, value)| match key {
            "logprobs" => events.keep_pushed(owner, key, value),
            _ => events.keep(owner, key, value),
        });
        faults.result()
    }

    fn start(&mut self, id: Option<String>, message: Raw<'_>, events: &mut Events) {
        if self.state != State::Before && id.is_some() && id == self.id {
            return events.notice(Kind::DuplicateStart, "the message was started again");
        }
        *self = Self { state: State::Within, id: id.clone(), ..Self::default() };
        let role = message.get("role").and_then(Raw::owned_string);
        events.started(Start { id, model: None, role });
        // Its lists are empty, and its plan too.
        let ([_], others, _) = message.split_leniently(["role"]);
        for (key, value) in others.iter().filter(|(_, value)| !matches!(value.text(), "[]" | "\"\"")) {
            events.keep(Owner::Message, key, value);
        }
    }

    fn plan(&mut self, plan: Raw<'_>, events: &mut Events) {
        if !plan.has_text() {
            return;
        }
        let slot = match self.blocks.get(&Part::Plan) {
            Some(Open { slot, phase: Phase::Open }) => *slot,
            _ => {
                let slot = Blocks::new(&mut self.slots, events).new_block(TEXT);
                events.keep(Owner::Block(slot), "type", Value::from(TOOL_PLAN));
                self.blocks.insert(Part::Plan, Open { slot, phase: Phase::Open });
                slot
            }
        };
        events.grew(slot, plan);
    }

    /// The start of a text or of thinking, or more of it.
    fn content(&mut self, index: u64, content: Raw<'_>, events: &mut Events) -> Result<(), Error> {
        let ([kind, text, thinking], others) = content.split(["type", "text", "thinking"])?;
        self.end(Part::Plan, events);
        let slot = match self.blocks.get(&Part::Content(index)) {
            Some(Open { phase: Phase::Over, .. }) => {
                let message = format!("content {index} grew, but is over");
                events.keep_unknown(Kind::OrphanDelta, message, content);
                return Ok(());
            }
            Some(open) => open.slot,
            None => {
                let opening = match kind.and_then(Raw::string).as_deref() {
                    Some("thinking") => THINKING,
                    Some("text") => TEXT,
                    Some(other) => Opening::Other { kind: other.to_owned() },
                    None if thinking.is_some() => THINKING,
                    None => TEXT,
                };
                let slot = Blocks::new(&mut self.slots, events).new_block(opening);
                self.blocks.insert(Part::Content(index), Open { slot, phase: Phase::Open });
                slot
            }
        };
        events.grew(slot, thinking.or(text));
        others.keep(Owner::Block(slot), events);
        Ok(())
    }

    fn call(&mut self, event: &str, index: u64, call: Raw<'_>, events: &mut Events) -> Result<(), Error> {
        let ([_, id, function], mut others) = call.split(["type", "id", "function"])?;
        let ([name, arguments], more) = function.unwrap_or_default().split(["name", "arguments"])?;
        others.append(more);
        let known = self.blocks.get(&Part::Call(index)).copied();
        let open = match (known, name.and_then(Raw::string)) {
            (Some(open), _) if event == "tool-call-delta" && open.phase != Phase::Over => open,
            (_, Some(name)) if event == "tool-call-start" => {
                self.end(Part::Plan, events);
                if known.is_some() {
                    events.notice(Kind::DuplicateBlock, format!("call {index} was opened a second time"));
                    self.end(Part::Call(index), events);
                    self.bare = None;
                }
                let id = id.and_then(Raw::string);
                let slot =
                    Blocks::new(&mut self.slots, events).new_call(id.as_deref(), &name, Notation::Json);
                Open { slot, phase: Phase::Bare }
            }
            _ => {
                let message = format!("a piece of call {index} came, which is not open");
                events.keep_unknown(Kind::OrphanFragment, message, call);
                return Ok(());
            }
        };
        let phase = if arguments.is_some_and(Raw::has_text) { Phase::Open } else { open.phase };
        self.blocks.insert(Part::Call(index), Open { phase, ..open });
        events.grew(open.slot, arguments);
        others.keep(Owner::Block(open.slot), events);
        Ok(())
    }

    /// Keeps a citation with the text that it is in.
    fn citation(&mut self, citation: Raw<'_>, events: &mut Events) {
        let content = citation.get("content_index").and_then(Raw::number);
        let is_in_plan = citation.get("type").and_then(Raw::string).as_deref() == Some("PLAN");
        let cited = match content {
            _ if is_in_plan => self.slot(Part::Plan),
            Some(index) => self.slot(Part::Content(index)),
            None => {
                let contents = Part::Content(0)..=Part::Content(u64::MAX);
                self.blocks.range(contents).next_back().map(|(_, open)| open.slot)
            }
        };
        let owner = cited.map_or(Owner::Message, Owner::Block);
        events.keep_pushed(owner, "citations", citation);
    }

    fn slot(&self, part: Part) -> Option<Slot> {
        self.blocks.get(&part).map(|open| open.slot)
    }

    fn end(&mut self, part: Part, events: &mut Events) {
        let Some(open) = self.blocks.get_mut(&part).filter(|open| open.phase != Phase::Over) else {
            let (Part::Content(index) | Part::Call(index)) = part else { return };
            return events.notice(Kind::OrphanDelta, format!("block {index} was closed, but is not open"));
        };
        match std::mem::replace(&mut open.phase, Phase::Over) {
            Phase::Bare => self.bare = Some(open.slot),
            Phase::Open | Phase::Over => events.closed(open.slot),
        }
    }

    fn close_bare(&mut self, events: &mut Events) {
        if let Some(slot) = self.bare.take() {
            events.closed(slot);
        }
    }

    /// Ends the message; `others` has what was said with its end.
    fn message_end(&mut self, mut others: Others<'_>, data: Raw<'_>, events: &mut Events) {
        let (reason, usage) = (others.take_string("finish_reason"), others.take("usage"));
        let is_text = others.get("error").is_some_and(|error| error.string_body().is_some());
        let error = if is_text { others.take_string("error") } else { None };
        others.keep(Owner::Message, events);
        if let Some(usage) = usage {
            count(usage, events);
        }
        // An error may come with any reason, and the reason may be all that is said of it.
        if error.is_some() || reason.as_deref() == Some("ERROR") {
            let raw = events.value("error", data);
            failed(reason, error, raw, events);
            self.state = State::After;
            return;
        }
        events.stopped(reason, stop_reason, "the message ended without a finish reason");
        self.close_bare(events);
        self.end(Part::Plan, events);
        let mut open = BTreeSet::new();
        open.extend(self.blocks.values().filter(|open| open.phase != Phase::Over).map(|open| open.slot));
        for slot in open {
            events.notice(Kind::UnclosedBlock, format!("block {slot} was open when the message ended"));
            events.closed(slot);
        }
        events.push(Event::Ended);
        self.state = State::After;
    }

    /// Reads a whole reply.
    fn whole<'a>(
        &mut self,
        id: Option<String>,
        message: Raw<'a>,
        mut others: Others<'a>,
        data: Raw<'_>,
        events: &mut Events,
    ) -> Result<(), Error> {
        let ([role, plan, content, calls, citations], more) =
            message.split(["role", TOOL_PLAN, "content", "tool_calls", "citations"])?;
        others.append(more);
        *self = Self { state: State::Within, id: id.clone(), ..Self::default() };
        events.started(Start { id, model: None, role: role.and_then(Raw::owned_string) });
        if let Some(plan) = plan {
            self.plan(plan, events);
        }
        let (mut faults, mut index) = (Faults::default(), 0);
        faults.each("`content`", content, |content| {
            let read = self.content(index, content, events);
            self.end(Part::Content(index), events);
            index += 1;
            read
        });
        index = 0;
        faults.each("`tool_calls`", calls, |call| {
            self.close_bare(events);
            let read = self.call("tool-call-start", index, call, events);
            if self.slot(Part::Call(index)).is_some() {
                self.end(Part::Call(index), events);
            }
            index += 1;
            read
        });
        faults.each("`citations`", citations, |citation| {
            self.citation(citation, events);
            Ok(())
        });
        self.message_end(others, data, events);
        faults.result()
    }
}

fn count(usage: Raw<'_>, events: &mut Events) {
    let tokens = usage.get("tokens").unwrap_or_default();
    let number = |of: Raw<'_>, key| of.get(key).and_then(Raw::number);
    let counts = Usage {
        input: number(tokens, "input_tokens"),
        output: number(tokens, "output_tokens"),
        cache_read: number(usage, "cached_tokens"),
        cache_write: None,
        reasoning: number(tokens, "reasoning_tokens"),
    };
    events.counted(counts, usage);
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "COMPLETE" => StopReason::End,
        "STOP_SEQUENCE" => StopReason::StopSequence,
        "MAX_TOKENS" => StopReason::Length,
        "TOOL_CALL" => StopReason::Tool,
        _ => StopReason::Other,
    }
}
