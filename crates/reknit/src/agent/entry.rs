//! [`Entry`]: a line in the log of a session.

use std::borrow::Cow;

use serde::ser::{Error as _, SerializeMap};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{AgentEvent, Content, Members, Misread};
use crate::json::{Object, Value, exact};

/// A line in the append-only log of a session.
///
/// Everything about a session follows from its entries: what is on the screen, what can be undone, the next
/// request to the model. Members that this version does not know are kept and written back.
///
/// ```
/// use reknit::agent::{Body, Entry};
///
/// let line = r#"{"v":1,"seq":7,"at":1763280000000,"turn":"t1","body":{"type":"mode","mode":"plan","by":"me"}}"#;
/// let entry: Entry = serde_json::from_str(line)?;
/// assert_eq!(entry.body, Body::Mode { mode: "plan".into() });
/// assert_eq!(serde_json::to_string(&entry)?, line);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its number in the log, counted from 1 without gaps.
    pub seq: u64,
    /// When it was written, in milliseconds since the Unix epoch.
    pub at: u64,
    /// The turn that it belongs to.
    pub turn: Option<String>,
    /// What happened.
    pub body: Body,
    /// Members that this version does not know. Those of the body are in its member `body`.
    pub extra: Object,
}

/// The content of an entry.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Body {
    /// A message from the user.
    UserMessage {
        /// The parts of the message, in order.
        content: Vec<Content>,
    },
    /// A request was sent to a model.
    Request {
        /// The dialect of the request.
        dialect: String,
        /// The model.
        model: String,
    },
    /// It was decided whether a call may run.
    Decision {
        /// The id of the call.
        tool_call_id: String,
        /// The decision.
        decision: Decision,
        /// The hash of exactly what may run. The decision covers nothing else.
        hash: String,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A call started to run. If no result follows, it was interrupted.
    ToolStarted {
        /// The id of the call.
        tool_call_id: String,
    },
    /// The session changed its mode.
    Mode {
        /// The name of the mode.
        mode: String,
    },
    /// The list of tasks changed.
    Todos {
        /// The tasks.
        todos: Vec<Value>,
    },
    /// A summary replaces older entries in requests from here on.
    Condensation {
        /// The last entry that the summary covers.
        up_to: u64,
        /// The summary.
        summary: String,
    },
    /// This session started another one.
    Child {
        /// The id of the new session.
        session_id: String,
        /// The call that started it.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<String>,
    },
    /// The turn is over.
    End {
        /// Why it ended.
        reason: EndReason,
    },
    /// Something happened in the session.
    #[serde(untagged)]
    Agent(AgentEvent),
}

/// Whether a call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// It may.
    Allow,
    /// It may not.
    Deny,
}

/// Why a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EndReason {
    /// The model was done.
    Done,
    /// Something failed and was not retried.
    Failed,
    /// The user stopped it.
    Cancelled,
    /// The program that ran it stopped.
    Interrupted,
}

/// The version of the format of entries.
const VERSION: u64 = 1;

impl Decision {
    pub(super) const NAMES: &str = "`allow`, `deny`";

    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "allow" => Some(Self::Allow),
            "deny" => Some(Self::Deny),
            _ => None,
        }
    }
}

impl EndReason {
    const NAMES: &str = "`done`, `failed`, `cancelled`, `interrupted`";

    fn named(name: &str) -> Option<Self> {
        match name {
            "done" => Some(Self::Done),
            "failed" => Some(Self::Failed),
            "cancelled" => Some(Self::Cancelled),
            "interrupted" => Some(Self::Interrupted),
            _ => None,
        }
    }
}

impl TryFrom<Value> for Entry {
    type Error = Misread;

    fn try_from(value: Value) -> Result<Self, Misread> {
        let mut members = Members::new("an entry", value)?;
        members.version("v", VERSION)?;
        let (seq, at) = (members.count("seq")?, members.count("at")?);
        let turn = members.optional_text("turn")?;
        let (body, rest) = Body::read(members.value("body")?)?;
        let mut extra = members.rest();
        if !rest.is_empty() {
            extra.insert("body", rest);
        }
        Ok(Self { seq, at, turn, body, extra })
    }
}

impl Body {
    /// Reads a body, and returns the members that this version does not know as well.
    ///
    /// A body of an unknown type is an [`AgentEvent::Unknown`].
    fn read(value: Value) -> Result<(Self, Object), Misread> {
        let kind = value.get("type").and_then(Value::as_str).map(Cow::into_owned);
        let Some(kind) = kind else {
            return AgentEvent::read(value).map(|(event, rest)| (Self::Agent(event), rest));
        };
        let mut members = Members::new(format!("`{kind}`"), value)?;
        let body = match &*kind {
            "user-message" => {
                let content = members.list("content")?.into_iter().map(Content::read);
                let (content, left) = content.collect::<Result<(_, _), _>>()?;
                members.put_back_list("content", left);
                Self::UserMessage { content }
            }
            "request" => Self::Request { dialect: members.text("dialect")?, model: members.text("model")? },
            "decision" => Self::Decision {
                tool_call_id: members.text("toolCallId")?,
                decision: members.word("decision", Decision::NAMES, Decision::named)?,
                hash: members.text("hash")?,
                reason: members.optional_text("reason")?,
            },
            "tool-started" => Self::ToolStarted { tool_call_id: members.text("toolCallId")? },
            "mode" => Self::Mode { mode: members.text("mode")? },
            "todos" => Self::Todos { todos: members.list("todos")? },
            "condensation" => {
                Self::Condensation { up_to: members.count("upTo")?, summary: members.text("summary")? }
            }
            "child" => Self::Child {
                session_id: members.text("sessionId")?,
                tool_call_id: members.optional_text("toolCallId")?,
            },
            "end" => Self::End { reason: members.word("reason", EndReason::NAMES, EndReason::named)? },
            _ => {
                let (event, rest) = AgentEvent::read(members.rest().into())?;
                return Ok((Self::Agent(event), rest));
            }
        };
        let mut rest = members.rest();
        rest.remove("type");
        Ok((body, rest))
    }
}

impl Content {
    /// Reads a part, and returns the members that this version does not know as well.
    pub(crate) fn read(value: Value) -> Result<(Self, Object), Misread> {
        let mut members = Members::new("a part of `content`", value)?;
        let kind = members.text("type")?;
        let content = match &*kind {
            "text" => Self::Text { text: members.text("text")? },
            "image" => Self::Image { media_type: members.text("mediaType")?, data: members.text("data")? },
            _ => return Ok((Self::Other(members.rest_of_kind(kind)), Object::new())),
        };
        Ok((content, members.rest()))
    }
}

impl From<Content> for Value {
    fn from(content: Content) -> Self {
        let members = match content {
            Content::Text { text } => vec![("type", "text".into()), ("text", text.into())],
            Content::Image { media_type, data } => {
                vec![("type", "image".into()), ("mediaType", media_type.into()), ("data", Value::from(data))]
            }
            Content::Other(object) => return object.into(),
        };
        Self::Object(members.into_iter().collect())
    }
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("v", &VERSION)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("at", &self.at)?;
        if let Some(turn) = &self.turn {
            map.serialize_entry("turn", turn)?;
        }
        match self.extra.get("body") {
            None => map.serialize_entry("body", &self.body)?,
            Some(extra) => {
                let body = serde_json::to_string(&self.body).map_err(S::Error::custom)?;
                let mut body =
                    exact(&mut serde_json::Deserializer::from_str(&body)).map_err(S::Error::custom)?;
                put_back(&mut body, extra);
                map.serialize_entry("body", &body)?;
            }
        }
        for (member, value) in self.extra.iter().filter(|(member, _)| *member != "body") {
            map.serialize_entry(member, value)?;
        }
        map.end()
    }
}

/// Adds members to an object and to the objects in it, including those in lists. Existing members stay.
fn put_back(value: &mut Value, extra: &Value) {
    match (value, extra) {
        (Value::Object(object), Value::Object(extra)) => {
            for (member, extra) in extra.iter() {
                match object.get_mut(member) {
                    Some(inner) => put_back(inner, extra),
                    None => {
                        object.insert(member, extra.clone());
                    }
                }
            }
        }
        (Value::Array(elements), Value::Array(extra)) => {
            elements.iter_mut().zip(extra).for_each(|(inner, extra)| put_back(inner, extra));
        }
        _ => {}
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        exact(deserializer)
    }
}
