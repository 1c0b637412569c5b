//! The messages of an Anthropic request.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::json::{Members, Misread, Object, Value};
use crate::wire::object::{object, object_of, of_kind, with};
use crate::wire::request::{
    Alphabet, Answer, Around, Call, Called, Content, Conversation, Form, Message, Output, ProviderCallId,
    RepairKind, Repairs, ReplyPart, Thinking, UserPart, Wait, put_calls_last, refuse_unless,
};

pub(crate) static FORM: Form = Form {
    ids: Alphabet::of_words(64),
    names: Alphabet::of_words(128),
    has_plain_input: false,
    continues_paused: true,
    thinking_leads: true,
    text_fields: &[CITATIONS],
    fit,
    write,
    read,
};

/// The sources of a text. Those of a web search must be sent back.
const CITATIONS: &str = "citations";

/// Fields of a call that must be sent back: what made it, and the set of tools that it is in.
const OF_CALL: [&str; 2] = [CALLER, "toolset_name"];

/// What made a call, if the model did not make it directly.
const CALLER: &str = "caller";

/// Blocks that are written from neutral parts, and so are never passed through.
const WRITTEN: [&str; 5] = ["thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use"];

/// The suffix of the types of result blocks.
const RESULT: &str = "tool_result";

/// A call that the provider ran must be followed by one result; without one it is accepted only if the provider
/// may still run it: after a pause, or if it made calls of the client and gets nothing but their results. Of two
/// calls with the same id, only the first is accepted.
fn fit(parts: &mut Vec<ReplyPart>, around: &mut Around<'_>, repairs: &mut Repairs) {
    let callers: BTreeSet<_> = parts.iter().filter_map(client_caller).collect();
    let results = parts.iter().enumerate().filter_map(|(at, part)| Some((result_id(part)?, at)));
    let last_results: BTreeMap<_, _> = results.collect();
    let (mut called, mut waiting) = (BTreeSet::new(), around.pending.clone());
    let mut at = 0..;
    refuse_unless(parts, repairs, |part| {
        let at = at.next();
        match part {
            ReplyPart::Thinking { thinking, .. } => thinking.is_signed(),
            ReplyPart::ProviderCall { call, wait, .. } => {
                let is_answered = last_results.get(&call.id).copied() > at;
                let may_wait = match wait {
                    Wait::No => false,
                    Wait::ForReply => true,
                    Wait::ForResults => callers.contains(&call.id),
                };
                let is_taken = (may_wait || is_answered) && called.insert(call.id.clone());
                if is_taken {
                    waiting.insert(call.id.clone());
                }
                is_taken
            }
            ReplyPart::ProviderResult { call, .. } => waiting.remove(&call.id),
            ReplyPart::Block { kind, .. } if kind.ends_with(RESULT) => {
                result_id(part).is_some_and(|id| waiting.remove(&id))
            }
            ReplyPart::Block { kind, .. } => !WRITTEN.contains(&&**kind),
            ReplyPart::Text { text, .. } => !text.trim().is_empty(),
            ReplyPart::Call { .. } => true,
        }
    });
    // A call of an earlier reply makes no more calls once its result is there.
    called.extend(around.pending.intersection(&waiting).cloned());
    for part in parts.iter_mut() {
        // What made a call of the client gets its result and nothing else.
        let gets_more = matches!(part, ReplyPart::Call { .. }) && !around.only_results;
        if let ReplyPart::Call { seq, call } | ReplyPart::ProviderCall { seq, call, .. } = part
            && caller(call).is_some_and(|id| gets_more || !called.contains(&id))
        {
            call.fields.remove(CALLER);
            let message = format!("the call `{}` is sent without the call that made it", call.id);
            repairs.push(RepairKind::CallerLeftOut, *seq, message);
        }
    }
    put_calls_last(parts, repairs);
}

/// The id of the provider's call that made this one.
fn caller(call: &Call) -> Option<String> {
    call.fields.get(CALLER)?.get("tool_id")?.as_str().map(Cow::into_owned)
}

fn client_caller(part: &ReplyPart) -> Option<String> {
    match part {
        ReplyPart::Call { call, .. } => caller(call),
        _ => None,
    }
}

/// The id of the provider's call that a part is the result of.
fn result_id(part: &ReplyPart) -> Option<String> {
    match part {
        ReplyPart::ProviderResult { call, .. } => Some(call.id.clone()),
        ReplyPart::Block { kind, block, .. } if kind.ends_with(RESULT) => {
            block.get("tool_use_id")?.as_str().map(Cow::into_owned)
        }
        _ => None,
    }
}

fn write(messages: &[Message]) -> Vec<Value> {
    let written = messages.iter().map(|message| {
        let (role, content): (_, Vec<_>) = match message {
            Message::User { results, content } => {
                ("user", results.iter().map(tool_result).chain(content.iter().map(user_block)).collect())
            }
            Message::Model { parts } => ("assistant", parts.iter().map(block).collect()),
        };
        object([("role", role.into()), ("content", content.into())])
    });
    written.collect()
}

fn tool_result(answer: &Answer) -> Value {
    let content: Value = match &answer.output {
        Output::Value(_) => answer.output.text().into(),
        Output::Parts(parts) => {
            let is_filled = |part: &&UserPart| match part {
                UserPart::Text(text) => !text.trim().is_empty(),
                UserPart::Image { .. } => true,
            };
            parts.iter().filter(is_filled).map(user_block).collect::<Vec<_>>().into()
        }
    };
    // A result may have no content, but its content may not be blank.
    let is_blank = match &content {
        Value::Array(blocks) => blocks.is_empty(),
        other => other.as_str().is_some_and(|text| text.trim().is_empty()),
    };
    object_of([
        ("type", Some("tool_result".into())),
        ("tool_use_id", Some((&*answer.id).into())),
        ("content", Some(content).filter(|_| !is_blank)),
        ("is_error", answer.is_error.then(|| true.into())),
    ])
}

fn user_block(part: &UserPart) -> Value {
    match part {
        UserPart::Text(text) => object([("type", "text".into()), ("text", (&**text).into())]),
        UserPart::Image { media_type, data } => {
            let source = object([
                ("type", "base64".into()),
                ("media_type", (&**media_type).into()),
                ("data", (&**data).into()),
            ]);
            object([("type", "image".into()), ("source", source)])
        }
    }
}

fn block(part: &ReplyPart) -> Value {
    match part {
        ReplyPart::Text { text, fields, .. } => {
            let block = object([("type", "text".into()), ("text", (&**text).into())]);
            with(block, CITATIONS, fields.get(CITATIONS).cloned())
        }
        ReplyPart::Thinking { thinking, .. } => match (&thinking.signature, &thinking.redacted) {
            (None, Some(data)) => object([("type", "redacted_thinking".into()), ("data", (&**data).into())]),
            (signature, _) => object([
                ("type", "thinking".into()),
                ("thinking", (&*thinking.text).into()),
                ("signature", signature.as_deref().unwrap_or_default().into()),
            ]),
        },
        ReplyPart::Call { call, .. } => call_block("tool_use", call),
        ReplyPart::ProviderCall { call, .. } => {
            let server = call.field("server_name");
            let kind = if server.is_some() { "mcp_tool_use" } else { "server_tool_use" };
            with(call_block(kind, call), "server_name", server.map(Value::from))
        }
        ReplyPart::ProviderResult { call, result, .. } => {
            let mut fields = Object::new();
            fields.insert("tool_use_id", &*call.id);
            match result {
                Value::Object(result) => {
                    for (key, value) in result.iter().filter(|(key, _)| *key != "tool_use_id") {
                        fields.insert(key, value.clone());
                    }
                }
                other => {
                    fields.insert("content", other.clone());
                }
            }
            of_kind(&result_kind(call), &fields)
        }
        ReplyPart::Block { kind, block, .. } => of_kind(kind, block),
    }
}

/// The type of the result block of a call that the provider ran.
fn result_kind(call: &ProviderCallId) -> String {
    if call.fields.get("server_name").is_some_and(|name| name.as_text().is_some()) {
        "mcp_tool_result".to_owned()
    } else if call.name.starts_with("tool_search_tool") {
        "tool_search_tool_result".to_owned()
    } else {
        format!("{}_tool_result", call.name)
    }
}

fn call_block(kind: &str, call: &Call) -> Value {
    let block = object([
        ("type", kind.into()),
        ("id", (&*call.id).into()),
        ("name", (&*call.name).into()),
        ("input", call.input.value()),
    ]);
    OF_CALL.into_iter().fold(block, |block, name| with(block, name, call.fields.get(name).cloned()))
}

fn read(message: Value, conversation: &mut Conversation) -> Result<(), Misread> {
    let mut message = Members::new("a message", message)?;
    let is_user = message.word("role", "`user`, `assistant`", |role| match role {
        "user" => Some(true),
        "assistant" => Some(false),
        _ => None,
    })?;
    let blocks = match message.value("content")? {
        Value::Array(blocks) => blocks.into(),
        text => vec![object([("type", "text".into()), ("text", text)])],
    };
    if !is_user {
        return blocks.into_iter().try_for_each(|block| read_block(block, conversation));
    }
    let mut content = Vec::new();
    for block in blocks {
        let mut block = Members::new("a block", block)?;
        let kind = block.text("type")?;
        match &*kind {
            "tool_result" => {
                let id = block.text("tool_use_id")?;
                let result = match block.optional("content") {
                    None | Some(Value::Null) => "".into(),
                    Some(Value::Array(blocks)) => read_parts(blocks.into())?,
                    Some(text) => text,
                };
                conversation.result(id, result, block.optional_flag("is_error")?.unwrap_or_default());
            }
            _ => content.push(read_user_block(&kind, block)?),
        }
    }
    conversation.user(content);
    Ok(())
}

/// The texts and images of a result, in our own form.
fn read_parts(blocks: Vec<Value>) -> Result<Value, Misread> {
    let parts = blocks.into_iter().map(|block| {
        let mut block = Members::new("a block", block)?;
        let kind = block.text("type")?;
        read_user_block(&kind, block).map(Value::from)
    });
    parts.collect::<Result<Vec<_>, _>>().map(Value::from)
}

fn read_user_block(kind: &str, mut block: Members) -> Result<Content, Misread> {
    match kind {
        "text" => Ok(Content::Text { text: block.text("text")? }),
        "image" => {
            let mut source = block.members("source")?;
            match &*source.text("type")? {
                "base64" => {
                    Ok(Content::Image { media_type: source.text("media_type")?, data: source.text("data")? })
                }
                other => Ok(Content::Other(source.rest_of_kind(format!("image-{other}")))),
            }
        }
        _ => Ok(Content::Other(block.rest_of_kind(kind.to_owned()))),
    }
}

fn read_block(block: Value, conversation: &mut Conversation) -> Result<(), Misread> {
    let mut block = Members::new("a block", block)?;
    let kind = block.text("type")?;
    match &*kind {
        "text" => {
            conversation.text(block.text("text")?);
            if let Some(citations @ Value::Array(_)) = block.optional(CITATIONS) {
                conversation.text_fields([(CITATIONS, citations)].into_iter().collect());
            }
        }
        "thinking" => {
            let (text, signature) = (block.text("thinking")?, block.optional_text("signature")?);
            conversation.thinking(Thinking { text, signature, ..Thinking::default() });
        }
        "redacted_thinking" => {
            let redacted = Some(block.text("data")?);
            conversation.thinking(Thinking { redacted, ..Thinking::default() });
        }
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            let (id, name, arguments) = (block.text("id")?, block.text("name")?, block.value("input")?);
            let mut fields = Object::new();
            for name in ["server_name"].into_iter().chain(OF_CALL) {
                if let Some(value) = block.optional(name).filter(|value| !value.is_null()) {
                    fields.insert(name, value);
                }
            }
            let metadata = (!fields.is_empty()).then(|| fields.into());
            let provider_executed = kind != "tool_use";
            conversation.call(Called { id, name, arguments, provider_executed, metadata });
        }
        _ => {
            let mut fields = block.rest();
            let id = fields.get("tool_use_id").and_then(Value::as_str).map(Cow::into_owned);
            let call = id.as_ref().and_then(|id| conversation.provider_call(id));
            match id.filter(|_| call.is_some_and(|call| result_kind(call) == kind)) {
                Some(id) => {
                    fields.remove("tool_use_id");
                    conversation.provider_result(id, fields.into());
                }
                None => conversation.block(kind, fields),
            }
        }
    }
    Ok(())
}
