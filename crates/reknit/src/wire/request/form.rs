//! [`Form`]: the form of a dialect's requests.

use std::collections::BTreeSet;

use super::message::{Answer, Message, ReplyPart, Thinking};
use super::name::Alphabet;
use super::repair::{RepairKind, Repairs};
use super::said::Conversation;
use crate::json::{Misread, Value};

/// What the provider accepts in a request, and how messages are written and read.
pub(crate) struct Form {
    pub(crate) ids: Alphabet,
    pub(crate) names: Alphabet,
    /// Whether there are tools whose arguments are free text.
    pub(crate) has_plain_input: bool,
    /// Whether the provider continues a reply that it has paused, if that is the last message.
    pub(crate) continues_paused: bool,
    /// Whether a reply must not end with thinking. In some forms, thinking has no place among the other parts.
    pub(crate) thinking_leads: bool,
    /// The provider's own fields of a text that must be sent back.
    pub(crate) text_fields: &'static [&'static str],
    /// Removes from a reply what the provider refuses. Calls of the client stay, because they have results.
    pub(crate) fit: fn(&mut Vec<ReplyPart>, &mut Around<'_>, &mut Repairs),
    pub(crate) write: fn(&[Message]) -> Vec<Value>,
    pub(crate) read: fn(Value, &mut Conversation) -> Result<(), Misread>,
}

/// What surrounds a reply in the history.
pub(crate) struct Around<'a> {
    /// The results of its calls and other answers to it, which are in the next message.
    pub(crate) answers: &'a mut Vec<Answer>,
    /// The provider's calls in earlier replies that still wait for their results.
    pub(crate) pending: &'a BTreeSet<String>,
    /// The ids of items in earlier replies, and of those of this one that are sent: a provider that gives its
    /// items ids takes each once.
    pub(crate) items: &'a mut BTreeSet<String>,
    /// Whether nothing but results of its calls follows it.
    pub(crate) only_results: bool,
}

/// Removes the parts that the provider does not accept, and reports each.
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

/// Removes everything but texts, calls of the client, and the thinking that the provider accepts.
pub(crate) fn refuse_all_but_words(
    parts: &mut Vec<ReplyPart>,
    repairs: &mut Repairs,
    takes_thinking: impl Fn(&Thinking) -> bool,
) {
    refuse_unless(parts, repairs, |part| match part {
        ReplyPart::Text { .. } | ReplyPart::Call { .. } => true,
        ReplyPart::Thinking { thinking, .. } => takes_thinking(thinking),
        ReplyPart::ProviderCall { .. } | ReplyPart::ProviderResult { .. } | ReplyPart::Block { .. } => false,
    });
}

/// Moves calls to the end: anything after a call would come between the call and its result.
pub(crate) fn put_calls_last(parts: &mut [ReplyPart], repairs: &mut Repairs) {
    let is_call = |part: &ReplyPart| matches!(part, ReplyPart::Call { .. });
    let first_call = parts.iter().position(is_call).unwrap_or(parts.len());
    if let Some(after) = parts[first_call..].iter().find(|part| !is_call(part)) {
        let message = "what the model said after its calls is sent before them";
        repairs.push(RepairKind::CallsLast, after.seq(), message);
        parts.sort_by_key(is_call);
    }
}

fn refusal(part: &ReplyPart) -> (RepairKind, String) {
    match part {
        ReplyPart::Thinking { .. } => (
            RepairKind::ThinkingRefused,
            "thinking was left out: its provider does not accept it as it is".to_owned(),
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
