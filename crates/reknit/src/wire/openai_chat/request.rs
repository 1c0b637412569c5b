//! The messages of a Chat Completions request.

use crate::json::{Members, Misread, Value};
use crate::wire::object::{filled, object, object_of, paragraphs, with};
use crate::wire::request::{
    Alphabet, Around, Called, Content, Conversation, Form, Message, Repairs, ReplyPart, Thinking, UserPart,
    chat, refuse_all_but_words,
};

pub(crate) static FORM: Form = Form {
    ids: Alphabet::of_graphics(40),
    names: Alphabet::of_words(64),
    has_plain_input: true,
    continues_paused: false,
    thinking_leads: false,
    text_fields: &[],
    fit,
    write,
    read,
};

/// The fields of one of `reasoning_details` other than its content and its index.
const DETAIL: [&str; 2] = ["format", "id"];

/// Contains the signature that Google wants back with a call.
const EXTRA_CONTENT: &str = "extra_content";

/// Plain thinking is sent back only with calls: some servers refuse a call without its thinking, others refuse
/// any thinking in an answer.
fn fit(parts: &mut Vec<ReplyPart>, _around: &mut Around<'_>, repairs: &mut Repairs) {
    let has_calls = parts.iter().any(|part| matches!(part, ReplyPart::Call { .. }));
    refuse_all_but_words(parts, repairs, |thinking| {
        has_calls || !is_plain(thinking) || thinking.redacted.is_some()
    });
}

/// Whether thinking came as plain text, and not as one of `reasoning_details`, which must be sent back.
fn is_plain(thinking: &Thinking) -> bool {
    thinking.signature.is_none() && DETAIL.iter().all(|name| thinking.fields.get(name).is_none())
}

fn write(messages: &[Message]) -> Vec<Value> {
    chat::write(messages, chat::tool_message, user, assistant)
}

/// Joins the parts if all are texts: not every server accepts a list.
fn user(content: &[&UserPart]) -> Value {
    let texts = content.iter().map(|part| match *part {
        UserPart::Text(text) => Some(&**text),
        UserPart::Image { .. } => None,
    });
    let content: Value = match texts.collect::<Option<Vec<_>>>() {
        Some(texts) => texts.join("\n\n").into(),
        None => content.iter().map(|part| chat::user_part(part)).collect::<Vec<_>>().into(),
    };
    object([("role", "user".into()), ("content", content)])
}

fn assistant(parts: &[ReplyPart]) -> Value {
    let (mut texts, mut thoughts, mut details, mut calls) =
        (Vec::new(), String::new(), Vec::new(), Vec::new());
    for part in parts {
        match part {
            ReplyPart::Text { text, .. } => texts.push(&**text),
            ReplyPart::Thinking { thinking, .. } => {
                if is_plain(thinking) {
                    thoughts.push_str(&thinking.text);
                }
                add_details(thinking, &mut details);
            }
            ReplyPart::Call { call, .. } => {
                let content = call.fields.get(EXTRA_CONTENT).cloned();
                calls.push(with(chat::tool_call(call), EXTRA_CONTENT, content));
            }
            ReplyPart::ProviderCall { .. } | ReplyPart::ProviderResult { .. } | ReplyPart::Block { .. } => {}
        }
    }
    let has_thoughts = !thoughts.is_empty() && !calls.is_empty();
    object_of([
        ("role", Some("assistant".into())),
        ("content", paragraphs(&texts).or(Some(Value::Null))),
        ("reasoning_content", has_thoughts.then(|| thoughts.into())),
        ("reasoning_details", filled(details)),
        ("tool_calls", filled(calls)),
    ])
}

fn add_details(thinking: &Thinking, details: &mut Vec<Value>) {
    let mut add = |kind: &str, key: &str, text: &str, signature: Option<&str>| {
        let [format, id] = DETAIL.map(|name| (name, thinking.fields.get(name).cloned()));
        details.push(object_of([
            ("type", Some(kind.into())),
            (key, Some(text.into())),
            ("signature", signature.map(Value::from)),
            format,
            id,
            ("index", Some(details.len().into())),
        ]));
    };
    // If the upstream server only has summaries, the format says so.
    let is_summary = thinking.field("format").is_some_and(|format| format.contains("responses"));
    let (kind, key) = if is_summary { ("reasoning.summary", "summary") } else { ("reasoning.text", "text") };
    let has_text = !thinking.text.is_empty() || thinking.signature.is_some() || thinking.redacted.is_none();
    if has_text && !is_plain(thinking) {
        add(kind, key, &thinking.text, thinking.signature.as_deref());
    }
    if let Some(data) = &thinking.redacted {
        add("reasoning.encrypted", "data", data, None);
    }
}

fn read(message: Value, conversation: &mut Conversation) -> Result<(), Misread> {
    let mut message = Members::new("a message", message)?;
    let role = message.text("role")?;
    match &*role {
        "user" => conversation.user(chat::read_content(message.optional("content"))?),
        "assistant" => read_assistant(message, conversation)?,
        "tool" => {
            let id = message.text("tool_call_id")?;
            let result = match message.optional("content") {
                Some(Value::Array(parts)) => {
                    let parts = chat::read_content(Some(parts.into()))?;
                    parts.into_iter().map(Value::from).collect::<Vec<_>>().into()
                }
                other => other.unwrap_or_else(|| "".into()),
            };
            conversation.result(id, result, false);
        }
        "system" | "developer" => {}
        _ => return Err(message.unknown_word("role", ROLES, role)),
    }
    Ok(())
}

const ROLES: &str = "`user`, `assistant`, `tool`, `system`, `developer`";

fn read_assistant(mut message: Members, conversation: &mut Conversation) -> Result<(), Misread> {
    let thoughts = message.optional_text("reasoning_content")?;
    if let Some(text) = thoughts.filter(|text| !text.is_empty()) {
        conversation.thinking(Thinking { text, ..Thinking::default() });
    }
    for detail in message.optional_list("reasoning_details")? {
        let mut detail = Members::new("one of `reasoning_details`", detail)?;
        let [text, summary, signature, redacted] =
            ["text", "summary", "signature", "data"].map(|member| detail.optional_text(member));
        let text = text?.or(summary?).unwrap_or_default();
        let (signature, redacted) = (signature?, redacted?);
        let fields = DETAIL.into_iter().filter_map(|name| Some((name, detail.optional(name)?))).collect();
        conversation.thinking(Thinking { text, signature, redacted, fields });
    }
    for content in chat::read_content(message.optional("content"))? {
        if let Content::Text { text } = content {
            conversation.text(text);
        }
    }
    for call in message.optional_list("tool_calls")? {
        let mut call = Members::new("one of `tool_calls`", call)?;
        let id = call.text("id")?;
        let (name, arguments) = if call.optional_text("type")?.as_deref() == Some("custom") {
            let mut custom = call.members("custom")?;
            (custom.text("name")?, custom.text("input")?.into())
        } else {
            chat::read_function(&mut call)?
        };
        let metadata = call.optional(EXTRA_CONTENT).map(|content| object([(EXTRA_CONTENT, content)]));
        conversation.call(Called { id, name, arguments, provider_executed: false, metadata });
    }
    Ok(())
}
