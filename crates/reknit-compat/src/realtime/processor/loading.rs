//! Whole sessions and whole messages from the server.

use reknit::json::{Object, Value};

use super::resume::Resume;
use super::{Processor, Step, content};
use crate::realtime::diagnostic::DiagnosticKind;
use crate::realtime::event::{Origin, ServerEvent};
use crate::realtime::happening::Happening;
use crate::realtime::message::EnhancedMessage;
use crate::realtime::sessions::{IS_SUB_SESSION, Session};
use crate::realtime::{Profile, Time};

/// A session that the server has sent.
struct Loaded {
    session: Session,
    /// The messages that are reported.
    shown: Vec<EnhancedMessage>,
    /// What happened between them.
    inside: Vec<Happening>,
}

impl Processor {
    /// The server sets the current session and its content.
    ///
    /// A message that is being built continues: switching to another session does not end it.
    pub(super) fn change_session(&mut self, origin: &Origin, fields: &Object, step: &mut Step) {
        let id = fields.get("session_id").and_then(Value::as_str).unwrap_or_default().into_owned();
        self.user_session = Some(origin.user_session.clone().unwrap_or_else(|| id.clone()));
        if self.profile == Profile::AgentC {
            self.forget_messages();
        }
        let mut fields = fields.clone();
        let messages = fields.remove("messages").unwrap_or_default();
        let messages = listed(&messages, step);
        let session = Session::from_fields(&id, fields);
        let is_raw = messages.first().is_some_and(|first| first.get("timestamp").is_none());
        let Loaded { session, shown, inside } = if is_raw {
            self.resume(session, &messages, step.at)
        } else {
            self.reload(session, &messages, step)
        };
        let happenings = self.sessions.set_current(session);
        step.report_sessions(happenings);
        step.happenings.extend(inside);
        step.report(Happening::SessionMessagesLoaded { session_id: id, messages: shown });
    }

    pub(super) fn add_user_message(
        &mut self,
        origin: &Origin,
        session: &str,
        message: Option<&Value>,
        step: &mut Step,
    ) {
        let (role, content) = content::of_user(message, self.profile);
        let mut message = EnhancedMessage::new(&role, content, step.at);
        if self.is_sub_session(origin) {
            message.others.insert(IS_SUB_SESSION, true);
            let ids = [
                ("sessionId", &origin.session),
                ("parentSessionId", &origin.parent_session),
                ("userSessionId", &origin.user_session),
            ];
            let ids = ids.into_iter().filter_map(|(key, id)| Some((key, id.as_deref()?)));
            message.metadata.get_or_insert_default().others = ids.collect();
        }
        let owner = match self.profile {
            Profile::Documented => {
                message.id = Some(self.ids.stamp(step.at).id);
                self.ensured(session, step)
            }
            Profile::AgentC => self.sessions.current_id().unwrap_or_default().to_owned(),
        };
        if let Some(session) = self.sessions.get_mut(&owner) {
            session.push(message.clone(), step.at);
            step.report(Happening::MessageAdded { session_id: owner, message });
        }
    }

    /// Whether the name of an event is a known one of a user's message: the server's documentation and the client's
    /// types disagree about one.
    pub(super) fn reads_user_message(&self, event: &ServerEvent) -> bool {
        self.profile == Profile::Documented || event.kind() != "open_ai_user_message"
    }

    fn is_sub_session(&self, origin: &Origin) -> bool {
        let user_session = origin.user_session.as_ref().or(self.user_session.as_ref());
        matches!((&origin.session, user_session), (Some(session), Some(user)) if session != user)
    }

    /// A provider's messages, as they were originally shown.
    fn resume(&mut self, session: Session, messages: &[&Object], at: Time) -> Loaded {
        // Agent C's client does not keep the messages that it shows, but the original ones with their content normalised.
        let mut kept = session.clone();
        let (pending, happenings) = (Vec::new(), Vec::new());
        let mut resume =
            Resume { profile: self.profile, ids: &mut self.ids, at, session, pending, happenings };
        resume.load(messages);
        let Resume { session, pending, happenings: inside, .. } = resume;
        if !pending.is_empty() {
            self.sessions.buffer_pending(session.id(), pending);
        }
        if self.profile == Profile::Documented {
            return Loaded { shown: session.messages().to_vec(), session, inside };
        }
        for message in messages {
            let (role, content) = content::of_user(Some(&Value::Object((*message).clone())), self.profile);
            kept.load(EnhancedMessage::new(&role, content, at));
        }
        Loaded { session: kept, shown: session.into_messages(), inside }
    }

    /// Messages that already have the form in which they are shown.
    fn reload(&mut self, mut session: Session, messages: &[&Object], step: &mut Step) -> Loaded {
        for (index, message) in messages.iter().enumerate() {
            let mut message = EnhancedMessage::from((*message).clone());
            for (field, expected, raw) in message.misfits() {
                let (field, raw) = (format!("chat_session.messages[{index}].{field}"), raw.clone());
                step.notice(DiagnosticKind::MalformedField { field, expected, raw });
            }
            if self.profile == Profile::Documented && message.id.is_none() {
                message.set_id(self.ids.stamp(step.at).id);
            }
            session.load(message);
        }
        Loaded { shown: session.messages().to_vec(), session, inside: Vec::new() }
    }
}

/// The messages of a session; elements that are not messages are reported.
fn listed<'a>(messages: &'a Value, step: &mut Step) -> Vec<&'a Object> {
    let mut list = Vec::new();
    for (index, message) in messages.as_array().into_iter().flatten().enumerate() {
        match message.as_object() {
            Some(message) => list.push(message),
            None => step.notice(DiagnosticKind::MalformedField {
                field: format!("chat_session.messages[{index}]"),
                expected: "message",
                raw: message.clone(),
            }),
        }
    }
    list
}
