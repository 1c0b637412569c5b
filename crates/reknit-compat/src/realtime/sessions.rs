//! [`Sessions`]: a user's open sessions, which one is current, and what is waiting for a message.

use std::collections::BTreeMap;

use reknit::json::{self, Object, Value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Time;
use super::call::CompletedCall;
use super::happening::Happening;
use super::message::{EnhancedMessage, Fields};

mod index;
mod order;

pub use index::{IndexEntry, SessionIndex};
use order::Order;

/// How many sessions are kept by default.
const KEPT: usize = 100;

/// The field of a message that was exchanged with another agent.
pub(super) const IS_SUB_SESSION: &str = "isSubSession";

/// Sessions by id; one of them may be the current one.
///
/// ```
/// use reknit_compat::realtime::{Session, Sessions, Time};
///
/// let mut sessions = Sessions::default();
/// sessions.set_current(Session::new("s1", Time(0)));
/// sessions.add_user_message("Hello!", Time(1000));
/// assert_eq!(sessions.current().unwrap().messages().len(), 1);
/// assert_eq!(sessions.current().unwrap().token_count(), 2); // a quarter of the characters
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sessions {
    sessions: BTreeMap<String, Session>,
    current: Option<String>,
    /// Decides which session is older where their times do not.
    order: Order,
    /// Calls that finished before the message they belong to existed.
    pending: BTreeMap<String, Vec<CompletedCall>>,
    index: SessionIndex,
    kept: usize,
}

/// A session: its messages, and what the server says about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    session_id: String,
    messages: Vec<EnhancedMessage>,
    token_count: u64,
    updated_at: Option<String>,
    /// The last message that calls can be attached to; `None` after a message of the user.
    reply: Option<usize>,
    others: Object,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            sessions: BTreeMap::new(),
            current: None,
            order: Order::default(),
            pending: BTreeMap::new(),
            index: SessionIndex::default(),
            kept: KEPT,
        }
    }
}

impl Sessions {
    /// No sessions, with room for this many.
    pub fn with_at_most(kept: usize) -> Self {
        Self { kept, ..Self::default() }
    }

    /// Adds a session or replaces it, and makes it the current one.
    ///
    /// If there are too many, the least recently changed one is removed, but never the current one. Of sessions
    /// without times it is the one that was added first.
    pub fn set_current(&mut self, session: Session) -> Vec<Happening> {
        let id = session.session_id.clone();
        let previous_session_id = self.current.replace(id.clone());
        self.add(session);
        let mut happenings = self.prune_but(&id);
        happenings.push(Happening::ChatSessionChanged { current_session_id: id, previous_session_id });
        happenings.push(Happening::SessionsUpdated);
        happenings
    }

    /// The current session.
    pub fn current(&self) -> Option<&Session> {
        self.get(self.current.as_deref()?)
    }

    /// The id of the current session.
    pub fn current_id(&self) -> Option<&str> {
        self.current.as_deref()
    }

    /// A session.
    pub fn get(&self, id: &str) -> Option<&Session> {
        self.sessions.get(id)
    }

    /// All sessions, by id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Session> {
        self.sessions.values()
    }

    /// How many sessions there are.
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Whether there are no sessions.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Adds what the user wrote to the current session, if there is one; its tokens are estimated.
    pub fn add_user_message(&mut self, content: &str, at: Time) -> Option<Happening> {
        let id = self.current.clone()?;
        let session = self.sessions.get_mut(&id)?;
        let message = EnhancedMessage::new("user", content, at);
        session.push(message.clone(), at);
        session.token_count += content.encode_utf16().count().div_ceil(4) as u64;
        Some(Happening::MessageAdded { session_id: id, message })
    }

    /// Removes a session, if it exists. If it was the current one, there is no current session afterwards.
    pub fn clear_session(&mut self, id: &str) -> Vec<Happening> {
        if self.sessions.remove(id).is_none() {
            return Vec::new();
        }
        self.order.remove(id);
        self.current.take_if(|current| current == id);
        vec![Happening::SessionCleared { session_id: id.to_owned() }, Happening::SessionsUpdated]
    }

    /// Removes all sessions. Calls that are waiting for a message keep waiting.
    pub fn reset(&mut self) -> Vec<Happening> {
        self.sessions.clear();
        self.order = Order::default();
        self.current = None;
        vec![Happening::AllSessionsCleared, Happening::SessionsUpdated]
    }

    /// The list of the user's sessions, as far as the server has sent it.
    pub fn index(&self) -> &SessionIndex {
        &self.index
    }

    /// Takes a page of that list, which replaces the list or is appended to it without duplicates.
    pub fn set_index(&mut self, page: SessionIndex, placing: Placing) -> Happening {
        match placing {
            Placing::Replace => self.index = page,
            Placing::Append => self.index.append(page),
        }
        Happening::SessionsIndexUpdated {
            session_index: self.index.entries.clone(),
            total_sessions: self.index.total,
        }
    }

    /// Asks the server for more of that list, if it has more.
    pub fn request_more(&self, limit: u64) -> Option<Happening> {
        let offset = self.index.entries.len() as u64;
        self.index.has_more().then_some(Happening::RequestUserSessions { offset, limit })
    }

    /// Keeps calls until their session has a message to attach them to.
    pub fn buffer_pending(&mut self, session: &str, calls: Vec<CompletedCall>) {
        self.pending.entry(session.to_owned()).or_default().extend(calls);
    }

    /// The calls of a session that are waiting for a message.
    pub fn pending(&self, session: &str) -> &[CompletedCall] {
        self.pending.get(session).map_or(&[], Vec::as_slice)
    }

    /// Whether calls of a session are waiting for a message.
    pub fn has_pending(&self, session: &str) -> bool {
        !self.pending(session).is_empty()
    }

    /// Takes the calls of a session that are waiting for a message.
    pub fn take_pending(&mut self, session: &str) -> Vec<CompletedCall> {
        self.pending.remove(session).unwrap_or_default()
    }

    /// A session, mutably.
    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut Session> {
        self.sessions.get_mut(id)
    }

    /// Creates a session if it does not exist.
    pub(super) fn ensure(&mut self, id: &str, at: Time) -> Vec<Happening> {
        if self.sessions.contains_key(id) {
            return Vec::new();
        }
        self.add(Session::new(id, at));
        let mut happenings = self.prune_but(id);
        happenings.push(Happening::SessionsUpdated);
        happenings
    }

    fn add(&mut self, session: Session) {
        self.order.add(&session.session_id);
        self.sessions.insert(session.session_id.clone(), session);
    }

    /// Removes the least recently changed session if there is one too many, but never the current one or `new`.
    fn prune_but(&mut self, new: &str) -> Vec<Happening> {
        if self.sessions.len() <= self.kept {
            return Vec::new();
        }
        let may_go = |session: &&Session| {
            session.session_id != new && self.current.as_deref() != Some(&session.session_id)
        };
        let age = |session: &&Session| (session.changed_at(), self.order.number(&session.session_id));
        let oldest = self.sessions.values().filter(may_go).min_by_key(age);
        let oldest = oldest.map(|session| session.session_id.clone());
        oldest.map_or_else(Vec::new, |id| self.clear_session(&id))
    }
}

/// Where a page of the list of sessions goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placing {
    /// In place of the list.
    Replace,
    /// At the end of the list.
    Append,
}

impl Session {
    /// A session without messages.
    pub fn new(id: &str, at: Time) -> Self {
        let created: Object = [("created_at", at.to_string())].into_iter().collect();
        Self::from_fields(id, created)
    }

    /// A session from what the server says about it, without its messages.
    pub(super) fn from_fields(id: &str, fields: Object) -> Self {
        let mut fields = Fields(fields);
        let (token_count, updated_at) = (fields.count("token_count"), fields.string("updated_at"));
        // If the server sends one of these with another type, it must not appear a second time among the others.
        for own in ["session_id", "token_count", "updated_at"] {
            fields.0.remove(own);
        }
        Self {
            session_id: id.to_owned(),
            messages: Vec::new(),
            token_count: token_count.unwrap_or_default(),
            updated_at,
            reply: None,
            others: fields.0,
        }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.session_id
    }

    /// Its messages, first to last.
    pub fn messages(&self) -> &[EnhancedMessage] {
        &self.messages
    }

    /// The tokens it has used.
    pub fn token_count(&self) -> u64 {
        self.token_count
    }

    /// What else the server says about it.
    pub fn others(&self) -> &Object {
        &self.others
    }

    /// Adds a message.
    pub(super) fn push(&mut self, message: EnhancedMessage, at: Time) {
        self.updated_at = Some(at.to_string());
        self.load(message);
    }

    /// Adds a message that existed before.
    pub(super) fn load(&mut self, message: EnhancedMessage) {
        // Calls of this session's model do not belong to messages of another agent.
        if !is_aside(&message) && message.is_reply() {
            self.reply = Some(self.messages.len());
        } else if !is_aside(&message) && message.role == "user" {
            self.reply = None;
        }
        self.messages.push(message);
    }

    pub(super) fn add_tokens(&mut self, tokens: u64) {
        self.token_count = self.token_count.saturating_add(tokens);
    }

    /// Attaches calls to the model's last message after the user's last one, if there is one.
    pub(super) fn attach(&mut self, calls: &[CompletedCall]) -> Option<&EnhancedMessage> {
        let message = self.messages.get_mut(self.reply?)?;
        message.attach(calls);
        Some(message)
    }

    pub(super) fn into_messages(self) -> Vec<EnhancedMessage> {
        self.messages
    }

    /// When it last changed. Times are strings in UTC, which sort in the order of the times.
    fn changed_at(&self) -> String {
        let created = || Some(self.others.get("created_at")?.as_str()?.into_owned());
        self.updated_at.clone().or_else(created).unwrap_or_default()
    }
}

/// Whether a message was exchanged with another agent that has no session of its own here.
fn is_aside(message: &EnhancedMessage) -> bool {
    let named = message.metadata.as_ref().is_some_and(|metadata| metadata.others.get("sessionId").is_some());
    !named && message.others.get(IS_SUB_SESSION).and_then(Value::as_bool) == Some(true)
}

impl From<&Session> for Object {
    fn from(session: &Session) -> Self {
        let mut fields = Self::new();
        fields.insert("session_id", session.session_id.as_str());
        if let Some(updated_at) = &session.updated_at {
            fields.insert("updated_at", updated_at.as_str());
        }
        fields.insert("token_count", session.token_count);
        for (key, value) in session.others.iter() {
            fields.insert(key, value.clone());
        }
        let messages = session.messages.iter().map(|message| Value::Object(Self::from(message)));
        fields.insert("messages", messages.collect::<Vec<_>>());
        fields
    }
}

impl Serialize for Session {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Object::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Session {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields(json::exact(deserializer)?);
        let lacks = || serde::de::Error::custom("a session has no `session_id`");
        let id = fields.string("session_id").ok_or_else(lacks)?;
        let messages = fields.0.remove("messages");
        let mut session = Self::from_fields(&id, fields.0);
        for message in messages.iter().filter_map(Value::as_array).flatten().filter_map(Value::as_object) {
            session.load(message.clone().into());
        }
        Ok(session)
    }
}
