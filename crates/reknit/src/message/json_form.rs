//! The JSON form of a message, the same for every provider. Unknown fields are absent.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::block::{Block, Body};
use super::tool_call::{Args, ToolCall};
use super::{Choice, Message, Status};
use crate::event::{Origin, Runner, Stop};
use crate::json::Object;

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let several = self.choices.len() > 1;
        let mut map = serializer.serialize_map(None)?;
        optional(&mut map, "id", self.id())?;
        optional(&mut map, "model", self.model())?;
        optional(&mut map, "role", self.role())?;
        map.serialize_entry("status", &self.status())?;
        stopped(&mut map, self.stop())?;
        optional(&mut map, "error", self.failure())?;
        optional(&mut map, "usage", Some(self.usage()).filter(|usage| !usage.is_empty()))?;
        let blocks = self.blocks().map(|block| NeutralBlock { block, several });
        map.serialize_entry("blocks", &blocks.collect::<Vec<_>>())?;
        match self.choices() {
            [] => {}
            [only] => optional(&mut map, "choice_extra", filled(&only.extra))?,
            several => {
                let choices = several.iter();
                let choices =
                    choices.map(|choice| NeutralChoice { choice, status: self.choice_status(choice) });
                map.serialize_entry("choices", &choices.collect::<Vec<_>>())?;
            }
        }
        optional(&mut map, "extra", filled(self.extra()))?;
        map.serialize_entry("diagnostics", &*self.diagnostics)?;
        let omitted = Some(self.diagnostics.omitted()).filter(|omitted| *omitted > 0);
        optional(&mut map, "diagnostics_omitted", omitted)?;
        map.end()
    }
}

struct NeutralChoice<'a> {
    choice: &'a Choice,
    status: Status,
}

impl Serialize for NeutralChoice<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("index", &self.choice.index)?;
        map.serialize_entry("status", &self.status)?;
        stopped(&mut map, self.choice.stop())?;
        optional(&mut map, "extra", filled(&self.choice.extra))?;
        map.end()
    }
}

struct NeutralBlock<'a> {
    block: &'a Block,
    /// Whether the message has several choices, so that each block has to name its own.
    several: bool,
}

impl Serialize for NeutralBlock<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let block = self.block;
        let mut map = serializer.serialize_map(None)?;
        let kind = match &block.body {
            Body::Text { .. } => "text",
            Body::Thinking { .. } => "thinking",
            Body::ToolCall(_) => "tool_call",
            Body::ToolResult { .. } => "tool_result",
            Body::Other { .. } => "other",
        };
        map.serialize_entry("type", kind)?;
        optional(&mut map, "choice", Some(block.choice).filter(|_| self.several))?;
        match &block.body {
            Body::Text { text, refusal } => {
                map.serialize_entry("text", text)?;
                optional(&mut map, "refusal", Some(true).filter(|_| *refusal))?;
                optional(&mut map, "extra", filled(&block.extra))?;
            }
            Body::Thinking { text, signature, redacted } => {
                map.serialize_entry("text", text)?;
                optional(&mut map, "signature", Some(signature).filter(|signature| !signature.is_empty()))?;
                optional(&mut map, "redacted", redacted.as_ref())?;
                optional(&mut map, "origin", block.slot.number_below().map(|_| "tagged"))?;
                optional(&mut map, "extra", filled(&block.extra))?;
            }
            Body::ToolCall(call) => {
                tool_call(&mut map, call)?;
                optional(&mut map, "extra", filled(&block.extra))?;
            }
            Body::ToolResult { kind, call_id } => {
                map.serialize_entry("kind", kind)?;
                optional(&mut map, "call_id", call_id.as_ref())?;
                for (key, value) in block.extra.iter() {
                    map.serialize_entry(key, value)?;
                }
            }
            Body::Other { kind } => {
                map.serialize_entry("kind", kind)?;
                map.serialize_entry("raw", &*block.extra)?;
            }
        }
        map.end()
    }
}

fn tool_call<M: SerializeMap>(map: &mut M, call: &ToolCall) -> Result<(), M::Error> {
    map.serialize_entry("id", call.id.as_str())?;
    map.serialize_entry("name", &call.name)?;
    optional(map, "runner", Some(call.runner).filter(|runner| *runner == Runner::Provider))?;
    optional(map, "end", call.end())?;
    match (&call.args, &call.origin) {
        (Args::Complete(value), _) => map.serialize_entry("input", value)?,
        // What the model wrote is more useful than the JSON that was made from it.
        (_, Origin::Tagged { .. }) => optional(map, "raw", call.raw.as_ref())?,
        (Args::Streaming(input) | Args::Cut(input), Origin::Native) => {
            map.serialize_entry("raw", input.raw())?;
        }
        (Args::Malformed { raw, .. }, Origin::Native) => map.serialize_entry("raw", raw)?,
    }
    if let Origin::Tagged { known, parent } = &call.origin {
        map.serialize_entry("origin", "tagged")?;
        optional(map, "unknown", Some(true).filter(|_| !known))?;
        optional(map, "parent", parent.as_ref())?;
    }
    Ok(())
}

fn stopped<M: SerializeMap>(map: &mut M, stop: Option<&Stop>) -> Result<(), M::Error> {
    optional(map, "stop_reason", stop.map(|stop| stop.reason))?;
    optional(map, "stop_detail", stop.map(|stop| &stop.detail))
}

fn optional<M: SerializeMap, T: Serialize>(map: &mut M, key: &str, value: Option<T>) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(key, &value),
        None => Ok(()),
    }
}

fn filled(extra: &Object) -> Option<&Object> {
    Some(extra).filter(|extra| !extra.is_empty())
}
