//! [`EnhancedMessage`]: a message as a page shows it, with the protocol's field names.

use reknit::json::{self, Object, Value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Time;
use super::call::{CompletedCall, ToolCall, ToolResult};
use super::list::List;

/// A message with its streaming status and what a page needs to show it.
///
/// Its JSON has the protocol's names (`contentType`, `isCollapsed`, …) in this order, and whatever else the
/// server sent.
#[derive(Clone, Debug, PartialEq)]
pub struct EnhancedMessage {
    /// Its id. A message that was built here has one; a message from the server may lack it.
    pub id: Option<String>,
    /// Whose it is: `assistant`, `user`, `system`.
    pub role: String,
    /// Its text, or a list of parts if it also has images or other media.
    pub content: Value,
    /// When it started.
    pub timestamp: Option<String>,
    /// What it is; `type` in JSON.
    pub kind: MessageKind,
    /// Whether it is finished.
    pub status: MessageStatus,
    /// How its text is written: `text` or `markdown`.
    pub format: Option<String>,
    /// What its content is: `text`, `html`, `svg`, `image`, or whatever the server calls it.
    pub content_type: Option<String>,
    /// What else is known about it; a message that is being built has no metadata yet.
    pub metadata: Option<MessageMetadata>,
    /// The calls that belong to it.
    pub tool_calls: List<ToolCall>,
    /// Their results.
    pub tool_results: List<ToolResult>,
    /// Whether a page shows only its first line; for thoughts.
    pub is_collapsed: Option<bool>,
    /// All other fields.
    pub others: Object,
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// What somebody said.
    Message,
    /// The model's thinking.
    Thought,
    /// An image, a page or other media.
    Media,
    /// A message of the system.
    Notification,
}

/// Whether a message is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageStatus {
    /// More of it may arrive.
    Streaming,
    /// It is finished.
    Complete,
    /// It failed, or something else started before it was finished.
    Error,
}

/// What is known about a message besides its content.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageMetadata {
    /// Tokens of the request.
    pub input_tokens: Option<u64>,
    /// Tokens of the reply.
    pub output_tokens: Option<u64>,
    /// Why it ended, as the server says it; `cancelled` if the user stopped it or it was interrupted.
    pub stop_reason: Option<String>,
    /// The calls that belong to it.
    pub tool_calls: List<ToolCall>,
    /// Their results.
    pub tool_results: List<ToolResult>,
    /// The class that sent it.
    pub sent_by_class: Option<String>,
    /// The function that sent it.
    pub sent_by_function: Option<String>,
    /// When it was sent.
    pub timestamp: Option<String>,
    /// All other fields.
    pub others: Object,
}

impl EnhancedMessage {
    /// A complete message that arrived at this time.
    pub fn new(role: &str, content: impl Into<Value>, at: Time) -> Self {
        Self {
            id: None,
            role: role.to_owned(),
            content: content.into(),
            timestamp: Some(at.to_string()),
            kind: MessageKind::Message,
            status: MessageStatus::Complete,
            format: Some("text".to_owned()),
            content_type: None,
            metadata: None,
            tool_calls: List::default(),
            tool_results: List::default(),
            is_collapsed: None,
            others: Object::new(),
        }
    }

    /// Whether calls can be attached to it: it is the model's and not media.
    pub(super) fn is_reply(&self) -> bool {
        self.kind != MessageKind::Media && self.role.starts_with("assistant")
    }

    /// Gives it an id in place of what the server sent as one.
    pub(super) fn set_id(&mut self, id: String) {
        self.others.remove("id");
        self.id = Some(id);
    }

    /// Adds calls and their results, both to the metadata and to the message itself.
    ///
    /// If the server sent something else as a list of calls or results, the list replaces it; metadata that is not
    /// an object stays as it is.
    pub(super) fn attach(&mut self, completed: &[CompletedCall]) {
        let calls = || completed.iter().map(|completed| completed.call.clone());
        let results = || completed.iter().filter_map(|completed| completed.result.clone());
        if self.others.get("metadata").is_none_or(Value::is_null) {
            self.others.remove("metadata");
            let metadata = self.metadata.get_or_insert_default();
            extend(&mut metadata.tool_calls, calls(), "toolCalls", &mut metadata.others);
            extend(&mut metadata.tool_results, results(), "toolResults", &mut metadata.others);
        }
        extend(&mut self.tool_calls, calls(), "toolCalls", &mut self.others);
        extend(&mut self.tool_results, results(), "toolResults", &mut self.others);
    }

    /// The fields that have another type than the protocol says: their names, what they should be, and what they are.
    pub(super) fn misfits(&self) -> impl Iterator<Item = (&'static str, &'static str, &Value)> {
        let expected =
            [("id", "string"), ("metadata", "JSON object"), ("toolCalls", "list"), ("toolResults", "list")];
        let found = expected.into_iter().filter_map(|(key, what)| Some((key, what, self.others.get(key)?)));
        // These two say that there is nothing.
        found.filter(|(_, _, raw)| !raw.is_null() && !raw.as_array().is_some_and(|list| list.is_empty()))
    }
}

impl From<Object> for EnhancedMessage {
    /// Reads what the server sent. A field of an unexpected type is kept as it is.
    fn from(fields: Object) -> Self {
        let mut fields = Fields(fields);
        Self {
            id: fields.identifier("id"),
            role: fields.string("role").unwrap_or_else(|| "assistant".to_owned()),
            content: fields.0.remove("content").unwrap_or_default(),
            timestamp: fields.string("timestamp"),
            kind: fields.word("type", MessageKind::read).unwrap_or(MessageKind::Message),
            status: fields.word("status", MessageStatus::read).unwrap_or(MessageStatus::Complete),
            format: fields.string("format"),
            content_type: fields.string("contentType"),
            metadata: fields.object("metadata").map(MessageMetadata::from),
            tool_calls: fields.list("toolCalls", ToolCall::new),
            tool_results: fields.list("toolResults", ToolResult::new),
            is_collapsed: fields.boolean("isCollapsed"),
            others: fields.0,
        }
    }
}

impl From<&EnhancedMessage> for Object {
    fn from(message: &EnhancedMessage) -> Self {
        let mut fields = Self::new();
        put(&mut fields, "id", message.id.as_deref());
        put(&mut fields, "role", Some(message.role.as_str()));
        put(&mut fields, "content", Some(message.content.clone()));
        put(&mut fields, "timestamp", message.timestamp.as_deref());
        put(&mut fields, "type", Some(message.kind.name()));
        put(&mut fields, "status", Some(message.status.name()));
        put(&mut fields, "format", message.format.as_deref());
        put(&mut fields, "contentType", message.content_type.as_deref());
        put(&mut fields, "metadata", message.metadata.as_ref().map(Self::from));
        put(&mut fields, "toolCalls", listed(&message.tool_calls, ToolCall::fields));
        put(&mut fields, "toolResults", listed(&message.tool_results, ToolResult::fields));
        put(&mut fields, "isCollapsed", message.is_collapsed);
        append_fields(fields, &message.others)
    }
}

impl From<Object> for MessageMetadata {
    /// Reads what the server sent. A field of an unexpected type is kept as it is.
    fn from(fields: Object) -> Self {
        let mut fields = Fields(fields);
        Self {
            input_tokens: fields.count("inputTokens"),
            output_tokens: fields.count("outputTokens"),
            stop_reason: fields.string("stopReason"),
            tool_calls: fields.list("toolCalls", ToolCall::new),
            tool_results: fields.list("toolResults", ToolResult::new),
            sent_by_class: fields.string("sentByClass"),
            sent_by_function: fields.string("sentByFunction"),
            timestamp: fields.string("timestamp"),
            others: fields.0,
        }
    }
}

impl From<&MessageMetadata> for Object {
    fn from(metadata: &MessageMetadata) -> Self {
        let mut fields = Self::new();
        put(&mut fields, "inputTokens", metadata.input_tokens);
        put(&mut fields, "outputTokens", metadata.output_tokens);
        put(&mut fields, "stopReason", metadata.stop_reason.as_deref());
        put(&mut fields, "toolCalls", listed(&metadata.tool_calls, ToolCall::fields));
        put(&mut fields, "toolResults", listed(&metadata.tool_results, ToolResult::fields));
        put(&mut fields, "sentByClass", metadata.sent_by_class.as_deref());
        put(&mut fields, "sentByFunction", metadata.sent_by_function.as_deref());
        put(&mut fields, "timestamp", metadata.timestamp.as_deref());
        append_fields(fields, &metadata.others)
    }
}

/// Defines the conversions between a word of the protocol and its variant.
macro_rules! words {
    ($type:ident { $($variant:ident = $word:literal),+ }) => {
        impl $type {
            /// Its word in JSON.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            fn read(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

words!(MessageKind { Message = "message", Thought = "thought", Media = "media", Notification = "notification" });
words!(MessageStatus { Streaming = "streaming", Complete = "complete", Error = "error" });

impl Serialize for EnhancedMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Object::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for EnhancedMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        json::exact::<json::Object, _>(deserializer).map(Self::from)
    }
}

impl Serialize for MessageMetadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Object::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for MessageMetadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        json::exact::<json::Object, _>(deserializer).map(Self::from)
    }
}

/// The fields of an object, taken out one by one; a field of an unexpected type stays.
pub(super) struct Fields(pub(super) Object);

impl Fields {
    pub(super) fn take<T>(&mut self, key: &str, read: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
        let value = read(self.0.get(key)?)?;
        self.0.remove(key);
        Some(value)
    }

    pub(super) fn string(&mut self, key: &str) -> Option<String> {
        self.take(key, |value| value.as_str().map(std::borrow::Cow::into_owned))
    }

    /// A string; a number counts as its text.
    fn identifier(&mut self, key: &str) -> Option<String> {
        self.take(key, |value| match value {
            Value::Number(number) => Some(number.to_string()),
            other => other.as_str().map(std::borrow::Cow::into_owned),
        })
    }

    pub(super) fn boolean(&mut self, key: &str) -> Option<bool> {
        self.take(key, Value::as_bool)
    }

    pub(super) fn count(&mut self, key: &str) -> Option<u64> {
        self.take(key, Value::as_u64)
    }

    pub(super) fn object(&mut self, key: &str) -> Option<Object> {
        self.take(key, |value| value.as_object().cloned())
    }

    fn word<T>(&mut self, key: &str, read: fn(&str) -> Option<T>) -> Option<T> {
        self.take(key, |value| read(&value.as_str()?))
    }

    fn list<T>(&mut self, key: &str, read: fn(Object) -> Option<T>) -> List<T> {
        let read = |value: &Value| {
            let elements = value.as_array().filter(|elements| !elements.is_empty())?.iter();
            elements.map(|element| read(element.as_object()?.clone())).collect()
        };
        self.take(key, read).unwrap_or_default()
    }
}

fn put(fields: &mut Object, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        fields.insert(key, value);
    }
}

/// The elements as JSON; `None` if the list is empty.
fn listed<T>(list: &List<T>, fields: fn(&T) -> &Object) -> Option<Value> {
    let elements: Vec<_> = list.iter().map(|element| Value::Object(fields(element).clone())).collect();
    (!elements.is_empty()).then(|| elements.into())
}

/// Appends to a list, in place of what the server sent under its name if that is no such list.
fn extend<T: Clone>(list: &mut List<T>, more: impl Iterator<Item = T>, key: &str, others: &mut Object) {
    let mut more = more.peekable();
    if more.peek().is_some() {
        others.remove(key);
        list.extend(more);
    }
}

fn append_fields(mut fields: Object, others: &Object) -> Object {
    for (key, value) in others.iter() {
        fields.insert(key, value.clone());
    }
    fields
}
