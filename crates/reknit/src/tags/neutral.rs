//! Blocks as JSON.

use std::borrow::Cow;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::{Block, Call, Change, Parser};
use crate::json::Value;
use crate::message::CallEnd;

/// `{"blocks": […], "diagnostics": […]}`, as `reknit tools --json` prints it.
impl Serialize for Parser {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("blocks", &self.blocks().collect::<Vec<_>>())?;
        map.serialize_entry("diagnostics", self.diagnostics())?;
        if self.diagnostics_omitted() > 0 {
            map.serialize_entry("diagnostics_omitted", &self.diagnostics_omitted())?;
        }
        map.end()
    }
}

impl Serialize for Block<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, text) = match self {
            Self::Text { text, .. } => ("text", text),
            Self::Thinking { text, .. } => ("thinking", text),
            Self::Call(call) => return call.serialize(serializer),
        };
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("type", kind)?;
        map.serialize_entry("text", text)?;
        map.serialize_entry("partial", &self.is_partial())?;
        map.end()
    }
}

impl Serialize for Call<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "tool_call")?;
        map.serialize_entry("name", self.name())?;
        map.serialize_entry("params", &*self.args())?;
        map.serialize_entry("partial", &self.is_partial())?;
        if let Some(end) = self.end() {
            map.serialize_entry("end", &end)?;
        }
        if self.end() != Some(CallEnd::Closed) {
            map.serialize_entry("raw", self.raw())?;
        }
        if !self.known() {
            map.serialize_entry("unknown", &true)?;
        }
        if let Some(parent) = self.parent() {
            map.serialize_entry("parent", &parent)?;
        }
        map.end()
    }
}

/// A change with what it is about, as `reknit tools --ndjson` prints it.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    parser: &'a Parser,
    change: Change,
}

impl Parser {
    /// What the last piece changed, each change with what it is about.
    pub fn told(&self) -> impl Iterator<Item = Told<'_>> {
        self.changes().map(|change| Told { parser: self, change })
    }
}

impl Serialize for Told<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let call = |index| match self.parser.block(index) {
            Some(Block::Call(call)) => Some(call),
            Some(Block::Text { .. } | Block::Thinking { .. }) | None => None,
        };
        let param = |block, param| call(block).and_then(|call| call.params().nth(param));
        let (name, body) = match self.change {
            Change::Opened { block } => {
                let (kind, name) = match self.parser.block(block) {
                    Some(Block::Thinking { .. }) => ("thinking", None),
                    Some(Block::Call(call)) => ("tool_call", Some(call.name())),
                    Some(Block::Text { .. }) | None => ("text", None),
                };
                ("opened", Line { block, kind: Some(kind), name, ..Line::default() })
            }
            Change::Grew { block, from, to } => {
                let start = self.parser.block_start(block);
                let text = self.parser.text()[from..to].into();
                ("grew", Line { block, at: Some(from - start), text: Some(text), ..Line::default() })
            }
            Change::ParamOpened { block, param: number } => {
                let name = param(block, number).map(|param| param.name());
                ("param_opened", Line { block, param: Some(number), name, ..Line::default() })
            }
            Change::ParamGrew { block, param: number, from, to } => {
                let text = param(block, number).map(|param| param.text()[from..to].into());
                ("grew", Line { block, param: Some(number), at: Some(from), text, ..Line::default() })
            }
            Change::ParamClosed { block, param: number } => {
                let value = param(block, number).map(|param| param.value());
                ("param_closed", Line { block, param: Some(number), value, ..Line::default() })
            }
            Change::ArgsGrew { block, from, to } => {
                let text = call(block).map(|call| match call.args_text() {
                    Cow::Borrowed(text) => text[from..to].into(),
                    Cow::Owned(text) => text[from..to].to_owned().into(),
                });
                ("grew", Line { block, at: Some(from), text, ..Line::default() })
            }
            Change::Closed { block } => {
                let end = call(block).and_then(|call| call.end());
                ("closed", Line { block, end, ..Line::default() })
            }
        };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(name, &body)?;
        map.end()
    }
}

/// What is told of a change.
#[derive(Default, Serialize)]
struct Line<'a> {
    block: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    param: Option<usize>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<CallEnd>,
}
