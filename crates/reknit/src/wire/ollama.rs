//! Ollama's own API: a JSON object per line, from `/api/chat` or `/api/generate`.
//!
//! A reply has one text, one thinking and any number of calls, which come whole. Only `done` completes it.

use std::collections::BTreeSet;

use super::blocks::{Blocks, TEXT, THINKING};
use super::events::Events;
use super::failure::fail;
use super::fields::{Error, Faults, Raw};
use super::heartbeat::is_heartbeat;
use super::others::Others;
use super::seen::Seen;
use super::{State, Translate};
use crate::diagnostic::Kind;
use crate::event::{Event, Notation, Opening, Owner, Slot, Start, StopReason, Usage};
use crate::frame::Frame;

mod native;
mod request;

pub(super) use native::Native;
pub(super) use request::FORM;

pub(super) fn claims(frame: &Frame<'_>) -> bool {
    let (mut done, mut content, mut model, mut error, mut count) = (false, false, false, false, 0);
    let read = Raw::new(frame.data).members(|key, value| {
        count += 1;
        match key {
            "done" => done = matches!(value.text(), "true" | "false"),
            "message" => content |= value.text().starts_with('{'),
            "response" => content |= value.string_body().is_some(),
            "model" => model = value.string_body().is_some(),
            "error" => error = value.string_body().is_some(),
            _ => {}
        }
    });
    // An error is just a text; others wrap theirs in an object or give it a type.
    read.is_ok() && (done && content && model || error && count == 1)
}

#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    state: State,
    text: Option<Slot>,
    thinking: Option<Slot>,
    has_calls: bool,
    slots: u32,
    seen: Seen,
}

#[derive(Default)]
struct Members<'a> {
    model: Option<String>,
    created_at: Option<Raw<'a>>,
    message: Option<Raw<'a>>,
    response: Option<Raw<'a>>,
    thinking: Option<Raw<'a>>,
    logprobs: Option<Raw<'a>>,
    error: Option<Raw<'a>>,
    done: Option<bool>,
    done_reason: Option<String>,
    usage: Usage,
    others: Others<'a>,
}

impl<'a> Members<'a> {
    fn read(data: &'a str) -> Result<Self, Error> {
        let mut members = Self::default();
        Raw::new(data).fields(|key, value| match key {
            "model" => members.model = value.owned_string(),
            "created_at" => members.created_at = Some(value),
            "message" => members.message = Some(value),
            "response" => members.response = Some(value),
            "thinking" => members.thinking = Some(value),
            "logprobs" => members.logprobs = Some(value),
            "error" => members.error = Some(value),
            "done" => members.done = Some(value.text() == "true"),
            "done_reason" => members.done_reason = value.owned_string(),
            "prompt_eval_count" => members.usage.input = value.number(),
            "eval_count" => members.usage.output = value.number(),
            _ => members.others.add(key, value),
        })?;
        Ok(members)
    }
}

impl Translate for Fold {
    fn read(&mut self, frame: &Frame<'_>, events: &mut Events) -> Result<(), Error> {
        let members = Members::read(frame.data)?;
        if let Some(error) = members.error {
            self.state = State::After;
            fail(error, &["type"], frame, events);
            return Ok(());
        }
        if members.message.is_none() && members.response.is_none() && members.done.is_none() {
            if is_heartbeat(frame) {
                events.push(Event::Ping);
                return Ok(());
            }
            let message = "a line has no message, no response and no `done`";
            events.keep_unknown(Kind::UnknownEvent, message, Raw::new(frame.data));
            return Ok(());
        }
        let done = members.done == Some(true);
        let begins = self.state != State::Within;
        if begins {
            *self = Self { state: State::Within, ..Self::default() };
            let role = members.message.and_then(|message| message.get("role")).and_then(Raw::owned_string);
            events.started(Start { id: None, model: members.model, role });
        }
        let mut blocks = Blocks::new(&mut self.slots, events);
        if let Some(text) = members.thinking {
            blocks.grow(&mut self.thinking, &THINKING, text);
        }
        if let Some(text) = members.response {
            blocks.grow(&mut self.text, &TEXT, text);
        }
        let read = members.message.map_or(Ok(()), |message| self.message(message, events));
        if let Some(logprobs) = members.logprobs {
            let _ = logprobs.elements(|token| events.keep_pushed(Owner::Message, "logprobs", token));
        }
        // Every line has its time; only those of the first and the last line are kept.
        members.created_at.into_iter().for_each(|time| events.ignore(time));
        if let Some(time) = members.created_at.filter(|_| begins || done) {
            self.seen.keep(Owner::Message, "created_at", time, events);
        }
        members.others.keep_new(Owner::Message, &mut self.seen, events);
        if !members.usage.is_empty() {
            events.push(Event::Usage(members.usage));
        }
        if done {
            self.end(members.done_reason, events);
        }
        read
    }

    fn repeats(&self) -> bool {
        true
    }
}

impl Fold {
    fn message(&mut self, message: Raw<'_>, events: &mut Events) -> Result<(), Error> {
        let (mut content, mut thinking, mut calls) = (None, None, None);
        let (mut images, mut others) = (None, Others::default());
        message.fields(|key, value| match key {
            "role" => {}
            "content" => content = Some(value),
            "thinking" => thinking = Some(value),
            "tool_calls" => calls = Some(value),
            "images" => images = Some(value),
            _ => others.add(key, value),
        })?;
        let mut blocks = Blocks::new(&mut self.slots, events);
        if let Some(text) = thinking {
            blocks.grow(&mut self.thinking, &THINKING, text);
        }
        if let Some(text) = content {
            blocks.grow(&mut self.text, &TEXT, text);
        }
        let mut faults = Faults::default();
        faults.each("`images`", images, |image| {
            let slot = blocks.new_block(Opening::Other { kind: "image".to_owned() });
            blocks.events.keep(Owner::Block(slot), "data", image);
            blocks.events.closed(slot);
            Ok(())
        });
        faults.each("`tool_calls`", calls, |call| {
            self.has_calls |= tool_call(call, &mut blocks)? == Made::Call;
            Ok(())
        });
        others.keep_new(Owner::Message, &mut self.seen, events);
        faults.result()
    }

    fn end(&mut self, reason: Option<String>, events: &mut Events) {
        let mut open = BTreeSet::new();
        open.extend(self.text.into_iter().chain(self.thinking));
        open.into_iter().for_each(|slot| events.closed(slot));
        let stop_reason = |word: &str| match word {
            "stop" if self.has_calls => StopReason::Tool,
            "stop" => StopReason::End,
            "length" => StopReason::Length,
            _ => StopReason::Other,
        };
        events.stopped(reason, stop_reason, "the reply ended without a `done_reason`");
        events.push(Event::Ended);
        self.state = State::After;
    }
}

/// What an element of `tool_calls` turned out to be.
#[derive(PartialEq)]
enum Made {
    Call,
    Nothing,
}

fn tool_call(call: Raw<'_>, blocks: &mut Blocks<'_>) -> Result<Made, Error> {
    let (mut id, mut name, mut arguments, mut function) = (None, None, None, Raw::default());
    let mut others = Others::default();
    call.fields(|key, value| match key {
        "id" => id = value.string(),
        "function" => function = value,
        "type" => {}
        _ => others.add(key, value),
    })?;
    function.fields(|key, value| match key {
        "name" => name = value.string(),
        "arguments" => arguments = Some(value),
        // The order of the calls says the same.
        "index" => {}
        _ => others.add(key, value),
    })?;
    let Some(name) = name else {
        let message = "a call has no name";
        blocks.events.keep_unknown(Kind::OrphanFragment, message, call);
        return Ok(Made::Nothing);
    };
    let slot = blocks.new_call(id.as_deref(), &name, Notation::Json);
    if let Some(arguments) = arguments {
        blocks.events.grew_arguments(slot, arguments);
    }
    others.keep(Owner::Block(slot), blocks.events);
    blocks.events.closed(slot);
    Ok(Made::Call)
}
