//! [`ToolCall`] and [`ToolResult`]: what a model asked for and what it got, as the server sends them.

use reknit::json::{self, Object, Value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A call, with every field that the server sent: `id`, `name`, `input` and others.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    id: String,
    name: String,
    fields: Object,
}

/// The result of a call, with every field that the server sent: `tool_use_id`, `content` and others.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    tool_use_id: String,
    fields: Object,
}

/// A finished call, with its result if there is one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompletedCall {
    /// The call.
    pub call: ToolCall,
    /// Its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ToolResult>,
}

impl ToolCall {
    /// The call in an object, if it has the strings `id` and `name`.
    pub fn new(fields: Object) -> Option<Self> {
        Some(Self { id: string(&fields, "id")?, name: string(&fields, "name")?, fields })
    }

    /// The id that the result names.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments, if the server sent any.
    pub fn input(&self) -> Option<&Value> {
        self.fields.get("input")
    }

    /// All fields.
    pub fn fields(&self) -> &Object {
        &self.fields
    }
}

impl ToolResult {
    /// The result in an object, if it has the string `tool_use_id`.
    pub fn new(fields: Object) -> Option<Self> {
        Some(Self { tool_use_id: string(&fields, "tool_use_id")?, fields })
    }

    /// The id of the call.
    pub fn tool_use_id(&self) -> &str {
        &self.tool_use_id
    }

    /// All fields.
    pub fn fields(&self) -> &Object {
        &self.fields
    }
}

fn string(fields: &Object, key: &str) -> Option<String> {
    fields.get(key)?.as_str().map(std::borrow::Cow::into_owned)
}

impl Serialize for ToolCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = json::exact::<json::Object, _>(deserializer)?;
        Self::new(fields).ok_or_else(|| serde::de::Error::custom("a call has no `id` or no `name`"))
    }
}

impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = json::exact::<json::Object, _>(deserializer)?;
        Self::new(fields).ok_or_else(|| serde::de::Error::custom("a result has no `tool_use_id`"))
    }
}
