//! The neutral JSON form of a message whose texts are split into their parts.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::list::List;
use super::part::{Args, Origin, Part, ToolCall};
use crate::message::{Block, Body, Message, NeutralBlock, filled, optional, write_around};

/// A message as JSON, in its neutral form but with each text block in its parts.
///
/// Calls and thinking that were written into a text have `"origin": "tagged"`.
#[derive(Clone, Copy, Debug)]
pub struct Neutral<'a> {
    list: &'a List,
    message: &'a Message,
}

impl<'a> Neutral<'a> {
    pub(super) fn new(list: &'a List, message: &'a Message) -> Self {
        Self { list, message }
    }

    fn blocks(&self) -> Vec<NeutralPart<'a>> {
        let mut blocks = Vec::new();
        for block in self.message.blocks() {
            let parts = self.list.parts_of(block.slot());
            match block.body() {
                Body::Text { .. } if !parts.is_empty() => {
                    blocks.extend(parts.iter().map(|placed| NeutralPart::OfText {
                        block,
                        part: &placed.part,
                        first: placed.address.part == 0,
                    }));
                }
                // A text of blanks has no part; what the provider says beside it stays.
                Body::Text { .. } if block.extra().is_empty() => {}
                _ => blocks.push(NeutralPart::Whole(block)),
            }
        }
        blocks
    }
}

impl Serialize for Neutral<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let several = self.message.choices().len() > 1;
        let blocks: Vec<_> = self.blocks().into_iter().map(|part| OneOf { part, several }).collect();
        let diagnostics: Vec<_> = self
            .message
            .diagnostics()
            .iter()
            .map(Noticed::InStream)
            .chain(self.list.diagnostics().iter().map(Noticed::InText))
            .collect();
        let omitted = self.message.diagnostics_omitted() + self.list.diagnostics_omitted();
        write_around(self.message, &blocks, &diagnostics, omitted, serializer)
    }
}

#[derive(serde::Serialize)]
#[serde(untagged)]
enum Noticed<'a> {
    InStream(&'a crate::Diagnostic),
    InText(&'a super::Diagnostic),
}

enum NeutralPart<'a> {
    /// A block of the message as it is.
    Whole(&'a Block),
    /// A part of a text block.
    OfText {
        block: &'a Block,
        part: &'a Part,
        /// Whether it is the first of its block, with which stands what the block has beside its text.
        first: bool,
    },
}

struct OneOf<'a> {
    part: NeutralPart<'a>,
    /// Whether the message has several choices, so that a part has to say which is its own.
    several: bool,
}

impl Serialize for OneOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (block, part, first) = match &self.part {
            NeutralPart::Whole(block) => {
                return NeutralBlock::new(block, self.several).serialize(serializer);
            }
            NeutralPart::OfText { block, part, first } => (*block, *part, *first),
        };
        let mut map = serializer.serialize_map(None)?;
        let kind = match part {
            Part::Text { .. } => "text",
            Part::Thinking { .. } => "thinking",
            Part::Call(_) => "tool_call",
            Part::ToolResult { .. } | Part::Other { .. } => "other",
        };
        map.serialize_entry("type", kind)?;
        optional(&mut map, "choice", Some(block.choice()).filter(|_| self.several))?;
        match part {
            Part::Text { text, refusal, .. } => {
                map.serialize_entry("text", text)?;
                optional(&mut map, "refusal", Some(true).filter(|_| *refusal))?;
            }
            Part::Thinking { text, .. } => {
                map.serialize_entry("text", text)?;
                map.serialize_entry("origin", "tagged")?;
            }
            Part::Call(call) => tagged_call(&mut map, call, block)?,
            Part::ToolResult { kind, .. } | Part::Other { kind, .. } => map.serialize_entry("kind", kind)?,
        }
        optional(&mut map, "extra", filled(block.extra()).filter(|_| first))?;
        map.end()
    }
}

fn tagged_call<M: SerializeMap>(map: &mut M, call: &ToolCall, block: &Block) -> Result<(), M::Error> {
    map.serialize_entry("id", &call.id)?;
    map.serialize_entry("name", &call.name)?;
    optional(map, "end", call.end())?;
    if let Args::Complete(value) = &call.args {
        map.serialize_entry("input", value)?;
    }
    let Origin::Tagged(tagged) = &call.origin else { return Ok(()) };
    if !matches!(call.args, Args::Complete(_)) {
        optional(map, "raw", tagged.raw(block))?;
    }
    map.serialize_entry("origin", "tagged")?;
    optional(map, "unknown", Some(true).filter(|_| !tagged.known))?;
    optional(map, "parent", tagged.parent.as_ref())
}
