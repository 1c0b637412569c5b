//! The input of a Responses request.

use crate::json::{Members, Misread, Object, Value};
use crate::wire::object::{data_url, object, of_kind, read_data_url};
use crate::wire::request::{
    Alphabet, Answer, Call, Called, Content, Conversation, Form, Input, Message, Output, Repairs, ReplyPart,
    Thinking, UserPart, refuse_unless,
};

const NAME: fn(char) -> bool = |c| c.is_ascii_alphanumeric() || c == '_' || c == '-';

pub(crate) static FORM: Form = Form {
    ids: Alphabet { longest: 64, allows: NAME },
    names: Alphabet { longest: 64, allows: NAME },
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

/// A reasoning item is accepted only with its encrypted content, unless the provider has stored it. Items that
/// the provider creates itself are not written from their parts.
fn fit(parts: &mut Vec<ReplyPart>, repairs: &mut Repairs) {
    let items = parts.chunk_by(is_one_item);
    let taken: Vec<_> = items.flat_map(|item| item.iter().map(|part| is_taken(part, item))).collect();
    let mut taken = taken.into_iter();
    refuse_unless(parts, repairs, |_| taken.next().unwrap_or_default());
}

fn is_taken(part: &ReplyPart, item: &[ReplyPart]) -> bool {
    match part {
        ReplyPart::Call { .. } => true,
        // A message may consist of nothing but its phase.
        ReplyPart::Text { text, .. } => !text.trim().is_empty(),
        ReplyPart::Thinking { .. } => encrypted(item).is_some(),
        ReplyPart::ProviderCall { .. } | ReplyPart::ProviderResult { .. } => false,
        ReplyPart::Block { kind, block, .. } => {
            let is_written = matches!(&**kind, "message" | "reasoning");
            let is_of_a_call = kind.ends_with("_call") || kind.ends_with("_output");
            let has_id = block.get("id").is_some_and(|id| id.as_text().is_some());
            !is_written && !is_of_a_call && has_id
        }
    }
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
                items.extend(results.iter().map(output_item));
                if !content.is_empty() {
                    items.push(message_item("user", content.iter().map(user_part).collect()));
                }
            }
            Message::Model { parts } => items.extend(parts.chunk_by(is_one_item).map(item)),
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

fn output_item(answer: &Answer) -> Value {
    let output: Value = match &answer.output {
        Output::Parts(parts) => parts.iter().map(user_part).collect::<Vec<_>>().into(),
        Output::Value(_) => answer.output.text().into(),
    };
    let kind = if answer.is_plain { "custom_tool_call_output" } else { "function_call_output" };
    object([("type", kind.into()), ("call_id", (&*answer.id).into()), ("output", output)])
}

fn item(parts: &[ReplyPart]) -> Value {
    match &parts[0] {
        ReplyPart::Text { text, fields, .. } => {
            let text = object([("type", "output_text".into()), ("text", (&**text).into())]);
            let mut message = message_item("assistant", vec![text]);
            if let (Some(phase), Some(message)) = (fields.get(PHASE), message.as_object_mut()) {
                message.insert(PHASE, phase.clone());
            }
            message
        }
        ReplyPart::Thinking { thinking, .. } => reasoning(thinking.field("id"), parts),
        ReplyPart::Call { call, .. } | ReplyPart::ProviderCall { call, .. } => call_item(call),
        // `fit` leaves these out.
        ReplyPart::ProviderResult { result, .. } => result.clone(),
        ReplyPart::Block { kind, block, .. } => of_kind(kind, &taken_back(kind, block)),
    }
}

/// The fields that an item has in a request. A reply may have more, with which a request would be refused.
fn taken_back(kind: &str, block: &Object) -> Object {
    let names: &[&str] = match kind {
        "compaction" => &["id", "encrypted_content"],
        "mcp_list_tools" => &["id", "server_label", "tools", "error"],
        "mcp_approval_request" => &["id", "server_label", "name", "arguments"],
        _ => return block.clone(),
    };
    names.iter().filter_map(|name| Some((*name, block.get(name)?.clone()))).collect()
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

fn call_item(call: &Call) -> Value {
    let (kind, key, input) = match &call.input {
        Input::Object(input) => ("function_call", "arguments", Value::from(input.clone()).to_string()),
        Input::Plain(text) => ("custom_tool_call", "input", text.clone()),
    };
    let mut item = Object::new();
    item.insert("type", kind);
    if let Some(id) = call.field("id") {
        item.insert("id", id);
    }
    item.insert("call_id", &*call.id);
    item.insert("name", &*call.name);
    item.insert(key, input);
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
            let metadata = item.optional_text("id")?.map(|id| object([("id", id.into())]));
            conversation.call(Called { id, name, arguments, provider_executed: false, metadata });
        }
        "function_call_output" | "custom_tool_call_output" => {
            let id = item.text("call_id")?;
            let output = match item.value("output")? {
                Value::Array(parts) => {
                    let parts = read_content(parts)?;
                    parts.into_iter().map(Value::from).collect::<Vec<_>>().into()
                }
                text => text,
            };
            conversation.result(id, output, false);
        }
        _ => conversation.block(kind, item.rest()),
    }
    Ok(())
}

fn read_message(mut item: Members, conversation: &mut Conversation) -> Result<(), Misread> {
    let role = item.text("role")?;
    let content = match item.value("content")? {
        Value::Array(parts) => read_content(parts)?,
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
