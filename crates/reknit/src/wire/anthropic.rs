//! Anthropic's Messages: server-sent events whose `data` has a `type`.
//!
//! Blocks are addressed by `index`, which may have gaps, come out of order or be used twice. A block may be
//! complete in its start event. Usage is cumulative. Only `message_stop` completes a message.

use std::borrow::Cow;

use super::blocks::{TEXT, THINKING, native_call};
use super::events::Events;
use super::failure::fail;
use super::fields::{Error, Raw};
use super::numbered_blocks::{Arguments, Numbered, Open};
use super::other_members::Others;
use super::{DONE, State, Translate};
use crate::diagnostic::Kind;
use crate::event::{CallId, Event, Keep, Opening, Owner, Runner, Slot, Start, Stop, StopReason, Usage};
use crate::frame::Frame;
use crate::json::{Object, Value};

mod native;
mod request;

pub(super) use native::Native;
pub(super) use request::FORM;

pub(super) fn claims(frame: &Frame<'_>) -> bool {
    let data = Raw::new(frame.data);
    match data.get("type").and_then(Raw::string).as_deref() {
        Some(
            "message_start"
            | "message_delta"
            | "message_stop"
            | "content_block_start"
            | "content_block_delta"
            | "content_block_stop"
            | "ping",
        ) => true,
        Some("message") => data.get("content").is_some(),
        Some("error") => data.get("error").is_some(),
        _ => false,
    }
}

/// A block that says that another model continues, because the first refused or failed.
const FALLBACK: &str = "fallback";

#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    state: State,
    id: Option<String>,
    blocks: Numbered,
    stopped: bool,
}

impl Translate for Fold {
    fn read(&mut self, frame: &Frame<'_>, events: &mut Events) -> Result<(), Error> {
        // Gateways that serve several dialects also end this one with OpenAI's last frame.
        if frame.data == DONE {
            return Ok(());
        }
        let data = Raw::new(frame.data);
        let ([kind, index, message, block, delta, usage, error], others) =
            data.split(["type", "index", "message", "content_block", "delta", "usage", "error"])?;
        let untyped = if error.is_some() { "error" } else { frame.event };
        let kind = kind.and_then(Raw::string).unwrap_or(untyped.into());
        let index = index.and_then(Raw::number).unwrap_or(0);
        let delta = delta.unwrap_or_default();
        let mut owner = Owner::Message;
        match &*kind {
            "message_start" => self.start(message.unwrap_or_default(), events),
            "content_block_start" => {
                self.go_on(events);
                owner = Owner::Block(self.open(index, block.unwrap_or_default(), events));
            }
            "content_block_delta" => {
                self.go_on(events);
                owner = Owner::Block(self.delta(index, delta, events));
            }
            "content_block_stop" => {
                self.go_on(events);
                self.blocks.end(index, events);
            }
            "message_delta" => {
                self.state.begin("message", events);
                self.message_delta(delta, usage, events);
            }
            "message_stop" => {
                self.state.begin("message", events);
                self.stop(events);
            }
            "ping" => events.push(Event::Ping),
            "error" => {
                fail(error.unwrap_or_default(), &["type"], frame, events);
                self.state = State::After;
                return Ok(());
            }
            "message" => {
                self.start(data, events);
                self.stop(events);
                return Ok(());
            }
            unknown => {
                let message = format!("unknown event `{unknown}`");
                events.keep_unknown(Kind::UnknownEvent, message, data);
                return Ok(());
            }
        }
        others.keep(owner, events);
        Ok(())
    }

    fn repeats(&self) -> bool {
        true
    }
}

impl Fold {
    /// `message_start`, or a whole message.
    fn start(&mut self, message: Raw<'_>, events: &mut Events) {
        // Anything but an object has nothing to keep.
        let ([_, id, model, role, content, usage, reason], others, _) =
            message.split_leniently(["type", "id", "model", "role", "content", "usage", "stop_reason"]);
        let [id, model, role, reason] = [id, model, role, reason].map(|word| word?.owned_string());
        let start = Start { id, model, role };
        if self.state != State::Before && start.id.is_some() && start.id == self.id {
            return events.notice(Kind::DuplicateStart, "the message was started again");
        }
        *self = Self { state: State::Within, id: start.id.clone(), ..Self::default() };
        events.started(start);
        others.keep(Owner::Message, events);
        count(usage, events);
        let mut index = 0;
        let _ = content.unwrap_or(Raw::new("[]")).elements(|block| {
            self.blocks.close_bare(events);
            self.open(index, block, events);
            self.blocks.end(index, events);
            index += 1;
        });
        self.reason(reason, events);
    }

    fn go_on(&mut self, events: &mut Events) {
        self.state.begin("message", events);
        self.blocks.close_bare(events);
    }

    fn open(&mut self, index: u64, block: Raw<'_>, events: &mut Events) -> Slot {
        let ([kind], mut others, _) = block.split_leniently(["type"]);
        let kind = kind.and_then(Raw::string).unwrap_or_default();
        let mut open = |opening, open, events: &mut Events| self.blocks.open(index, opening, open, events);
        let slot = match &*kind {
            "text" => {
                let slot = open(TEXT, Open::Text, events);
                events.grew(slot, others.take("text"));
                // A block that may get citations starts with an empty list.
                if others.get("citations").is_some_and(|list| list.text() == "[]") {
                    others.take("citations");
                }
                slot
            }
            "thinking" => {
                let slot = open(THINKING, Open::Thinking, events);
                events.grew(slot, others.take("thinking"));
                events.signed(slot, others.take("signature"));
                slot
            }
            "redacted_thinking" => {
                let redacted = others.take_string("data");
                open(Opening::Thinking { redacted }, Open::Thinking, events)
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                let runner = if kind == "tool_use" { Runner::Client } else { Runner::Provider };
                let id = CallId::Given(others.take_string("id").unwrap_or_default());
                let name = others.take_string("name").unwrap_or_default();
                // An empty input is a placeholder for what deltas bring.
                let input =
                    others.take("input").map(Raw::text).filter(|input| !matches!(*input, "{}" | r#""""#));
                let arguments = Arguments::Start(input.unwrap_or_default().to_owned());
                open(native_call(id, name, runner), Open::Call(arguments), events)
            }
            result if result.ends_with("tool_result") => {
                let call_id = others.take_string("tool_use_id");
                open(Opening::ToolResult { kind: result.to_owned(), call_id }, Open::Whole, events)
            }
            other => open(Opening::Other { kind: other.to_owned() }, Open::Whole, events),
        };
        if kind == FALLBACK
            && let Some(to) = others.get("to")
            && let Some(model) = to.get("model").and_then(Raw::owned_string)
        {
            events.push(Event::Switched { model: model.into() });
        }
        others.keep(Owner::Block(slot), events);
        slot
    }

    /// Returns the block that the delta is for.
    fn delta(&mut self, index: u64, delta: Raw<'_>, events: &mut Events) -> Slot {
        // The block grows by the text, under any of its names.
        let (mut kind, mut text, mut others) = (Cow::Borrowed(""), None, Others::default());
        let _ = delta.members(|key, value| match key {
            "type" => kind = value.string().unwrap_or_default(),
            "text" | "partial_json" | "thinking" | "signature" | "citation" => text = Some(value),
            _ if value.is_null() => {}
            _ => others.add(key.to_owned().into(), value),
        });
        let slot = match self.blocks.slot(index) {
            Some(slot) => slot,
            None => self.open_by_delta(index, &kind, events),
        };
        match (&*kind, self.blocks.get(index), text) {
            ("text_delta", Some(Open::Text), Some(text))
            | ("thinking_delta", Some(Open::Thinking), Some(text)) => {
                events.grew(slot, text);
            }
            ("signature_delta", Some(Open::Thinking), Some(text)) => events.signed(slot, text),
            ("input_json_delta", Some(Open::Call(arguments)), Some(text)) => {
                // Many calls start with an empty delta, and one without arguments has no other.
                if text.has_text() {
                    *arguments = Arguments::Deltas;
                }
                events.grew(slot, text);
            }
            (
                "input_json_delta" | "text_delta" | "thinking_delta" | "signature_delta",
                Some(Open::Whole),
                Some(text),
            ) => {
                let key = match &*kind {
                    "text_delta" => "text",
                    "thinking_delta" => "thinking",
                    "signature_delta" => "signature",
                    _ => "input",
                };
                let keep = Keep::Grow(text.owned_string().unwrap_or_default().into());
                events.push(Event::Kept { owner: Owner::Block(slot), key: key.into(), keep });
            }
            ("citations_delta", Some(_), Some(citation)) => {
                events.keep_pushed(Owner::Block(slot), "citations", citation);
            }
            // An unknown kind of delta: its fields replace those of the block.
            (_, Some(Open::Whole), _) => {
                let _ = events.keep_others(Owner::Block(slot), delta, &["type"]);
                return slot;
            }
            (_, Some(_), _) => {
                let message = format!("delta `{kind}` does not fit block {index}");
                events.keep_unknown(Kind::UnknownEvent, message, delta);
                return slot;
            }
            (_, None, _) => {
                let message = format!("delta `{kind}` came for block {index}, which is closed");
                events.keep_unknown(Kind::OrphanDelta, message, delta);
                return slot;
            }
        }
        others.keep(Owner::Block(slot), events);
        slot
    }

    /// Opens a block that was never started, as the kind that the delta implies.
    fn open_by_delta(&mut self, index: u64, kind: &str, events: &mut Events) -> Slot {
        events.notice(
            Kind::OrphanDelta,
            format!("delta `{kind}` came for block {index}, which was not started"),
        );
        let block = format!(r#"{{"type":"{}"}}"#, block_of(kind));
        self.open(index, Raw::new(&block), events)
    }

    fn message_delta(&mut self, delta: Raw<'_>, usage: Option<Raw<'_>>, events: &mut Events) {
        let ([reason], others, _) = delta.split_leniently(["stop_reason"]);
        others.keep(Owner::Message, events);
        count(usage, events);
        self.reason(reason.and_then(Raw::owned_string), events);
    }

    fn stop(&mut self, events: &mut Events) {
        self.blocks.end_all(events);
        if self.state == State::Within && !self.stopped {
            events.notice(Kind::NoStopReason, "the message ended without a stop reason");
        }
        events.push(Event::Ended);
        self.state = State::After;
    }

    fn reason(&mut self, reason: Option<String>, events: &mut Events) {
        if let Some(detail) = reason {
            self.stopped = true;
            let stop = Stop { reason: stop_reason(&detail), detail };
            events.push(Event::Stopped { choice: 0, stop });
            self.blocks.close_bare(events);
        }
    }
}

/// Takes the counts of a usage object; counts that are missing or null stay as they are.
fn count(usage: Option<Raw<'_>>, events: &mut Events) {
    let (mut counts, mut members) = (Usage::default(), Object::new());
    let _ = usage.unwrap_or_default().members(|key, value| {
        match key {
            "input_tokens" => counts.input = value.number(),
            "output_tokens" => counts.output = value.number(),
            "cache_read_input_tokens" => counts.cache_read = value.number(),
            "cache_creation_input_tokens" => counts.cache_write = value.number(),
            "output_tokens_details" => {
                counts.reasoning = value.get("thinking_tokens").and_then(Raw::number);
            }
            _ => {}
        }
        if !value.is_null() {
            members.insert(key, events.value(key, value));
        }
    });
    if !members.is_empty() {
        events.push(Event::Usage(counts));
        let keep = Keep::Merge(Value::Object(members));
        events.push(Event::Kept { owner: Owner::Message, key: "usage".into(), keep });
    }
}

/// The type of the block that a delta belongs to.
fn block_of(delta: &str) -> &'static str {
    match delta {
        "text_delta" => "text",
        "thinking_delta" | "signature_delta" => "thinking",
        _ => "unstarted",
    }
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "end_turn" => StopReason::End,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "tool_use" => StopReason::Tool,
        "stop_sequence" => StopReason::StopSequence,
        "refusal" => StopReason::Refusal,
        "pause_turn" | "compaction" => StopReason::Pause,
        _ => StopReason::Other,
    }
}
