//! Objects of a request.

use crate::json::{Object, Value};

pub(super) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    members.into_iter().collect::<Object>().into()
}

/// An object of the members that there is a value for.
pub(super) fn object_of<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let present = members.into_iter().filter_map(|(key, value)| Some((key, value?)));
    present.collect::<Object>().into()
}

/// A list, unless it is empty.
pub(super) fn filled(list: Vec<Value>) -> Option<Value> {
    (!list.is_empty()).then(|| list.into())
}

/// Several texts as one, unless there are none.
pub(super) fn paragraphs(texts: &[&str]) -> Option<Value> {
    (!texts.is_empty()).then(|| texts.join("\n\n").into())
}

/// An object with one more member, if there is a value for it.
pub(super) fn with(mut object: Value, key: &str, value: Option<Value>) -> Value {
    if let (Some(value), Some(object)) = (value, object.as_object_mut()) {
        object.insert(key, value);
    }
    object
}

/// A block with its `type` first.
pub(super) fn of_kind(kind: &str, block: &Object) -> Value {
    let others = block.iter().filter(|(key, _)| *key != "type");
    let others = others.map(|(key, value)| (key.to_owned(), value.clone()));
    std::iter::once(("type".to_owned(), kind.into())).chain(others).collect::<Object>().into()
}

pub(super) fn data_url(media_type: &str, data: &str) -> Value {
    format!("data:{media_type};base64,{data}").into()
}

/// The media type and the data of such a URL; `None` if it is another URL.
pub(super) fn read_data_url(url: &str) -> Option<(String, String)> {
    let (media_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    Some((media_type.to_owned(), data.to_owned()))
}
