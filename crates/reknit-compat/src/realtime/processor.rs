//! [`Processor`]: an event in, what it causes out. All transitions are here, except those of tools and of
//! whole sessions.

use std::collections::{BTreeMap, BTreeSet};

use reknit::{Limits, Text};
use serde::{Deserialize, Serialize};

use super::book::ToolCallBook;
use super::builder::{MessageBuilder, MessageType, Stamp};
use super::diagnostic::{Diagnostic, DiagnosticKind};
use super::event::{Body, Completion, Origin, ServerEvent};
use super::happening::Happening;
use super::message::{EnhancedMessage, MessageMetadata, MessageStatus};
use super::sessions::Sessions;
use super::{Profile, Time};

mod content;
mod delegation;
mod loading;
mod media;
mod pace;
mod recent;
mod resume;
mod tools;

use pace::Pace;
use recent::Recent;

/// Takes the events of a server one by one and returns what each causes.
///
/// An event that does not name a session is about the current one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Processor {
    profile: Profile,
    sessions: Sessions,
    tools: ToolCallBook,
    /// The messages that are being built, by [`message_key`](Self::message_key).
    open: BTreeMap<String, Open>,
    /// The keys of those that have text which was not reported yet.
    held: BTreeSet<String>,
    /// The session that the user is in; the others are sub-sessions.
    user_session: Option<String>,
    recent: Recent,
    longest: Longest,
    ids: Ids,
    tally: Tally,
}

/// A message that is being built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Open {
    builder: MessageBuilder,
    pace: Pace,
    /// Whether its text was too long, so that the rest was refused.
    is_refused: bool,
}

/// How many bytes the text of a message may have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct Longest(usize);

impl Default for Longest {
    fn default() -> Self {
        Self(Limits::default().text_bytes)
    }
}

/// Counts the messages, so that each gets its own id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct Ids(u64);

/// How many events arrived, and how many of them had no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// All events.
    pub events: u64,
    /// Those that are for another part of a program, or repeat what others say.
    pub ignored: u64,
    /// Those of an unknown type.
    pub unknown: u64,
    /// Those that lack a field they need.
    pub malformed: u64,
    /// Duplicates.
    pub duplicate: u64,
    /// Unknown fields, in all events.
    pub unknown_fields: u64,
    /// Messages that were not finished when something else started.
    pub interrupted: u64,
}

/// The processing of one event.
struct Step {
    number: u64,
    at: Time,
    happenings: Vec<Happening>,
}

/// Why a message ends.
enum Ending<'a> {
    /// A message of another kind starts.
    Switched,
    Completed(&'a Completion),
    Cancelled,
    /// It ended without the server saying so.
    Interrupted,
}

impl Processor {
    /// A processor that has not seen an event.
    pub fn new(profile: Profile) -> Self {
        Self { profile, ..Self::default() }
    }

    /// Limits the text of a message to [`Limits::text_bytes`]; call it before the first event.
    ///
    /// Text past the limit is refused and reported once; the message continues to its end.
    #[must_use]
    pub fn with_limits(self, limits: &Limits) -> Self {
        Self { longest: Longest(limits.text_bytes), ..self }
    }

    /// Processes an event at a time of the caller's clock, and returns what it causes, in order.
    pub fn process(&mut self, event: &ServerEvent, at: Time) -> Vec<Happening> {
        let mut step = Step { number: self.tally.events, at, happenings: Vec::new() };
        self.tally.events += 1;
        if let Some(id) = self.repeated(event, at) {
            self.tally.duplicate += 1;
            step.notice(DiagnosticKind::DuplicateEvent { id });
            return step.happenings;
        }
        self.tally.unknown_fields += event.unknown_fields();
        event.problems.iter().for_each(|problem| step.notice(problem.clone()));
        self.take(event, &mut step);
        step.happenings
    }

    /// Reports all text that was held back so as not to report every delta.
    ///
    /// Call it when a stream pauses or ends; text of a finished message is never held back.
    pub fn flush(&mut self, at: Time) -> Vec<Happening> {
        let held = std::mem::take(&mut self.held).into_iter();
        held.filter_map(|session| self.open.get_mut(&session)?.show(&session, at)).collect()
    }

    /// The connection has ended: no more events will come from it.
    ///
    /// A message that is still being built becomes part of its session as far as it arrived, with the status `error`
    /// and a diagnostic. The sessions and the known calls stay, so the events of a new connection can follow.
    pub fn finish(&mut self, at: Time) -> Vec<Happening> {
        let mut step = Step { number: self.tally.events.saturating_sub(1), at, happenings: Vec::new() };
        for session in self.open.keys().cloned().collect::<Vec<_>>() {
            self.close(&session, &Ending::Interrupted, &mut step);
        }
        step.happenings
    }

    /// The sessions.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The sessions, mutably, for what the user does: a new message, another session.
    pub fn sessions_mut(&mut self) -> &mut Sessions {
        &mut self.sessions
    }

    /// The known calls.
    pub fn tools(&self) -> &ToolCallBook {
        &self.tools
    }

    /// The message that is being built for a session.
    pub fn open_message(&self, session: &str) -> Option<EnhancedMessage> {
        self.open.get(self.message_key(session))?.builder.current_message()
    }

    /// How many events arrived, and how many of them had no effect.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    fn take(&mut self, event: &ServerEvent, step: &mut Step) {
        let session = self.session_of(&event.origin);
        match &event.body {
            Body::Interaction { started: true } => self.begin_interaction(&session, step),
            Body::Interaction { started: false } => self.end_interaction(&session, step),
            Body::TextDelta(text) => self.grow(&session, MessageType::Assistant, text, step),
            Body::ThoughtDelta(text) => self.grow(&session, MessageType::Thought, text, step),
            Body::Completion(completion) => self.complete(&session, completion, step),
            Body::ToolSelect(calls) => self.select_tools(&session, calls, step),
            Body::ToolActive(calls) => self.activate_tools(&session, calls, step),
            Body::ToolDone { calls, results } => {
                self.complete_tools(&session, calls, results.as_deref(), step);
            }
            Body::RenderMedia(fields) => self.render_media(&session, fields, step),
            Body::SystemMessage(fields) => step.report(media::system_message(fields)),
            Body::Error { message, source } => step.report(Happening::Error {
                r#type: "error",
                message: message.clone(),
                source: source.clone(),
                timestamp: step.at.to_string(),
            }),
            Body::ChatSessionChanged(fields) => self.change_session(&event.origin, fields, step),
            Body::UserMessage { vendor, message } if self.reads_user_message(event) => {
                self.add_user_message(&event.origin, &session, message.as_ref(), step);
                step.report(Happening::UserMessage { vendor: vendor.clone(), message: message.clone() });
            }
            Body::SubsessionStarted(subsession) => {
                let mut subsession = subsession.clone();
                if self.profile == Profile::AgentC {
                    subsession.session_id = None;
                }
                step.report(Happening::SubsessionStarted(subsession));
            }
            Body::SubsessionEnded => {
                step.report(Happening::SubsessionEnded { session_id: self.reported_session(&event.origin) });
            }
            Body::Cancelled => self.cancel(&event.origin, step),
            Body::UserTurnStart => {
                self.tools.clear_active();
                step.report(Happening::AllNotificationsCleared);
            }
            Body::Redundant | Body::Elsewhere => self.tally.ignored += 1,
            Body::Unknown | Body::UserMessage { .. } => {
                self.tally.unknown += 1;
                step.notice(DiagnosticKind::UnknownEvent { raw: event.raw().clone() });
            }
            Body::Malformed { field, expected } => {
                self.tally.malformed += 1;
                let (field, raw) = ((*field).to_owned(), event.raw().clone());
                step.notice(DiagnosticKind::MalformedEvent { field, expected, raw });
            }
        }
    }

    /// The id of an event that is a duplicate of a recent one.
    ///
    /// Only an interaction has an id, the same at its start and at its end: that Agent C's client drops an end as a
    /// duplicate of its start is a bug.
    fn repeated(&mut self, event: &ServerEvent, at: Time) -> Option<String> {
        let id = event.id.as_deref().filter(|id| !id.is_empty())?;
        let fingerprint = match (self.profile, &event.body) {
            (Profile::AgentC, _) => id.to_owned(),
            (Profile::Documented, Body::Interaction { started }) => {
                format!("{started} {id} {}", self.session_of(&event.origin))
            }
            (Profile::Documented, _) => return None,
        };
        (!self.recent.is_new(fingerprint, at)).then(|| id.to_owned())
    }

    fn begin_interaction(&mut self, session: &str, step: &mut Step) {
        if self.profile == Profile::AgentC {
            self.forget_messages();
            return self.tools.reset();
        }
        self.close(session, &Ending::Interrupted, step);
        let was_shown = self.tools.clear_session(session) > 0;
        self.tools.reset_session(session);
        if was_shown {
            step.report(Happening::SessionNotificationsCleared { session_id: session.to_owned() });
        }
    }

    fn end_interaction(&mut self, session: &str, step: &mut Step) {
        if self.profile == Profile::Documented {
            self.close(session, &Ending::Interrupted, step);
        }
        self.tools.clear_session(session);
        step.report(Happening::SessionNotificationsCleared { session_id: session.to_owned() });
    }

    fn grow(&mut self, session: &str, of: MessageType, text: &Text, step: &mut Step) {
        let message_key = self.message_key(session).to_owned();
        let open = self.open.get(&message_key).and_then(|open| open.builder.current_message_type());
        // For a text delta, Agent C's client only checks whether some message is open.
        let is_absorbed = self.profile == Profile::AgentC && of == MessageType::Assistant;
        if open.is_some_and(|open| open != of) && !is_absorbed {
            self.close(session, &Ending::Switched, step);
        }
        if of == MessageType::Thought && open != Some(of) {
            self.forget_thinking(session, step);
        }
        let new =
            || Open { builder: MessageBuilder::new(self.profile), pace: Pace::default(), is_refused: false };
        let open = self.open.entry(message_key.clone()).or_insert_with(new);
        if !open.builder.is_streaming() {
            let interrupted = open.builder.start_message(of, self.ids.stamp(step.at));
            debug_assert!(interrupted.is_none(), "nothing was streaming");
        }
        for segment in text.segments() {
            let room = self.longest.0.saturating_sub(open.pace.length());
            let taken = &segment[..segment.floor_char_boundary(room)];
            open.builder.append_text(taken, || self.ids.stamp(step.at));
            open.pace.hold(taken.len());
            if taken.len() < segment.len() && !std::mem::replace(&mut open.is_refused, true) {
                step.notice(DiagnosticKind::LimitReached { limit: self.longest.0 });
            }
        }
        if self.profile == Profile::AgentC || open.pace.is_due(step.at) {
            step.happenings.extend(open.show(session, step.at));
            self.held.remove(&message_key);
        } else if open.pace.has_held() {
            self.held.insert(message_key);
        }
    }

    /// Drops the messages that are being built, as Agent C's client does.
    fn forget_messages(&mut self) {
        self.open.clear();
        self.held.clear();
    }

    fn complete(&mut self, session: &str, completion: &Completion, step: &mut Step) {
        if completion.running {
            return;
        }
        let tokens =
            completion.input_tokens.unwrap_or(0).saturating_add(completion.output_tokens.unwrap_or(0));
        let was_open = self.close(session, &Ending::Completed(completion), step);
        let owner = match self.profile {
            // A reply of only calls has no message, but it has used tokens.
            Profile::Documented if was_open || tokens > 0 => self.ensured(session, step),
            Profile::AgentC if was_open => self.sessions.current_id().unwrap_or_default().to_owned(),
            Profile::Documented | Profile::AgentC => return,
        };
        if let Some(session) = self.sessions.get_mut(&owner) {
            session.add_tokens(tokens);
        }
    }

    fn cancel(&mut self, origin: &Origin, step: &mut Step) {
        let named = origin.session.as_deref().filter(|_| self.profile == Profile::Documented);
        let sessions = match named {
            Some(session) => vec![session.to_owned()],
            None => self.open.keys().cloned().collect(),
        };
        for session in &sessions {
            self.close(session, &Ending::Cancelled, step);
        }
        let active = match named {
            Some(session) => self.tools.active_in(session),
            None => self.tools.active(),
        };
        step.happenings.extend(active.into_iter().map(|active| Happening::ToolNotificationRemoved {
            session_id: active.session_id.clone(),
            id: active.id.clone(),
        }));
        match named {
            Some(session) => self.tools.reset_session(session),
            None => self.tools.reset(),
        }
        step.report(Happening::ResponseCancelled { session_id: self.reported_session(origin) });
    }

    /// Ends the message that is being built for a session, and returns whether there was one.
    fn close(&mut self, session: &str, ending: &Ending<'_>, step: &mut Step) -> bool {
        let Some(mut open) = self.open.remove(self.message_key(session)) else { return false };
        let is_documented = self.profile == Profile::Documented;
        self.held.remove(self.message_key(session));
        if open.pace.has_held() {
            step.happenings.extend(open.show(session, step.at));
        }
        let mut metadata = MessageMetadata::default();
        match ending {
            Ending::Completed(completion) => {
                metadata.input_tokens = completion.input_tokens;
                metadata.output_tokens = completion.output_tokens;
                metadata.stop_reason = completion.stop_reason.clone();
            }
            Ending::Cancelled | Ending::Interrupted => metadata.stop_reason = Some("cancelled".to_owned()),
            Ending::Switched => {}
        }
        let Ok(mut message) = open.builder.finalize(metadata) else { return false };
        if is_documented || matches!(ending, Ending::Completed(_)) {
            let pending = self.sessions.take_pending(session);
            message.attach(&pending);
        }
        if let Ending::Interrupted = ending {
            message.status = MessageStatus::Error;
            self.tally.interrupted += 1;
            step.notice(DiagnosticKind::InterruptedMessage { id: message.id.clone().unwrap_or_default() });
        }
        let current = || self.sessions.current_id().unwrap_or_default().to_owned();
        let (owner, session_id) = match (self.profile, ending) {
            (Profile::Documented, _) => (Some(self.ensured(session, step)), session.to_owned()),
            // A message that a thought ends is reported but not kept.
            (Profile::AgentC, Ending::Switched) => (None, session.to_owned()),
            (Profile::AgentC, Ending::Cancelled | Ending::Interrupted) => (Some(current()), current()),
            (Profile::AgentC, _) => (Some(current()), session.to_owned()),
        };
        if let Some(owner) = owner.and_then(|owner| self.sessions.get_mut(&owner)) {
            owner.push(message.clone(), step.at);
        }
        step.report(Happening::MessageComplete { session_id, message });
        true
    }

    /// The session that an event is about.
    fn session_of(&self, origin: &Origin) -> String {
        let current = || self.sessions.current_id().filter(|_| self.profile == Profile::Documented);
        origin.session.as_deref().or_else(current).unwrap_or_default().to_owned()
    }

    /// The key of the message that is being built for a session: Agent C's client has one for all sessions.
    fn message_key<'a>(&self, session: &'a str) -> &'a str {
        match self.profile {
            Profile::Documented => session,
            Profile::AgentC => "",
        }
    }

    /// The session that an event names, if it is reported: Agent C's client does not pass it on.
    fn reported_session(&self, origin: &Origin) -> Option<String> {
        origin.session.clone().filter(|_| self.profile == Profile::Documented)
    }

    /// The id of a session, which is created if it does not exist.
    fn ensured(&mut self, session: &str, step: &mut Step) -> String {
        let happenings = self.sessions.ensure(session, step.at);
        step.report_sessions(happenings);
        session.to_owned()
    }
}

impl Open {
    fn show(&mut self, session: &str, at: Time) -> Option<Happening> {
        self.pace.show(at);
        let message = self.builder.current_message()?;
        Some(Happening::MessageStreaming { session_id: session.to_owned(), message })
    }
}

impl Ids {
    /// A stamp in the form that the protocol documents, with a counter instead of random digits.
    fn stamp(&mut self, at: Time) -> Stamp {
        let (mut digits, mut rest) = ([b'0'; 9], self.0);
        for digit in digits.iter_mut().rev() {
            *digit = b"0123456789abcdefghijklmnopqrstuvwxyz"[(rest % 36) as usize];
            rest /= 36;
        }
        self.0 += 1;
        Stamp { id: format!("msg_{}_{}", at.0, String::from_utf8_lossy(&digits)), at }
    }
}

impl Step {
    fn report(&mut self, happening: Happening) {
        self.happenings.push(happening);
    }

    /// Reports what became of the sessions, and each that was removed because there were too many.
    fn report_sessions(&mut self, happenings: Vec<Happening>) {
        for happening in happenings {
            if let Happening::SessionCleared { session_id } = &happening {
                self.notice(DiagnosticKind::RemovedSession { id: session_id.clone() });
            }
            self.report(happening);
        }
    }

    fn notice(&mut self, kind: DiagnosticKind) {
        self.report(Happening::Diagnostic(Diagnostic { number: self.number, kind }));
    }
}
