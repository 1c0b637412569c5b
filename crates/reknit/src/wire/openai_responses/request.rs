//! The input of a Responses request.

use std::collections::{BTreeMap, BTreeSet};

use super::call_kind::{CallKind, FUNCTION_FIELDS, SEARCH_OUTPUT};
use crate::event::Runner;
use crate::json::{Members, Misread, Object, Value};
use crate::wire::object::{data_url, object, of_kind, read_data_url};
use crate::wire::request::{
    Alphabet, Answer, Approval, Around, Call, Called, Content, Conversation, Form, Message, RepairKind,
    Repairs, ReplyPart, Thinking, UserPart, refuse_unless,
};

mod calls;
mod outputs;

pub(crate) static FORM: Form = Form {
    ids: Alphabet::of_words(64),
    names: Alphabet::of_words(64),
    has_plain_input: true,
    continues_paused: false,
    thinking_leads: true,
    text_fields: &[PHASE],
    fit,
    write,
    read,
};

/// Whether a message is commentary or the final answer. Models that send it do worse without it.
const PHASE: &str = "phase";

/// A reasoning item is accepted only with its encrypted content, unless the provider has stored it, and only
/// with the item that follows it. Without its reasoning, an item is accepted only if it needs no id. Of items
/// with the same id, of whatever type, only the first is accepted.
fn fit(parts: &mut Vec<ReplyPart>, around: &mut Around<'_>, repairs: &mut Repairs) {
    let places = around.answers.iter().enumerate().map(|(at, answer)| (answer.id.clone(), at));
    let places: BTreeMap<_, _> = places.collect();
    let mut items: Vec<Vec<ReplyPart>> = Vec::new();
    for part in parts.drain(..) {
        match items.last_mut() {
            Some(item) if item.last().is_some_and(|last| is_one_item(last, &part)) => item.push(part),
            _ => items.push(vec![part]),
        }
    }
    let answered = provider_results(items.iter().flatten()).map(|(id, _)| id.to_owned()).collect();
    let mut fitting =
        Fitting { lacks_reasoning: false, open: BTreeMap::new(), answered, sent: &mut *around.items };
    for at in 0..items.len() {
        let (item, rest) = items[at..].split_first_mut().expect("there is an item at this place");
        let is_taken = fitting.takes(item, rest.first());
        if is_taken && let [ReplyPart::Call { seq, call }] = item.as_mut_slice() {
            let answer = places.get(&call.id).map(|at| &mut around.answers[*at]);
            fitting.convert(*seq, call, answer, repairs);
        }
        if is_taken {
            fitting.sent.extend(item_id(item));
        }
        if is_taken && let [ReplyPart::Block { kind, block, approval: Some(approval), .. }] = item.as_slice()
        {
            around.answers.extend(outputs::approval(kind, block, approval));
        }
        refuse_unless(item, repairs, |_| is_taken);
    }
    parts.extend(items.into_iter().flatten());
}

struct Fitting<'a> {
    /// Whether the latest reasoning was left out.
    lacks_reasoning: bool,
    /// The provider's calls that were taken and have no result yet, with the kinds of their items.
    open: BTreeMap<String, &'static CallKind>,
    /// The provider's calls that have a result.
    answered: BTreeSet<String>,
    /// The ids of items that are sent.
    sent: &'a mut BTreeSet<String>,
}

impl Fitting<'_> {
    /// Whether the provider accepts an item; `next` is the one that follows it.
    fn takes(&mut self, item: &[ReplyPart], next: Option<&Vec<ReplyPart>>) -> bool {
        match &item[0] {
            ReplyPart::Thinking { .. } => {
                let is_taken = encrypted(item).is_some()
                    && self.may_follow(item)
                    && next.is_some_and(|next| self.may_follow(next));
                self.lacks_reasoning = !is_taken;
                is_taken
            }
            // A message may consist of nothing but its phase.
            ReplyPart::Text { text, .. } => !text.trim().is_empty(),
            ReplyPart::Call { .. } => true,
            ReplyPart::ProviderCall { call, .. } => {
                let kind = calls::special(call).filter(|_| !self.lacks_reasoning && self.may_follow(item));
                self.open.extend(kind.map(|kind| (call.id.clone(), kind)));
                kind.is_some()
            }
            ReplyPart::ProviderResult { call, .. } => {
                !self.has_unusable_id(item) && self.open.remove(&call.id).is_some()
            }
            ReplyPart::Block { kind, .. } if kind == SEARCH_OUTPUT => {
                let last = self.open.iter().find(|(_, kind)| kind.item == SEARCH).map(|(id, _)| id.clone());
                !self.has_unusable_id(item) && last.is_some_and(|id| self.open.remove(&id).is_some())
            }
            ReplyPart::Block { kind, .. } => {
                let is_the_models = !matches!(&**kind, "compaction" | "mcp_list_tools");
                self.may_follow(item) && !(is_the_models && self.lacks_reasoning)
            }
        }
    }

    /// Whether an item has an id that cannot be sent: it is empty, or an earlier item has it.
    fn has_unusable_id(&self, item: &[ReplyPart]) -> bool {
        item_id(item).is_some_and(|id| !self.is_usable(&id))
    }

    fn is_usable(&self, id: &str) -> bool {
        !id.is_empty() && !self.sent.contains(id)
    }

    /// Whether an item can be sent back at all.
    fn may_follow(&self, item: &[ReplyPart]) -> bool {
        match &item[0] {
            // It can be sent as an ordinary call, which needs no id.
            ReplyPart::Call { .. } => true,
            _ if self.has_unusable_id(item) => false,
            ReplyPart::Thinking { .. } => true,
            ReplyPart::Text { text, .. } => !text.trim().is_empty(),
            ReplyPart::ProviderCall { call, .. } => calls::special(call).is_some_and(|kind| {
                // A program waits for the calls that it makes.
                let needs_result = kind.output.is_some() && !matches!(kind.item, "program" | SEARCH);
                calls::provider_item(call, None).is_some()
                    && (!needs_result || self.answered.contains(&call.id))
            }),
            ReplyPart::ProviderResult { .. } => false,
            ReplyPart::Block { kind, block, .. } => {
                let is_written = matches!(&**kind, "message" | "reasoning");
                let is_of_a_call = kind.ends_with("_call") || kind.ends_with("_output");
                let has_id = block.get("id").is_some_and(|id| id.as_text().is_some());
                !is_written && !is_of_a_call && has_id
            }
        }
    }

    /// Makes a call an ordinary one if its item would be refused, or has no place for its result.
    fn convert(&self, seq: u64, call: &mut Call, answer: Option<&mut Answer>, repairs: &mut Repairs) {
        let Some(kind) = calls::special(call) else { return };
        let id = call.field("id").filter(|id| !self.lacks_reasoning && self.is_usable(id));
        let fits = kind.runner_of(&call.fields) == Runner::Client
            && answer.as_ref().is_some_and(|answer| outputs::client_item(answer).is_some());
        if fits && (id.is_some() || !kind.needs_id) {
            return;
        }
        call.fields.remove(calls::TYPE);
        if let Some(answer) = answer {
            answer.kind = None;
        }
        let message = format!("the call `{}`, a `{}`, is sent as a call of a function", call.id, kind.item);
        repairs.push(RepairKind::CallConverted, seq, message);
    }
}

const SEARCH: &str = "tool_search_call";

/// The id of the item that is written for these parts.
fn item_id(parts: &[ReplyPart]) -> Option<String> {
    item(parts, &BTreeMap::new())?.get("id")?.as_str().map(Into::into)
}

/// The results of the provider's calls, by the ids of these.
fn provider_results<'a>(
    parts: impl IntoIterator<Item = &'a ReplyPart>,
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    parts.into_iter().filter_map(|part| match part {
        ReplyPart::ProviderResult { call, result, .. } => Some((&*call.id, result)),
        _ => None,
    })
}

/// Whether two neighbours are parts of one item.
fn is_one_item(first: &ReplyPart, second: &ReplyPart) -> bool {
    match (first, second) {
        (ReplyPart::Thinking { thinking: first, .. }, ReplyPart::Thinking { thinking: second, .. }) => {
            first.field("id").is_some() && first.field("id") == second.field("id")
        }
        _ => false,
    }
}

fn thoughts(item: &[ReplyPart]) -> impl DoubleEndedIterator<Item = &Thinking> {
    item.iter().filter_map(|part| match part {
        ReplyPart::Thinking { thinking, .. } => Some(thinking),
        _ => None,
    })
}

fn encrypted(item: &[ReplyPart]) -> Option<&str> {
    thoughts(item).rev().find_map(|thinking| thinking.redacted.as_deref().filter(|data| !data.is_empty()))
}

fn write(messages: &[Message]) -> Vec<Value> {
    let mut items = Vec::new();
    for message in messages {
        match message {
            Message::User { results, content } => {
                items.extend(results.iter().filter_map(outputs::client_item));
                if !content.is_empty() {
                    items.push(message_item("user", content.iter().map(user_part).collect()));
                }
            }
            Message::Model { parts } => {
                let results: BTreeMap<_, _> = provider_results(parts).collect();
                items.extend(parts.chunk_by(is_one_item).filter_map(|parts| item(parts, &results)));
            }
        }
    }
    items
}

fn message_item(role: &str, content: Vec<Value>) -> Value {
    object([("type", "message".into()), ("role", role.into()), ("content", content.into())])
}

fn user_part(part: &UserPart) -> Value {
    match part {
        UserPart::Text(text) => object([("type", "input_text".into()), ("text", (&**text).into())]),
        UserPart::Image { media_type, data } => {
            object([("type", "input_image".into()), ("image_url", data_url(media_type, data))])
        }
    }
}

/// The item of some parts of a reply; `None` if they are in the item of a call. `results` are those of the
/// provider's calls.
fn item(parts: &[ReplyPart], results: &BTreeMap<&str, &Value>) -> Option<Value> {
    Some(match &parts[0] {
        ReplyPart::Text { text, fields, .. } => {
            let text = object([("type", "output_text".into()), ("text", (&**text).into())]);
            let mut message = message_item("assistant", vec![text]);
            if let (Some(phase), Some(message)) = (fields.get(PHASE), message.as_object_mut()) {
                message.insert(PHASE, phase.clone());
            }
            message
        }
        ReplyPart::Thinking { thinking, .. } => reasoning(thinking.field("id"), parts),
        ReplyPart::Call { call, .. } => calls::client_item(call),
        ReplyPart::ProviderCall { call, .. } => {
            return calls::provider_item(call, results.get(&*call.id).copied());
        }
        ReplyPart::ProviderResult { call, result, .. } => {
            return outputs::provider_item(call, result);
        }
        ReplyPart::Block { kind, block, .. } => of_kind(kind, &taken_back(kind, block)),
    })
}

/// The fields that an item has in a request. A reply may have more, with which a request would be refused.
fn taken_back(kind: &str, block: &Object) -> Object {
    let names: &[&str] = match kind {
        "compaction" => &["id", "encrypted_content"],
        "mcp_list_tools" => &["id", "server_label", "tools", "error"],
        "mcp_approval_request" => &["id", "server_label", "name", "arguments"],
        _ => return block.clone(),
    };
    let mut item = Object::new();
    copy(names, block, &mut item);
    item
}

/// Copies these members, those that there are.
fn copy(names: &[&str], from: &Object, to: &mut Object) {
    for name in names {
        if let Some(value) = from.get(name) {
            to.insert(*name, value.clone());
        }
    }
}

fn reasoning(id: Option<String>, parts: &[ReplyPart]) -> Value {
    let texts = thoughts(parts).filter(|thinking| !thinking.text.is_empty());
    let summary =
        texts.map(|thinking| object([("type", "summary_text".into()), ("text", (&*thinking.text).into())]));
    let mut item = Object::new();
    item.insert("type", "reasoning");
    if let Some(id) = id {
        item.insert("id", id);
    }
    item.insert("summary", summary.collect::<Vec<_>>());
    item.insert("encrypted_content", encrypted(parts).unwrap_or_default());
    item.into()
}

fn read(item: Value, conversation: &mut Conversation) -> Result<(), Misread> {
    let mut item = Members::new("an item", item)?;
    let kind = item.optional_text("type")?.unwrap_or_else(|| "message".to_owned());
    match &*kind {
        "message" => read_message(item, conversation)?,
        "reasoning" => read_reasoning(item, conversation)?,
        "function_call" | "custom_tool_call" => {
            let (id, name) = (item.text("call_id")?, item.text("name")?);
            let arguments = if kind == "function_call" {
                let arguments = item.text("arguments")?;
                // Arguments that are not JSON are still what the model wrote.
                arguments.parse().unwrap_or_else(|_| arguments.into())
            } else {
                item.text("input")?.into()
            };
            let fields = FUNCTION_FIELDS.iter().filter_map(|name| Some((*name, item.optional(name)?)));
            let fields: Object = fields.collect();
            let metadata = (!fields.is_empty()).then(|| fields.into());
            conversation.call(Called { id, name, arguments, provider_executed: false, metadata });
        }
        "mcp_approval_response" => {
            let is_allowed = item.optional_flag("approve")?.unwrap_or_default();
            let (id, reason) = (item.text("approval_request_id")?, item.optional_text("reason")?);
            conversation.decide(id, Approval { is_allowed, reason });
        }
        output if output.ends_with("_output") => outputs::read(output, item, conversation)?,
        _ => match CallKind::of(&kind) {
            Some(kind) => calls::read(kind, &item.rest(), conversation),
            None => conversation.block(kind, item.rest()),
        },
    }
    Ok(())
}

fn read_message(mut item: Members, conversation: &mut Conversation) -> Result<(), Misread> {
    let role = item.text("role")?;
    let content = match item.value("content")? {
        Value::Array(parts) => read_content(parts.into())?,
        text => read_content(vec![object([("type", "input_text".into()), ("text", text)])])?,
    };
    match &*role {
        "user" => conversation.user(content),
        "assistant" => {
            for part in content {
                if let Content::Text { text } = part {
                    conversation.text(text);
                }
            }
            if let Some(phase) = item.optional_text(PHASE)? {
                conversation.text_fields([(PHASE, phase)].into_iter().collect());
            }
        }
        "system" | "developer" => {}
        _ => return Err(item.unknown_word("role", "`user`, `assistant`, `system`, `developer`", role)),
    }
    Ok(())
}

fn read_content(parts: Vec<Value>) -> Result<Vec<Content>, Misread> {
    let parts = parts.into_iter().map(|part| {
        let mut part = Members::new("a part of `content`", part)?;
        let kind = part.text("type")?;
        Ok(match &*kind {
            "input_text" | "output_text" => Content::Text { text: part.text("text")? },
            "refusal" => Content::Text { text: part.text("refusal")? },
            "input_image" => match part.optional_text("image_url")?.as_deref().and_then(read_data_url) {
                Some((media_type, data)) => Content::Image { media_type, data },
                None => Content::Other(part.rest_of_kind(kind)),
            },
            _ => Content::Other(part.rest_of_kind(kind)),
        })
    });
    parts.collect()
}

/// A reasoning item becomes a thinking part for each part of its summary and one for its encrypted content,
/// which share its id. Without an id it becomes a single one.
fn read_reasoning(mut item: Members, conversation: &mut Conversation) -> Result<(), Misread> {
    let (id, redacted) = (item.optional_text("id")?, item.optional_text("encrypted_content")?);
    let mut texts = Vec::new();
    for part in item.optional_list("summary")? {
        texts.push(Members::new("a part of `summary`", part)?.text("text")?);
    }
    let Some(id) = id else {
        conversation.thinking(Thinking { text: texts.concat(), redacted, ..Thinking::default() });
        return Ok(());
    };
    let fields: Object = [("id", id)].into_iter().collect();
    for text in texts {
        conversation.thinking(Thinking { text, fields: fields.clone(), ..Thinking::default() });
    }
    if redacted.is_some() {
        conversation.thinking(Thinking { redacted, fields, ..Thinking::default() });
    }
    Ok(())
}
