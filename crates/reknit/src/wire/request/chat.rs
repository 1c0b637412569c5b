//! What the messages of Chat Completions, of Cohere's Chat and of Ollama have in common.

use super::content::Content;
use super::message::{Answer, Call, Input, Message, ReplyPart, UserPart};
use crate::json::{Members, Misread, Value};
use crate::wire::object::{data_url, object, read_data_url};

/// Writes messages, each result as a message of its own.
pub(crate) fn write(
    messages: &[Message],
    result: fn(&Answer) -> Value,
    user: fn(&[&UserPart]) -> Value,
    assistant: fn(&[ReplyPart]) -> Value,
) -> Vec<Value> {
    let mut written = Vec::new();
    for message in messages {
        match message {
            Message::User { results, content } => {
                written.extend(results.iter().map(result));
                let content = after_results(results, content);
                if !content.is_empty() {
                    written.push(user(&content));
                }
            }
            Message::Model { parts } => written.push(assistant(parts)),
        }
    }
    written
}

/// A call of a function, or of a tool that takes free text.
pub(crate) fn tool_call(call: &Call) -> Value {
    let (kind, key) = match &call.input {
        Input::Object(_) => ("function", "arguments"),
        Input::Plain(_) => ("custom", "input"),
    };
    let function = object([("name", (&*call.name).into()), (key, call.input.text().into())]);
    object([("id", (&*call.id).into()), ("type", kind.into()), (kind, function)])
}

/// The message with a result.
pub(crate) fn tool_message(answer: &Answer) -> Value {
    let (id, text) = ((&*answer.id).into(), answer.output.text().into());
    object([("role", "tool".into()), ("tool_call_id", id), ("content", text)])
}

/// What follows the results as a user message: a result cannot have images here, so they come before the rest.
fn after_results<'a>(results: &'a [Answer], content: &'a [UserPart]) -> Vec<&'a UserPart> {
    results.iter().flat_map(|answer| answer.output.images()).chain(content).collect()
}

pub(crate) fn user_part(part: &UserPart) -> Value {
    match part {
        UserPart::Text(text) => object([("type", "text".into()), ("text", (&**text).into())]),
        UserPart::Image { media_type, data } => {
            let url = object([("url", data_url(media_type, data))]);
            object([("type", "image_url".into()), ("image_url", url)])
        }
    }
}

/// The parts of a content, which may be just a text.
pub(crate) fn parts(content: Option<Value>) -> Result<Vec<Members>, Misread> {
    let parts = match content {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(parts)) => parts.into(),
        Some(text) => vec![object([("type", "text".into()), ("text", text)])],
    };
    parts.into_iter().map(|part| Members::new("a part of `content`", part)).collect()
}

pub(crate) fn read_content(content: Option<Value>) -> Result<Vec<Content>, Misread> {
    parts(content)?.into_iter().map(read_part).collect()
}

fn read_part(mut part: Members) -> Result<Content, Misread> {
    let kind = part.text("type")?;
    Ok(match &*kind {
        "text" => Content::Text { text: part.text("text")? },
        "image_url" => {
            let url = part.members("image_url")?.text("url")?;
            match read_data_url(&url) {
                Some((media_type, data)) => Content::Image { media_type, data },
                None => Content::Other([("type", kind), ("url", url)].into_iter().collect()),
            }
        }
        _ => Content::Other(part.rest_of_kind(kind)),
    })
}

/// The name and the arguments of a call of a function.
pub(crate) fn read_function(call: &mut Members) -> Result<(String, Value), Misread> {
    let mut function = call.members("function")?;
    let arguments = function.text("arguments")?;
    // Arguments that are not JSON are still what the model wrote.
    Ok((function.text("name")?, arguments.parse().unwrap_or_else(|_| arguments.into())))
}
