//! The contents of a Gemini request.

use crate::json::{Members, Misread, Object, Value};
use crate::wire::gemini::candidate::{ANNOTATIONS, SERVER_CALL, SERVER_RESULT};
use crate::wire::object::{object, with};
use crate::wire::request::{
    Alphabet, Answer, Around, Called, Content, Conversation, Form, Message, Output, RepairKind, Repairs,
    ReplyPart, Thinking, UserPart, refuse_unless,
};

pub(crate) static FORM: Form = Form {
    ids: Alphabet::of_graphics(64),
    names: Alphabet { longest: 64, allows: |c| c.is_ascii_alphanumeric() || "_-.:".contains(c) },
    has_plain_input: false,
    continues_paused: false,
    thinking_leads: true,
    text_fields: &[SIGNATURE],
    fit,
    write,
    read,
};

const SIGNATURE: &str = "thoughtSignature";

/// Google documents this for calls that another model made.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

fn fit(parts: &mut Vec<ReplyPart>, _around: &mut Around<'_>, repairs: &mut Repairs) {
    refuse_unless(parts, repairs, |part| match part {
        ReplyPart::Thinking { thinking, .. } => !thinking.text.is_empty() || thinking.signature.is_some(),
        ReplyPart::ProviderCall { call, .. } => call.name == CODE || is_of_server(&call.fields),
        ReplyPart::ProviderResult { call, result, .. } => {
            (call.name == CODE || is_of_server(&call.fields)) && result.as_object().is_some()
        }
        ReplyPart::Block { kind, block, .. } => {
            let is_written = WRITTEN.iter().any(|key| kind == key || block.get(key).is_some());
            !(is_written || kind.is_empty() || ANNOTATIONS.contains(&&**kind) || block.is_empty())
        }
        ReplyPart::Text { .. } | ReplyPart::Call { .. } => true,
    });
    // Of several calls, only the first has the signature.
    let first = parts.iter_mut().find_map(|part| match part {
        ReplyPart::Call { seq, call } => Some((*seq, call)),
        _ => None,
    });
    if let Some((seq, call)) = first.filter(|(_, call)| !call.is_own) {
        let message = format!("the call `{}` is sent without a signature of its own", call.id);
        repairs.push(RepairKind::CallUnsigned, seq, message);
        call.fields.insert(SIGNATURE, NO_SIGNATURE);
    }
}

/// Parts that are written from neutral ones, and so are never passed through.
const WRITTEN: [&str; 4] = ["text", "functionCall", "functionResponse", "executableCode"];

/// The name of the tool for code that Google runs.
const CODE: &str = "code_execution";
const CODE_RESULT: &str = "codeExecutionResult";

fn write(messages: &[Message]) -> Vec<Value> {
    let written = messages.iter().map(|message| {
        let (role, parts): (_, Vec<_>) = match message {
            Message::User { results, content } => {
                // A result cannot have images here: they follow all results.
                let images = results.iter().flat_map(|answer| answer.output.images());
                let said = images.chain(content).map(user_part);
                ("user", results.iter().map(function_response).chain(said).collect())
            }
            Message::Model { parts } => ("model", parts.iter().map(model_part).collect()),
        };
        object([("role", role.into()), ("parts", parts.into())])
    });
    written.collect()
}

fn function_response(answer: &Answer) -> Value {
    let value = match &answer.output {
        Output::Value(value) => value.clone(),
        Output::Parts(_) => answer.output.text().into(),
    };
    let key = if answer.is_error { "error" } else { "output" };
    let response = object([
        ("id", (&*answer.id).into()),
        ("name", (&*answer.name).into()),
        ("response", object([(key, value)])),
    ]);
    object([("functionResponse", response)])
}

fn user_part(part: &UserPart) -> Value {
    match part {
        UserPart::Text(text) => object([("text", (&**text).into())]),
        UserPart::Image { media_type, data } => {
            let blob = object([("mimeType", (&**media_type).into()), ("data", (&**data).into())]);
            object([("inlineData", blob)])
        }
    }
}

fn model_part(part: &ReplyPart) -> Value {
    match part {
        ReplyPart::Text { text, fields, .. } => {
            signed(object([("text", (&**text).into())]), fields.get(SIGNATURE).cloned())
        }
        ReplyPart::Thinking { thinking, .. } => {
            let part = object([("text", (&*thinking.text).into()), ("thought", true.into())]);
            signed(part, thinking.signature.clone().map(Value::from))
        }
        ReplyPart::Call { call, .. } => {
            let function = object([
                ("id", (&*call.id).into()),
                ("name", (&*call.name).into()),
                ("args", call.input.value()),
            ]);
            signed(object([("functionCall", function)]), call.field(SIGNATURE).map(Value::from))
        }
        ReplyPart::ProviderCall { call, .. } if is_of_server(&call.fields) => {
            let id = ("id", (&*call.id).into());
            let called = object([id, ("toolType", (&*call.name).into()), ("args", call.input.value())]);
            signed(object([(SERVER_CALL, called)]), call.field(SIGNATURE).map(Value::from))
        }
        ReplyPart::ProviderCall { call, .. } => {
            signed(object([("executableCode", call.input.value())]), call.field(SIGNATURE).map(Value::from))
        }
        ReplyPart::ProviderResult { call, result, .. } => {
            // The members that describe the part came among the fields of the result.
            let mut result = result.clone();
            let mut take = |name| result.as_object_mut()?.remove(name);
            let signature = take(SIGNATURE);
            ANNOTATIONS.into_iter().for_each(|name| drop(take(name)));
            if !is_of_server(&call.fields) {
                return signed(object([(CODE_RESULT, result)]), signature);
            }
            if let Some(result) = result.as_object_mut() {
                result.insert("id", &*call.id);
            }
            signed(object([(SERVER_RESULT, result)]), signature)
        }
        // Some kinds of blocks are the whole part, others its content.
        ReplyPart::Block { kind, block, .. } if block.get(kind).is_none() => {
            object([(&**kind, block.clone().into())])
        }
        ReplyPart::Block { block, .. } => block.clone().into(),
    }
}

/// Whether a call with these fields is one of Google's own tools.
fn is_of_server(fields: &Object) -> bool {
    fields.get("type").and_then(Value::as_str).as_deref() == Some(SERVER_CALL)
}

fn signed(part: Value, signature: Option<Value>) -> Value {
    with(part, SIGNATURE, signature)
}

fn read(content: Value, conversation: &mut Conversation) -> Result<(), Misread> {
    let mut content = Members::new("a content", content)?;
    let is_user = match content.optional_text("role")? {
        // A request with a single message may omit the role.
        None => true,
        Some(role) if role == "user" || role == "function" => true,
        Some(role) if role == "model" => false,
        Some(role) => return Err(content.unknown_word("role", "`user`, `model`, `function`", role)),
    };
    let mut said = Vec::new();
    for part in content.list("parts")? {
        let part = Members::new("a part", part)?;
        if is_user {
            read_user_part(part, conversation, &mut said)?;
        } else {
            read_model_part(part, conversation)?;
        }
    }
    conversation.user(said);
    Ok(())
}

fn read_user_part(
    mut part: Members,
    conversation: &mut Conversation,
    said: &mut Vec<Content>,
) -> Result<(), Misread> {
    if let Some(text) = part.optional_text("text")? {
        said.push(Content::Text { text });
    } else if part.has("functionResponse") {
        let mut response = part.members("functionResponse")?;
        let name = response.text("name")?;
        let id = response.optional_text("id")?.or_else(|| conversation.oldest_call_of(&name)).unwrap_or(name);
        let mut response = response.object("response")?;
        let is_error = response.get("error").is_some();
        let only = (response.len() == 1).then(|| response.remove(if is_error { "error" } else { "output" }));
        conversation.result(id, only.flatten().unwrap_or_else(|| response.into()), is_error);
    } else if part.has("inlineData") {
        let mut blob = part.members("inlineData")?;
        said.push(Content::Image { media_type: blob.text("mimeType")?, data: blob.text("data")? });
    } else {
        said.push(Content::Other(part.rest_of_kind("part".to_owned())));
    }
    Ok(())
}

fn read_model_part(mut part: Members, conversation: &mut Conversation) -> Result<(), Misread> {
    if part.has("functionCall") {
        let mut function = part.members("functionCall")?;
        let id = function.optional_text("id")?.unwrap_or_else(|| conversation.invented_id());
        let (name, arguments) = (function.text("name")?, function.optional("args").unwrap_or_default());
        let metadata = read_signature(&mut part)?;
        conversation.call(Called { id, name, arguments, provider_executed: false, metadata });
    } else if part.has(SERVER_CALL) {
        let mut called = part.members(SERVER_CALL)?;
        let id = called.optional_text("id")?.unwrap_or_else(|| conversation.invented_provider_id());
        let (name, arguments) = (called.text("toolType")?, called.optional("args").unwrap_or_default());
        let mut fields = Object::new();
        fields.insert("type", SERVER_CALL);
        if let Some(signature) = part.optional_text(SIGNATURE)? {
            fields.insert(SIGNATURE, signature);
        }
        let metadata = Some(fields.into());
        conversation.call(Called { id, name, arguments, provider_executed: true, metadata });
    } else if part.has(SERVER_RESULT) {
        let mut result = part.members(SERVER_RESULT)?;
        let id = result.optional_text("id")?.filter(|id| conversation.provider_call(id).is_some());
        match id.or_else(|| conversation.newest_provider_call()) {
            Some(id) => {
                let result = signed(result.rest().into(), part.optional(SIGNATURE));
                conversation.provider_result(id, result);
            }
            None => conversation.block(SERVER_RESULT.to_owned(), result.rest()),
        }
    } else if part.has("executableCode") {
        let (id, arguments) = (conversation.invented_provider_id(), part.value("executableCode")?);
        let (name, metadata) = (CODE.to_owned(), read_signature(&mut part)?);
        conversation.call(Called { id, name, arguments, provider_executed: true, metadata });
    } else if let (true, Some(id)) = (part.has(CODE_RESULT), conversation.newest_provider_call()) {
        let result = part.value(CODE_RESULT)?;
        conversation.provider_result(id, signed(result, part.optional(SIGNATURE)));
    } else if let Some(text) = part.optional_text("text")? {
        let signature = part.optional_text(SIGNATURE)?;
        if part.optional_flag("thought")?.unwrap_or_default() {
            conversation.thinking(Thinking { text, signature, ..Thinking::default() });
        } else {
            conversation.text(text);
            if let Some(signature) = signature {
                conversation.text_fields([(SIGNATURE, signature)].into_iter().collect());
            }
        }
    } else {
        let block = part.rest();
        let kind = block.keys().find(|key| !ANNOTATIONS.contains(key));
        conversation.block(kind.unwrap_or_default().to_owned(), block);
    }
    Ok(())
}

/// The metadata of a call: its signature, if it has one.
fn read_signature(part: &mut Members) -> Result<Option<Value>, Misread> {
    let signature = part.optional_text(SIGNATURE)?;
    Ok(signature.map(|signature| object([(SIGNATURE, signature.into())])))
}
