//! [`Delta`]: the members of a delta.

use super::super::fields::{Error, Raw};
use super::super::other_members::Others;
use super::thoughts;

#[derive(Default)]
pub(super) struct Delta<'a> {
    pub(super) content: Option<Raw<'a>>,
    pub(super) refusal: Option<Raw<'a>>,
    /// Thinking, from whichever field has it: servers that send several repeat the text in each.
    pub(super) thoughts: Option<Raw<'a>>,
    pub(super) details: Option<Raw<'a>>,
    pub(super) calls: Option<Raw<'a>>,
    pub(super) function: Option<Raw<'a>>,
    pub(super) audio: Option<Raw<'a>>,
    pub(super) has_role: bool,
    pub(super) others: Others<'a>,
}

impl<'a> Delta<'a> {
    pub(super) fn read(delta: Raw<'a>) -> Result<Self, Error> {
        let mut read = Self::default();
        let (mut reasoning_content, mut reasoning) = (None, None);
        let text = |value: Raw<'a>| Some(value).filter(|value| value.has_text());
        delta.fields(|key, value| match key {
            "role" => read.has_role = value.string().is_some(),
            "content" => read.content = Some(value),
            "refusal" => read.refusal = Some(value),
            "reasoning_content" => reasoning_content = text(value),
            "reasoning" | "reasoning_text" => reasoning = text(value).or(reasoning),
            "reasoning_details" => read.details = Some(value),
            "tool_calls" => read.calls = Some(value),
            "function_call" => read.function = Some(value),
            "audio" => read.audio = Some(value),
            _ => read.others.add(key.to_owned().into(), value),
        })?;
        let has_details = read.details.is_some_and(thoughts::have_text);
        read.thoughts = reasoning_content.or(reasoning).filter(|_| !has_details);
        Ok(read)
    }
}
