//! Fields of a provider's own form that come in pieces.

use crate::json::{Object, Value};
use crate::text::Text;

pub(super) fn grow(fields: &mut Object, key: String, piece: &Text) {
    match fields.get_mut(&key) {
        Some(Value::String(text)) => push(text, piece),
        _ => drop(fields.insert(key, Value::String(piece.clone()))),
    }
}

pub(super) fn push(text: &mut Text, piece: &Text) {
    piece.segments().for_each(|piece| text.push_str(piece));
}

/// Appends the elements of a list to a field.
pub(super) fn append(fields: &mut Object, key: String, value: Value) {
    match (fields.get_mut(&key), value) {
        (_, Value::Null) => {}
        (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
        (_, value) => drop(fields.insert(key, value)),
    }
}
