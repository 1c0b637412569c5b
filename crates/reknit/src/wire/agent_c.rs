//! Agent C's realtime events, one object per line: the text, thoughts and tools of one session.
//!
//! A reply is a turn of that session, up to the completion that does not wait for tools; the server carries out
//! the calls itself. Events of other sessions are kept as unknown events; the crate `reknit-compat` reads whole
//! sessions.

use std::collections::{BTreeMap, BTreeSet};

use super::blocks::{Blocks, TEXT, THINKING, native_call};
use super::events::Events;
use super::failure::fail;
use super::fields::{Error, Faults, Raw};
use super::other_members::Others;
use super::seen_members::Seen;
use super::{State, Translate};
use crate::diagnostic::Kind;
use crate::event::{CallId, Event, Opening, Owner, Runner, Slot, Start, StopReason, Usage};
use crate::frame::Frame;

/// The type alone is not enough: other providers use the same words.
pub(super) fn claims(frame: &Frame<'_>) -> bool {
    let members = Raw::new(frame.data).split(["type", "session_id", "chat_session"]);
    let Ok(([kind, session, chat], _)) = members else { return false };
    let kind = kind.and_then(Raw::string).unwrap_or_default();
    let is_known = Part::of(&kind).is_some() || NOT_OF_A_REPLY.contains(&&*kind);
    let is_change = kind == "chat_session_changed" && chat.is_some_and(|chat| chat.text().starts_with('{'));
    is_known && (session.is_some_and(Raw::has_text) || is_change)
}

#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    state: State,
    /// The session of the reply: the first that says anything.
    session: Option<String>,
    interaction: Option<String>,
    /// The text or thought that is open.
    open: Option<(Part, Slot)>,
    /// Calls that were selected but do not run yet, by id.
    chosen: BTreeMap<String, Chosen>,
    /// Calls that have a block.
    called: BTreeSet<String>,
    /// Why the previous completion ended, if the reply continues after it.
    waiting: Option<String>,
    slots: u32,
    seen: Seen,
}

#[derive(Clone, Debug)]
struct Chosen {
    /// How many blocks and how many waiting calls there were when it was selected.
    order: (u32, usize),
    name: String,
    input: String,
}

/// An event that is part of a reply.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Text,
    Thought,
    Selection,
    Call,
    Media,
    Completion,
    Interaction,
    Cancelled,
}

impl Part {
    fn of(kind: &str) -> Option<Self> {
        Some(match kind {
            "text_delta" => Self::Text,
            "thought_delta" => Self::Thought,
            "tool_select_delta" => Self::Selection,
            "tool_call" => Self::Call,
            "render_media" => Self::Media,
            "completion" => Self::Completion,
            "interaction" => Self::Interaction,
            "cancelled" => Self::Cancelled,
            _ => return None,
        })
    }
}

/// Events that are not part of a reply.
const NOT_OF_A_REPLY: [&str; 33] = [
    "agent_configuration_changed",
    "agent_list",
    "agent_voice_changed",
    "anthropic_user_message",
    "audio_delta",
    "avatar_connection_changed",
    "avatar_list",
    "chat_session_added",
    "chat_session_changed",
    "chat_session_deleted",
    "chat_session_name_changed",
    "chat_user_data",
    "complete_thought",
    "get_user_sessions_response",
    "history",
    "history_delta",
    "open_ai_user_message",
    "openai_user_message",
    "pong",
    "server_listening",
    "session_metadata_changed",
    "subsession_ended",
    "subsession_started",
    "system_message",
    "system_prompt",
    "tool_catalog",
    "ui_session_id_changed",
    "user_message",
    "user_request",
    "user_turn_end",
    "user_turn_start",
    "voice_input_supported",
    "voice_list",
];

#[derive(Default)]
struct Members<'a> {
    kind: Option<String>,
    id: Option<String>,
    session: Option<String>,
    content: Option<Raw<'a>>,
    calls: Option<Raw<'a>>,
    results: Option<Raw<'a>>,
    model: Option<String>,
    /// `false` in an event that ends something; without the member, nothing has ended.
    goes_on: bool,
    stop_reason: Option<String>,
    usage: Usage,
    others: Others<'a>,
}

impl<'a> Members<'a> {
    fn read(data: &'a str) -> Result<Self, Error> {
        let mut members = Self { goes_on: true, ..Self::default() };
        Raw::new(data).fields(|key, value| match key {
            "type" => members.kind = value.owned_string(),
            "id" => members.id = value.owned_string(),
            "session_id" => members.session = value.owned_string(),
            "content" => members.content = Some(value),
            "tool_calls" => members.calls = Some(value),
            "tool_results" => members.results = Some(value),
            "started" | "running" => members.goes_on = value.text() != "false",
            "stop_reason" => members.stop_reason = value.owned_string(),
            "input_tokens" => members.usage.input = value.number(),
            "output_tokens" => members.usage.output = value.number(),
            "completion_options" => {
                members.model = value.get("model").and_then(Raw::owned_string);
                members.others.add(key.to_owned().into(), value);
            }
            // A reply is always the model's, and whether a call runs follows from the order of events.
            "role" | "format" | "active" => {}
            _ => members.others.add(key.to_owned().into(), value),
        })?;
        Ok(members)
    }
}

impl Translate for Fold {
    fn read(&mut self, frame: &Frame<'_>, events: &mut Events) -> Result<(), Error> {
        let members = Members::read(frame.data)?;
        let kind = members.kind.as_deref().unwrap_or_default();
        if kind == "error" {
            *self = Self { state: State::After, ..Self::default() };
            fail(Raw::new(frame.data), &["source"], frame, events);
            return Ok(());
        }
        let Some(part) = Part::of(kind) else {
            // Turns and earlier messages say nothing about a reply except that one may come.
            if NOT_OF_A_REPLY.contains(&kind) {
                events.push(Event::Ping);
            } else {
                let message = format!("unknown event `{kind}`");
                events.keep_unknown(Kind::UnknownEvent, message, Raw::new(frame.data));
            }
            return Ok(());
        };
        if let (Some(own), Some(session)) = (&self.session, &members.session)
            && own != session
        {
            let message = format!("event of session `{session}` during a reply of session `{own}`");
            events.keep_unknown(Kind::UnknownEvent, message, Raw::new(frame.data));
            return Ok(());
        }
        self.part(part, members, frame, events)
    }

    fn cut(&mut self, events: &mut Events) {
        // They were selected, but their arguments may not be complete.
        let mut chosen: Vec<_> = std::mem::take(&mut self.chosen).into_iter().collect();
        chosen.sort_unstable_by_key(|(_, chosen)| chosen.order);
        for (id, Chosen { name, input, .. }) in chosen {
            self.call(&id, &name, Raw::new(&input), events);
        }
    }
}

impl Fold {
    fn part(
        &mut self,
        part: Part,
        members: Members<'_>,
        frame: &Frame<'_>,
        events: &mut Events,
    ) -> Result<(), Error> {
        match part {
            Part::Interaction if members.goes_on => {
                self.interaction = members.id;
                events.push(Event::Ping);
                return Ok(());
            }
            // The reply ended earlier, or there was no reply.
            Part::Interaction | Part::Cancelled if self.state != State::Within => {
                events.push(Event::Ping);
                return Ok(());
            }
            _ => {}
        }
        if self.state != State::Within {
            let interaction = self.interaction.take();
            *self = Self { state: State::Within, session: members.session, ..Self::default() };
            let role = Some("assistant".to_owned());
            events.started(Start { id: interaction, model: members.model, role });
            if let Some(session) = self.session.clone() {
                events.keep(Owner::Message, "session_id", crate::json::Value::from(session));
            }
        }
        let mut faults = Faults::default();
        if part != Part::Media {
            members.others.keep_new(Owner::Message, &mut self.seen, events);
        }
        match part {
            Part::Text | Part::Thought => self.grow(part, members.content, events),
            Part::Selection => faults.note("`tool_calls`", self.choose(members.calls, events)),
            Part::Call => {
                faults.note("`tool_calls`", self.calls(members.calls, events));
                faults.note("`tool_results`", self.results(members.results, events));
            }
            Part::Completion if !members.goes_on => self.complete(members.stop_reason, members.usage, events),
            Part::Interaction => {
                let reason = self.waiting.take();
                self.end(reason, events);
            }
            Part::Cancelled => self.end(Some("cancelled".to_owned()), events),
            Part::Media => faults.note("the event", self.media(frame, events)),
            Part::Completion => {}
        }
        faults.result()
    }

    fn grow(&mut self, part: Part, content: Option<Raw<'_>>, events: &mut Events) {
        let Some(content) = content.filter(|content| content.has_text()) else { return };
        let slot = match self.open {
            Some((open, slot)) if open == part => slot,
            _ => {
                self.close(events);
                let opening = if part == Part::Text { TEXT } else { THINKING };
                let slot = Blocks::new(&mut self.slots, events).new_block(opening);
                self.open = Some((part, slot));
                slot
            }
        };
        events.grew(slot, content);
    }

    /// Takes calls that the model has selected; their arguments may still change.
    fn choose(&mut self, calls: Option<Raw<'_>>, events: &mut Events) -> Result<(), Error> {
        each_call(calls, events, |id, name, input, _| {
            let order = (self.slots, self.chosen.len());
            self.chosen.insert(id, Chosen { order, name, input: input.text().to_owned() });
        })
    }

    /// Takes calls that run or have run; several events may contain the same one.
    fn calls(&mut self, calls: Option<Raw<'_>>, events: &mut Events) -> Result<(), Error> {
        each_call(calls, events, |id, name, input, events| {
            self.chosen.remove(&id);
            if !self.called.contains(&id) {
                let slot = self.call(&id, &name, input, events);
                events.closed(slot);
            }
        })
    }

    fn call(&mut self, id: &str, name: &str, input: Raw<'_>, events: &mut Events) -> Slot {
        self.close(events);
        self.called.insert(id.to_owned());
        let opening = native_call(CallId::Given(id.to_owned()), name.to_owned(), Runner::Provider);
        let slot = Blocks::new(&mut self.slots, events).new_block(opening);
        events.grew_arguments(slot, input);
        slot
    }

    fn results(&mut self, results: Option<Raw<'_>>, events: &mut Events) -> Result<(), Error> {
        let mut faults = Faults::default();
        faults.each("`tool_results`", results, |result| {
            let Some(call_id) = result.get("tool_use_id").map(Raw::owned_string) else {
                events.keep_unknown(Kind::OrphanFragment, "a result does not name its call", result);
                return Ok(());
            };
            self.close(events);
            let opening = Opening::ToolResult { kind: "tool_result".to_owned(), call_id };
            let slot = Blocks::new(&mut self.slots, events).new_block(opening);
            let read = events.keep_others(Owner::Block(slot), result, &["type", "tool_use_id"]);
            events.closed(slot);
            read
        });
        faults.result()
    }

    fn media(&mut self, frame: &Frame<'_>, events: &mut Events) -> Result<(), Error> {
        self.close(events);
        let slot = Blocks::new(&mut self.slots, events)
            .new_block(Opening::Other { kind: "render_media".to_owned() });
        let known = ["type", "session_id", "role"];
        let read = events.keep_others(Owner::Block(slot), Raw::new(frame.data), &known);
        events.closed(slot);
        read
    }

    /// A completion ends the reply unless it waits for tools; then the reply continues after them.
    fn complete(&mut self, reason: Option<String>, usage: Usage, events: &mut Events) {
        if !usage.is_empty() {
            events.push(Event::Usage(usage));
        }
        if reason.as_deref() == Some("tool_use") {
            self.close(events);
            self.waiting = reason;
        } else {
            self.end(reason, events);
        }
    }

    fn end(&mut self, reason: Option<String>, events: &mut Events) {
        self.close(events);
        self.cut(events);
        events.stopped(reason, stop_reason, "the reply ended without a `stop_reason`");
        events.push(Event::Ended);
        // The next turn belongs to the same session.
        *self = Self { state: State::After, session: self.session.take(), ..Self::default() };
    }

    fn close(&mut self, events: &mut Events) {
        if let Some((_, slot)) = self.open.take() {
            events.closed(slot);
        }
    }
}

/// Calls `each` for each call, with its id, name and input as JSON. One without an id or a name is kept as
/// unknown.
fn each_call<'a>(
    calls: Option<Raw<'a>>,
    events: &mut Events,
    mut take: impl FnMut(String, String, Raw<'a>, &mut Events),
) -> Result<(), Error> {
    calls.unwrap_or(Raw::new("[]")).elements(|call| {
        let string = |key: &str| call.get(key).and_then(Raw::owned_string);
        let (Some(id), Some(name)) = (string("id"), string("name")) else {
            return events.keep_unknown(Kind::OrphanFragment, "a call has no id or no name", call);
        };
        let input = call.get("input").filter(|input| !input.is_null());
        take(id, name, input.unwrap_or_default(), events);
    })
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "end_turn" | "stop" => StopReason::End,
        "max_tokens" | "length" => StopReason::Length,
        "tool_use" => StopReason::Tool,
        "stop_sequence" => StopReason::StopSequence,
        "refusal" => StopReason::Refusal,
        _ => StopReason::Other,
    }
}
