//! What the server refuses.

use reknit::Dialect;
use reknit::json::{Object, Value};

use super::{KEY, MODEL, Request};
use crate::rule::{filled_text, list, object, plain_name, text};

/// Gemini documents this for calls that another model made.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// How its validator begins to refuse a call without a signature.
const UNSIGNED_CALL: &str = "the first call of a step is not signed";

/// Why a request is refused, and with which status.
type Refusal = (u16, String);

/// Checks a request. `issued` is everything that was answered before.
pub(super) fn check(dialect: Dialect, request: &Request, raw: &str, issued: &str) -> Result<(), Refusal> {
    let expected = match dialect {
        Dialect::OpenAiChat => "POST /v1/chat/completions HTTP/1.1",
        Dialect::OpenAiResponses => "POST /v1/responses HTTP/1.1",
        Dialect::Gemini => "POST /v1beta/models/strict-1:streamGenerateContent?alt=sse HTTP/1.1",
        Dialect::Ollama => "POST /api/chat HTTP/1.1",
        _ => "POST /v1/messages HTTP/1.1",
    };
    // To a proxy the whole address is sent.
    let line = match request.line.strip_prefix("POST http://").and_then(|rest| rest.split_once('/')) {
        Some((_, path)) => format!("POST /{path}"),
        None => request.line.clone(),
    };
    if line != expected {
        return Err((404, format!("`{}` is not a known path", request.line)));
    }
    let header =
        |name: &str| request.headers.iter().find(|(known, _)| known == name).map(|(_, value)| &**value);
    let bearer = format!("Bearer {KEY}");
    let is_known = match dialect {
        // The newest SDKs send it like those of others.
        Dialect::Anthropic => header("x-api-key") == Some(KEY) || header("authorization") == Some(&bearer),
        Dialect::Gemini => header("x-goog-api-key") == Some(KEY),
        // A server of one's own needs none.
        Dialect::Ollama => true,
        _ => header("authorization") == Some(&bearer),
    };
    if !is_known {
        // Some providers repeat the key that they refuse.
        let shown = header("x-api-key").or(header("authorization")).or(header("x-goog-api-key"));
        return Err((401, format!("the key `{}` is not valid", shown.unwrap_or_default())));
    }
    if header("content-type") != Some("application/json") {
        return Err((415, "the content is not JSON".to_owned()));
    }
    let versions = ["2023-06-01", "2026-10-21"];
    if dialect == Dialect::Anthropic
        && !header("anthropic-version").is_some_and(|version| versions.contains(&version))
    {
        return Err((400, "anthropic-version: header is required".to_owned()));
    }
    if raw.parse::<Value>().is_err() {
        return Err((400, "the body is not JSON".to_owned()));
    }
    let refused = |why| (400, why);
    match body(dialect, &request.body) {
        // A model that has never signed a call does not want signatures: those before Gemini 3.
        Err(why) if why.starts_with(UNSIGNED_CALL) && !issued.contains("thoughtSignature") => {}
        checked => checked.map_err(refused)?,
    }
    let mut seals = Vec::new();
    collect(&request.body, &mut seals);
    match seals
        .into_iter()
        .find(|seal| seal != UNSIGNED && !issued.contains(&Value::from(&**seal).to_string()))
    {
        Some(seal) => Err((400, format!("invalid signature: {seal}"))),
        None => Ok(()),
    }
}

/// All signatures in a value.
fn collect(value: &Value, seals: &mut Vec<String>) {
    match value {
        Value::Array(elements) => elements.iter().for_each(|element| collect(element, seals)),
        Value::Object(members) => {
            for (name, value) in members.iter() {
                match (name, value.as_str()) {
                    ("signature" | "encrypted_content" | "thoughtSignature", Some(seal)) => {
                        seals.push(seal.into_owned());
                    }
                    _ => collect(value, seals),
                }
            }
        }
        _ => {}
    }
}

fn body(dialect: Dialect, body: &Value) -> Result<(), String> {
    let members = body.as_object().ok_or("the body is not an object")?;
    if dialect != Dialect::Gemini {
        match text(body, "model")? {
            model if model == MODEL => {}
            model => return Err(format!("model not found: {model}")),
        }
        match body.get("stream").and_then(Value::as_bool) {
            Some(true) => {}
            _ => return Err("this server only streams".to_owned()),
        }
    }
    match dialect {
        Dialect::OpenAiChat => chat(body, members),
        Dialect::OpenAiResponses => responses(body, members),
        Dialect::Gemini => gemini(body, members),
        Dialect::Ollama => ollama(body, members),
        _ => anthropic(body, members),
    }
}

/// Refuses members that the provider does not know, as all of them do.
fn only(members: &Object, known: &[&str]) -> Result<(), String> {
    match members.keys().find(|name| !known.contains(name)) {
        Some(name) => Err(format!("{name}: Extra inputs are not permitted")),
        None => Ok(()),
    }
}

fn schema(schema: Option<&Value>) -> Result<(), String> {
    let schema = schema.ok_or("a tool without a schema")?;
    if text(schema, "type")? != "object" {
        return Err("the schema of a tool is not that of an object".to_owned());
    }
    object(schema, "properties")
}

fn anthropic(body: &Value, members: &Object) -> Result<(), String> {
    only(
        members,
        &[
            "model",
            "max_tokens",
            "stream",
            "system",
            "messages",
            "tools",
            "thinking",
            "temperature",
            "tool_choice",
        ],
    )?;
    let most = body.get("max_tokens").and_then(Value::as_u64).ok_or("max_tokens: Field required")?;
    if let Some(budget) = body.pointer("/thinking/budget_tokens").and_then(Value::as_u64)
        && (budget < 1024 || budget >= most)
    {
        return Err(
            "`max_tokens` must be greater than `thinking.budget_tokens`, which must be at least 1024".into(),
        );
    }
    for block in body.get("system").and_then(Value::as_array).into_iter().flatten() {
        filled_text(block, "text")?;
    }
    for tool in body.get("tools").and_then(Value::as_array).into_iter().flatten() {
        plain_name(&text(tool, "name")?, 128)?;
        schema(tool.get("input_schema"))?;
    }
    let marks = body.to_string().matches("\"cache_control\":").count();
    if marks > 4 {
        return Err(format!("A maximum of 4 blocks with cache_control may be provided. Found {marks}."));
    }
    let messages = list(body, "messages")?;
    for block in messages.iter().filter_map(|message| message.get("content")?.as_array()).flatten() {
        let kind = text(block, "type")?;
        if kind.ends_with("thinking") && block.get("cache_control").is_some() {
            return Err("cache_control cannot be set for thinking blocks".to_owned());
        }
    }
    crate::validate(Dialect::Anthropic, messages)
}

/// The messages after the system prompt, which is the first.
fn after_system(body: &Value) -> Result<&[Value], String> {
    let messages = list(body, "messages")?;
    match messages.split_first() {
        Some((first, rest)) if text(first, "role")? == "system" => {
            filled_text(first, "content").map(|_| rest)
        }
        _ => Ok(messages),
    }
}

fn functions(body: &Value) -> Result<(), String> {
    for tool in body.get("tools").and_then(Value::as_array).into_iter().flatten() {
        let function = tool.get("function").ok_or("a tool without a function")?;
        plain_name(&text(function, "name")?, 64)?;
        schema(function.get("parameters"))?;
    }
    Ok(())
}

fn chat(body: &Value, members: &Object) -> Result<(), String> {
    only(
        members,
        &[
            "model",
            "messages",
            "stream",
            "stream_options",
            "tools",
            "max_completion_tokens",
            "max_tokens",
            "temperature",
        ],
    )?;
    functions(body)?;
    crate::validate(Dialect::OpenAiChat, after_system(body)?)
}

fn responses(body: &Value, members: &Object) -> Result<(), String> {
    only(
        members,
        &[
            "model",
            "input",
            "instructions",
            "stream",
            "store",
            "include",
            "tools",
            "max_output_tokens",
            "reasoning",
        ],
    )?;
    // An SDK sends a message without its type.
    let input = match body.get("input") {
        Some(Value::Array(items)) if items.iter().any(|item| item.get("type").is_none()) => return Ok(()),
        _ => list(body, "input")?,
    };
    for tool in body.get("tools").and_then(Value::as_array).into_iter().flatten() {
        plain_name(&text(tool, "name")?, 64)?;
        schema(tool.get("parameters"))?;
    }
    crate::validate(Dialect::OpenAiResponses, input)
}

fn gemini(body: &Value, members: &Object) -> Result<(), String> {
    only(members, &["contents", "systemInstruction", "tools", "generationConfig"])
        .map_err(|why| format!("Invalid JSON payload received. {why}"))?;
    for part in body.pointer("/systemInstruction/parts").and_then(Value::as_array).into_iter().flatten() {
        filled_text(part, "text")?;
    }
    let tools = body.pointer("/tools/0/functionDeclarations").and_then(Value::as_array);
    for tool in tools.into_iter().flatten() {
        plain_name(&text(tool, "name")?, 64)?;
        schema(tool.get("parametersJsonSchema"))?;
    }
    crate::validate(Dialect::Gemini, list(body, "contents")?)
}

fn ollama(body: &Value, members: &Object) -> Result<(), String> {
    only(members, &["model", "messages", "stream", "tools", "options", "think", "keep_alive"])?;
    functions(body)?;
    crate::validate(Dialect::Ollama, after_system(body)?)
}
