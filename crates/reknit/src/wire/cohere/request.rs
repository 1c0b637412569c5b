//! The messages of a request to Cohere's Chat.

use crate::json::{Members, Misread, Value};
use crate::wire::object::{filled, object, object_of, paragraphs};
use crate::wire::request::{
    Alphabet, Around, Called, Conversation, Form, Message, Repairs, ReplyPart, Thinking, UserPart, chat,
    refuse_all_but_words,
};

pub(crate) static FORM: Form = Form {
    // Its own ids contain the name of the tool.
    ids: Alphabet::of_graphics(128),
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
    chat::write(messages, chat::tool_message, user, assistant)
}

fn user(content: &[&UserPart]) -> Value {
    let content: Vec<_> = content.iter().map(|part| chat::user_part(part)).collect();
    object([("role", "user".into()), ("content", content.into())])
}

/// Next to calls a text is refused, and is sent as the plan for them.
fn assistant(parts: &[ReplyPart]) -> Value {
    let has_calls = parts.iter().any(|part| matches!(part, ReplyPart::Call { .. }));
    let (mut content, mut plan, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        match part {
            ReplyPart::Text { text, .. } if has_calls => plan.push(&**text),
            ReplyPart::Text { text, .. } => {
                content.push(object([("type", "text".into()), ("text", (&**text).into())]));
            }
            ReplyPart::Thinking { thinking, .. } => {
                let text = (&*thinking.text).into();
                content.push(object([("type", "thinking".into()), ("thinking", text)]));
            }
            ReplyPart::Call { call, .. } => calls.push(chat::tool_call(call)),
            ReplyPart::ProviderCall { .. } | ReplyPart::ProviderResult { .. } | ReplyPart::Block { .. } => {}
        }
    }
    object_of([
        ("role", Some("assistant".into())),
        ("tool_plan", paragraphs(&plan)),
        ("content", filled(content)),
        ("tool_calls", filled(calls)),
    ])
}

fn read(message: Value, conversation: &mut Conversation) -> Result<(), Misread> {
    let mut message = Members::new("a message", message)?;
    let role = message.text("role")?;
    match &*role {
        "user" => conversation.user(chat::read_content(message.optional("content"))?),
        "assistant" => read_assistant(message, conversation)?,
        "tool" => {
            let id = message.text("tool_call_id")?;
            conversation.result(id, message.optional("content").unwrap_or_else(|| "".into()), false);
        }
        "system" => {}
        _ => return Err(message.unknown_word("role", "`user`, `assistant`, `tool`, `system`", role)),
    }
    Ok(())
}

fn read_assistant(mut message: Members, conversation: &mut Conversation) -> Result<(), Misread> {
    for mut part in chat::parts(message.optional("content"))? {
        let kind = part.text("type")?;
        match &*kind {
            "text" => conversation.text(part.text("text")?),
            "thinking" => {
                let text = part.text("thinking")?;
                conversation.thinking(Thinking { text, ..Thinking::default() });
            }
            _ => conversation.block(kind, part.rest()),
        }
    }
    if let Some(plan) = message.optional_text("tool_plan")? {
        conversation.text(plan);
    }
    for call in message.optional_list("tool_calls")? {
        let mut call = Members::new("one of `tool_calls`", call)?;
        let id = call.text("id")?;
        let (name, arguments) = chat::read_function(&mut call)?;
        conversation.call(Called { id, name, arguments, provider_executed: false, metadata: None });
    }
    Ok(())
}
