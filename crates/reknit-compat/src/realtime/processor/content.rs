//! The content of a provider's message, as a page shows it.

use std::borrow::Cow;

use reknit::Text;
use reknit::json::{Object, Value};

use crate::realtime::Profile;

/// Shown for a user's message without content.
const NOTHING: &str = "[User message]";

/// The role and the content of a user's message, whatever its form.
pub(super) fn of_user(message: Option<&Value>, profile: Profile) -> (String, Value) {
    let user = || "user".to_owned();
    match message {
        None | Some(Value::Null) => (user(), NOTHING.into()),
        Some(Value::String(text)) => (user(), Value::String(text.clone())),
        Some(Value::Object(fields)) if fields.get("content").is_some_and(|content| !content.is_null()) => {
            let role = fields.get("role").and_then(Value::as_str).map_or_else(user, Cow::into_owned);
            (role, normalized(fields.get("content").unwrap_or(&Value::Null), profile))
        }
        Some(other) => (user(), other.to_string().into()),
    }
}

/// The content as one text if all of it is text, otherwise as a list of parts.
pub(super) fn normalized(content: &Value, profile: Profile) -> Value {
    match content {
        Value::Array(blocks) => normalized_blocks(blocks.iter(), profile),
        Value::Null => "".into(),
        Value::String(_) => content.clone(),
        // Agent C's client shows an empty text for anything else.
        other => match profile {
            Profile::Documented => other.clone(),
            Profile::AgentC => "".into(),
        },
    }
}

/// The same for some blocks of a content.
pub(super) fn normalized_blocks<'a>(
    blocks: impl Iterator<Item = &'a Value> + Clone,
    profile: Profile,
) -> Value {
    if let Some(texts) = blocks.clone().map(plain_text).collect::<Option<Vec<_>>>() {
        let mut joined = Text::new();
        texts.iter().flat_map(|text| text.segments()).for_each(|segment| joined.push_str(segment));
        return joined.into();
    }
    let parts: Vec<_> = blocks.filter_map(|block| part(block, profile)).collect();
    if parts.is_empty() { "".into() } else { parts.into() }
}

/// The text of a block that is only text.
pub(super) fn plain_text(block: &Value) -> Option<&Text> {
    if is(block, "text") { block.get("text")?.as_text() } else { None }
}

/// Whether a block has this type.
pub(super) fn is(block: &Value, kind: &str) -> bool {
    block.get("type").and_then(Value::as_text).is_some_and(|found| *found == *kind)
}

/// A block as a part; an unknown one stays as it is, while Agent C's client drops it.
fn part(block: &Value, profile: Profile) -> Option<Value> {
    let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
    let string = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
    Some(match &*kind {
        "text" => picked(block, "text", &["text"]),
        "image" => picked(block, "image", &["source"]),
        "image_url" => {
            let url = block.pointer("/image_url/url").cloned().unwrap_or_default();
            let source: Object = [("type", Value::from("url")), ("url", url)].into_iter().collect();
            let image: Object =
                [("type", Value::from("image")), ("source", source.into())].into_iter().collect();
            image.into()
        }
        "tool_use" => picked(block, "tool_use", &["id", "name", "input"]),
        "tool_result" => picked(block, "tool_result", &["tool_use_id", "content", "is_error"]),
        "thinking" => text_part(format!("[Thinking] {}", string("thinking"))),
        "document" => {
            let title = Some(string("title")).filter(|title| !title.is_empty());
            text_part(format!("[Document: {}]", title.as_deref().unwrap_or("Untitled")))
        }
        _ => return (profile == Profile::Documented).then(|| block.clone()),
    })
}

fn picked(block: &Value, kind: &str, keys: &[&str]) -> Value {
    let fields = keys.iter().filter_map(|key| Some((*key, block.get(key)?.clone())));
    let part: Object = [("type", Value::from(kind))].into_iter().chain(fields).collect();
    part.into()
}

fn text_part(text: String) -> Value {
    let part: Object = [("type", Value::from("text")), ("text", text.into())].into_iter().collect();
    part.into()
}
