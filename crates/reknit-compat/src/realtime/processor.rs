//! [`Processor`]: an event in, what it makes happen out. All transitions but those of tools and of whole
//! sessions stand here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::book::ToolCallBook;
use super::builder::{MessageBuilder, MessageType, Stamp};
use super::diagnostic::{Diagnostic, DiagnosticKind};
use super::event::{Body, Completion, Origin, ServerEvent};
use super::happening::Happening;
use super::message::{EnhancedMessage, MessageMetadata, MessageStatus};
use super::sessions::Sessions;
use super::{Profile, Time};
use reknit::Limits;
use reknit::Text;

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

/// Takes the events of a server one by one and says what each makes happen.
///
/// An event that names no session is about the current one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Processor {
    profile: Profile,
    sessions: Sessions,
    tools: ToolCallBook,
    /// The messages that are being built, each in its session.
    open: BTreeMap<String, Open>,
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
    /// Whether its text was too long, and the rest was refused.
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

/// Counts the messages, so that each has an id of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct Ids(u64);

/// How many events came, and what was not done with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// All events.
    pub events: u64,
    /// Those that are for another part of a program, or say again what others have said.
    pub ignored: u64,
    /// Those of an unknown type.
    pub unknown: u64,
    /// Those that lack what they are about.
    pub malformed: u64,
    /// Those that came before.
    pub duplicate: u64,
    /// Fields that are not known, over all events.
    pub unknown_fields: u64,
    /// Messages that were not over when something else began.
    pub interrupted: u64,
}

/// One event's way through the processor.
struct Step {
    number: u64,
    at: Time,
    happenings: Vec<Happening>,
}

/// Why a message goes no further.
enum Ending<'a> {
    /// A message of another kind begins.
    Switched,
    Completed(&'a Completion),
    Cancelled,
    /// Nobody said that it is over, but it is.
    Interrupted,
}

impl Processor {
    /// A processor before the first event.
    pub fn new(profile: Profile) -> Self {
        Self { profile, ..Self::default() }
    }

    /// Takes [`Limits::text_bytes`] as the bound of a message's text, before the first event.
    ///
    /// What is behind it is refused and told of once; the message goes on to its end.
    #[must_use]
    pub fn with_limits(self, limits: &Limits) -> Self {
        Self { longest: Longest(limits.text_bytes), ..self }
    }

    /// Takes an event at a time of the caller's clock, and says what it makes happen, in order.
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

    /// Tells of all text that was held back so as not to tell of every delta.
    ///
    /// Call it when a stream pauses or ends; text of a message that is over is never held back.
    pub fn flush(&mut self, at: Time) -> Vec<Happening> {
        let open = self.open.iter_mut().filter(|(_, open)| open.pace.has_held());
        open.filter_map(|(session, open)| open.show(session, at)).collect()
    }

    /// The sessions as they are now.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The sessions, for what the user does: a message, another session.
    pub fn sessions_mut(&mut self) -> &mut Sessions {
        &mut self.sessions
    }

    /// The calls that are known of.
    pub fn tools(&self) -> &ToolCallBook {
        &self.tools
    }

    /// The message that is being built for a session.
    pub fn open_message(&self, session: &str) -> Option<EnhancedMessage> {
        self.open.get(self.desk(session))?.builder.current_message()
    }

    /// What came, and what was not done with it.
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
            Body::SystemMessage(fields) => step.tell(media::system_message(fields)),
            Body::Error { message, source } => step.tell(Happening::Error {
                r#type: "error",
                message: message.clone(),
                source: source.clone(),
                timestamp: step.at.to_string(),
            }),
            Body::ChatSessionChanged(fields) => self.change_session(&event.origin, fields, step),
            Body::UserMessage { vendor, message } if self.reads_user_message(event) => {
                self.add_user_message(&event.origin, &session, message.as_ref(), step);
                step.tell(Happening::UserMessage { vendor: vendor.clone(), message: message.clone() });
            }
            Body::SubsessionStarted(subsession) => {
                let mut subsession = subsession.clone();
                if self.profile == Profile::AgentC {
                    subsession.session_id = None;
                }
                step.tell(Happening::SubsessionStarted(subsession));
            }
            Body::SubsessionEnded => {
                step.tell(Happening::SubsessionEnded { session_id: self.told_session(&event.origin) });
            }
            Body::Cancelled => self.cancel(&event.origin, step),
            Body::UserTurnStart => {
                self.tools.clear_active();
                step.tell(Happening::AllNotificationsCleared);
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

    /// The id of an event that came a moment ago.
    ///
    /// Only an interaction has an id, the same at its beginning and at its end: that an end is dropped as a
    /// repetition of its beginning is a bug of Agent C's client.
    fn repeated(&mut self, event: &ServerEvent, at: Time) -> Option<String> {
        let id = event.id.as_deref().filter(|id| !id.is_empty())?;
        let fingerprint = match (self.profile, &event.body) {
            (Profile::AgentC, _) => id.to_owned(),
            (Profile::Documented, Body::Interaction { started }) => {
                format!("{started} {id} {}", self.session_of(&event.origin))
            }
            (Profile::Documented, _) => return None,
        };
        (!self.recent.is_news(fingerprint, at)).then(|| id.to_owned())
    }

    fn begin_interaction(&mut self, session: &str, step: &mut Step) {
        if self.profile == Profile::AgentC {
            self.open.clear();
            return self.tools.reset();
        }
        self.close(session, &Ending::Interrupted, step);
        let was_shown = self.tools.clear_session(session) > 0;
        self.tools.reset_session(session);
        if was_shown {
            step.tell(Happening::SessionNotificationsCleared { session_id: session.to_owned() });
        }
    }

    fn end_interaction(&mut self, session: &str, step: &mut Step) {
        if self.profile == Profile::Documented {
            self.close(session, &Ending::Interrupted, step);
        }
        self.tools.clear_session(session);
        step.tell(Happening::SessionNotificationsCleared { session_id: session.to_owned() });
    }

    fn grow(&mut self, session: &str, of: MessageType, text: &Text, step: &mut Step) {
        let desk = self.desk(session).to_owned();
        let open = self.open.get(&desk).and_then(|open| open.builder.current_message_type());
        // Agent C's client asks a delta of text only whether some message is open.
        let is_absorbed = self.profile == Profile::AgentC && of == MessageType::Assistant;
        if open.is_some_and(|open| open != of) && !is_absorbed {
            self.close(session, &Ending::Switched, step);
        }
        if of == MessageType::Thought && open != Some(of) {
            self.forget_thinking(session, step);
        }
        let new =
            || Open { builder: MessageBuilder::new(self.profile), pace: Pace::default(), is_refused: false };
        let open = self.open.entry(desk).or_insert_with(new);
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
        }
    }

    fn complete(&mut self, session: &str, completion: &Completion, step: &mut Step) {
        if completion.running {
            return;
        }
        let tokens =
            completion.input_tokens.unwrap_or(0).saturating_add(completion.output_tokens.unwrap_or(0));
        let was_open = self.close(session, &Ending::Completed(completion), step);
        let owner = match self.profile {
            // A reply of calls alone has no message, but it has taken its tokens.
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
        step.tell(Happening::ResponseCancelled { session_id: self.told_session(origin) });
    }

    /// Ends the message that is being built for a session, and says whether there was one.
    fn close(&mut self, session: &str, ending: &Ending<'_>, step: &mut Step) -> bool {
        let Some(mut open) = self.open.remove(self.desk(session)) else { return false };
        let is_documented = self.profile == Profile::Documented;
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
            Ending::Cancelled => metadata.stop_reason = Some("cancelled".to_owned()),
            Ending::Switched | Ending::Interrupted => {}
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
            // What a thought ends is told of and kept nowhere.
            (Profile::AgentC, Ending::Switched) => (None, session.to_owned()),
            (Profile::AgentC, Ending::Cancelled) => (Some(current()), current()),
            (Profile::AgentC, _) => (Some(current()), session.to_owned()),
        };
        if let Some(owner) = owner.and_then(|owner| self.sessions.get_mut(&owner)) {
            owner.push(message.clone(), step.at);
        }
        step.tell(Happening::MessageComplete { session_id, message });
        true
    }

    /// The session that an event is about.
    fn session_of(&self, origin: &Origin) -> String {
        let current = || self.sessions.current_id().filter(|_| self.profile == Profile::Documented);
        origin.session.as_deref().or_else(current).unwrap_or_default().to_owned()
    }

    /// Where the message of a session is built: Agent C's client has one place for all.
    fn desk<'a>(&self, session: &'a str) -> &'a str {
        match self.profile {
            Profile::Documented => session,
            Profile::AgentC => "",
        }
    }

    /// The session that an event names, which Agent C's client does not pass on.
    fn told_session(&self, origin: &Origin) -> Option<String> {
        origin.session.clone().filter(|_| self.profile == Profile::Documented)
    }

    /// The id of a session that is there from now on.
    fn ensured(&mut self, session: &str, step: &mut Step) -> String {
        step.happenings.extend(self.sessions.ensure(session, step.at));
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
    /// A stamp in the form that the protocol documents, with a count in place of chance.
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
    fn tell(&mut self, happening: Happening) {
        self.happenings.push(happening);
    }

    fn notice(&mut self, kind: DiagnosticKind) {
        self.tell(Happening::Diagnostic(Diagnostic { number: self.number, kind }));
    }
}
