//! What `reknit apply` reads: an answer's text, a provider's stream or recording, or what `reknit read --json` prints.

use reknit::edit::{Action, Edit, Format, Parsed, Parser, Problem, ProblemKind};
use reknit::{Limits, Reply, json};
use serde_json::Value;

/// How many levels of a message are around the arguments of a call, and some more.
const AROUND_ARGUMENTS: usize = 16;

/// The edits of an answer.
pub(super) struct Input {
    pub(super) parsed: Parsed,
    /// Whether a message of the reply ended before it was complete, so that edits may be missing.
    pub(super) is_cut: bool,
}

impl Input {
    /// Those of the messages in an input, unless it is an answer's text.
    pub(super) fn of_messages(input: &[u8]) -> Option<Self> {
        let messages = printed_messages(input).or_else(|| streamed_messages(input))?;
        let mut parsed = Parsed::default();
        for message in &messages {
            add_message(message, &mut parsed);
        }
        let is_whole = |message: &Value| message["status"] == "stopped" && message["stop_reason"] != "length";
        Some(Self { parsed, is_cut: !messages.iter().all(is_whole) })
    }
}

/// The messages that `reknit read --json` printed, one or all.
fn printed_messages(input: &[u8]) -> Option<Vec<Value>> {
    let text = std::str::from_utf8(input).ok()?;
    let value = json::Value::parse(text, Limits::default().json_depth + AROUND_ARGUMENTS).ok()?;
    let messages = match Value::from(value) {
        Value::Array(messages) => messages,
        message => vec![message],
    };
    let is_message = |value: &Value| value["blocks"].is_array() && value["status"].is_string();
    (!messages.is_empty() && messages.iter().all(is_message)).then_some(messages)
}

/// The messages of a provider's stream.
fn streamed_messages(input: &[u8]) -> Option<Vec<Value>> {
    let start = input.trim_ascii_start();
    let may_be_stream =
        [&b"event:"[..], b"data:", b":", b"{", b"["].iter().any(|first| start.starts_with(first));
    if !may_be_stream {
        return None;
    }
    let mut reply = Reply::detect();
    drain(reply.push(input));
    drain(reply.finish());
    let messages = reply.messages().map(|message| serde_json::to_value(message).unwrap_or_default());
    let messages: Vec<_> =
        messages.filter(|message| message["blocks"].as_array().is_some_and(|all| !all.is_empty())).collect();
    (reply.dialect().is_some() && !messages.is_empty()).then_some(messages)
}

fn drain(mut changes: reknit::reply::Changes<'_>) {
    while changes.next().is_some() {}
}

/// Adds the edits in the text of a message, and those of its calls of edit tools.
fn add_message(message: &Value, parsed: &mut Parsed) {
    let blocks = message["blocks"].as_array().map_or(&[][..], Vec::as_slice);
    let texts =
        blocks.iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str());
    let text: Vec<_> = texts.collect();
    add(Parser::detect(), &text.join("\n"), parsed);
    for call in blocks.iter().filter(|block| block["type"] == "tool_call") {
        let name = call["name"].as_str().unwrap_or_default();
        let Some(tool) = Tool::named(name) else { continue };
        if call["input"]["command"] == "view" {
            continue;
        }
        if call["end"] == "closed" && call["input"].is_object() {
            tool.add(&call["input"], parsed);
        } else {
            let snippet = name.to_owned();
            parsed.problems.push(Problem { kind: ProblemKind::Incomplete, line: 1, snippet });
        }
    }
}

fn add(mut parser: Parser, text: &str, parsed: &mut Parsed) {
    parser.push(text);
    let mut found = parser.finish();
    parsed.format = parsed.format.or(found.format.filter(|_| !found.edits.is_empty()));
    parsed.edits.append(&mut found.edits);
    parsed.problems.append(&mut found.problems);
}

/// A tool that edits files.
#[derive(Clone, Copy)]
enum Tool {
    /// `old_string` and `new_string`, or the `command` of an editor.
    Replace,
    /// A patch.
    Patch,
    /// A path, and search and replace blocks.
    Diff,
    /// A path and the whole content.
    Write,
}

impl Tool {
    fn named(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "edit" | "edit_file" | "multiedit" => Some(Self::Replace),
            name if name.contains("str_replace") => Some(Self::Replace),
            "apply_patch" => Some(Self::Patch),
            "apply_diff" | "replace_in_file" => Some(Self::Diff),
            "write_to_file" | "write_file" | "create_file" | "write" => Some(Self::Write),
            _ => None,
        }
    }

    fn add(self, input: &Value, parsed: &mut Parsed) {
        let text = |keys: &[&str]| keys.iter().find_map(|key| input[*key].as_str());
        let path = text(&["path", "file_path", "filePath", "filename"]);
        match (self, path) {
            (Self::Replace, _) => Self::add_text(Format::StrReplace, &input.to_string(), parsed),
            (Self::Patch, _) if let Some(patch) = text(&["input", "patch", "diff"]) => {
                Self::add_text(Format::ApplyPatch, patch, parsed);
            }
            (Self::Diff, Some(path)) => {
                let diff = text(&["diff", "content"]).unwrap_or_default();
                let elements =
                    format!("<apply_diff>\n<path>{path}</path>\n<diff>\n{diff}\n</diff>\n</apply_diff>\n");
                Self::add_text(Format::RooArgs, &elements, parsed);
            }
            (Self::Write, Some(path)) if let Some(content) = text(&["content", "file_text"]) => {
                let action = Action::Write { content: content.to_owned() };
                let path = Some(path.to_owned());
                parsed.edits.push(Edit { path, action, line: 1, at: 0..0, repairs: Vec::new() });
            }
            (Self::Patch | Self::Diff | Self::Write, _) => add_invalid(&input.to_string(), parsed),
        }
    }

    /// Adds the edits in the arguments of a call, which has at least one.
    fn add_text(format: Format, text: &str, parsed: &mut Parsed) {
        let before = (parsed.edits.len(), parsed.problems.len());
        add(Parser::new(format), text, parsed);
        if before == (parsed.edits.len(), parsed.problems.len()) {
            add_invalid(text, parsed);
        }
    }
}

/// Adds that the arguments of an edit tool are not those of an edit.
fn add_invalid(arguments: &str, parsed: &mut Parsed) {
    let snippet = arguments.chars().take(80).collect();
    parsed.problems.push(Problem { kind: ProblemKind::InvalidArguments, line: 1, snippet });
}
