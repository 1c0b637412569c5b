//! What Ollama refuses or misunderstands, from the reference of its API and the templates that its models come with.

use reknit::json::Value;

use super::rule::{list, object, plain_name, rule, text};

pub(super) fn validate(messages: &[Value]) -> Result<(), String> {
    // Calls of the assistant's message before that have no result yet, by id and name.
    let mut open: Vec<(String, String)> = Vec::new();
    let mut before = String::new();
    for message in messages {
        let role = text(message, "role")?;
        // A content that is not a text is a request that cannot be read.
        let content = text(message, "content")?;
        match &*role {
            "tool" => {
                // A template finds the call of a result by its name or by its id.
                let call = (text(message, "tool_call_id")?, text(message, "tool_name")?);
                let at = open.iter().position(|open| *open == call);
                rule!(at.is_some(), "a result of `{call:?}`, which is not an open call");
                open.remove(at.expect("it was found"));
            }
            "user" => {
                rule!(open.is_empty(), "calls without a result: {open:?}");
                rule!(before != "user", "two messages of the user in a row");
                let has_images = message.get("images").is_some();
                rule!(has_images || !content.trim().is_empty(), "a blank message");
                if has_images {
                    for image in list(message, "images")? {
                        let is_data = |data: &str| !data.is_empty() && !data.starts_with("data:");
                        rule!(image.as_str().is_some_and(|data| is_data(&data)), "not an image: {image}");
                    }
                }
            }
            "assistant" => {
                rule!(open.is_empty(), "calls without a result: {open:?}");
                rule!(before == "user" || before == "tool", "an assistant's message after `{before}`");
                let calls = message.get("tool_calls").is_some();
                rule!(calls || !content.trim().is_empty(), "an assistant's message with nothing in it");
                if calls {
                    open = list(message, "tool_calls")?.iter().map(call).collect::<Result<_, _>>()?;
                }
            }
            other => return Err(format!("a message of `{other}`")),
        }
        before = role;
    }
    rule!(open.is_empty(), "calls without a result: {open:?}");
    rule!(before != "assistant", "the last message is the model's");
    Ok(())
}

fn call(call: &Value) -> Result<(String, String), String> {
    let function = call.get("function").ok_or("a call without its function")?;
    let name = text(function, "name")?;
    plain_name(&name, 64)?;
    object(function, "arguments")?;
    Ok((text(call, "id")?, name))
}
