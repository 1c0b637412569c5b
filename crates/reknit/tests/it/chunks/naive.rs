//! A simple implementation of the same rules: JSON in, JSON out, and a search through the list for every
//! event.

use serde_json::{Value, json};

/// Events that these rules know and that change chunks.
const SHOWN: [&str; 10] = [
    "text-delta",
    "reasoning-delta",
    "reasoning-end",
    "tool-call",
    "tool-result",
    "shell-output",
    "error",
    "notice",
    "model-changed",
    "config-reload",
];

/// Events that do not change chunks.
const SILENT: [&str; 14] = [
    "status",
    "turn-start",
    "turn-sealed",
    "turn-paused",
    "done",
    "usage",
    "task-list-update",
    "tab-created",
    "message-queued",
    "message-consumed",
    "message-cancelled",
    "compaction-started",
    "compaction-complete",
    "compaction-error",
];

/// Whether the rules cover an event. They do not cover calls that are being written, nor output that names
/// its call.
pub(crate) fn knows(event: &Value) -> bool {
    let kind = event["type"].as_str().unwrap_or_default();
    SILENT.contains(&kind) || SHOWN.contains(&kind) && event.get("toolCallId").is_none()
}

/// Folds an event that the rules cover into the chunks.
pub(crate) fn append(chunks: &mut Vec<Value>, event: &Value) {
    let last = chunks.last_mut();
    match event["type"].as_str().expect("it is known") {
        "text-delta" => match last {
            Some(last) if last["type"] == "text" => extend(&mut last["text"], &event["delta"]),
            _ => chunks.push(json!({"type": "text", "text": event["delta"]})),
        },
        "reasoning-delta" => match last {
            Some(last) if last["type"] == "thinking" && last.get("metadata").is_none() => {
                extend(&mut last["text"], &event["delta"]);
            }
            _ => chunks.push(json!({"type": "thinking", "text": event["delta"]})),
        },
        "reasoning-end" => {
            let Some(metadata) = event.get("metadata") else { return };
            for chunk in chunks.iter_mut().rev() {
                if chunk["type"] != "thinking" {
                    continue;
                }
                if chunk.get("metadata").is_none() {
                    chunk["metadata"] = metadata.clone();
                }
                return;
            }
        }
        "tool-call" => {
            let call = &event["toolCall"];
            let call = json!({"id": call["id"], "name": call["name"], "arguments": call["arguments"]});
            match last {
                Some(last) if last["type"] == "tool-batch" => calls(last).push(call),
                _ => chunks.push(json!({"type": "tool-batch", "calls": [call]})),
            }
        }
        "tool-result" => {
            let result = &event["toolResult"];
            for chunk in chunks.iter_mut().rev().filter(|chunk| chunk["type"] == "tool-batch") {
                let found = calls(chunk).iter_mut().find(|call| call["id"] == result["toolCallId"]);
                if let Some(call) = found {
                    answer(call, result);
                    return;
                }
            }
        }
        "shell-output" => {
            let last = chunks.iter_mut().rev().find(|chunk| chunk["type"] == "tool-batch");
            let Some(call) = last.and_then(|batch| calls(batch).last_mut()) else { return };
            if call.get("shellOutput").is_none() {
                call["shellOutput"] = json!({"stdout": "", "stderr": ""});
            }
            let stream = event["stream"].as_str().expect("it is a name");
            extend(&mut call["shellOutput"][stream], &event["data"]);
        }
        "error" => {
            let mut chunk = json!({"type": "error", "message": event["error"]});
            if let Some(status) = event.get("statusCode") {
                chunk["statusCode"] = status.clone();
            }
            chunks.push(chunk);
        }
        kind @ "notice" => chunks.push(system(kind, text(&event["message"]))),
        kind @ "model-changed" => {
            let words = format!("Switched to {} ({})", text(&event["modelId"]), text(&event["keyId"]));
            chunks.push(system(kind, &words));
        }
        kind @ "config-reload" => chunks.push(system(kind, "Configuration reloaded")),
        silent => assert!(SILENT.contains(&silent), "`{silent}` is not known"),
    }
}

fn calls(batch: &mut Value) -> &mut Vec<Value> {
    batch["calls"].as_array_mut().expect("a batch has calls")
}

/// If the new result does not say whether it is an error, that of an earlier result is removed.
fn answer(call: &mut Value, result: &Value) {
    call["result"] = result["result"].clone();
    let call = call.as_object_mut().expect("a call is an object");
    match result.get("isError") {
        Some(is_error) => call.insert("isError".to_owned(), is_error.clone()),
        None => call.remove("isError"),
    };
}

fn system(kind: &str, text: &str) -> Value {
    json!({"type": "system", "kind": kind, "text": text})
}

fn extend(text: &mut Value, piece: &Value) {
    *text = Value::from(format!("{}{}", self::text(text), self::text(piece)));
}

fn text(value: &Value) -> &str {
    value.as_str().expect("it is a text")
}
