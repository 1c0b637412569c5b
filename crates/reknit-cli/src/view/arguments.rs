//! The arguments of a call as fields with a name.

use reknit::json::{Change, PartialJson, Path, Step, Value};

use super::View;

/// The name for arguments without one: a text, or a value that is not an object.
pub(crate) const ALL: &str = "input";

/// Longer names are cut here, so that the cost of a piece does not grow with them.
const MAX_NAME: usize = 200;

/// Shows what the last piece changed.
pub(crate) fn grew(view: &mut View, json: &PartialJson) {
    for change in json.changes() {
        let path = change.path();
        match (change, json.at(path)) {
            (Change::Opened { .. }, Some(Value::String(_))) => view.argument_grew(&label(path), ""),
            (Change::StringGrew { text, .. }, _) => view.argument_grew(&label(path), text),
            (Change::Closed { .. }, Some(Value::String(_)) | None) => view.argument_closed(),
            (Change::Scalar { .. }, Some(value)) => view.argument_set(&label(path), &value.to_string()),
            (Change::Closed { .. }, Some(value)) if is_empty(value) && path.steps().next().is_some() => {
                view.argument_set(&label(path), &value.to_string());
            }
            (Change::Opened { .. } | Change::Scalar { .. } | Change::Closed { .. }, _) => {}
        }
    }
}

/// Shows all of them.
pub(crate) fn whole(view: &mut View, value: &Value) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| show(view, key, value)),
        _ => show(view, ALL, value),
    }
}

/// Shows one value under its name.
pub(crate) fn show(view: &mut View, name: &str, value: &Value) {
    match value {
        Value::String(text) => {
            view.argument_grew(name, "");
            text.segments().for_each(|text| view.argument_grew(name, text));
            view.argument_closed();
        }
        Value::Array(elements) if !elements.is_empty() => {
            for (index, element) in elements.iter().enumerate() {
                show(view, &step(name.to_owned(), Step::Index(index)), element);
            }
        }
        Value::Object(members) if !members.is_empty() => {
            for (key, member) in members.iter() {
                show(view, &step(name.to_owned(), Step::Key(key)), member);
            }
        }
        _ => view.argument_set(name, &value.to_string()),
    }
}

/// A path in the usual notation: `edits[0].path`.
fn label(path: Path<'_>) -> String {
    if path.steps().next().is_none() {
        return ALL.to_owned();
    }
    path.steps().fold(String::new(), step)
}

fn step(mut name: String, step: Step<'_>) -> String {
    match step {
        _ if name.len() > MAX_NAME => {}
        Step::Index(index) => name += &format!("[{index}]"),
        Step::Key(key) => {
            if !name.is_empty() {
                name.push('.');
            }
            name.extend(key.chars().take(MAX_NAME));
        }
    }
    name
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}
