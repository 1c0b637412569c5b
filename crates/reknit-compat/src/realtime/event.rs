//! [`ServerEvent`]: one event of the server, as it was sent and as it is understood.

use std::borrow::Cow;
use std::str::FromStr;

use reknit::Text;
use reknit::json::{self, Object, Value};

use super::call::{ToolCall, ToolResult};
use super::diagnostic::DiagnosticKind;
use super::happening::Subsession;

/// One event of the server. Any JSON value is one, even if it has no effect.
///
/// ```
/// use reknit_compat::realtime::ServerEvent;
///
/// let event: ServerEvent = r#"{"type":"text_delta","session_id":"s1","content":"Hi"}"#.parse()?;
/// assert_eq!((event.kind(), event.session_id()), ("text_delta", Some("s1")));
/// # Ok::<(), reknit::json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ServerEvent {
    raw: Value,
    kind: String,
    pub(super) id: Option<String>,
    pub(super) origin: Origin,
    pub(super) body: Body,
    /// Optional fields of an unexpected type.
    pub(super) problems: Vec<DiagnosticKind>,
}

/// Where an event comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Origin {
    pub(super) session: Option<String>,
    pub(super) parent_session: Option<String>,
    /// The session that the user is in, as opposed to a sub-session.
    pub(super) user_session: Option<String>,
}

/// What an event says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    Interaction {
        started: bool,
    },
    TextDelta(Text),
    ThoughtDelta(Text),
    Completion(Completion),
    ToolSelect(Vec<ToolCall>),
    ToolActive(Vec<ToolCall>),
    ToolDone {
        calls: Vec<ToolCall>,
        results: Option<Vec<ToolResult>>,
    },
    RenderMedia(Object),
    SystemMessage(Object),
    Error {
        message: String,
        source: Option<String>,
    },
    ChatSessionChanged(Object),
    UserMessage {
        vendor: Option<String>,
        message: Option<Value>,
    },
    SubsessionStarted(Subsession),
    SubsessionEnded,
    Cancelled,
    UserTurnStart,
    /// It repeats what others say.
    Redundant,
    /// It is for another part of a program: lists of agents and voices, sound, pongs.
    Elsewhere,
    Unknown,
    Malformed {
        field: &'static str,
        expected: &'static str,
    },
}

/// The end of a reply, or the notice that it continues.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Completion {
    pub(super) running: bool,
    pub(super) stop_reason: Option<String>,
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
}

/// Fields that any event of a session may have.
const SHARED: [&str; 6] = ["type", "id", "session_id", "role", "parent_session_id", "user_session_id"];

impl ServerEvent {
    /// Its type; empty if it does not have one.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The session that it is about, if it names one.
    pub fn session_id(&self) -> Option<&str> {
        self.origin.session.as_deref()
    }

    /// The event as it was sent.
    pub fn raw(&self) -> &Value {
        &self.raw
    }

    /// How many of its fields are unknown and therefore ignored.
    pub(super) fn unknown_fields(&self) -> u64 {
        let known: &[&str] = match &self.body {
            Body::Interaction { .. } => &["started"],
            Body::TextDelta(_) | Body::ThoughtDelta(_) => &["content", "format"],
            Body::Completion(_) => {
                &["running", "completion_options", "stop_reason", "input_tokens", "output_tokens"]
            }
            Body::ToolSelect(_) => &["tool_calls"],
            Body::ToolActive(_) | Body::ToolDone { .. } => {
                &["tool_calls", "tool_results", "active", "vendor"]
            }
            Body::Error { .. } => &["message", "source"],
            Body::ChatSessionChanged(_) => &["chat_session"],
            Body::UserMessage { .. } => &["vendor", "message", "text"],
            Body::SubsessionStarted(_) => {
                &["sub_session_type", "sub_agent_type", "prime_agent_key", "sub_agent_key"]
            }
            Body::SubsessionEnded | Body::Cancelled | Body::UserTurnStart => &[],
            // All their fields are kept, or all are ignored.
            Body::RenderMedia(_)
            | Body::SystemMessage(_)
            | Body::Redundant
            | Body::Elsewhere
            | Body::Unknown
            | Body::Malformed { .. } => return 0,
        };
        let keys = self.raw.as_object().into_iter().flat_map(Object::keys);
        keys.filter(|key| !SHARED.contains(key) && !known.contains(key)).count() as u64
    }
}

impl From<Value> for ServerEvent {
    fn from(raw: Value) -> Self {
        let mut fields = Reader { fields: raw.as_object(), problems: Vec::new() };
        let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default().into_owned();
        let id = fields.string("id");
        let origin = Origin {
            session: fields.string("session_id"),
            parent_session: fields.string("parent_session_id"),
            user_session: fields.string("user_session_id"),
        };
        let body = fields.body(&kind);
        let body = body.unwrap_or_else(|Lacking { field, expected }| Body::Malformed { field, expected });
        let problems = fields.problems;
        Self { raw, kind, id, origin, body, problems }
    }
}

impl FromStr for ServerEvent {
    type Err = json::Error;

    fn from_str(json: &str) -> Result<Self, json::Error> {
        json.parse::<Value>().map(Self::from)
    }
}

/// A field without which an event means nothing.
struct Lacking {
    field: &'static str,
    expected: &'static str,
}

/// Reads the fields of an event, and remembers those of an unexpected type.
struct Reader<'a> {
    fields: Option<&'a Object>,
    problems: Vec<DiagnosticKind>,
}

impl<'a> Reader<'a> {
    fn body(&mut self, kind: &str) -> Result<Body, Lacking> {
        Ok(match kind {
            "interaction" => Body::Interaction { started: self.flag("started") },
            "text_delta" => Body::TextDelta(self.content()?),
            "thought_delta" => Body::ThoughtDelta(self.content()?),
            "completion" => Body::Completion(Completion {
                running: self.flag("running"),
                stop_reason: self.string("stop_reason"),
                input_tokens: self.optional("input_tokens", "count", Value::as_u64),
                output_tokens: self.optional("output_tokens", "count", Value::as_u64),
            }),
            "tool_select_delta" => Body::ToolSelect(self.calls()?),
            "tool_call" => {
                let calls = self.calls()?;
                match self.flag("active") {
                    true => Body::ToolActive(calls),
                    false => Body::ToolDone { calls, results: self.results() },
                }
            }
            "render_media" => Body::RenderMedia(self.all()),
            "system_message" => Body::SystemMessage(self.all()),
            "error" => Body::Error {
                message: self.string("message").ok_or(Lacking { field: "message", expected: "string" })?,
                source: self.string("source"),
            },
            "chat_session_changed" => Body::ChatSessionChanged(self.session()?),
            "user_message" | "anthropic_user_message" | "openai_user_message" | "open_ai_user_message" => {
                let text = || self.get("text");
                let message = self.get("message").filter(|message| !message.is_null()).or_else(text).cloned();
                Body::UserMessage { vendor: self.string("vendor"), message }
            }
            "subsession_started" => Body::SubsessionStarted(Subsession {
                session_id: self.string("session_id"),
                sub_session_type: self.string("sub_session_type"),
                sub_agent_type: self.string("sub_agent_type"),
                prime_agent_key: self.string("prime_agent_key"),
                sub_agent_key: self.string("sub_agent_key"),
            }),
            "subsession_ended" => Body::SubsessionEnded,
            "cancelled" => Body::Cancelled,
            "user_turn_start" => Body::UserTurnStart,
            "history" | "history_delta" | "complete_thought" | "system_prompt" => Body::Redundant,
            "user_turn_end"
            | "user_request"
            | "agent_list"
            | "agent_configuration_changed"
            | "avatar_list"
            | "avatar_connection_changed"
            | "chat_session_name_changed"
            | "session_metadata_changed"
            | "agent_voice_changed"
            | "get_user_sessions_response"
            | "chat_user_data"
            | "ui_session_id_changed"
            | "voice_list"
            | "tool_catalog"
            | "pong"
            | "voice_input_supported"
            | "server_listening"
            | "chat_session_added"
            | "chat_session_deleted"
            | "audio_delta" => Body::Elsewhere,
            "" => return Err(Lacking { field: "type", expected: "string" }),
            _ => Body::Unknown,
        })
    }

    fn get(&self, field: &str) -> Option<&'a Value> {
        self.fields?.get(field)
    }

    fn all(&self) -> Object {
        self.fields.cloned().unwrap_or_default()
    }

    /// An optional field, which may also be null; any other value that cannot be read is remembered.
    fn optional<T>(
        &mut self,
        field: &str,
        expected: &'static str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.get(field).filter(|value| !value.is_null())?;
        let read = read(value);
        if read.is_none() {
            let (field, raw) = (field.to_owned(), value.clone());
            self.problems.push(DiagnosticKind::MalformedField { field, expected, raw });
        }
        read
    }

    fn string(&mut self, field: &str) -> Option<String> {
        self.optional(field, "string", |value| value.as_str().map(Cow::into_owned))
    }

    /// A flag, which is off if the server leaves it out.
    fn flag(&mut self, field: &str) -> bool {
        self.optional(field, "boolean", Value::as_bool).unwrap_or_default()
    }

    fn content(&mut self) -> Result<Text, Lacking> {
        let content = self.get("content").and_then(Value::as_text);
        content.cloned().ok_or(Lacking { field: "content", expected: "string" })
    }

    fn session(&mut self) -> Result<Object, Lacking> {
        let is_named = |session: &&Object| {
            session.get("session_id").and_then(Value::as_text).is_some_and(|id| !id.is_empty())
        };
        let session = self.get("chat_session").and_then(Value::as_object).filter(is_named);
        session.cloned().ok_or(Lacking { field: "chat_session.session_id", expected: "string" })
    }

    /// The calls; an event without any means nothing.
    fn calls(&mut self) -> Result<Vec<ToolCall>, Lacking> {
        let calls = self.list("tool_calls", "call with `id` and `name`", ToolCall::new);
        calls
            .filter(|calls| !calls.is_empty())
            .ok_or(Lacking { field: "tool_calls", expected: "list of calls" })
    }

    fn results(&mut self) -> Option<Vec<ToolResult>> {
        self.list("tool_results", "result with `tool_use_id`", ToolResult::new)
    }

    fn list<T>(
        &mut self,
        field: &str,
        expected: &'static str,
        read: fn(Object) -> Option<T>,
    ) -> Option<Vec<T>> {
        let elements = self.optional(field, "list", Value::as_array)?;
        let mut list = Vec::with_capacity(elements.len());
        for (index, element) in elements.iter().enumerate() {
            match element.as_object().cloned().and_then(read) {
                Some(element) => list.push(element),
                None => {
                    let (field, raw) = (format!("{field}[{index}]"), element.clone());
                    self.problems.push(DiagnosticKind::MalformedField { field, expected, raw });
                }
            }
        }
        Some(list)
    }
}
