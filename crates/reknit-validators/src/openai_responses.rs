//! What Responses refuse, from the reference of its input items and the errors that it answers with.

use std::collections::BTreeSet;

use reknit::json::Value;

use super::rule::{filled_text, list, object, plain_name, rule, text};

pub(super) fn validate(items: &[Value]) -> Result<(), String> {
    let mut history = History::default();
    for item in items {
        let kind = text(item, "type")?;
        let is_user = kind == "message" && text(item, "role")? == "user";
        let is_user = is_user || kind == "mcp_approval_response";
        let is_output = kind.ends_with("_output") && !history.is_of_the_provider(item);
        // A reasoning item is followed by an item of the model.
        let follows = !history.is_thinking || !(is_user || is_output);
        rule!(follows, "a reasoning item without its following item");
        history.is_thinking = kind == "reasoning";
        // An item is there once.
        if let Some(id) = item.get("id").and_then(Value::as_str) {
            rule!(history.items.insert(id.to_string()), "the item `{id}` twice");
        }
        match &*kind {
            "message" if is_user => {
                rule!(history.open.is_empty(), "calls without an output: {:?}", history.open);
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
            "mcp_approval_response" => {
                let id = text(item, "approval_request_id")?;
                rule!(history.items.contains(&id), "an answer to `{id}`, which is not there");
                rule!(item.get("approve").and_then(Value::as_bool).is_some(), "no answer: {item}");
            }
            call if call == "program" || call.ends_with("_call") => history.call(call, item)?,
            output if output.ends_with("_output") => history.output(output, item)?,
            _ => {
                text(item, "id")?;
            }
        }
    }
    rule!(history.open.is_empty(), "calls without an output: {:?}", history.open);
    rule!(!history.is_thinking, "a reasoning item without its following item");
    Ok(())
}

/// The items so far.
#[derive(Default)]
struct History {
    items: BTreeSet<String>,
    ids: BTreeSet<String>,
    /// Calls of the client without an output, by id and type.
    open: Vec<(String, String)>,
    /// Calls that the provider ran itself, whose outputs are items.
    ran: BTreeSet<String>,
    /// Whether a reasoning item waits for the item that it was for.
    is_thinking: bool,
}

impl History {
    fn call(&mut self, kind: &str, item: &Value) -> Result<(), String> {
        // Only these are accepted without an id of their own, and only a function's begins with these letters.
        let id = item.get("id").and_then(Value::as_str);
        match kind {
            "function_call" => rule!(id.is_none_or(|id| id.starts_with("fc")), "the id of {item}"),
            "custom_tool_call" => rule!(id.is_none_or(|id| id.starts_with("ct")), "the id of {item}"),
            "shell_call" | "apply_patch_call" | "tool_search_call" => {}
            _ => rule!(id.is_some_and(|id| !id.is_empty()), "no id: {item}"),
        }
        match kind {
            "function_call" => {
                plain_name(&text(item, "name")?, 64)?;
                let arguments = text(item, "arguments")?.parse::<Value>();
                rule!(arguments.is_ok_and(|value| value.as_object().is_some()), "arguments of {item}");
            }
            "custom_tool_call" => {
                plain_name(&text(item, "name")?, 64)?;
                text(item, "input")?;
            }
            "mcp_call" => {
                for member in ["server_label", "name", "arguments"] {
                    text(item, member)?;
                }
            }
            "computer_call" | "local_shell_call" | "shell_call" => {
                let actions = item.get("action").or_else(|| item.get("actions"));
                rule!(actions.is_some(), "no action: {item}");
            }
            "apply_patch_call" => object(item, "operation")?,
            "code_interpreter_call" => rule!(item.get("code").is_some(), "no code: {item}"),
            "file_search_call" => rule!(item.get("queries").is_some(), "no queries: {item}"),
            _ => {}
        }
        if !matches!(kind, "function_call" | "custom_tool_call" | "program") {
            text(item, "status")?;
        }
        let is_clients = match kind {
            "function_call" | "custom_tool_call" | "computer_call" | "local_shell_call" => true,
            "apply_patch_call" => true,
            "shell_call" => {
                !item.pointer("/environment/type").is_some_and(|kind| *kind != Value::from("local"))
            }
            "tool_search_call" => item.get("execution").is_some_and(|by| *by == Value::from("client")),
            _ => false,
        };
        if is_clients {
            let id = text(item, "call_id")?;
            plain_name(&id, 64)?;
            rule!(self.ids.insert(id.clone()), "the id `{id}` twice");
            self.open.push((id, kind.to_owned()));
        } else if let Some(id) = item.get("call_id").and_then(Value::as_str) {
            self.ran.insert(id.into_owned());
        }
        Ok(())
    }

    fn is_of_the_provider(&self, item: &Value) -> bool {
        let id = item.get("call_id").and_then(Value::as_str);
        id.is_none_or(|id| self.ran.contains(&*id))
    }

    /// Every output names a call before it, and every call has one output of its kind.
    fn output(&mut self, kind: &str, item: &Value) -> Result<(), String> {
        if self.is_of_the_provider(item) {
            return Ok(());
        }
        let call = match kind {
            "tool_search_output" => "tool_search_call",
            other => other.strip_suffix("_output").unwrap_or(other),
        };
        let call = (text(item, "call_id")?, call.to_owned());
        let at = self.open.iter().position(|open| *open == call);
        rule!(at.is_some(), "an output of `{}`, which is not an open call of its kind", call.0);
        self.open.remove(at.expect("it was found"));
        match kind {
            "tool_search_output" => drop(list(item, "tools")?),
            "computer_call_output" => {
                let shown = item.get("output").ok_or("no picture")?;
                rule!(text(shown, "type")? == "computer_screenshot", "not a picture: {shown}");
                rule!(text(shown, "image_url")?.starts_with("data:image/"), "not a picture: {shown}");
            }
            "shell_call_output" => {
                for entry in list(item, "output")? {
                    text(entry, "stdout")?;
                    text(entry, "stderr")?;
                    object(entry, "outcome")?;
                }
            }
            "apply_patch_call_output" => {
                let status = text(item, "status")?;
                rule!(matches!(&*status, "completed" | "failed"), "the status of {item}");
                text(item, "output")?;
            }
            "local_shell_call_output" => drop(text(item, "output")?),
            _ => match item.get("output") {
                Some(Value::Array(parts)) => parts.iter().try_for_each(output_part)?,
                _ => drop(text(item, "output")?),
            },
        }
        Ok(())
    }
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
