//! What Cohere's Chat refuses, from the reference of its messages and the errors that it answers with.

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
                let id = text(message, "tool_call_id")?;
                let at = open.iter().position(|open| *open == id);
                rule!(at.is_some(), "a result of `{id}`, which is not an open call");
                open.remove(at.expect("it was found"));
                text(message, "content")?;
            }
            "user" => {
                rule!(open.is_empty(), "calls without a result: {open:?}");
                rule!(before != "user", "two messages of the user in a row");
                user(message)?;
            }
            "assistant" => {
                rule!(open.is_empty(), "calls without a result: {open:?}");
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

/// The ids of the calls.
fn assistant(message: &Value, ids: &mut BTreeSet<String>) -> Result<Vec<String>, String> {
    let has_calls = message.get("tool_calls").is_some();
    let mut has_text = false;
    if message.get("content").is_some() {
        for part in list(message, "content")? {
            match &*text(part, "type")? {
                "text" => {
                    // The plan for calls has a member of its own.
                    rule!(!has_calls, "a text next to calls");
                    filled_text(part, "text")?;
                    has_text = true;
                }
                "thinking" => {
                    filled_text(part, "thinking")?;
                }
                other => return Err(format!("a part of type `{other}`")),
            }
        }
        rule!(has_text || has_calls, "nothing but thinking");
    }
    rule!(has_text || has_calls, "an assistant's message with nothing in it");
    if message.get("tool_plan").is_some() {
        rule!(has_calls, "a plan without calls");
        filled_text(message, "tool_plan")?;
    }
    let mut calls = Vec::new();
    if has_calls {
        for call in list(message, "tool_calls")? {
            let id = text(call, "id")?;
            rule!((1..=128).contains(&id.len()), "the id `{id}` has {} characters", id.len());
            rule!(ids.insert(id.clone()), "the id `{id}` twice");
            calls.push(id);
            rule!(text(call, "type")? == "function", "not a function: {call}");
            let function = call.get("function").ok_or("a call without its function")?;
            plain_name(&text(function, "name")?, 64)?;
            let arguments = text(function, "arguments")?.parse::<Value>();
            rule!(arguments.is_ok_and(|value| value.as_object().is_some()), "arguments of {call}");
        }
    }
    Ok(calls)
}
