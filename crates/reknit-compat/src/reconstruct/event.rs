//! [`ServerEvent`]: the events of the protocol, with its field names.

use reknit::Hint;
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use reknit::Text;
use reknit::diagnostic::Kind;
use reknit::json::{self, Object, Value};
use serde::{Serialize, Serializer};

/// One event of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerEvent {
    /// A message begins.
    MessageStart {
        /// The message as far as it is known, with all its fields.
        message: Object,
    },
    /// A block begins.
    ContentBlockStart {
        /// Its place in the message.
        index: u32,
        /// The block as far as it is known, with all its fields.
        content_block: Object,
    },
    /// A block grows.
    ContentBlockDelta {
        /// Which block.
        index: u32,
        /// By what.
        delta: Delta,
    },
    /// A block has ended.
    ContentBlockStop {
        /// Which block.
        index: u32,
        /// When, according to the server.
        stop_timestamp: Option<Value>,
    },
    /// Something about the message became known.
    MessageDelta {
        /// Fields of the message.
        delta: Object,
        /// The other fields of the event, such as `usage`.
        others: Object,
    },
    /// The message has ended.
    MessageStop,
    /// The connection is alive.
    Ping,
    /// Anything else; it changes nothing.
    Other(Object),
}

/// What a block grows by.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// Text of a `text` block.
    Text(Text),
    /// JSON text of a `tool_use` or `tool_result` block.
    InputJson(Text),
    /// Text of a `thinking` block.
    Thinking(Text),
    /// The signature of a `thinking` block.
    Signature(Text),
    /// A citation of a `text` block.
    Citation(Value),
    /// Anything else; it changes nothing.
    Other(Object),
}

/// What a reconstructor reports as an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An event is not JSON.
    #[error("the event is not JSON: {0}")]
    Json(#[from] json::Error),
    /// An event lacks a field, or the field has another type.
    #[error("the event `{event}` has no {expected} `{field}`")]
    Field {
        /// The type of the event.
        event: String,
        /// The field.
        field: &'static str,
        /// The expected type.
        expected: &'static str,
    },
    /// The message is larger than [`Limits`](reknit::Limits) allow.
    #[error("more than {limit} {what}")]
    Limit {
        /// What there are too many of.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// The connection failed.
    #[error("the connection failed: {message}")]
    Connection {
        /// What happened to it.
        message: String,
    },
}

impl Hint for Error {
    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Json(error) => error.hint(),
            Self::Field { .. } => "check that the server speaks this protocol".into(),
            Self::Limit { .. } => Kind::LimitReached.hint(),
            Self::Connection { .. } => "connect again; the message is not complete".into(),
        }
    }
}

impl FromStr for ServerEvent {
    type Err = Error;

    fn from_str(json: &str) -> Result<Self, Error> {
        Self::try_from(json.parse::<Value>()?)
    }
}

impl TryFrom<Value> for ServerEvent {
    type Error = Error;

    fn try_from(event: Value) -> Result<Self, Error> {
        Self::read(event).map(|(event, _)| event)
    }
}

impl TryFrom<Value> for Delta {
    type Error = Error;

    fn try_from(delta: Value) -> Result<Self, Error> {
        Self::read(delta).map(|(delta, _)| delta)
    }
}

impl ServerEvent {
    /// Reads an event, and counts its fields that are unknown and have no place in it.
    pub(super) fn read(event: Value) -> Result<(Self, u64), Error> {
        let mut fields = Fields::new(event, "event")?;
        let mut unknown = 0;
        let event = match &*fields.kind {
            "message_start" => Self::MessageStart { message: fields.object("message")? },
            "content_block_start" => Self::ContentBlockStart {
                index: fields.index()?,
                content_block: fields.object("content_block")?,
            },
            "content_block_delta" => {
                let index = fields.index()?;
                let (delta, in_delta) = Delta::read(Value::Object(fields.object("delta")?))?;
                unknown = in_delta;
                Self::ContentBlockDelta { index, delta }
            }
            "content_block_stop" => Self::ContentBlockStop {
                index: fields.index()?,
                stop_timestamp: fields.take("stop_timestamp"),
            },
            "message_delta" => {
                let delta = fields.object("delta")?;
                fields.take("type");
                Self::MessageDelta { delta, others: fields.take_rest() }
            }
            "message_stop" => Self::MessageStop,
            "ping" => Self::Ping,
            _ => Self::Other(fields.take_rest()),
        };
        Ok((event, unknown + fields.unknown()))
    }
}

impl Delta {
    /// Reads a delta, and counts its fields that are unknown.
    fn read(delta: Value) -> Result<(Self, u64), Error> {
        let mut fields = Fields::new(delta, "delta")?;
        let delta = match &*fields.kind {
            "text_delta" => Self::Text(fields.text("text")?),
            "input_json_delta" => Self::InputJson(fields.text("partial_json")?),
            "thinking_delta" => Self::Thinking(fields.text("thinking")?),
            "signature_delta" => Self::Signature(fields.text("signature")?),
            "citations_delta" => Self::Citation(fields.take("citation").unwrap_or(Value::Null)),
            _ => Self::Other(fields.take_rest()),
        };
        Ok((delta, fields.unknown()))
    }
}

impl From<&ServerEvent> for Value {
    fn from(event: &ServerEvent) -> Self {
        let (kind, fields): (_, Vec<(&str, Value)>) = match event.clone() {
            ServerEvent::MessageStart { message } => ("message_start", vec![("message", message.into())]),
            ServerEvent::ContentBlockStart { index, content_block } => (
                "content_block_start",
                vec![("index", index.into()), ("content_block", content_block.into())],
            ),
            ServerEvent::ContentBlockDelta { index, delta } => {
                ("content_block_delta", vec![("index", index.into()), ("delta", (&delta).into())])
            }
            ServerEvent::ContentBlockStop { index, stop_timestamp } => {
                let stop_timestamp = stop_timestamp.map(|stop_timestamp| ("stop_timestamp", stop_timestamp));
                ("content_block_stop", [("index", index.into())].into_iter().chain(stop_timestamp).collect())
            }
            ServerEvent::MessageDelta { delta, others } => {
                let fields = [("delta".to_owned(), delta.into())].into_iter().chain(others);
                return tagged("message_delta", fields);
            }
            ServerEvent::MessageStop => ("message_stop", vec![]),
            ServerEvent::Ping => ("ping", vec![]),
            ServerEvent::Other(fields) => return fields.into(),
        };
        tagged(kind, fields.into_iter().map(|(key, value)| (key.to_owned(), value)))
    }
}

impl From<&Delta> for Value {
    fn from(delta: &Delta) -> Self {
        let (kind, key, value) = match delta.clone() {
            Delta::Text(text) => ("text_delta", "text", text.into()),
            Delta::InputJson(text) => ("input_json_delta", "partial_json", text.into()),
            Delta::Thinking(text) => ("thinking_delta", "thinking", text.into()),
            Delta::Signature(text) => ("signature_delta", "signature", text.into()),
            Delta::Citation(citation) => ("citations_delta", "citation", citation),
            Delta::Other(fields) => return fields.into(),
        };
        tagged(kind, [(key.to_owned(), value)])
    }
}

impl fmt::Display for ServerEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Value::from(self).fmt(f)
    }
}

impl Serialize for ServerEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Value::from(self).serialize(serializer)
    }
}

fn tagged(kind: &str, fields: impl IntoIterator<Item = (String, Value)>) -> Value {
    let tag = ("type".to_owned(), Value::from(kind));
    Value::Object([tag].into_iter().chain(fields).collect())
}

/// The fields of an event, taken out one by one.
struct Fields {
    kind: String,
    fields: Object,
}

impl Fields {
    fn new(value: Value, what: &str) -> Result<Self, Error> {
        let kind = value.get("type").and_then(Value::as_str).map(std::borrow::Cow::into_owned);
        match (kind, value) {
            (Some(kind), Value::Object(fields)) => Ok(Self { kind, fields }),
            _ => Err(Error::Field { event: what.to_owned(), field: "type", expected: "string" }),
        }
    }

    fn take(&mut self, field: &str) -> Option<Value> {
        self.fields.remove(field)
    }

    fn take_rest(&mut self) -> Object {
        std::mem::take(&mut self.fields)
    }

    /// How many fields were not taken, apart from the type.
    fn unknown(&self) -> u64 {
        self.fields.keys().filter(|key| *key != "type").count() as u64
    }

    fn object(&mut self, field: &'static str) -> Result<Object, Error> {
        match self.take(field) {
            Some(Value::Object(object)) => Ok(object),
            _ => Err(self.lacks(field, "object")),
        }
    }

    fn text(&mut self, field: &'static str) -> Result<Text, Error> {
        match self.take(field) {
            Some(Value::String(text)) => Ok(text),
            _ => Err(self.lacks(field, "string")),
        }
    }

    fn index(&mut self) -> Result<u32, Error> {
        let index =
            self.take("index").as_ref().and_then(Value::as_u64).and_then(|index| u32::try_from(index).ok());
        index.ok_or_else(|| self.lacks("index", "number"))
    }

    fn lacks(&self, field: &'static str, expected: &'static str) -> Error {
        Error::Field { event: self.kind.clone(), field, expected }
    }
}
