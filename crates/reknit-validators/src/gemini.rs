//! What Gemini refuses, from its documentation of contents, function calling and thought signatures, and from
//! the errors that it answers with.

use reknit::json::Value;

use super::rule::{list, object, rule, text};

pub(super) fn validate(contents: &[Value]) -> Result<(), String> {
    // Calls of the turn before, by name: the next turn answers each.
    let mut open: Vec<String> = Vec::new();
    for (number, content) in contents.iter().enumerate() {
        let role = text(content, "role")?;
        // The first turn is the user's, and turns alternate.
        let expected = if number % 2 == 0 { "user" } else { "model" };
        rule!(role == expected, "content {number} is of `{role}`");
        // Neither a turn nor a part of it is empty.
        let parts = list(content, "parts")?;
        if role == "user" {
            let names = user(parts)?;
            rule!(names == open, "responses of {names:?} for calls {open:?}");
        } else {
            open = model(parts)?;
        }
    }
    rule!(contents.len() % 2 == 1 || contents.is_empty(), "the last turn is the model's");
    signatures(contents)
}

/// The names of the functions that have a response.
fn user(parts: &[Value]) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    let mut is_said = false;
    for part in parts {
        if let Some(response) = part.get("functionResponse") {
            rule!(!is_said, "a response after a text");
            names.push(text(response, "name")?);
            object(response, "response")?;
        } else if let Some(blob) = part.get("inlineData") {
            is_said = true;
            text(blob, "mimeType")?;
            rule!(!text(blob, "data")?.is_empty(), "an image without data");
        } else {
            is_said = true;
            rule!(!text(part, "text")?.trim().is_empty(), "a blank part");
        }
    }
    Ok(names)
}

/// The names of the functions that are called.
fn model(parts: &[Value]) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for part in parts {
        let fields = part.as_object().ok_or("a part that is not an object")?;
        rule!(!fields.is_empty(), "an empty part");
        if let Some(call) = part.get("functionCall") {
            let name = text(call, "name")?;
            let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c));
            rule!(is_name && (1..=64).contains(&name.len()), "not a name: {name:?}");
            object(call, "args")?;
            names.push(name);
        } else if part.get("text").is_some() {
            // A part may be nothing but a signature.
            let is_signed = part.get("thoughtSignature").is_some();
            rule!(is_signed || !text(part, "text")?.is_empty(), "an empty text");
        }
    }
    // A turn of the model is more than its thoughts.
    let is_thought = |part: &Value| part.get("thought").and_then(Value::as_bool) == Some(true);
    rule!(!parts.iter().all(is_thought), "a turn of thoughts only");
    Ok(names)
}

/// In all steps since the user last said something, the first call is signed.
fn signatures(contents: &[Value]) -> Result<(), String> {
    let parts = |content: &Value| content.get("parts").and_then(Value::as_array).cloned().unwrap_or_default();
    let is_said = |content: &&Value| parts(content).iter().any(|part| part.get("text").is_some());
    let is_user = |content: &&Value| content.get("role").and_then(Value::as_str).as_deref() == Some("user");
    let turn = contents.iter().rev().take_while(|content| !(is_user(content) && is_said(content)));
    for content in turn.filter(|content| !is_user(content)) {
        let first = parts(content).into_iter().find(|part| part.get("functionCall").is_some());
        rule!(
            first.is_none_or(|call| call.get("thoughtSignature").is_some()),
            "the first call of a step is not signed: {content}"
        );
    }
    Ok(())
}
