//! Items that are calls, with the results that the provider puts inside them.

use std::borrow::Cow;

use super::super::Raw;
use super::super::call_kind::{CallKind, FUNCTION_FIELDS};
use super::copy;
use crate::event::Runner;
use crate::json::{Object, Value};
use crate::wire::object::of_kind;
use crate::wire::request::{Call, Called, Conversation, Input};

/// Where the type of an item is among the fields of its call.
pub(super) const TYPE: &str = "type";

/// The kind of the item that a call came as; `None` for a call of a function, which needs no mention, because
/// most calls are, and for a tool whose arguments are free text.
pub(super) fn special(call: &Call) -> Option<&'static CallKind> {
    CallKind::of(&call.field(TYPE)?)
}

/// The item of a call for the client to run.
pub(super) fn client_item(call: &Call) -> Value {
    match (special(call), &call.input) {
        (Some(kind), Input::Object(arguments)) => {
            let mut item = Object::new();
            if let Some(id) = call.field("id").filter(|_| kind.needs_id) {
                item.insert("id", id);
            }
            item.insert("call_id", &*call.id);
            fill(&mut item, kind, call, arguments);
            of_kind(kind.item, &item)
        }
        (_, Input::Object(_)) => function("function_call", call, "arguments"),
        (_, Input::Plain(_)) => function("custom_tool_call", call, "input"),
    }
}

fn function(kind: &str, call: &Call, key: &str) -> Value {
    let mut item = Object::new();
    item.insert("call_id", &*call.id);
    item.insert("name", &*call.name);
    item.insert(key, call.input.text());
    copy(FUNCTION_FIELDS, &call.fields, &mut item);
    of_kind(kind, &item)
}

/// The item of a call that the provider ran, with its result if that is inside the item; `None` if such an item
/// is not accepted.
pub(super) fn provider_item(call: &Call, result: Option<&Value>) -> Option<Value> {
    let (kind, Input::Object(arguments)) = (special(call)?, &call.input) else { return None };
    if kind.runner_of(&call.fields) != Runner::Provider || kind.lacks_argument(arguments) {
        return None;
    }
    let mut item = Object::new();
    match call.field("id") {
        Some(id) => {
            item.insert("id", id);
            item.insert("call_id", &*call.id);
        }
        // A call without an id of its own has that of its item.
        None => drop(item.insert("id", &*call.id)),
    }
    fill(&mut item, kind, call, arguments);
    if let Some(result) = result.and_then(Value::as_object) {
        copy(kind.results, result, &mut item);
    }
    Some(of_kind(kind.item, &item))
}

fn fill(item: &mut Object, kind: &CallKind, call: &Call, arguments: &Object) {
    if kind.has_name {
        item.insert("name", &*call.name);
    }
    kind.put(arguments, item);
    copy(kind.fields, &call.fields, item);
    // All but a program must have one.
    let otherwise = Some("completed".to_owned()).filter(|_| kind.item != "program");
    if let Some(status) = call.field("status").or(otherwise) {
        item.insert("status", status);
    }
}

/// Reads an item that is a call and not the ordinary one.
pub(super) fn read(kind: &'static CallKind, item: &Object, conversation: &mut Conversation) {
    let text = Value::from(item.clone()).to_string();
    let raw = Raw::new(&text);
    let word = |key: &str| item.get(key)?.as_str().filter(|word| !word.is_empty()).map(Cow::into_owned);
    let arguments = match kind.arguments(raw) {
        none if none.is_empty() => Object::new().into(),
        // Arguments that are not JSON are still what the model wrote.
        text => text.parse().unwrap_or_else(|_| text.into()),
    };
    let (item_id, call_id) = (word("id"), word("call_id"));
    let id = call_id.clone().or_else(|| item_id.clone()).unwrap_or_else(|| conversation.invented_id());
    let mut metadata = Object::new();
    metadata.insert(TYPE, kind.item);
    if let Some(item_id) = item_id.filter(|item_id| *item_id != id) {
        metadata.insert("id", item_id);
    }
    copy(kind.fields, item, &mut metadata);
    if let Some(status) = word("status") {
        metadata.insert("status", status);
    }
    let provider_executed = kind.runner(raw) == Runner::Provider;
    let name = word("name").unwrap_or_else(|| kind.tool().to_owned());
    let metadata = Some(metadata.into());
    conversation.call(Called { id: id.clone(), name, arguments, provider_executed, metadata });
    let results = kind.results.iter().filter_map(|key| {
        let value = item.get(key).filter(|value| !value.is_null())?;
        Some((*key, value.clone()))
    });
    let results: Object = results.collect();
    if provider_executed && !results.is_empty() {
        conversation.provider_result(id, results.into());
    }
}
