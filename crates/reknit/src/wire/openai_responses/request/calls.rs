//! Items that are calls, with the results that the provider puts inside them.

use std::borrow::Cow;

use super::super::Raw;
use super::super::arguments::CallKind;
use crate::event::Runner;
use crate::json::{Object, Value};
use crate::wire::object::of_kind;
use crate::wire::request::{Call, Called, Conversation, Input};

/// The type of a call of a function, which needs no mention: most calls have it.
const FUNCTION: &str = "function_call";
/// The same for a tool whose arguments are free text.
const CUSTOM: &str = "custom_tool_call";

/// What a request has of an item besides its arguments and results.
struct Shape {
    item: &'static str,
    /// Whether the item is refused without its own id, which is accepted only after its reasoning.
    needs_id: bool,
    has_name: bool,
    fields: &'static [&'static str],
}

const SHAPES: [Shape; 13] = [
    Shape { item: FUNCTION, needs_id: false, has_name: true, fields: &["namespace", "caller"] },
    Shape { item: CUSTOM, needs_id: false, has_name: true, fields: &["namespace", "caller"] },
    Shape { item: "computer_call", needs_id: true, has_name: false, fields: &["pending_safety_checks"] },
    Shape { item: "local_shell_call", needs_id: true, has_name: false, fields: &[] },
    Shape { item: "shell_call", needs_id: false, has_name: false, fields: &["environment", "caller"] },
    Shape { item: "apply_patch_call", needs_id: false, has_name: false, fields: &["caller"] },
    Shape { item: "tool_search_call", needs_id: false, has_name: false, fields: &["execution"] },
    Shape { item: "web_search_call", needs_id: true, has_name: false, fields: &[] },
    Shape { item: "file_search_call", needs_id: true, has_name: false, fields: &[] },
    Shape { item: "code_interpreter_call", needs_id: true, has_name: false, fields: &["container_id"] },
    Shape { item: "image_generation_call", needs_id: true, has_name: false, fields: &[] },
    Shape {
        item: "mcp_call",
        needs_id: true,
        has_name: true,
        fields: &["server_label", "approval_request_id"],
    },
    Shape { item: "program", needs_id: true, has_name: false, fields: &["fingerprint"] },
];

/// The type of the item that a call came as, if it is not the ordinary one.
pub(super) fn special(call: &Call) -> Option<&'static str> {
    let kind = call.field(TYPE)?;
    SHAPES.iter().map(|shape| shape.item).find(|item| *item == kind)
}

/// Where the type of an item is among the fields of its call.
pub(super) const TYPE: &str = "type";

/// Whether the item that a call came as says that it is run by this one.
pub(super) fn is_run_by(runner: Runner, call: &Call) -> bool {
    let kind = special(call).and_then(CallKind::of);
    kind.is_some_and(|kind| kind.runner_of(&call.fields) == runner)
}

/// Whether items of this type are refused without their own id.
pub(super) fn needs_id(item: &str) -> bool {
    shape(item).is_some_and(|shape| shape.needs_id)
}

fn shape(item: &str) -> Option<&'static Shape> {
    SHAPES.iter().find(|shape| shape.item == item)
}

/// The item of a call for the client to run.
pub(super) fn client_item(call: &Call) -> Value {
    match (special(call), &call.input) {
        (Some(kind), Input::Object(arguments)) => {
            let mut item = Object::new();
            if let Some(id) = call.field("id").filter(|_| needs_id(kind)) {
                item.insert("id", id);
            }
            item.insert("call_id", &*call.id);
            fill(&mut item, kind, call, arguments);
            of_kind(kind, &item)
        }
        (_, Input::Object(arguments)) => {
            function(FUNCTION, call, "arguments", Value::from(arguments.clone()).to_string())
        }
        (_, Input::Plain(text)) => function(CUSTOM, call, "input", text.clone()),
    }
}

fn function(kind: &str, call: &Call, key: &str, input: String) -> Value {
    let mut item = Object::new();
    item.insert("call_id", &*call.id);
    item.insert("name", &*call.name);
    item.insert(key, input);
    keep_fields(&mut item, kind, &call.fields);
    of_kind(kind, &item)
}

/// The item of a call that the provider ran, with its result if that is inside the item; `None` if such an item
/// is not accepted.
pub(super) fn provider_item(call: &Call, result: Option<&Value>) -> Option<Value> {
    let (kind, Input::Object(arguments)) = (special(call)?, &call.input) else { return None };
    if !is_run_by(Runner::Provider, call) || CallKind::of(kind)?.lacks_argument(arguments) {
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
    for key in CallKind::of(kind)?.results {
        if let Some(value) = result.and_then(|result| result.get(key)) {
            item.insert(*key, value.clone());
        }
    }
    Some(of_kind(kind, &item))
}

fn fill(item: &mut Object, kind: &str, call: &Call, arguments: &Object) {
    if shape(kind).is_some_and(|shape| shape.has_name) {
        item.insert("name", &*call.name);
    }
    if let Some(kind) = CallKind::of(kind) {
        kind.put(arguments, item);
    }
    keep_fields(item, kind, &call.fields);
    // All but a program must have one.
    let otherwise = Some("completed".to_owned()).filter(|_| kind != "program");
    if let Some(status) = call.field("status").or(otherwise) {
        item.insert("status", status);
    }
}

fn keep_fields(item: &mut Object, kind: &str, fields: &Object) {
    for name in shape(kind).map_or(&[][..], |shape| shape.fields) {
        if let Some(value) = fields.get(name) {
            item.insert(*name, value.clone());
        }
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
    keep_fields(&mut metadata, kind.item, item);
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
