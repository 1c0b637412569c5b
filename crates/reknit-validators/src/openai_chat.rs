//! What Chat Completions refuse, from the reference of its messages and the errors of it and its imitators.

use std::collections::BTreeSet;

use reknit::json::Value;

use super::rule::{filled_text, list, plain_name, rule, text};

pub(super) fn validate(messages: &[Value]) -> Result<(), String> {
    let mut ids = BTreeSet::new();
    // Calls of the assistant's message before that have no result yet.
    let mut open: Vec<String> = Vec::new();
    let mut before = String::new();
    for message in messages {
        let role = text(message, "role")?;
        match &*role {
            "tool" => {
                // A result follows its calls at once, and each call has one.
                let id = text(message, "tool_call_id")?;
                let at = open.iter().position(|open| *open == id);
                rule!(at.is_some(), "a result of `{id}`, which is not an open call");
                open.remove(at.expect("it was found"));
                text(message, "content")?;
            }
            "user" => {
                rule!(open.is_empty(), "calls without a result: {open:?}");
                // Many servers want the roles to take turns.
                rule!(before != "user", "two messages of the user in a row");
                user(message)?;
            }
            "assistant" => {
                rule!(open.is_empty(), "calls without a result: {open:?}");
                // Most servers want the first word to be the user's, and roles to take turns.
                rule!(before == "user" || before == "tool", "an assistant's message after `{before}`");
                open = assistant(message, &mut ids)?;
            }
            other => return Err(format!("a message of `{other}`")),
        }
        before = role;
    }
    rule!(open.is_empty(), "calls without a result: {open:?}");
    rule!(before != "assistant", "the last message is the model's");
    Ok(())
}

fn user(message: &Value) -> Result<(), String> {
    if message.get("content").is_some_and(|content| content.as_text().is_some()) {
        return filled_text(message, "content").map(|_| ());
    }
    for part in list(message, "content")? {
        match &*text(part, "type")? {
            "text" => {
                filled_text(part, "text")?;
            }
            "image_url" => {
                let url = text(part.get("image_url").ok_or("an image without an address")?, "url")?;
                rule!(url.starts_with("data:image/"), "not an image: {url}");
            }
            other => return Err(format!("a part of type `{other}`")),
        }
    }
    Ok(())
}

fn assistant(message: &Value, ids: &mut BTreeSet<String>) -> Result<Vec<String>, String> {
    let has_calls = message.get("tool_calls").is_some();
    // Content may be null only beside calls.
    match message.get("content") {
        Some(Value::Null) => rule!(has_calls, "an assistant's message with nothing in it"),
        _ => {
            filled_text(message, "content")?;
        }
    }
    if message.get("reasoning_content").is_some() {
        rule!(has_calls, "plain thinking without a call");
        text(message, "reasoning_content")?;
    }
    if message.get("reasoning_details").is_some() {
        for detail in list(message, "reasoning_details")? {
            rule!(text(detail, "type")?.starts_with("reasoning."), "not a detail: {detail}");
        }
    }
    let mut calls = Vec::new();
    for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
        let id = text(call, "id")?;
        // Ids are short, and one names one call.
        rule!((1..=40).contains(&id.len()), "the id `{id}` has {} characters", id.len());
        rule!(ids.insert(id.clone()), "the id `{id}` twice");
        calls.push(id);
        let kind = text(call, "type")?;
        let function = call.get(&kind).ok_or("a call without its function")?;
        plain_name(&text(function, "name")?, 64)?;
        match &*kind {
            // Arguments are the text of an object.
            "function" => {
                let arguments = text(function, "arguments")?.parse::<Value>();
                rule!(arguments.is_ok_and(|value| value.as_object().is_some()), "arguments of {call}");
            }
            _ => {
                text(function, "input")?;
            }
        }
    }
    rule!(!has_calls || !calls.is_empty(), "an empty list of calls");
    Ok(calls)
}
