//! The messages of a `Converse` request.

use crate::json::{Members, Misread, Value};
use crate::wire::object::object;
use crate::wire::request::{
    Alphabet, Answer, Around, Call, Called, Content, Conversation, Form, Message, Output, Repairs, ReplyPart,
    Thinking, UserPart, put_calls_last, refuse_all_but_words,
};

pub(crate) static FORM: Form = Form {
    ids: Alphabet::of_words(64),
    names: Alphabet::of_words(64),
    has_plain_input: false,
    continues_paused: false,
    thinking_leads: true,
    text_fields: &[],
    fit,
    write,
    read,
};

/// Thinking goes back only with what its model signed it with; models that do not sign it refuse to get it back.
fn fit(parts: &mut Vec<ReplyPart>, _around: &mut Around<'_>, repairs: &mut Repairs) {
    refuse_all_but_words(parts, repairs, Thinking::is_signed);
    put_calls_last(parts, repairs);
}

fn write(messages: &[Message]) -> Vec<Value> {
    let written = messages.iter().map(|message| {
        let (role, content): (_, Vec<_>) = match message {
            Message::User { results, content } => {
                ("user", results.iter().map(tool_result).chain(content.iter().map(user_block)).collect())
            }
            Message::Model { parts } => ("assistant", parts.iter().filter_map(block).collect()),
        };
        object([("role", role.into()), ("content", content.into())])
    });
    written.collect()
}

fn tool_result(answer: &Answer) -> Value {
    let parts = match &answer.output {
        Output::Value(_) => vec![UserPart::Text(answer.output.text())],
        Output::Parts(parts) => parts.clone(),
    };
    // The content of a result may be empty, but its texts may not be blank.
    let is_filled = |part: &&UserPart| !matches!(part, UserPart::Text(text) if text.trim().is_empty());
    let content: Vec<_> = parts.iter().filter(is_filled).map(user_block).collect();
    let status = if answer.is_error { "error" } else { "success" };
    let result =
        object([("toolUseId", (&*answer.id).into()), ("content", content.into()), ("status", status.into())]);
    object([("toolResult", result)])
}

fn user_block(part: &UserPart) -> Value {
    match part {
        UserPart::Text(text) => object([("text", (&**text).into())]),
        UserPart::Image { media_type, data } => {
            let format = match media_type.strip_prefix("image/").unwrap_or(media_type) {
                "jpg" => "jpeg",
                format => format,
            };
            let source = object([("bytes", (&**data).into())]);
            object([("image", object([("format", format.into()), ("source", source)]))])
        }
    }
}

fn block(part: &ReplyPart) -> Option<Value> {
    Some(match part {
        ReplyPart::Text { text, .. } => object([("text", (&**text).into())]),
        ReplyPart::Thinking { thinking, .. } => {
            let content = match (&thinking.signature, &thinking.redacted) {
                (None, Some(data)) => object([("redactedContent", (&**data).into())]),
                (signature, _) => {
                    let signature = signature.as_deref().unwrap_or_default();
                    let text = object([("text", (&*thinking.text).into()), ("signature", signature.into())]);
                    object([("reasoningText", text)])
                }
            };
            object([("reasoningContent", content)])
        }
        ReplyPart::Call { call, .. } => tool_use(call),
        ReplyPart::ProviderCall { .. } | ReplyPart::ProviderResult { .. } | ReplyPart::Block { .. } => {
            return None;
        }
    })
}

fn tool_use(call: &Call) -> Value {
    let call = object([
        ("toolUseId", (&*call.id).into()),
        ("name", (&*call.name).into()),
        ("input", call.input.value()),
    ]);
    object([("toolUse", call)])
}

fn read(message: Value, conversation: &mut Conversation) -> Result<(), Misread> {
    let mut message = Members::new("a message", message)?;
    let is_user = message.word("role", "`user`, `assistant`", |role| match role {
        "user" => Some(true),
        "assistant" => Some(false),
        _ => None,
    })?;
    let blocks = message.list("content")?;
    if !is_user {
        return blocks.into_iter().try_for_each(|block| read_block(block, conversation));
    }
    let mut content = Vec::new();
    for block in blocks {
        let mut block = Members::new("a block", block)?;
        if !block.has("toolResult") {
            content.push(read_user_block(block)?);
            continue;
        }
        let mut result = block.members("toolResult")?;
        let id = result.text("toolUseId")?;
        let is_error = result.optional_text("status")?.as_deref() == Some("error");
        let parts = read_parts(result.list("content")?)?;
        conversation.result(id, parts, is_error);
    }
    conversation.user(content);
    Ok(())
}

/// The content of a result: a text, a value, or a list of texts and images in our own form.
fn read_parts(blocks: Vec<Value>) -> Result<Value, Misread> {
    let Ok([single]) = <[Value; 1]>::try_from(blocks.clone()) else {
        if blocks.is_empty() {
            return Ok("".into());
        }
        let parts = blocks
            .into_iter()
            .map(|block| Members::new("a block", block).and_then(read_user_block).map(Value::from));
        return parts.collect::<Result<Vec<_>, _>>().map(Value::from);
    };
    let mut single = Members::new("a block", single)?;
    if let Some(value) = single.optional("text").or_else(|| single.optional("json")) {
        return Ok(value);
    }
    read_user_block(single).map(|part| vec![Value::from(part)].into())
}

fn read_user_block(mut block: Members) -> Result<Content, Misread> {
    if block.has("text") {
        return Ok(Content::Text { text: block.text("text")? });
    }
    if block.has("image") {
        let mut image = block.members("image")?;
        let (format, mut source) = (image.text("format")?, image.members("source")?);
        return Ok(match source.optional_text("bytes")? {
            Some(data) => Content::Image { media_type: format!("image/{format}"), data },
            None => Content::Other(source.rest_of_kind("image".to_owned())),
        });
    }
    let fields = block.rest();
    let kind = fields.keys().next().unwrap_or("unknown").to_owned();
    let mut content = fields.into_iter().collect::<crate::json::Object>();
    content.insert("type", kind);
    Ok(Content::Other(content))
}

fn read_block(block: Value, conversation: &mut Conversation) -> Result<(), Misread> {
    let mut block = Members::new("a block", block)?;
    if block.has("text") {
        conversation.text(block.text("text")?);
    } else if block.has("reasoningContent") {
        let mut content = block.members("reasoningContent")?;
        let redacted = content.optional_text("redactedContent")?;
        let thinking = if redacted.is_some() {
            Thinking { redacted, ..Thinking::default() }
        } else {
            let mut text = content.members("reasoningText")?;
            let signature = text.optional_text("signature")?;
            Thinking { text: text.text("text")?, signature, ..Thinking::default() }
        };
        conversation.thinking(thinking);
    } else if block.has("toolUse") {
        let mut call = block.members("toolUse")?;
        let (id, name, arguments) = (call.text("toolUseId")?, call.text("name")?, call.value("input")?);
        conversation.call(Called { id, name, arguments, provider_executed: false, metadata: None });
    } else {
        let fields = block.rest();
        let kind = fields.keys().next().unwrap_or("unknown").to_owned();
        conversation.block(kind, fields);
    }
    Ok(())
}
