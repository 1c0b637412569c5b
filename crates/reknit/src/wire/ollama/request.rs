//! The messages of a request to Ollama's own API.

use crate::json::{Members, Misread, Value};
use crate::wire::object::{filled, object, object_of, paragraphs};
use crate::wire::request::{
    Alphabet, Answer, Around, Call, Called, Content, Conversation, Form, Message, Repairs, ReplyPart,
    Thinking, UserPart, chat, refuse_all_but_words,
};

pub(crate) static FORM: Form = Form {
    ids: Alphabet::of_graphics(64),
    names: Alphabet::of_words(64),
    has_plain_input: false,
    continues_paused: false,
    thinking_leads: true,
    text_fields: &[],
    fit,
    write,
    read,
};

fn fit(parts: &mut Vec<ReplyPart>, _around: &mut Around<'_>, repairs: &mut Repairs) {
    refuse_all_but_words(parts, repairs, |thinking| !thinking.text.trim().is_empty());
}

fn write(messages: &[Message]) -> Vec<Value> {
    chat::write(messages, tool_message, user, assistant)
}

/// Templates find the call of a result by the name of its tool, newer ones by its id.
fn tool_message(answer: &Answer) -> Value {
    object([
        ("role", "tool".into()),
        ("tool_name", (&*answer.name).into()),
        ("tool_call_id", (&*answer.id).into()),
        ("content", answer.output.text().into()),
    ])
}

/// A message has one text, and images beside it.
fn user(content: &[&UserPart]) -> Value {
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    for part in content {
        match part {
            UserPart::Text(text) => texts.push(&**text),
            UserPart::Image { data, .. } => images.push(Value::from(&**data)),
        }
    }
    object_of([
        ("role", Some("user".into())),
        ("content", paragraphs(&texts).or(Some("".into()))),
        ("images", filled(images)),
    ])
}

fn assistant(parts: &[ReplyPart]) -> Value {
    let (mut texts, mut thoughts, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        match part {
            ReplyPart::Text { text, .. } => texts.push(&**text),
            ReplyPart::Thinking { thinking, .. } => thoughts.push(&*thinking.text),
            ReplyPart::Call { call, .. } => calls.push(tool_call(call)),
            ReplyPart::ProviderCall { .. } | ReplyPart::ProviderResult { .. } | ReplyPart::Block { .. } => {}
        }
    }
    object_of([
        ("role", Some("assistant".into())),
        ("content", paragraphs(&texts).or(Some("".into()))),
        ("thinking", paragraphs(&thoughts)),
        ("tool_calls", filled(calls)),
    ])
}

/// Unlike elsewhere, arguments are an object and not the text of one.
fn tool_call(call: &Call) -> Value {
    let function = object([("name", (&*call.name).into()), ("arguments", call.input.value())]);
    object([("id", (&*call.id).into()), ("function", function)])
}

fn read(message: Value, conversation: &mut Conversation) -> Result<(), Misread> {
    let mut message = Members::new("a message", message)?;
    let role = message.text("role")?;
    match &*role {
        "user" => {
            let text = message.optional_text("content")?.filter(|text| !text.is_empty());
            let mut content: Vec<Content> = text.into_iter().map(|text| Content::Text { text }).collect();
            for image in message.optional_list("images")? {
                if let Some(data) = image.as_str() {
                    let media_type = media_type(&data).to_owned();
                    content.push(Content::Image { media_type, data: data.into_owned() });
                }
            }
            conversation.user(content);
        }
        "assistant" => {
            let [thinking, text] = ["thinking", "content"].map(|member| message.optional_text(member));
            if let Some(text) = thinking?.filter(|text| !text.is_empty()) {
                conversation.thinking(Thinking { text, ..Thinking::default() });
            }
            if let Some(text) = text?.filter(|text| !text.is_empty()) {
                conversation.text(text);
            }
            for call in message.optional_list("tool_calls")? {
                let mut call = Members::new("one of `tool_calls`", call)?;
                let mut function = call.members("function")?;
                let name = function.text("name")?;
                let arguments = function.optional("arguments").unwrap_or_default();
                // Older servers give no ids: a result then names its tool.
                let id = call.optional_text("id")?.unwrap_or_else(|| name.clone());
                conversation.call(Called { id, name, arguments, provider_executed: false, metadata: None });
            }
        }
        "tool" => {
            let id = message.optional_text("tool_call_id")?;
            let id = id.map_or_else(|| message.text("tool_name"), Ok)?;
            let result = message.optional("content").unwrap_or_else(|| "".into());
            conversation.result(id, result, false);
        }
        "system" => {}
        _ => return Err(message.unknown_word("role", ROLES, role)),
    }
    Ok(())
}

const ROLES: &str = "`user`, `assistant`, `tool`, `system`";

/// The type of an image by the first bytes of its data in base64: only the data is sent.
fn media_type(data: &str) -> &'static str {
    match data.as_bytes() {
        [b'/', b'9', b'j', ..] => "image/jpeg",
        [b'R', b'0', b'l', b'G', ..] => "image/gif",
        [b'U', b'k', b'l', b'G', ..] => "image/webp",
        _ => "image/png",
    }
}
