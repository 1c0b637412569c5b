//! Google's Interactions: server-sent events whose `data` has an `event_type`.
//!
//! An interaction consists of steps, addressed by `index`: thoughts, the model's output, calls of the client or of
//! the provider, and results. A step of output can have texts and media. Only `interaction.completed` completes
//! an interaction; its status says why it ended.

use std::collections::BTreeMap;

use super::blocks::{Blocks, TEXT, THINKING, native_call};
use super::events::Events;
use super::failure::{fail, failed};
use super::fields::{Error, Faults, Raw};
use super::seen_members::Seen;
use super::{DONE, State, Translate};
use crate::diagnostic::Kind;
use crate::event::{Event, Keep, Opening, Owner, Runner, Slot, Start, StopReason, Usage};
use crate::frame::Frame;

pub(super) fn claims(frame: &Frame<'_>) -> bool {
    let members = Raw::new(frame.data).split(["event_type", "error", "object", "steps"]);
    let Ok(([kind, error, object, steps], _)) = members else { return false };
    let begins =
        |value: Option<Raw<'_>>, bracket| value.is_some_and(|value| value.text().starts_with(bracket));
    match kind.and_then(Raw::string).as_deref() {
        Some("error") => begins(error, '{'),
        Some(kind) => kind.starts_with("interaction.") || kind.starts_with("step."),
        None => object.and_then(Raw::string).as_deref() == Some("interaction") && begins(steps, '['),
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    state: State,
    id: Option<String>,
    steps: BTreeMap<u64, Step>,
    slots: u32,
    seen: Seen,
}

/// A step that is not over.
#[derive(Clone, Debug)]
enum Step {
    Thought(Slot),
    /// The blocks of the output so far, the last of which may be open.
    Output(Option<(Part, Slot)>),
    /// A call, and its arguments if they came with its start; those of deltas replace them.
    Call(Slot, Option<String>),
    /// A result or something else, whose fields are kept.
    Whole(Slot),
    Over,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text,
    /// An image, sound or other media, by its type.
    Media(String),
}

impl Translate for Fold {
    fn read(&mut self, frame: &Frame<'_>, events: &mut Events) -> Result<(), Error> {
        if frame.data == DONE {
            return Ok(());
        }
        let data = Raw::new(frame.data);
        let ([kind, index, step, delta, interaction, error, event_id], others) =
            data.split(["event_type", "index", "step", "delta", "interaction", "error", "event_id"])?;
        // A stream can be resumed after each event; only a client that is connected can use that.
        event_id.into_iter().for_each(|id| events.ignore(id));
        let untyped = match () {
            () if error.is_some() => "error",
            () if others.get("steps").is_some() => "whole",
            () => frame.event,
        };
        let kind = kind.and_then(Raw::string).unwrap_or(untyped.into());
        let index = index.and_then(Raw::number).unwrap_or(0);
        let [step, delta, interaction] = [step, delta, interaction].map(Option::unwrap_or_default);
        let mut faults = Faults::default();
        match &*kind {
            "interaction.created" => faults.note("`interaction`", self.start(interaction, events)),
            "interaction.completed" => {
                self.state.begin("interaction", events);
                faults.note("`interaction`", self.complete(interaction, frame, events));
            }
            // The status of an interaction that goes on; its end has an event of its own.
            "interaction.status_update" => events.push(Event::Ping),
            "step.start" => {
                self.state.begin("interaction", events);
                faults.note("`step`", self.open(index, step, events));
            }
            "step.delta" => {
                self.state.begin("interaction", events);
                faults.note("`delta`", self.delta(index, delta, events));
            }
            "step.stop" => {
                self.state.begin("interaction", events);
                self.end_step(index, events);
                if let Some(usage) = others.get("step_usage") {
                    events.keep_pushed(Owner::Message, "step_usage", usage);
                }
            }
            "whole" => {
                faults.note("the interaction", self.start(data, events));
                faults.note("the interaction", self.complete(data, frame, events));
            }
            "error" => {
                fail(error.unwrap_or_default(), &["code", "status"], frame, events);
                self.state = State::After;
            }
            unknown => {
                let message = format!("unknown event `{unknown}`");
                events.keep_unknown(Kind::UnknownEvent, message, data);
            }
        }
        let total = others.get("metadata").and_then(|metadata| metadata.get("total_usage"));
        let usage = total.or_else(|| others.get("usage"));
        if let Some(usage) = usage.filter(|_| kind.starts_with("step.")) {
            count(usage, events);
        }
        faults.result()
    }

    fn repeats(&self) -> bool {
        true
    }
}

impl Fold {
    fn start(&mut self, interaction: Raw<'_>, events: &mut Events) -> Result<(), Error> {
        let ([id, model, agent, ..], others, read) =
            interaction.split_leniently(["id", "model", "agent", "object", "status", "steps", "usage"]);
        let [id, model, agent] = [id, model, agent].map(|word| word?.owned_string());
        if self.state != State::Before && id.is_some() && id == self.id {
            events.notice(Kind::DuplicateStart, "the interaction was started again");
            return read;
        }
        *self = Self { state: State::Within, id: id.clone(), ..Self::default() };
        events.started(Start { id, model: model.or(agent), role: Some("model".to_owned()) });
        others.keep_new(Owner::Message, &mut self.seen, events);
        read
    }

    fn open(&mut self, index: u64, step: Raw<'_>, events: &mut Events) -> Result<(), Error> {
        if self.steps.contains_key(&index) {
            events.notice(Kind::DuplicateBlock, format!("step {index} was opened a second time"));
            self.end_step(index, events);
        }
        let ([kind], mut others) = step.split(["type"])?;
        let kind = kind.and_then(Raw::string).unwrap_or_default();
        let mut faults = Faults::default();
        let (step, slot) = match &*kind {
            "thought" => {
                let slot = Blocks::new(&mut self.slots, events).new_block(THINKING);
                faults.each("`summary`", others.take("summary"), |part| {
                    events.grew(slot, part.get("text"));
                    Ok(())
                });
                events.signed(slot, others.take("signature"));
                (Step::Thought(slot), Some(slot))
            }
            "model_output" => {
                self.steps.insert(index, Step::Output(None));
                let content = others.take("content");
                faults.each("`content`", content, |part| self.delta(index, part, events));
                if let Some(error) = others.take("error") {
                    events.keep(Owner::Message, "error", error);
                }
                let Some(open) = self.steps.remove(&index) else { return faults.result() };
                let slot = if let Step::Output(Some((_, slot))) = open { Some(slot) } else { None };
                (open, slot)
            }
            call if call.ends_with("_call") => {
                let mut blocks = Blocks::new(&mut self.slots, events);
                let id = blocks.call_id(others.take_string("id"));
                let runner = if call == "function_call" { Runner::Client } else { Runner::Provider };
                let name = others.take_string("name");
                let name = name.unwrap_or_else(|| call.trim_end_matches("_call").to_owned());
                let slot = blocks.new_block(native_call(id, name, runner));
                let arguments =
                    others.take("arguments").map(Raw::text).filter(|arguments| *arguments != "{}");
                (Step::Call(slot, arguments.map(str::to_owned)), Some(slot))
            }
            result if result.ends_with("_result") => {
                let call_id = others.take_string("call_id");
                let opening = Opening::ToolResult { kind: result.to_owned(), call_id };
                let slot = Blocks::new(&mut self.slots, events).new_block(opening);
                (Step::Whole(slot), Some(slot))
            }
            other => {
                let slot =
                    Blocks::new(&mut self.slots, events).new_block(Opening::Other { kind: other.to_owned() });
                (Step::Whole(slot), Some(slot))
            }
        };
        others.keep(slot.map_or(Owner::Message, Owner::Block), events);
        self.steps.insert(index, step);
        faults.result()
    }

    fn delta(&mut self, index: u64, delta: Raw<'_>, events: &mut Events) -> Result<(), Error> {
        let ([kind], mut others) = delta.split(["type"])?;
        let kind = kind.and_then(Raw::string).unwrap_or_default();
        let mut blocks = Blocks::new(&mut self.slots, events);
        let slot = match (self.steps.get_mut(&index), &*kind) {
            (Some(Step::Thought(slot)), "thought_summary") => {
                events.grew(*slot, others.take("content").and_then(|content| content.get("text")));
                *slot
            }
            (Some(Step::Thought(slot)), "thought_signature") => {
                events.signed(*slot, others.take("signature"));
                *slot
            }
            (Some(Step::Output(open)), "text") => {
                let slot = part(open, Part::Text, &mut blocks);
                events.grew(slot, others.take("text"));
                slot
            }
            (Some(Step::Output(open)), "text_annotation_delta") => {
                let slot = part(open, Part::Text, &mut blocks);
                let annotations = others.take("annotations").unwrap_or(Raw::new("[]"));
                annotations.elements(|value| events.keep_pushed(Owner::Block(slot), "annotations", value))?;
                slot
            }
            (Some(Step::Output(open)), media) => {
                let slot = part(open, Part::Media(media.to_owned()), &mut blocks);
                // Media come in pieces, and each is a part of the same Base64 text.
                if let Some(data) = others.take("data") {
                    let piece = data.owned_string().unwrap_or_default();
                    let keep = Keep::Grow(piece.into());
                    events.push(Event::Kept { owner: Owner::Block(slot), key: "data".into(), keep });
                }
                slot
            }
            (Some(Step::Call(slot, started)), _) => {
                if let Some(arguments) = others.take("arguments") {
                    *started = None;
                    events.grew_arguments(*slot, arguments);
                }
                *slot
            }
            (Some(Step::Whole(slot)), _) => *slot,
            (None, "text" | "thought_summary" | "thought_signature") => {
                let message = format!("delta `{kind}` came for step {index}, which was not started");
                events.notice(Kind::OrphanDelta, message);
                let step = if kind == "text" { "model_output" } else { "thought" };
                self.open(index, Raw::new(&format!(r#"{{"type":"{step}"}}"#)), events)?;
                return self.delta(index, delta, events);
            }
            (Some(Step::Thought(_)), _) => {
                let message = format!("delta `{kind}` does not fit step {index}");
                events.keep_unknown(Kind::UnknownEvent, message, delta);
                return Ok(());
            }
            (Some(Step::Over) | None, _) => {
                let message = format!("delta `{kind}` came for step {index}, which is not open");
                events.keep_unknown(Kind::OrphanDelta, message, delta);
                return Ok(());
            }
        };
        others.keep(Owner::Block(slot), events);
        Ok(())
    }

    fn end_step(&mut self, index: u64, events: &mut Events) {
        let Some(step) = self.steps.get_mut(&index) else {
            return events.notice(Kind::OrphanDelta, format!("step {index} was closed, but is not open"));
        };
        match std::mem::replace(step, Step::Over) {
            Step::Thought(slot) | Step::Whole(slot) | Step::Output(Some((_, slot))) => events.closed(slot),
            Step::Call(slot, arguments) => {
                arguments.into_iter().for_each(|arguments| events.grew_plain(slot, &arguments));
                events.closed(slot);
            }
            Step::Output(None) | Step::Over => {}
        }
    }

    fn complete(
        &mut self,
        interaction: Raw<'_>,
        frame: &Frame<'_>,
        events: &mut Events,
    ) -> Result<(), Error> {
        let ([status, usage, steps, error, ..], others, read) = interaction
            .split_leniently(["status", "usage", "steps", "error", "id", "model", "object", "agent"]);
        let status = status.and_then(Raw::owned_string);
        let mut faults = Faults::default();
        faults.note("`interaction`", read);
        // A whole interaction, or one that repeats what was streamed.
        if let Some(steps) = steps.filter(|_| self.steps.is_empty()) {
            let mut index = 0;
            faults.each("`steps`", Some(steps), |step| {
                let mut read = Ok(());
                // What the user said is no part of the reply.
                if step.get("type").and_then(Raw::string).as_deref() != Some("user_input") {
                    read = self.open(index, step, events);
                    self.end_step(index, events);
                }
                index += 1;
                read
            });
        }
        others.keep_new(Owner::Message, &mut self.seen, events);
        if let Some(usage) = usage {
            count(usage, events);
        }
        if status.as_deref() == Some("failed") {
            let message = error.and_then(|error| error.get("message")).and_then(Raw::owned_string);
            let raw = events.value("error", Raw::new(frame.data));
            failed(status, message, raw, events);
            self.state = State::After;
            return faults.result();
        }
        events.stopped(status, stop_reason, "the interaction ended without a status");
        let open = self.steps.iter().filter(|(_, step)| !matches!(step, Step::Over));
        let open: Vec<_> = open.map(|(index, _)| *index).collect();
        for index in open {
            events.notice(Kind::UnclosedBlock, format!("step {index} was open when the interaction ended"));
            self.end_step(index, events);
        }
        events.push(Event::Ended);
        self.state = State::After;
        faults.result()
    }
}

/// The block of a part of the output. Another part begins where the one before ends.
fn part(open: &mut Option<(Part, Slot)>, wanted: Part, blocks: &mut Blocks<'_>) -> Slot {
    match open {
        Some((part, slot)) if *part == wanted => *slot,
        _ => {
            if let Some((_, before)) = open.take() {
                blocks.events.closed(before);
            }
            let opening = match &wanted {
                Part::Text => TEXT,
                Part::Media(kind) => Opening::Other { kind: kind.clone() },
            };
            let slot = blocks.new_block(opening);
            *open = Some((wanted, slot));
            slot
        }
    }
}

fn count(usage: Raw<'_>, events: &mut Events) {
    let number = |key| usage.get(key).and_then(Raw::number);
    let counts = Usage {
        input: number("total_input_tokens"),
        output: number("total_output_tokens"),
        cache_read: number("total_cached_tokens"),
        cache_write: None,
        reasoning: number("total_thought_tokens"),
    };
    events.counted(counts, usage);
}

fn stop_reason(status: &str) -> StopReason {
    match status {
        "completed" => StopReason::End,
        "requires_action" => StopReason::Tool,
        "incomplete" | "budget_exceeded" => StopReason::Length,
        "requires_continuation" => StopReason::Pause,
        _ => StopReason::Other,
    }
}
