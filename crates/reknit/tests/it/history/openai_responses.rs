//! What Responses refuse, from the reference of its input items and the errors that it answers with.

use std::collections::BTreeSet;

use reknit::json::Value;

use super::rule::{filled_text, list, plain_name, rule, text};

pub(super) fn validate(items: &[Value]) -> Result<(), String> {
    let mut ids = BTreeSet::new();
    let mut open: Vec<(String, bool)> = Vec::new();
    // Whether a reasoning item waits for the item that it was for.
    let mut is_thinking = false;
    for item in items {
        let kind = text(item, "type")?;
        let is_user = kind == "message" && text(item, "role")? == "user";
        let is_output = kind.ends_with("_output");
        // A reasoning item is followed by an item of the model.
        rule!(!is_thinking || !(is_user || is_output), "a reasoning item without its following item");
        is_thinking = kind == "reasoning";
        match &*kind {
            "message" if is_user => {
                rule!(open.is_empty(), "calls without an output: {open:?}");
                list(item, "content")?.iter().try_for_each(user_part)?;
            }
            "message" => {
                rule!(text(item, "role")? == "assistant", "a message of neither");
                for part in list(item, "content")? {
                    rule!(text(part, "type")? == "output_text", "not a part of the model: {part}");
                    filled_text(part, "text")?;
                }
            }
            "reasoning" => {
                // Nothing is kept by the provider, so that the item carries all of itself.
                filled_text(item, "encrypted_content")?;
                let summary = item.get("summary").and_then(Value::as_array);
                for part in summary.ok_or("a reasoning item without a summary")? {
                    rule!(text(part, "type")? == "summary_text", "not a part of a summary: {part}");
                    text(part, "text")?;
                }
            }
            "function_call" | "custom_tool_call" => {
                let id = text(item, "call_id")?;
                plain_name(&id, 64)?;
                plain_name(&text(item, "name")?, 64)?;
                rule!(ids.insert(id.clone()), "the id `{id}` twice");
                let is_function = kind == "function_call";
                if is_function {
                    let arguments = text(item, "arguments")?.parse::<Value>();
                    rule!(arguments.is_ok_and(|value| value.as_object().is_some()), "arguments of {item}");
                } else {
                    text(item, "input")?;
                }
                open.push((id, is_function));
            }
            "function_call_output" | "custom_tool_call_output" => {
                // Every output names a call before it, and every call has one output of its kind.
                let call = (text(item, "call_id")?, kind == "function_call_output");
                let at = open.iter().position(|open| *open == call);
                rule!(at.is_some(), "an output of `{}`, which is not an open call", call.0);
                open.remove(at.expect("it was found"));
                match item.get("output") {
                    Some(Value::Array(parts)) => parts.iter().try_for_each(output_part)?,
                    _ => {
                        text(item, "output")?;
                    }
                }
            }
            _ => {
                text(item, "id")?;
            }
        }
    }
    rule!(open.is_empty(), "calls without an output: {open:?}");
    rule!(!is_thinking, "a reasoning item without its following item");
    Ok(())
}

fn user_part(part: &Value) -> Result<(), String> {
    match &*text(part, "type")? {
        "input_text" => filled_text(part, "text").map(|_| ()),
        "input_image" => {
            rule!(text(part, "image_url")?.starts_with("data:image/"), "not an image: {part}");
            Ok(())
        }
        other => Err(format!("a part of type `{other}`")),
    }
}

/// A part of an output, which may be blank.
fn output_part(part: &Value) -> Result<(), String> {
    if text(part, "type")? == "input_text" { text(part, "text").map(|_| ()) } else { user_part(part) }
}
