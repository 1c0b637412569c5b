//! Amazon Bedrock's Converse: messages of an AWS event stream, each with the name of its event.
//!
//! Gateways and tests also send each message as JSON, as the only member of an object: `{"messageStop":{…}}`.
//! Blocks are addressed by `contentBlockIndex`; only those of calls, results and images have a start. Only
//! `messageStop` completes a message; the `metadata` with its usage comes before or after it.

use std::borrow::Cow;

use super::blocks::{TEXT, THINKING, native_call};
use super::events::Events;
use super::failure::failed;
use super::fields::{Error, Faults, Raw};
use super::numbered_blocks::{Arguments, Numbered, Open};
use super::other_members::Others;
use super::{State, Translate};
use crate::diagnostic::Kind;
use crate::event::{CallId, Event, Keep, Opening, Owner, Runner, Slot, Start, StopReason, Usage};
use crate::frame::{self, Frame};

mod native;
mod request;
mod whole;

pub(super) use native::Native;
pub(super) use request::FORM;

/// The events, except for exceptions.
const EVENTS: [&str; 6] =
    ["messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", METADATA];
const METADATA: &str = "metadata";

/// The suffix of the names of errors.
const EXCEPTION: &str = "Exception";

/// The type of a call that the provider runs.
const SERVER_CALL: &str = "server_tool_use";

pub(super) fn claims(frame: &Frame<'_>) -> bool {
    // No other dialect has such frames.
    if frame.kind == frame::Kind::Error {
        return true;
    }
    let data = Raw::new(frame.data);
    match Said::read(frame) {
        Ok(Said::Event { name, payload, .. }) if name == METADATA => {
            payload.get("usage").and_then(|usage| usage.get("inputTokens")).is_some()
        }
        Ok(Said::Event { payload, .. }) => payload.text().starts_with('{'),
        Ok(Said::Whole) => data.get("stopReason").is_some(),
        Ok(Said::Failure | Said::Unknown) | Err(_) => false,
    }
}

/// What a frame says.
enum Said<'a> {
    Event {
        name: Cow<'a, str>,
        payload: Raw<'a>,
        /// The other members of the object that the event is a member of.
        others: Others<'a>,
    },
    /// A whole reply, of `Converse` without a stream.
    Whole,
    /// An error in place of a reply.
    Failure,
    Unknown,
}

impl<'a> Said<'a> {
    fn read(frame: &Frame<'a>) -> Result<Self, Error> {
        let data = Raw::new(frame.data);
        if is_event(frame.event) {
            let name = Cow::Borrowed(frame.event);
            return Ok(Self::Event { name, payload: data, others: Others::default() });
        }
        let (mut event, mut others) = (None, Others::default());
        let (mut has_output, mut has_message) = (false, false);
        data.members(|key, value| {
            if is_event(key) && value.text().starts_with('{') {
                event = Some((key.to_owned(), value));
                return;
            }
            has_output |= key == "output" && value.get("message").is_some();
            has_message |= key.eq_ignore_ascii_case("message") && value.string_body().is_some();
            if key != PADDING {
                others.add(key.to_owned().into(), value);
            }
        })?;
        Ok(match event {
            Some((name, payload)) => Self::Event { name: name.into(), payload, others },
            None if has_output => Self::Whole,
            None if has_message => Self::Failure,
            None => Self::Unknown,
        })
    }
}

fn is_event(name: &str) -> bool {
    EVENTS.contains(&name) || name.ends_with(EXCEPTION)
}

#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    state: State,
    blocks: Numbered,
}

impl Translate for Fold {
    fn read(&mut self, frame: &Frame<'_>, events: &mut Events) -> Result<(), Error> {
        if frame.kind == frame::Kind::Error {
            self.fail(frame.event, Raw::new(frame.data), events);
            return Ok(());
        }
        match Said::read(frame)? {
            Said::Event { name, payload, others } => {
                let read = self.event(&name, payload, events);
                others.keep(Owner::Message, events);
                read
            }
            Said::Whole => self.whole(Raw::new(frame.data), events),
            Said::Failure => {
                self.fail("", Raw::new(frame.data), events);
                Ok(())
            }
            Said::Unknown => {
                let message = match frame.event {
                    "" => "unknown event".to_owned(),
                    name => format!("unknown event `{name}`"),
                };
                events.keep_unknown(Kind::UnknownEvent, message, Raw::new(frame.data));
                Ok(())
            }
        }
    }

    fn repeats(&self) -> bool {
        true
    }
}

/// A string of random length in every event, so that the length of the message does not give away its text.
const PADDING: &str = "p";

impl Fold {
    fn event(&mut self, name: &str, payload: Raw<'_>, events: &mut Events) -> Result<(), Error> {
        let ([index, start, delta, role, reason, usage, padding], others) =
            payload.split(["contentBlockIndex", "start", "delta", "role", "stopReason", "usage", PADDING])?;
        padding.into_iter().for_each(|padding| events.ignore(padding));
        let index = index.and_then(Raw::number).unwrap_or(0);
        if name.ends_with(EXCEPTION) {
            self.fail(name, payload, events);
            return Ok(());
        }
        if name == "messageStart" {
            *self = Self { state: State::Within, ..Self::default() };
            events.started(Start { id: None, model: None, role: role.and_then(Raw::owned_string) });
        }
        self.state.begin("message", events);
        let mut faults = Faults::default();
        let is_of_block = name.starts_with("contentBlock");
        if is_of_block {
            self.blocks.close_bare(events);
        }
        match name {
            "contentBlockStart" => {
                faults.note("`start`", self.start(index, start.unwrap_or_default(), events));
            }
            "contentBlockDelta" => {
                faults.note("`delta`", self.delta(index, delta.unwrap_or_default(), events));
            }
            "contentBlockStop" => self.blocks.end(index, events),
            _ => {}
        }
        let owner = match self.blocks.slot(index) {
            Some(slot) if is_of_block => Owner::Block(slot),
            _ => Owner::Message,
        };
        others.keep(owner, events);
        if let Some(usage) = usage {
            count(usage, events);
        }
        if name == "messageStop" {
            self.stop(reason.and_then(Raw::owned_string), events);
        }
        faults.result()
    }

    /// Opens a block with what its start says about it. That of a text says nothing, so its first delta opens it.
    fn start(&mut self, index: u64, start: Raw<'_>, events: &mut Events) -> Result<(), Error> {
        let mut faults = Faults::default();
        start.members(|kind, block| {
            let ([], mut others, read) = block.split_leniently([]);
            faults.note("`start`", read);
            let mut input = None;
            let (opening, open) = match kind {
                "toolUse" => {
                    let [id, subtype, name] =
                        ["toolUseId", "type", "name"].map(|key| others.take_string(key));
                    input = others.take("input");
                    let id = CallId::Given(id.unwrap_or_default());
                    let is_the_providers = subtype.as_deref() == Some(SERVER_CALL);
                    let runner = if is_the_providers { Runner::Provider } else { Runner::Client };
                    let arguments = match input {
                        Some(_) => Arguments::Deltas,
                        None => Arguments::Start(String::new()),
                    };
                    (native_call(id, name.unwrap_or_default(), runner), Open::Call(arguments))
                }
                "toolResult" => {
                    let [call_id, subtype] = ["toolUseId", "type"].map(|key| others.take_string(key));
                    let kind = subtype.unwrap_or_else(|| kind.to_owned());
                    (Opening::ToolResult { kind, call_id }, Open::Whole)
                }
                _ => (Opening::Other { kind: kind.to_owned() }, Open::Whole),
            };
            let slot = self.blocks.open(index, opening, open, events);
            if let Some(input) = input {
                events.grew_plain(slot, input.text());
            }
            others.keep(Owner::Block(slot), events);
        })?;
        faults.result()
    }

    fn delta(&mut self, index: u64, delta: Raw<'_>, events: &mut Events) -> Result<(), Error> {
        let mut faults = Faults::default();
        delta.fields(|key, value| {
            let read = match key {
                "text" => {
                    self.grow(index, key, Open::Text, value, events);
                    Ok(())
                }
                "reasoningContent" => self.thinking(index, value, events),
                "toolUse" => value.members(|key, value| match key {
                    "input" => self.arguments(index, value, events),
                    _ => self.keep(index, key, value, events),
                }),
                "toolResult" => value.elements(|part| self.append(index, key, "content", part, events)),
                "citation" => {
                    self.append(index, key, "citations", value, events);
                    Ok(())
                }
                "image" => self.image(index, value, events),
                _ => {
                    self.append(index, key, key, value, events);
                    Ok(())
                }
            };
            faults.note("`delta`", read);
        })?;
        faults.result()
    }

    fn thinking(&mut self, index: u64, content: Raw<'_>, events: &mut Events) -> Result<(), Error> {
        content.fields(|key, value| match key {
            "text" => self.grow(index, key, Open::Thinking, value, events),
            "signature" => {
                if let Some(slot) = self.block_for(index, key, Open::Thinking, value, events) {
                    events.signed(slot, value);
                }
            }
            "redactedContent" if self.blocks.slot(index).is_none() => {
                let opening = Opening::Thinking { redacted: value.owned_string() };
                self.blocks.open(index, opening, Open::Thinking, events);
            }
            _ => self.keep(index, key, value, events),
        })
    }

    /// Keeps more of an image. Its bytes are encoded in Base64, so pieces of them cannot just be joined.
    fn image(&mut self, index: u64, image: Raw<'_>, events: &mut Events) -> Result<(), Error> {
        let has_some = self.blocks.get(index) == Some(&mut Open::Image);
        let kind = if has_some { Open::Image } else { Open::Whole };
        let Some(slot) = self.block_for(index, "image", kind, image, events) else { return Ok(()) };
        self.blocks.get(index).into_iter().for_each(|open| *open = Open::Image);
        image.members(|key, value| {
            if has_some {
                events.keep_pushed(Owner::Block(slot), key, value);
            } else {
                events.keep(Owner::Block(slot), key, value);
            }
        })
    }

    fn grow(&mut self, index: u64, delta: &str, kind: Open, text: Raw<'_>, events: &mut Events) {
        // A block that only has an empty delta is empty, but it is there.
        if let Some(slot) = self.block_for(index, delta, kind, text, events) {
            events.grew(slot, text);
        }
    }

    fn arguments(&mut self, index: u64, input: Raw<'_>, events: &mut Events) {
        let slot = self.blocks.slot(index).unwrap_or_else(|| {
            let message = format!("arguments came for block {index}, which was not started");
            events.notice(Kind::OrphanDelta, message);
            let opening = Opening::Other { kind: "unstarted".to_owned() };
            self.blocks.open(index, opening, Open::Whole, events)
        });
        match self.blocks.get(index) {
            Some(Open::Call(arguments)) => {
                if input.has_text() {
                    *arguments = Arguments::Deltas;
                }
                events.grew(slot, input);
            }
            Some(Open::Whole) => {
                let keep = Keep::Grow(input.owned_string().unwrap_or_default().into());
                events.push(Event::Kept { owner: Owner::Block(slot), key: "input".into(), keep });
            }
            Some(_) | None => self.misfit(index, "toolUse", input, events),
        }
    }

    /// Appends to a list of a block, whatever kind of block it is.
    fn append(&mut self, index: u64, delta: &str, key: &str, value: Raw<'_>, events: &mut Events) {
        let kind = match self.blocks.get(index) {
            Some(open) => open.clone(),
            None if delta == "citation" => Open::Text,
            None => Open::Whole,
        };
        if let Some(slot) = self.block_for(index, delta, kind, value, events) {
            events.keep_pushed(Owner::Block(slot), key, value);
        }
    }

    /// Keeps a field of a block.
    fn keep(&mut self, index: u64, key: &str, value: Raw<'_>, events: &mut Events) {
        match self.blocks.slot(index) {
            Some(slot) => events.keep(Owner::Block(slot), key, value),
            None => self.misfit(index, key, value, events),
        }
    }

    /// The open block of this kind that a delta belongs to. If there is no block, the delta opens it.
    fn block_for(
        &mut self,
        index: u64,
        delta: &str,
        kind: Open,
        value: Raw<'_>,
        events: &mut Events,
    ) -> Option<Slot> {
        let Some(slot) = self.blocks.slot(index) else {
            let opening = match kind {
                Open::Text => TEXT,
                Open::Thinking => THINKING,
                Open::Call(_) | Open::Whole | Open::Image => Opening::Other { kind: delta.to_owned() },
            };
            return Some(self.blocks.open(index, opening, kind, events));
        };
        if self.blocks.get(index).is_some_and(|open| *open == kind) {
            return Some(slot);
        }
        self.misfit(index, delta, value, events);
        None
    }

    fn misfit(&mut self, index: u64, delta: &str, value: Raw<'_>, events: &mut Events) {
        if self.blocks.get(index).is_some() {
            let message = format!("delta `{delta}` does not fit block {index}");
            events.keep_unknown(Kind::UnknownEvent, message, value);
        } else {
            let message = format!("delta `{delta}` came for block {index}, which is not open");
            events.keep_unknown(Kind::OrphanDelta, message, value);
        }
    }

    fn stop(&mut self, reason: Option<String>, events: &mut Events) {
        events.stopped(reason, stop_reason, "the message ended without a stop reason");
        self.blocks.end_all(events);
        events.push(Event::Ended);
        self.state = State::After;
    }

    fn fail(&mut self, name: &str, error: Raw<'_>, events: &mut Events) {
        let member = |key| error.get(key).and_then(Raw::owned_string);
        let is_object = error.members(|_, _| {}).is_ok();
        let kind = Some(name.to_owned()).filter(|name| !name.is_empty()).or_else(|| member("__type"));
        let text = if is_object { member("message").or_else(|| member("Message")) } else { None };
        // An error without a payload is only a text.
        let plain = Some(error.text().to_owned()).filter(|text| !is_object && !text.is_empty());
        let raw = if is_object { events.value("error", error) } else { error.text().into() };
        failed(kind, text.or(plain), raw, events);
        self.state = State::After;
    }
}

fn count(usage: Raw<'_>, events: &mut Events) {
    let number = |key| usage.get(key).and_then(Raw::number);
    let counts = Usage {
        input: number("inputTokens"),
        output: number("outputTokens"),
        cache_read: number("cacheReadInputTokens"),
        cache_write: number("cacheWriteInputTokens"),
        reasoning: None,
    };
    events.counted(counts, usage);
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "end_turn" => StopReason::End,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "tool_use" => StopReason::Tool,
        "stop_sequence" => StopReason::StopSequence,
        "guardrail_intervened" | "content_filtered" => StopReason::Filter,
        _ => StopReason::Other,
    }
}
