//! What Bedrock's Converse refuses, from the reference of its messages and the errors that it and the models
//! that it runs answer with.

use std::collections::BTreeSet;

use reknit::json::Value;

use super::rule::{filled_text, list, object, plain_name, rule, text};

pub(super) fn validate(messages: &[Value]) -> Result<(), String> {
    let mut ids = BTreeSet::new();
    // The calls of the message before: each has its result in the very next message.
    let mut calls = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        let role = text(message, "role")?;
        // The first message is the user's, and roles take turns.
        let expected = if number % 2 == 0 { "user" } else { "assistant" };
        rule!(role == expected, "message {number} is of `{role}`");
        let blocks = list(message, "content")?;
        if role == "user" {
            user(blocks, &calls)?;
            calls = Vec::new();
        } else {
            calls = assistant(blocks, &mut ids)?;
        }
    }
    rule!(messages.len() % 2 == 1 || messages.is_empty(), "the last message is the model's");
    Ok(())
}

fn user(blocks: &[Value], calls: &[String]) -> Result<(), String> {
    let mut results = Vec::new();
    let mut is_said = false;
    for block in blocks {
        match block.get("toolResult") {
            Some(result) => {
                // Results come before anything else.
                rule!(!is_said, "a result after a text");
                results.push(text(result, "toolUseId")?);
                let status = text(result, "status")?;
                rule!(["success", "error"].contains(&&*status), "the status `{status}`");
                // The list is required, but it may be empty.
                let content =
                    result.get("content").and_then(Value::as_array).ok_or("a result without content")?;
                content.iter().try_for_each(said)?;
            }
            None => {
                is_said = true;
                said(block)?;
            }
        }
    }
    rule!(results == calls, "results of {results:?} for calls {calls:?}");
    Ok(())
}

/// A text or an image.
fn said(block: &Value) -> Result<(), String> {
    match block.get("image") {
        Some(image) => {
            rule!(!text(image, "format")?.contains('/'), "a media type is not a format: {image}");
            let source = image.get("source").ok_or("an image without a source")?;
            rule!(!text(source, "bytes")?.is_empty(), "an image without data");
            Ok(())
        }
        None => filled_text(block, "text").map(|_| ()),
    }
}

/// The ids of the calls.
fn assistant(blocks: &[Value], ids: &mut BTreeSet<String>) -> Result<Vec<String>, String> {
    let mut calls = Vec::new();
    for block in blocks {
        // A block has one member, which says what it is.
        rule!(block.as_object().is_some_and(|block| block.len() == 1), "not a block: {block}");
        if let Some(call) = block.get("toolUse") {
            let id = text(call, "toolUseId")?;
            plain_name(&id, 64)?;
            plain_name(&text(call, "name")?, 64)?;
            object(call, "input")?;
            rule!(ids.insert(id.clone()), "the id `{id}` twice");
            calls.push(id);
            continue;
        }
        rule!(calls.is_empty(), "{block} after a call");
        if let Some(content) = block.get("reasoningContent") {
            match content.get("reasoningText") {
                // Thinking comes back with what it was signed with.
                Some(thinking) => {
                    text(thinking, "text")?;
                    rule!(!text(thinking, "signature")?.is_empty(), "an empty signature");
                }
                None => rule!(!text(content, "redactedContent")?.is_empty(), "empty thinking"),
            }
        } else {
            filled_text(block, "text")?;
        }
    }
    let is_thinking = blocks.last().is_some_and(|last| last.get("reasoningContent").is_some());
    rule!(!is_thinking, "the last block is thinking");
    Ok(calls)
}
