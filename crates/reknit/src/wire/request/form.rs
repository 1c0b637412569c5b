//! [`Form`]: what a dialect's requests are like.

use super::message::{Message, ReplyPart};
use super::name::Alphabet;
use super::repair::{RepairKind, Repairs};
use super::said::Conversation;
use crate::json::{Misread, Value};

/// What a dialect's requests are like: which of the neutral messages it takes, and how they are written.
pub(crate) struct Form {
    pub(crate) ids: Alphabet,
    pub(crate) names: Alphabet,
    /// Whether there are tools that take a free text for arguments.
    pub(crate) has_plain_input: bool,
    /// Whether the provider goes on with a reply that it has paused if that is the last message.
    pub(crate) goes_on_with_paused: bool,
    /// The provider's own fields of a text that it wants back.
    pub(crate) text_fields: &'static [&'static str],
    /// Leaves out of a reply what the provider refuses. Client's calls stay, because they have results.
    pub(crate) fit: fn(&mut Vec<ReplyPart>, &mut Repairs),
    pub(crate) write: fn(&[Message]) -> Vec<Value>,
    /// Adds what one message says.
    pub(crate) read: fn(Value, &mut Conversation) -> Result<(), Misread>,
}

/// Leaves out the parts that the provider does not take, and says so.
pub(crate) fn refuse_unless(
    parts: &mut Vec<ReplyPart>,
    repairs: &mut Repairs,
    mut takes: impl FnMut(&ReplyPart) -> bool,
) {
    parts.retain(|part| {
        let is_taken = takes(part);
        if !is_taken {
            let (kind, message) = refusal(part);
            repairs.push(kind, part.seq(), message);
        }
        is_taken
    });
}

fn refusal(part: &ReplyPart) -> (RepairKind, String) {
    match part {
        ReplyPart::Thinking { .. } => (
            RepairKind::ThinkingRefused,
            "thinking was left out: its provider does not take it back as it is".to_owned(),
        ),
        ReplyPart::Text { .. } => (RepairKind::TextBlank, "a blank text was left out".to_owned()),
        ReplyPart::Call { call, .. } | ReplyPart::ProviderCall { call, .. } => {
            let message = format!("the provider's call `{}` of `{}` was left out", call.id, call.name);
            (RepairKind::BlockRefused, message)
        }
        ReplyPart::ProviderResult { call, .. } => {
            let message = format!("the result of the provider's call `{}` was left out", call.id);
            (RepairKind::BlockRefused, message)
        }
        ReplyPart::Block { kind, .. } => {
            (RepairKind::BlockRefused, format!("a block of kind `{kind}` was left out"))
        }
    }
}
