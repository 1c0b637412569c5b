//! [`Members`]: the members of an event, read in one pass.

use std::borrow::Cow;

use super::{Error, Raw};
use crate::frame::Frame;
use crate::wire::other_members::Others;

/// The `object` of a whole response, which is also the name of a frame that is one.
pub(super) const RESPONSE: &str = "response";

#[derive(Default)]
pub(super) struct Members<'a> {
    pub(super) kind: Option<Cow<'a, str>>,
    pub(super) object: Option<Cow<'a, str>>,
    pub(super) sequence: Option<u64>,
    pub(super) output_index: Option<u64>,
    pub(super) item_id: Option<Cow<'a, str>>,
    /// The index of the content part, summary part or command that the event is about.
    pub(super) part_index: Option<u64>,
    pub(super) response: Option<Raw<'a>>,
    pub(super) item: Option<Raw<'a>>,
    pub(super) part: Option<Raw<'a>>,
    pub(super) delta: Option<Raw<'a>>,
    /// The value of a `done` event, under any of its names.
    pub(super) whole: Option<Raw<'a>>,
    pub(super) annotation: Option<Raw<'a>>,
    pub(super) logprobs: Option<Raw<'a>>,
    pub(super) error: Option<Raw<'a>>,
    pub(super) others: Others<'a>,
}

impl<'a> Members<'a> {
    pub(super) fn read(data: &'a str) -> Result<Self, Error> {
        let mut members = Self::default();
        Raw::new(data).fields(|key, value| match key {
            "type" => members.kind = value.string(),
            "object" => members.object = value.string(),
            "sequence_number" => members.sequence = value.number(),
            "output_index" => members.output_index = value.number(),
            "item_id" => members.item_id = value.string(),
            "content_index" | "summary_index" | "command_index" => members.part_index = value.number(),
            "response" => members.response = Some(value),
            "item" => members.item = Some(value),
            "part" => members.part = Some(value),
            "delta" => members.delta = Some(value),
            "text" | "refusal" | "arguments" | "input" | "code" | "diff" | "command" | "output" => {
                members.whole = Some(value);
            }
            "annotation" => members.annotation = Some(value),
            "logprobs" => members.logprobs = Some(value),
            "error" => members.error = Some(value),
            // The position of an annotation in its list, and padding that hides the lengths of tokens.
            "annotation_index" | "obfuscation" => {}
            _ => members.others.add(key.to_owned().into(), value),
        })?;
        Ok(members)
    }

    /// The name of the event, inferred from its members if necessary.
    pub(super) fn name<'b>(&'b self, frame: &Frame<'b>) -> &'b str {
        match (&self.kind, &self.error) {
            (Some(kind), _) => kind,
            (None, _) if self.object.as_deref() == Some(RESPONSE) => RESPONSE,
            (None, Some(_)) => "error",
            (None, None) => frame.event,
        }
    }

    /// The id of the response that the event carries.
    pub(super) fn response_id(&self) -> Option<String> {
        self.response.and_then(|response| response.get("id")).and_then(Raw::owned_string)
    }
}
