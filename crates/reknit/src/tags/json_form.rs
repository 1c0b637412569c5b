//! Blocks as JSON.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::{Block, Call, Parser};

/// `{"blocks": […], "diagnostics": […]}`, as `reknit tools --json` prints it.
impl Serialize for Parser {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("blocks", &self.blocks().collect::<Vec<_>>())?;
        map.serialize_entry("diagnostics", &**self.diagnostics())?;
        if self.diagnostics().omitted() > 0 {
            map.serialize_entry("diagnostics_omitted", &self.diagnostics().omitted())?;
        }
        map.end()
    }
}

impl Serialize for Block<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, text, closed) = match self {
            Self::Text { text, closed } => ("text", text, closed),
            Self::Thinking { text, closed } => ("thinking", text, closed),
            Self::Call(call) => return call.serialize(serializer),
        };
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("type", kind)?;
        map.serialize_entry("text", text)?;
        map.serialize_entry("partial", &!closed)?;
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
        if self.is_partial() {
            map.serialize_entry("raw", self.raw())?;
        }
        if !self.is_known() {
            map.serialize_entry("unknown", &true)?;
        }
        if let Some(parent) = self.parent() {
            map.serialize_entry("parent", &parent)?;
        }
        map.end()
    }
}
