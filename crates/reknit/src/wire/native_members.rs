//! Fields of a provider's own form that come in pieces.

use crate::json::{Object, Value};
use crate::text::Text;

/// Appends text to a field.
pub(super) fn grow(fields: &mut Object, key: impl AsRef<str> + Into<String>, piece: &Text) {
    match fields.get_mut(key.as_ref()) {
        Some(Value::String(text)) => push(text, piece),
        _ => drop(fields.insert(key, Value::String(piece.clone()))),
    }
}

pub(super) fn push(text: &mut Text, piece: &Text) {
    piece.segments().for_each(|piece| text.push_str(piece));
}

/// Sets fields; those that are there are replaced.
pub(super) fn put_all(fields: &mut Object, more: impl IntoIterator<Item = (String, Value)>) {
    for (key, value) in more {
        fields.insert(key, value);
    }
}

/// Appends the elements of a list to a field.
pub(super) fn append(fields: &mut Object, key: impl AsRef<str> + Into<String>, value: Value) {
    match (fields.get_mut(key.as_ref()), value) {
        (_, Value::Null) => {}
        (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
        (_, value) => drop(fields.insert(key, value)),
    }
}

/// The value of a field, which is added if it is missing.
pub(super) fn field<'a, V: Into<Value>>(
    fields: &'a mut Object,
    key: &str,
    missing: impl FnOnce() -> V,
) -> Option<&'a mut Value> {
    if fields.get(key).is_none_or(Value::is_null) {
        fields.insert(key, missing());
    }
    fields.get_mut(key)
}
