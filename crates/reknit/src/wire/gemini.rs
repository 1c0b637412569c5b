//! Google's Gemini: whole `GenerateContentResponse`s, as server-sent events or as one JSON array.
//!
//! A frame has candidates with parts. A part continues the previous one if both are text of the same kind and
//! the previous one has no signature. There is no last frame: the stream ends with the input, and the message
//! is complete if every candidate has a finish reason. Some servers send one and go on.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::blocks::Blocks;
use super::events::Events;
use super::failure::fail;
use super::fields::{Error, Faults, Raw};
use super::heartbeat::is_heartbeat;
use super::other_members::Others;
use super::seen_members::Seen;
use super::{DONE, State, Translate};
use crate::diagnostic::Kind;
use crate::event::{Event, Owner, Start, Stop, StopReason, Usage};
use crate::frame::Frame;
use crate::json::Value;

mod arguments;
mod candidate;
mod native;
mod request;

use candidate::Candidate;
pub(super) use native::Native;
pub(super) use request::FORM;

pub(super) fn claims(frame: &Frame<'_>) -> bool {
    let Ok(([candidates, feedback, usage, error, ..], others)) = members(frame) else { return false };
    // The Interactions API of the same provider is another dialect.
    if others.get("event_type").is_some() {
        return false;
    }
    let is_object = |value: Option<Raw<'_>>| value.is_some_and(|value| value.text().starts_with('{'));
    candidates.is_some_and(|candidates| candidates.text().starts_with('['))
        || is_object(feedback)
        || is_object(usage)
        || error.is_some_and(is_google_error)
}

/// Only Google's errors have a number and a status in capitals.
fn is_google_error(error: Raw<'_>) -> bool {
    let status = error.get("status").and_then(Raw::string);
    let in_capitals = |word: Cow<'_, str>| word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    error.get("code").and_then(Raw::number).is_some() && status.is_some_and(in_capitals)
}

#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    state: State,
    start: Start,
    candidates: BTreeMap<u32, Box<Candidate>>,
    slots: u32,
    seen: Seen,
    usage: String,
    /// Whether the prompt was blocked, so that no candidates come.
    blocked: bool,
}

const MEMBERS: [&str; 6] =
    ["candidates", "promptFeedback", "usageMetadata", "error", "responseId", "modelVersion"];

/// The members of a response, and the others. Code Assist wraps every response in another object.
fn members<'a>(frame: &Frame<'a>) -> Result<([Option<Raw<'a>>; MEMBERS.len()], Others<'a>), Error> {
    let (mut members, mut others) = Raw::new(frame.data).split(MEMBERS)?;
    if let Some(inner) = others.get("response").filter(|inner| inner.text().starts_with('{')) {
        others.take("response");
        let (inner, more) = inner.split(MEMBERS)?;
        for (member, inner) in members.iter_mut().zip(inner) {
            *member = inner.or(*member);
        }
        others.append(more);
    }
    Ok((members, others))
}

impl Translate for Fold {
    fn read(&mut self, frame: &Frame<'_>, events: &mut Events) -> Result<(), Error> {
        // Gateways that serve several dialects also end this one with OpenAI's last frame.
        if frame.data == DONE {
            self.candidates.values_mut().for_each(|candidate| candidate.end_again());
            return Ok(());
        }
        let ([candidates, feedback, usage, error, id, model], others) = members(frame)?;
        let [id, model] = [id, model].map(|word| word?.owned_string());
        let is_known = [candidates, feedback, usage, error].iter().any(Option::is_some);
        if !is_known && id.is_none() && model.is_none() {
            if is_heartbeat(frame) {
                events.push(Event::Ping);
            } else if !others.is_empty() {
                let message = "a frame has no candidates, no feedback and no usage";
                events.keep_unknown(Kind::UnknownEvent, message, Raw::new(frame.data));
            }
            return Ok(());
        }
        // Usage alone may come before the message has begun.
        if candidates.is_some() || feedback.is_some() || self.state == State::Within {
            self.begin(id, model, candidates, events);
        }
        let mut faults = Faults::default();
        faults.each("`candidates`", candidates, |candidate| self.candidate(candidate, events));
        self.feedback(feedback, events);
        self.count(usage, events);
        others.keep_new(Owner::Message, &mut self.seen, events);
        if let Some(error) = error {
            self.cut(events);
            fail(error, &["status", "code"], frame, events);
            self.state = State::After;
        }
        faults.result()
    }

    fn finish(&mut self, events: &mut Events) {
        if self.state != State::Within {
            return;
        }
        if self.has_stopped() { self.end(events) } else { self.cut(events) }
    }

    fn cut(&mut self, events: &mut Events) {
        if self.state == State::Within {
            self.candidates.values_mut().for_each(|candidate| candidate.settle(events));
        }
    }
}

impl Fold {
    /// Whether every candidate ended with its finish reason, or no candidate can come.
    fn has_stopped(&self) -> bool {
        if self.candidates.is_empty() {
            self.blocked
        } else {
            self.candidates.values().all(|candidate| candidate.has_stopped())
        }
    }

    fn end(&mut self, events: &mut Events) {
        for (&index, candidate) in &mut self.candidates {
            candidate.close(events);
            candidate.stop(index, None, events);
        }
        events.push(Event::Ended);
        self.state = State::After;
    }

    fn begin(
        &mut self,
        id: Option<String>,
        model: Option<String>,
        candidates: Option<Raw<'_>>,
        events: &mut Events,
    ) {
        if self.state == State::Within {
            let another = id.is_some() && self.start.id.is_some() && id != self.start.id;
            if !another || !self.has_stopped() {
                return self.keep_identity(id, model, events);
            }
            self.end(events);
        }
        let role = candidates.and_then(first_role);
        let start = Start { id, model, role };
        // What came before the first message belongs to it.
        let seen = if self.state == State::Before { std::mem::take(&mut self.seen) } else { Seen::default() };
        *self = Self { state: State::Within, start: start.clone(), seen, ..Self::default() };
        events.started(start);
    }

    /// Keeps an id or a model that comes late or changes in the middle of a message.
    fn keep_identity(&mut self, id: Option<String>, model: Option<String>, events: &mut Events) {
        let pairs = [("responseId", id, &mut self.start.id), ("modelVersion", model, &mut self.start.model)];
        for (key, word, known) in pairs {
            if let Some(word) = word.filter(|word| known.as_ref() != Some(word)) {
                events.keep(Owner::Message, key, Value::from(word.clone()));
                *known = Some(word);
            }
        }
    }

    fn candidate(&mut self, candidate: Raw<'_>, events: &mut Events) -> Result<(), Error> {
        let ([index, content, finish_reason, citations, logprobs], mut others) =
            candidate.split(["index", "content", "finishReason", "citationMetadata", "logprobsResult"])?;
        // An empty value does not replace what came before.
        let is_filled = |value: &Raw<'_>| !matches!(value.text(), "{}" | "[]");
        others.retain(is_filled);
        let index = index.and_then(Raw::index).unwrap_or(0);
        let state = self.candidates.entry(index).or_default();
        let before = events.len();
        let mut blocks = Blocks { choice: index, next: &mut self.slots, events };
        let mut faults = Faults::default();
        let ([_, parts], more, read) =
            content.filter(is_filled).unwrap_or_default().split_leniently(["role", "parts"]);
        faults.each("`parts`", parts, |part| state.part(part, &mut blocks));
        faults.note("`content`", read);
        others.append(more);
        state.keep(index, &others, events);
        state.cite(index, citations, events);
        // Every frame has the log probabilities of its own tokens.
        for_each_element(logprobs, |key, token| {
            events.keep_pushed(Owner::Choice(index), &format!("logprobs_{key}"), token);
        });
        if events.have_content_since(before) {
            state.go_on();
        }
        state.stop(index, finish_reason.and_then(Raw::string).as_deref(), events);
        faults.result()
    }

    fn feedback(&mut self, feedback: Option<Raw<'_>>, events: &mut Events) {
        let Some(feedback) = feedback.filter(|feedback| feedback.text() != "{}") else { return };
        self.seen.keep(Owner::Message, "promptFeedback", feedback, events);
        let reason = feedback.get("blockReason").and_then(Raw::owned_string);
        if let Some(detail) = reason.filter(|_| self.candidates.is_empty() && !self.blocked) {
            self.blocked = true;
            events.push(Event::Stopped { choice: 0, stop: Stop { reason: StopReason::Filter, detail } });
        }
    }

    fn count(&mut self, usage: Option<Raw<'_>>, events: &mut Events) {
        let Some(usage) = usage.filter(|usage| usage.text() != self.usage) else { return };
        usage.text().clone_into(&mut self.usage);
        let mut counts = Usage::default();
        let _ = usage.members(|key, value| match key {
            "promptTokenCount" => counts.input = value.number(),
            "candidatesTokenCount" => counts.output = value.number(),
            "thoughtsTokenCount" => counts.reasoning = value.number(),
            "cachedContentTokenCount" => counts.cache_read = value.number(),
            _ => {}
        });
        events.push(Event::Usage(counts));
        events.keep(Owner::Message, "usage", usage);
    }
}

/// Calls `each` for the elements of all lists in an object, with the name of their list.
fn for_each_element<'a>(object: Option<Raw<'a>>, mut each: impl FnMut(&str, Raw<'a>)) {
    // Anything but an object of lists has no elements.
    let _ = object.unwrap_or_default().members(|key, list| {
        let _ = list.elements(|element| each(key, element));
    });
}

fn first_role(candidates: Raw<'_>) -> Option<String> {
    let mut role = None;
    let _ = candidates.elements(|candidate| {
        role = role.take().or_else(|| candidate.get("content")?.get("role")?.owned_string());
    });
    role
}
