//! OpenAI's Chat Completions and compatible servers: chunks with `choices`, then `[DONE]`.
//!
//! A choice has one text, one refusal, one thinking block and any number of calls, each addressed by its field,
//! so text after a call continues the same block. Nothing is final before the end of the stream: a quarter of
//! real streams send more after `finish_reason`. The completion of a text, without a conversation, is a text
//! in place of the delta.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::blocks::Blocks;
use super::events::Events;
use super::failure::fail;
use super::fields::{Error, Faults, Raw};
use super::heartbeat::is_heartbeat;
use super::seen_members::Seen;
use super::{DONE, State, Translate};
use crate::diagnostic::Kind;
use crate::event::{Event, Owner, Slot, Start, StopReason};
use crate::frame::Frame;
use crate::json::Value;

mod choice;
mod delta;
mod native;
mod request;
mod router;
mod thoughts;
mod usage;

use choice::Choice;
use delta::Delta;
pub(super) use native::Native;
pub(super) use request::FORM;

pub(super) fn claims(frame: &Frame<'_>) -> bool {
    let data = Raw::new(frame.data);
    data.get("choices").is_some_and(|choices| choices.text().starts_with('['))
        || data.get("error").is_some_and(|error| error.text().starts_with('{')) && data.get("type").is_none()
}

/// Padding that hides the lengths of tokens.
const PADDING: [&str; 2] = ["obfuscation", "p"];

#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    state: State,
    start: Start,
    choices: BTreeMap<u32, Box<Choice>>,
    slots: u32,
    seen: Seen,
    usage: String,
    fragments: Fragments,
}

/// The calls of the last frame.
#[derive(Clone, Copy, Debug, Default)]
enum Fragments {
    #[default]
    None,
    /// More of the arguments of one call.
    Arguments(Growing),
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Growing {
    choice: u32,
    call: usize,
    index: Option<u64>,
}

impl Translate for Fold {
    fn read(&mut self, frame: &Frame<'_>, events: &mut Events) -> Result<(), Error> {
        if frame.data == DONE {
            if self.state == State::Within {
                self.end(events);
            }
            return Ok(());
        }
        self.fragments = Fragments::None;
        let data = Raw::new(frame.data);
        let ([choices, usage, error, id, model, padding, more_padding], others) =
            data.split(["choices", "usage", "error", "id", "model", PADDING[0], PADDING[1]])?;
        padding.into_iter().chain(more_padding).for_each(|padding| events.ignore(padding));
        let [id, model] = [id, model].map(|word| word?.string());
        if choices.is_none() && is_heartbeat(frame) {
            events.push(Event::Ping);
            return Ok(());
        }
        let has_choices = choices.is_some_and(|choices| choices.text().contains('{'));
        // A chunk after the end is the first of another completion, unless it has the id of this one.
        let is_late = self.state == State::After && id.is_some() && id.as_deref() == self.start.id.as_deref();
        if self.state == State::Within {
            self.keep_identity(id, model, events);
        } else if has_choices && !is_late {
            let (id, model) = (id.map(Cow::into_owned), model.map(Cow::into_owned));
            let start = Start { id, model, role: choices.and_then(first_role) };
            // What the previous completion said is new in this one.
            let is_next = self.state == State::After;
            let seen = if is_next { Seen::default() } else { std::mem::take(&mut self.seen) };
            *self = Self { state: State::Within, start: start.clone(), seen, ..Self::default() };
            events.started(start);
        }
        let is_error = error.is_some() || frame.event == "error";
        // If the whole frame is the error, that keeps it.
        let are_kept = !is_error || error.is_some();
        for (key, value) in others.iter() {
            if self.seen.is_new(key, value) && are_kept {
                events.keep(Owner::Message, key, value);
            }
        }
        let mut faults = Faults::default();
        faults.each("`choices`", choices, |choice| self.choice(choice, events));
        let groq = others.get("x_groq").and_then(|groq| groq.get("usage"));
        self.count(usage.or(groq), events);
        if is_error {
            self.cut(events);
            fail(error.unwrap_or(data), &["type", "code"], frame, events);
            self.state = State::After;
        } else if !has_choices && choices.is_none() && usage.is_none() {
            let message = "a chunk has neither choices nor usage";
            events.keep_unknown(Kind::UnknownEvent, message, data);
        }
        faults.result()
    }

    fn repeats(&self) -> bool {
        !matches!(self.fragments, Fragments::Other)
    }

    fn repeat(&mut self, block: Slot, text: Raw<'_>, events: &mut Events) {
        match self.fragments {
            Fragments::Arguments(growing) => {
                self.choices.entry(growing.choice).or_default().go_on(growing, text, events);
            }
            Fragments::None | Fragments::Other => events.grew(block, text),
        }
    }

    /// Without `[DONE]`, the message is complete if every choice ended with its finish reason.
    fn finish(&mut self, events: &mut Events) {
        if self.state != State::Within {
            return;
        }
        let are_over = self.choices.values().all(|choice| choice.is_over());
        if are_over && !self.choices.is_empty() { self.end(events) } else { self.cut(events) }
    }

    fn cut(&mut self, events: &mut Events) {
        if self.state == State::Within {
            self.choices.values_mut().for_each(|choice| choice.report_missing(events));
        }
    }
}

impl Fold {
    fn end(&mut self, events: &mut Events) {
        let mut open = BTreeSet::new();
        for choice in self.choices.values_mut() {
            choice.report_missing(events);
            if !choice.has_stopped() {
                events.notice(Kind::NoStopReason, "the stream ended without a finish reason");
            }
            open.extend(choice.open_blocks());
        }
        open.into_iter().for_each(|slot| events.closed(slot));
        events.push(Event::Ended);
        self.state = State::After;
    }

    /// Keeps an id or a model that was missing in the first chunk.
    fn keep_identity(&mut self, id: Option<Cow<'_, str>>, model: Option<Cow<'_, str>>, events: &mut Events) {
        for (key, word, known) in [("id", id, &mut self.start.id), ("model", model, &mut self.start.model)] {
            if let (Some(word), None) = (word, &known) {
                events.keep(Owner::Message, key, Value::from(&*word));
                *known = Some(word.into_owned());
            }
        }
    }

    fn choice(&mut self, choice: Raw<'_>, events: &mut Events) -> Result<(), Error> {
        let ([index, delta, message, text, logprobs, finish_reason, usage], mut others) =
            choice.split(["index", "delta", "message", "text", "logprobs", "finish_reason", "usage"])?;
        let index = index.and_then(Raw::index).unwrap_or(0);
        // A whole reply has a `message` where a stream has a `delta`; some servers send both. A completion of
        // a text has neither.
        if let (Some(_), Some(message)) = (delta, message) {
            others.add("message".into(), message);
        }
        let (mut said, understood) = match delta.or(message).map(Delta::read) {
            Some(Ok(said)) => (said, Ok(())),
            Some(Err(error)) => (Delta::default(), Err(error)),
            None => (Delta::default(), Ok(())),
        };
        match (said.content, text) {
            (None, text) => said.content = text,
            (Some(_), Some(text)) => others.add("text".into(), text),
            (Some(_), None) => {}
        }
        let state = self.choices.entry(index).or_default();
        let mut blocks = Blocks { choice: index, next: &mut self.slots, events };
        let read = state.take(said, &mut self.fragments, &mut blocks);
        for (key, value) in others.iter() {
            state.keep(index, key, value, events);
        }
        if let Some(logprobs) = logprobs {
            let _ = logprobs.members(|key, tokens| {
                let key = format!("logprobs_{key}");
                let _ = tokens.elements(|token| events.keep_pushed(Owner::Choice(index), &key, token));
            });
        }
        if let Some(word) = finish_reason.and_then(Raw::string) {
            state.stop(index, &word, events);
        }
        self.count(usage, events);
        understood.and(read)
    }

    fn count(&mut self, usage: Option<Raw<'_>>, events: &mut Events) {
        let Some(usage) = usage.filter(|usage| usage.text() != self.usage) else { return };
        usage.text().clone_into(&mut self.usage);
        events.push(Event::Usage(usage::counts(usage)));
        events.keep(Owner::Message, "usage", usage);
    }
}

impl Fragments {
    /// Adds a fragment, which may be no more than arguments of a call.
    fn add(&mut self, growing: Option<Growing>) {
        *self = match (&self, growing) {
            (Self::None, Some(growing)) => Self::Arguments(growing),
            _ => Self::Other,
        };
    }
}

fn first_role(choices: Raw<'_>) -> Option<String> {
    let mut role = None;
    let _ = choices.elements(|choice| {
        let delta = choice.get("delta").or_else(|| choice.get("message"));
        role = role.take().or_else(|| delta?.get("role")?.owned_string());
    });
    role
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "stop" | "eos" | "end_turn" => StopReason::End,
        "length" | "model_length" | "max_tokens" => StopReason::Length,
        "tool_calls" | "function_call" | "tool_use" => StopReason::Tool,
        "content_filter" => StopReason::Filter,
        _ => StopReason::Other,
    }
}
