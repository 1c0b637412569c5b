//! The neutral JSON form of a message. What is unknown is absent.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::block::{Args, Block, Body, CallEnd, Input};
use super::{Choice, Message, Status};
use crate::event::{Runner, Stop};
use crate::json::Object;

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let several = self.choices.len() > 1;
        let blocks: Vec<_> = self.blocks.iter().map(|block| NeutralBlock::new(block, several)).collect();
        write_around(self, &blocks, &self.diagnostics, self.diagnostics_omitted, serializer)
    }
}

/// Writes a message around its blocks and diagnostics, which may be shown otherwise than they are kept.
pub(crate) fn write_around<S: Serializer>(
    message: &Message,
    blocks: &impl Serialize,
    diagnostics: &impl Serialize,
    diagnostics_omitted: u64,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    optional(&mut map, "id", message.id())?;
    optional(&mut map, "model", message.model())?;
    optional(&mut map, "role", message.role())?;
    map.serialize_entry("status", &message.status())?;
    stopped(&mut map, message.stop())?;
    optional(&mut map, "error", message.failure())?;
    optional(&mut map, "usage", Some(message.usage()).filter(|usage| !usage.is_empty()))?;
    map.serialize_entry("blocks", blocks)?;
    match message.choices() {
        [] => {}
        [only] => optional(&mut map, "choice_extra", filled(&only.extra))?,
        several => {
            let choices = several.iter();
            let choices =
                choices.map(|choice| NeutralChoice { choice, status: message.choice_status(choice) });
            map.serialize_entry("choices", &choices.collect::<Vec<_>>())?;
        }
    }
    optional(&mut map, "extra", filled(message.extra()))?;
    map.serialize_entry("diagnostics", diagnostics)?;
    optional(&mut map, "diagnostics_omitted", Some(diagnostics_omitted).filter(|omitted| *omitted > 0))?;
    map.end()
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

pub(crate) struct NeutralBlock<'a> {
    block: &'a Block,
    /// Whether the message has several choices, so that a block has to say which is its own.
    several: bool,
}

impl<'a> NeutralBlock<'a> {
    pub(crate) fn new(block: &'a Block, several: bool) -> Self {
        Self { block, several }
    }
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
                optional(&mut map, "extra", filled(&block.extra))?;
            }
            Body::ToolCall(call) => {
                map.serialize_entry("id", &call.id)?;
                map.serialize_entry("name", &call.name)?;
                optional(&mut map, "runner", Some(call.runner).filter(|runner| *runner == Runner::Provider))?;
                optional::<_, CallEnd>(&mut map, "end", block.call_end())?;
                match &call.args {
                    Args::Complete(value) => map.serialize_entry("input", value)?,
                    Args::Streaming(input) => map.serialize_entry("raw", Input::raw(input))?,
                    Args::Malformed { raw, .. } => map.serialize_entry("raw", raw)?,
                }
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

fn stopped<M: SerializeMap>(map: &mut M, stop: Option<&Stop>) -> Result<(), M::Error> {
    optional(map, "stop_reason", stop.map(|stop| stop.reason))?;
    optional(map, "stop_detail", stop.map(|stop| &stop.detail))
}

pub(crate) fn optional<M: SerializeMap, T: Serialize>(
    map: &mut M,
    key: &str,
    value: Option<T>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(key, &value),
        None => Ok(()),
    }
}

pub(crate) fn filled(extra: &Object) -> Option<&Object> {
    Some(extra).filter(|extra| !extra.is_empty())
}
