//! [`Happening`]: what an event caused, under the names that Agent C's client emits.

use reknit::json::{Object, Value};
use serde::Serialize;

use super::book::ToolNotification;
use super::call::{ToolCall, ToolResult};
use super::diagnostic::Diagnostic;
use super::message::EnhancedMessage;
use super::sessions::IndexEntry;

/// One thing that happened.
///
/// In JSON it is `{"event": NAME, "data": {…}}`, the two arguments that a listener of that client gets. Where
/// the client passes all its sessions, this says which one: they are in
/// [`Processor::sessions`](super::Processor::sessions).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", content = "data", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Happening {
    /// A message grew; it may have grown several times since it was last reported.
    MessageStreaming {
        /// Its session.
        session_id: String,
        /// The message so far.
        message: EnhancedMessage,
    },
    /// A message is finished.
    MessageComplete {
        /// Its session.
        session_id: String,
        /// The whole message.
        message: EnhancedMessage,
    },
    /// A whole message arrived.
    MessageAdded {
        /// Its session.
        session_id: String,
        /// The message.
        message: EnhancedMessage,
    },
    /// Calls were attached to a message that was reported before.
    MessageUpdated {
        /// Its session.
        session_id: String,
        /// Its id.
        message_id: String,
        /// The message as it is now.
        message: EnhancedMessage,
    },
    /// The messages of a session were replaced.
    SessionMessagesLoaded {
        /// The session.
        session_id: String,
        /// All its messages.
        messages: Vec<EnhancedMessage>,
    },
    /// The current session changed, or was set again.
    ChatSessionChanged {
        /// The session that is current now.
        current_session_id: String,
        /// The one before it.
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
    /// The server should send more of the list of the user's sessions.
    RequestUserSessions {
        /// Starting with which.
        offset: u64,
        /// How many.
        limit: u64,
    },
    /// A call was chosen or is running.
    ToolNotification(ToolNotification),
    /// A call no longer needs a notification.
    ToolNotificationRemoved {
        /// Its session.
        session_id: String,
        /// The id of the call.
        id: String,
    },
    /// Calls are finished.
    ToolCallComplete {
        /// Their session.
        session_id: String,
        /// The calls.
        tool_calls: Vec<ToolCall>,
        /// Their results, if the server sent any.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_results: Option<Vec<ToolResult>>,
    },
    /// No call of a session needs a notification any longer.
    SessionNotificationsCleared {
        /// Which session.
        session_id: String,
    },
    /// No call needs a notification any longer.
    AllNotificationsCleared,
    /// An image, a page or other media is to be shown.
    MediaAdded {
        /// Its session.
        session_id: String,
        /// Its message.
        media: EnhancedMessage,
    },
    /// A message of the system, with the fields that the server sent.
    #[serde(rename = "system_message")]
    SystemMessage(Object),
    /// The server reported an error that does not belong to a session.
    Error {
        /// Always `error`.
        r#type: &'static str,
        /// What it says.
        message: String,
        /// Where it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<String>,
        /// When it was received.
        timestamp: String,
    },
    /// A user's message arrived; this is its original form.
    UserMessage {
        /// The provider whose format it has.
        #[serde(skip_serializing_if = "Option::is_none")]
        vendor: Option<String>,
        /// The message.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<Value>,
    },
    /// Another agent was started.
    SubsessionStarted(Subsession),
    /// That agent is finished.
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

/// An agent that was started, as the server describes it.
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
    /// The agent that started it.
    pub prime_agent_key: Option<String>,
    /// The agent itself.
    pub sub_agent_key: Option<String>,
}
