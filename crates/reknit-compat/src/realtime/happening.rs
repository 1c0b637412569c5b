//! [`Happening`]: what an event made happen, in the names that Agent C's client tells it by.

use serde::Serialize;

use super::book::ToolNotification;
use super::call::{ToolCall, ToolResult};
use super::diagnostic::Diagnostic;
use super::message::EnhancedMessage;
use super::sessions::IndexEntry;
use reknit::json::{Object, Value};

/// One thing that happened.
///
/// In JSON it is `{"event": NAME, "data": {…}}`, the two arguments that a listener of that client gets. Where
/// the client hands out all its sessions, this says which one: they are in
/// [`Processor::sessions`](super::Processor::sessions).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", content = "data", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Happening {
    /// A message grew; it may have grown several times since it was last told of.
    MessageStreaming {
        /// Its session.
        session_id: String,
        /// The message so far.
        message: EnhancedMessage,
    },
    /// A message is over.
    MessageComplete {
        /// Its session.
        session_id: String,
        /// The whole message.
        message: EnhancedMessage,
    },
    /// A message came whole.
    MessageAdded {
        /// Its session.
        session_id: String,
        /// The message.
        message: EnhancedMessage,
    },
    /// Calls were attached to a message that was told of before.
    MessageUpdated {
        /// Its session.
        session_id: String,
        /// Its id.
        message_id: String,
        /// The message as it is now.
        message: EnhancedMessage,
    },
    /// The messages of a session are these now.
    SessionMessagesLoaded {
        /// The session.
        session_id: String,
        /// All its messages.
        messages: Vec<EnhancedMessage>,
    },
    /// Another session is the current one, or the same one anew.
    ChatSessionChanged {
        /// The session that is current now.
        current_session_id: String,
        /// The one that was before.
        previous_session_id: Option<String>,
    },
    /// A session was added, changed or removed.
    SessionsUpdated,
    /// A session was removed.
    SessionCleared {
        /// Which.
        session_id: String,
    },
    /// All sessions were removed.
    AllSessionsCleared,
    /// The list of the user's sessions has changed.
    SessionsIndexUpdated {
        /// The list so far.
        session_index: Vec<IndexEntry>,
        /// How many the server has.
        total_sessions: u64,
    },
    /// More of the list of the user's sessions is wanted from the server.
    RequestUserSessions {
        /// From which on.
        offset: u64,
        /// How many.
        limit: u64,
    },
    /// A call was chosen or runs.
    ToolNotification(ToolNotification),
    /// A call needs no notification any more.
    ToolNotificationRemoved {
        /// Its session.
        session_id: String,
        /// The id of the call.
        id: String,
    },
    /// Calls are over.
    ToolCallComplete {
        /// Their session.
        session_id: String,
        /// The calls.
        tool_calls: Vec<ToolCall>,
        /// Their results, if the server sent any.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_results: Option<Vec<ToolResult>>,
    },
    /// No call of a session needs a notification any more.
    SessionNotificationsCleared {
        /// Which session.
        session_id: String,
    },
    /// No call needs a notification any more.
    AllNotificationsCleared,
    /// An image, a page or the like is to be shown.
    MediaAdded {
        /// Its session.
        session_id: String,
        /// The message that is it.
        media: EnhancedMessage,
    },
    /// The system has something to say, in the fields that it came with.
    #[serde(rename = "system_message")]
    SystemMessage(Object),
    /// The server failed at something, in no session.
    Error {
        /// Always `error`.
        r#type: &'static str,
        /// What it says.
        message: String,
        /// Where it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<String>,
        /// When this was heard of.
        timestamp: String,
    },
    /// A user's message came, as it came.
    UserMessage {
        /// The provider in whose form it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        vendor: Option<String>,
        /// The message.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<Value>,
    },
    /// Another agent was put to work.
    SubsessionStarted(Subsession),
    /// That agent is done.
    SubsessionEnded {
        /// Its session, if the server named it.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
    },
    /// The user stopped the reply.
    ResponseCancelled {
        /// Of which session, if the server named it.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
    },
    /// Something was odd about the event.
    Diagnostic(Diagnostic),
}

/// An agent that was put to work, in the server's words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Subsession {
    /// Its session, if the server named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// `chat` or `oneshot`.
    pub sub_session_type: Option<String>,
    /// `clone`, `team`, `assist` or `tool`.
    pub sub_agent_type: Option<String>,
    /// The agent that put it to work.
    pub prime_agent_key: Option<String>,
    /// The agent itself.
    pub sub_agent_key: Option<String>,
}
