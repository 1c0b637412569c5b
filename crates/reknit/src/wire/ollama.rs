//! Ollama's own API: a JSON object per line, from `/api/chat` or `/api/generate`.
//!
//! A reply has one text, one thinking and any number of calls, which come whole. Only `done` completes it.

use std::collections::BTreeSet;

use super::blocks::{Blocks, TEXT, THINKING};
use super::events::Events;
use super::failure::fail;
use super::fields::{Error, Faults, Raw};
use super::heartbeat::is_heartbeat;
use super::seen_members::Seen;
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

impl Translate for Fold {
    fn read(&mut self, frame: &Frame<'_>, events: &mut Events) -> Result<(), Error> {
        let ([message, response, thinking, created_at, done, error], mut others) =
            Raw::new(frame.data).split(["message", "response", "thinking", "created_at", "done", "error"])?;
        if let Some(error) = error {
            self.state = State::After;
            fail(error, &["type"], frame, events);
            return Ok(());
        }
        if message.is_none() && response.is_none() && done.is_none() {
            if is_heartbeat(frame) {
                events.push(Event::Ping);
                return Ok(());
            }
            let message = "a line has no message, no response and no `done`";
            events.keep_unknown(Kind::UnknownEvent, message, Raw::new(frame.data));
            return Ok(());
        }
        let done = done.is_some_and(Raw::is_true);
        let model = others.take_string("model");
        let begins = self.state != State::Within;
        if begins {
            *self = Self { state: State::Within, ..Self::default() };
            let role = message.and_then(|message| message.get("role")).and_then(Raw::owned_string);
            events.started(Start { id: None, model, role });
        }
        let mut blocks = Blocks::new(&mut self.slots, events);
        blocks.grow(&mut self.thinking, &THINKING, thinking);
        blocks.grow(&mut self.text, &TEXT, response);
        let read = message.map_or(Ok(()), |message| self.message(message, events));
        if let Some(logprobs) = others.take("logprobs") {
            let _ = logprobs.elements(|token| events.keep_pushed(Owner::Message, "logprobs", token));
        }
        // Every line has its time; only those of the first and the last line are kept.
        created_at.into_iter().for_each(|time| events.ignore(time));
        if let Some(time) = created_at.filter(|_| begins || done) {
            self.seen.keep(Owner::Message, "created_at", time, events);
        }
        let [input, output] =
            ["prompt_eval_count", "eval_count"].map(|key| others.take(key).and_then(Raw::number));
        let reason = others.take_string("done_reason");
        others.keep_new(Owner::Message, &mut self.seen, events);
        let usage = Usage { input, output, ..Usage::default() };
        if !usage.is_empty() {
            events.push(Event::Usage(usage));
        }
        if done {
            self.end(reason, events);
        }
        read
    }

    fn repeats(&self) -> bool {
        true
    }
}

impl Fold {
    fn message(&mut self, message: Raw<'_>, events: &mut Events) -> Result<(), Error> {
        let ([_, content, thinking, calls, images], others) =
            message.split(["role", "content", "thinking", "tool_calls", "images"])?;
        let mut blocks = Blocks::new(&mut self.slots, events);
        blocks.grow(&mut self.thinking, &THINKING, thinking);
        blocks.grow(&mut self.text, &TEXT, content);
        let mut faults = Faults::default();
        faults.each("`images`", images, |image| {
            let slot = blocks.new_block(Opening::Other { kind: "image".to_owned() });
            blocks.events.keep(Owner::Block(slot), "data", image);
            blocks.events.closed(slot);
            Ok(())
        });
        faults.each("`tool_calls`", calls, |call| tool_call(call, &mut self.has_calls, &mut blocks));
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

fn tool_call(call: Raw<'_>, has_calls: &mut bool, blocks: &mut Blocks<'_>) -> Result<(), Error> {
    let ([_, id, function], mut others) = call.split(["type", "id", "function"])?;
    // The order of the calls says the same as the index.
    let ([_, name, arguments], more) = function.unwrap_or_default().split(["index", "name", "arguments"])?;
    others.append(more);
    let id = id.and_then(Raw::string);
    let Some(name) = name.and_then(Raw::string) else {
        let message = "a call has no name";
        blocks.events.keep_unknown(Kind::OrphanFragment, message, call);
        return Ok(());
    };
    let slot = blocks.new_call(id.as_deref(), &name, Notation::Json);
    if let Some(arguments) = arguments {
        blocks.events.grew_arguments(slot, arguments);
    }
    others.keep(Owner::Block(slot), blocks.events);
    blocks.events.closed(slot);
    *has_calls = true;
    Ok(())
}
