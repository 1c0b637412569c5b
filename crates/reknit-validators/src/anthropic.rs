//! What Anthropic's Messages refuse, from its documentation of messages, tool use and extended thinking, and
//! from the errors that it answers with.

use std::collections::BTreeSet;

use reknit::json::Value;

use super::rule::{filled_text, list, object, plain_name, rule, text};

pub(super) fn validate(messages: &[Value]) -> Result<(), String> {
    let mut ids = BTreeSet::new();
    let mut last = Reply::default();
    // Calls of the provider that wait for results of the client's calls, which they made.
    let mut pending = BTreeSet::new();
    for (number, message) in messages.iter().enumerate() {
        let role = text(message, "role")?;
        // The first message is the user's, and roles take turns.
        let expected = if number % 2 == 0 { "user" } else { "assistant" };
        rule!(role == expected, "message {number} is of `{role}`");
        // No message is empty.
        let blocks = list(message, "content")?;
        if role == "user" {
            for id in &last.waiting {
                rule!(last.callers.contains(id), "the provider's call `{id}` has no result");
            }
            // Code that waits for results gets nothing else.
            let only_results =
                blocks.iter().all(|block| text(block, "type").is_ok_and(|kind| kind == "tool_result"));
            rule!(last.callers.is_empty() || only_results, "a text for the calls of {:?}", last.callers);
            user(blocks, &last.calls)?;
            pending.append(&mut last.waiting.drain(..).collect());
            last = Reply::default();
        } else {
            last = assistant(blocks, &mut ids, &mut pending)?;
        }
    }
    // Newer models take no beginning of an answer: the last message is the user's, or a reply that was paused
    // while the provider ran its own calls.
    let is_paused = last.has_calls_of_the_provider && last.calls.is_empty();
    rule!(messages.len() % 2 == 1 || messages.is_empty() || is_paused, "the last message is the model's");
    Ok(())
}

/// What of a message of the model the next one depends on.
#[derive(Default)]
struct Reply {
    /// Calls of the client: each has its result in the very next message.
    calls: Vec<String>,
    has_calls_of_the_provider: bool,
    /// Those that have no result.
    waiting: Vec<String>,
    /// Those that made calls of the client.
    callers: BTreeSet<String>,
}

fn user(blocks: &[Value], open: &[String]) -> Result<(), String> {
    let mut results = Vec::new();
    let mut is_said = false;
    for block in blocks {
        match &*text(block, "type")? {
            "tool_result" => {
                // Results come before anything else.
                rule!(!is_said, "a result after a text");
                results.push(text(block, "tool_use_id")?);
                result_content(block.get("content"))?;
                let is_error = block.get("is_error");
                rule!(is_error.is_none_or(|flag| flag.as_bool().is_some()), "`is_error` is not a flag");
            }
            kind => {
                is_said = true;
                user_block(kind, block)?;
            }
        }
    }
    // Every call has exactly one result, and no result is of anything else.
    let (mut results, mut open) = (results, open.to_vec());
    results.sort();
    open.sort();
    rule!(results == open, "results of {results:?} for calls {open:?}");
    Ok(())
}

/// A result may have no content, a text, or blocks.
fn result_content(content: Option<&Value>) -> Result<(), String> {
    match content {
        None => Ok(()),
        Some(Value::Array(blocks)) => {
            rule!(!blocks.is_empty(), "a result with an empty list");
            blocks.iter().try_for_each(|block| user_block(&text(block, "type")?, block))
        }
        Some(content) => {
            rule!(content.as_str().is_some_and(|text| !text.trim().is_empty()), "a blank result");
            Ok(())
        }
    }
}

fn user_block(kind: &str, block: &Value) -> Result<(), String> {
    match kind {
        // Text blocks have text that is not blank.
        "text" => filled_text(block, "text").map(|_| ()),
        "image" => {
            let source = block.get("source").ok_or("an image without a source")?;
            rule!(text(source, "type")? == "base64", "an image that is not in base64");
            filled_text(source, "media_type")?;
            filled_text(source, "data").map(|_| ())
        }
        other => Err(format!("a user's block of type `{other}`")),
    }
}

fn assistant(
    blocks: &[Value],
    ids: &mut BTreeSet<String>,
    pending: &mut BTreeSet<String>,
) -> Result<Reply, String> {
    let (mut calls, mut asked, mut answered) = (Vec::new(), Vec::new(), Vec::new());
    let mut callers = BTreeSet::new();
    for block in blocks {
        let kind = text(block, "type")?;
        // Nothing comes between a call and its result.
        rule!(calls.is_empty() || kind == "tool_use", "`{kind}` after a call");
        match &*kind {
            "text" => {
                filled_text(block, "text")?;
                for citation in block.get("citations").and_then(Value::as_array).into_iter().flatten() {
                    filled_text(citation, "encrypted_index")?;
                }
            }
            // Thinking goes back with its signature, or not at all.
            "thinking" => {
                text(block, "thinking")?;
                filled_text(block, "signature")?;
            }
            "redacted_thinking" => {
                filled_text(block, "data")?;
            }
            "tool_use" => {
                let id = text(block, "id")?;
                plain_name(&id, 64)?;
                plain_name(&text(block, "name")?, 128)?;
                object(block, "input")?;
                // Ids are unique in all of the history.
                rule!(ids.insert(id.clone()), "the id `{id}` twice");
                calls.push(id);
                // What made a call is there.
                if let Some(caller) = block.pointer("/caller/tool_id").and_then(Value::as_str) {
                    let is_there =
                        asked.iter().any(|id: &String| *id == *caller) || pending.contains(&*caller);
                    rule!(is_there, "the caller `{caller}` is not there");
                    callers.insert(caller.into_owned());
                }
            }
            "server_tool_use" | "mcp_tool_use" => {
                object(block, "input")?;
                let id = text(block, "id")?;
                rule!(!asked.contains(&id), "the provider's call `{id}` twice");
                asked.push(id);
            }
            // The provider's own results follow its own calls, one for each.
            kind if kind.ends_with("tool_result") => {
                let id = text(block, "tool_use_id")?;
                let is_open = asked.contains(&id) && !answered.contains(&id) || pending.remove(&id);
                rule!(is_open, "the provider's results have one of `{id}`, which is not an open call");
                answered.push(id);
            }
            _ => {}
        }
    }
    // Thinking is never the last block.
    let last = text(blocks.last().expect("it is filled"), "type")?;
    rule!(!last.ends_with("thinking"), "the last block is thinking");
    let has_calls_of_the_provider = !asked.is_empty();
    let waiting = asked.into_iter().filter(|id| !answered.contains(id)).collect();
    Ok(Reply { calls, has_calls_of_the_provider, waiting, callers })
}
