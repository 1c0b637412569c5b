//! [`Entry`]: one line of a session's log.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::ser::{Error as _, SerializeMap};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{AgentEvent, Members, Misread};
use crate::json::{Object, Value, exact};

/// One line of a session's append-only log.
///
/// All that is known of a session is a fold of its entries: the screen, the undo, the next request to the
/// model. Members that this version does not know are kept and written again where they stood.
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
    /// When it was written, in milliseconds since 1970.
    pub at: u64,
    /// The turn that it belongs to.
    pub turn: Option<String>,
    /// What happened.
    pub body: Body,
    /// Members that this version does not know, where they stood.
    pub extra: Object,
}

/// What an entry says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Body {
    /// The user said something.
    UserMessage {
        /// What, in order.
        content: Vec<Content>,
    },
    /// The model was asked.
    Request {
        /// In which dialect.
        dialect: String,
        /// Which model.
        model: String,
    },
    /// Whether a call may run was decided.
    Decision {
        /// The call's id.
        tool_call_id: String,
        /// What was decided.
        decision: Decision,
        /// The hash of exactly what may run; nothing else is covered.
        hash: String,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A call began to run. Without a result behind it, it was interrupted.
    ToolStarted {
        /// The call's id.
        tool_call_id: String,
    },
    /// The session works in another mode.
    Mode {
        /// Its name.
        mode: String,
    },
    /// What is to be done is another list.
    Todos {
        /// The items.
        todos: Vec<Value>,
    },
    /// Older entries are told to the model in short from here on.
    Condensation {
        /// The last entry that the summary covers.
        up_to: u64,
        /// What stands for them.
        summary: String,
    },
    /// A session was started by this one.
    Child {
        /// Its id.
        session_id: String,
        /// The call that started it.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<String>,
    },
    /// The turn is over.
    End {
        /// How.
        reason: EndReason,
    },
    /// Something happened in the turn.
    #[serde(untagged)]
    Agent(AgentEvent),
}

/// A piece of what a user says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// Such as `image/png`.
        media_type: String,
        /// Its bytes in base64.
        data: String,
    },
    /// Something that this version does not know, as it came.
    #[serde(untagged)]
    Other(Object),
}

/// Whether something may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// It may.
    Allow,
    /// It must not.
    Deny,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// The model was done.
    Done,
    /// Something failed for good.
    Failed,
    /// The user stopped it.
    Cancelled,
    /// The program that ran it went away.
    Interrupted,
}

/// The version that entries are written in.
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

impl Entry {
    /// Reads an entry.
    pub fn read(value: Value) -> Result<Self, Misread> {
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
    /// Reads a body, and gives back the members that this version does not know.
    ///
    /// One of an unknown type is an [`AgentEvent::Unknown`].
    pub fn read(value: Value) -> Result<(Self, Object), Misread> {
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
    /// Reads a piece, and gives back the members that this version does not know.
    pub(crate) fn read(value: Value) -> Result<(Self, Object), Misread> {
        let mut members = Members::new("a piece of `content`", value)?;
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
                let mut body: Value = body.parse().map_err(S::Error::custom)?;
                put_where_it_stood(&mut body, extra);
                map.serialize_entry("body", &body)?;
            }
        }
        for (member, value) in self.extra.iter().filter(|(member, _)| *member != "body") {
            map.serialize_entry(member, value)?;
        }
        map.end()
    }
}

/// Adds members to an object and to the objects inside it, also those in lists. What is there stays.
fn put_where_it_stood(value: &mut Value, extra: &Value) {
    match (value, extra) {
        (Value::Object(object), Value::Object(extra)) => {
            for (member, extra) in extra.iter() {
                match object.get_mut(member) {
                    Some(inner) => put_where_it_stood(inner, extra),
                    None => {
                        object.insert(member, extra.clone());
                    }
                }
            }
        }
        (Value::Array(elements), Value::Array(extra)) => {
            elements.iter_mut().zip(extra).for_each(|(inner, extra)| put_where_it_stood(inner, extra));
        }
        _ => {}
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(exact::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
