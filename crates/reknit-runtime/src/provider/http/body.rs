//! The body of a request, in each dialect.

use reknit::Dialect;
use reknit::json::{Object, Value};

use super::described;
use crate::provider::Request;
use crate::provider::models::Model;
use crate::tool::Definition;

/// How many tokens a reply may have, where a provider wants to know it: what its models of the last years can do.
const MAX_OUTPUT: u64 = 16_384;

pub(super) fn of(model: &Model, request: &Request) -> Value {
    let system = match model.tags.filter(|grammar| described::is_for(grammar)) {
        Some(_) => described::with_tools(&request.system, &request.tools),
        None => request.system.clone(),
    };
    // A model whose own template describes the tools to it gets them, even if its server leaves the calls in its text.
    let tools: &[Definition] = match model.tags {
        Some(grammar) if described::is_for(grammar) => &[],
        _ => &request.tools,
    };
    let mut body = match model.dialect {
        Dialect::OpenAiChat => chat(model, &system, &request.messages, tools),
        Dialect::OpenAiResponses => responses(model, system, &request.messages, tools),
        Dialect::Gemini => gemini(model, system, &request.messages, tools),
        Dialect::Ollama => ollama(model, &system, &request.messages, tools),
        _ => anthropic(model, system, &request.messages, tools),
    };
    merge(&mut body, &model.body);
    body.into()
}

/// Adds members, and those of objects in them. A new value replaces an old one.
fn merge(body: &mut Object, more: &Object) {
    for (name, value) in more.iter() {
        match (body.get_mut(name), value) {
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
            (_, value) => drop(body.insert(name, value.clone())),
        }
    }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Object {
    members.into_iter().collect()
}

fn list(values: impl Iterator<Item = Object>) -> Value {
    values.map(Value::from).collect::<Vec<_>>().into()
}

fn anthropic(model: &Model, system: String, messages: &[Value], tools: &[Definition]) -> Object {
    let mut body = object([
        ("model", (&*model.id).into()),
        ("max_tokens", model.max_output.unwrap_or(MAX_OUTPUT).into()),
        ("stream", true.into()),
    ]);
    if !tools.is_empty() {
        body.insert(
            "tools",
            list(tools.iter().map(|tool| {
                object([
                    ("name", (&*tool.name).into()),
                    ("description", (&*tool.about).into()),
                    ("input_schema", tool.schema()),
                ])
            })),
        );
    }
    // The tools come before the system prompt, so one mark is good for both.
    if !system.is_empty() {
        let text = object([("type", "text".into()), ("text", system.into()), ("cache_control", mark())]);
        body.insert("system", list([text].into_iter()));
    }
    body.insert("messages", marked(messages));
    body
}

/// Asks to keep what comes before it for the next request.
fn mark() -> Value {
    object([("type", "ephemeral".into())]).into()
}

/// The messages, with marks on the last two of the user: up to the first of them the provider has kept the last
/// request, and up to the second it keeps this one.
fn marked(messages: &[Value]) -> Value {
    let is_user = |message: &Value| message.get("role").and_then(Value::as_str).as_deref() == Some("user");
    let last: Vec<usize> = messages
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, message)| is_user(message))
        .map(|(at, _)| at)
        .take(2)
        .collect();
    let messages = messages
        .iter()
        .enumerate()
        .map(|(at, message)| if last.contains(&at) { with_mark(message) } else { message.clone() });
    messages.collect::<Vec<_>>().into()
}

/// A message with a mark on its last block.
fn with_mark(message: &Value) -> Value {
    let Some(Value::Array(blocks)) = message.get("content") else { return message.clone() };
    let mut blocks: Vec<Value> = blocks.iter().cloned().collect();
    if let Some(last) = blocks.last_mut().and_then(Value::as_object_mut) {
        last.insert("cache_control", mark());
    }
    let mut message = message.clone();
    if let Some(members) = message.as_object_mut() {
        members.insert("content", blocks);
    }
    message
}

/// A tool as Chat Completions and Ollama have it.
fn function(tool: &Definition) -> Object {
    let function = object([
        ("name", (&*tool.name).into()),
        ("description", (&*tool.about).into()),
        ("parameters", tool.schema()),
    ]);
    object([("type", "function".into()), ("function", function.into())])
}

/// The system prompt as a message, before the others.
fn with_system(system: &str, messages: &[Value]) -> Value {
    let system =
        (!system.is_empty()).then(|| object([("role", "system".into()), ("content", system.into())]).into());
    system.into_iter().chain(messages.iter().cloned()).collect::<Vec<Value>>().into()
}

/// Whether a model is OpenAI's own, and not one that imitates it.
fn is_openai(model: &Model) -> bool {
    model.base_url.contains("://api.openai.com")
}

fn chat(model: &Model, system: &str, messages: &[Value], tools: &[Definition]) -> Object {
    let mut body = object([
        ("model", (&*model.id).into()),
        ("stream", true.into()),
        ("stream_options", object([("include_usage", true.into())]).into()),
        ("messages", with_system(system, messages)),
    ]);
    if !tools.is_empty() {
        body.insert("tools", list(tools.iter().map(function)));
    }
    if let Some(most) = model.max_output {
        // OpenAI has renamed it, and those who imitate it have not.
        body.insert(if is_openai(model) { "max_completion_tokens" } else { "max_tokens" }, most);
    }
    body
}

fn responses(model: &Model, system: String, messages: &[Value], tools: &[Definition]) -> Object {
    let mut body = object([
        ("model", (&*model.id).into()),
        ("stream", true.into()),
        // The log is here, and nothing has to be kept there: so thinking comes with what it takes to send it back.
        ("store", false.into()),
        ("input", messages.to_vec().into()),
    ]);
    // Models that do not think refuse this.
    if !["gpt-3", "gpt-4", "chatgpt-4"].iter().any(|old| model.id.starts_with(old)) {
        body.insert("include", vec![Value::from("reasoning.encrypted_content")]);
    }
    if !system.is_empty() {
        body.insert("instructions", system);
    }
    if !tools.is_empty() {
        body.insert(
            "tools",
            list(tools.iter().map(|tool| {
                object([
                    ("type", "function".into()),
                    ("name", (&*tool.name).into()),
                    ("description", (&*tool.about).into()),
                    ("parameters", tool.schema()),
                    // Parameters that may be left out are not possible otherwise.
                    ("strict", false.into()),
                ])
            })),
        );
    }
    if let Some(most) = model.max_output {
        body.insert("max_output_tokens", most);
    }
    body
}

fn gemini(model: &Model, system: String, messages: &[Value], tools: &[Definition]) -> Object {
    let mut body = object([("contents", messages.to_vec().into())]);
    if !system.is_empty() {
        let parts = list([object([("text", system.into())])].into_iter());
        body.insert("systemInstruction", object([("parts", parts)]));
    }
    if !tools.is_empty() {
        let functions = list(tools.iter().map(|tool| {
            object([
                ("name", (&*tool.name).into()),
                ("description", (&*tool.about).into()),
                ("parametersJsonSchema", tool.schema()),
            ])
        }));
        body.insert("tools", list([object([("functionDeclarations", functions)])].into_iter()));
    }
    if let Some(most) = model.max_output {
        body.insert("generationConfig", object([("maxOutputTokens", most.into())]));
    }
    body
}

fn ollama(model: &Model, system: &str, messages: &[Value], tools: &[Definition]) -> Object {
    let mut body = object([
        ("model", (&*model.id).into()),
        ("stream", true.into()),
        ("messages", with_system(system, messages)),
    ]);
    if !tools.is_empty() {
        body.insert("tools", list(tools.iter().map(function)));
    }
    let mut options = Object::new();
    if let Some(window) = model.context_window {
        // Without this it uses a small one, and drops the beginning of what does not fit.
        options.insert("num_ctx", window);
    }
    if let Some(most) = model.max_output {
        options.insert("num_predict", most);
    }
    if !options.is_empty() {
        body.insert("options", options);
    }
    body
}
