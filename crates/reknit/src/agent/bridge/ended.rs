//! The events at the end of a block or a message.

use crate::agent::{AgentEvent, ToolCall, ToolResult};
use crate::event::{End, Failure, Runner};
use crate::json::{Number, Object, Value};
use crate::message::{self, Args, Block, Body};

/// What has to be sent back to the provider with some thinking: its signature if that is complete, and `own`,
/// the provider's own fields.
pub(super) fn metadata(thinking: &Block, own: Option<&Object>) -> Option<Value> {
    let Body::Thinking { signature, redacted, .. } = thinking.body() else { return None };
    let mut metadata = Object::new();
    if !signature.is_empty() && thinking.end() == Some(End::Closed) {
        metadata.insert("signature", signature.clone());
    }
    if let Some(data) = redacted {
        metadata.insert("redactedData", data.as_str());
    }
    for (name, value) in own.into_iter().flat_map(Object::iter) {
        metadata.insert(name, value.clone());
    }
    (!metadata.is_empty()).then(|| metadata.into())
}

/// A call with complete arguments. `own` are the provider's own fields of it.
pub(super) fn complete(call: &message::ToolCall, arguments: &Value, own: Option<&Object>) -> ToolCall {
    ToolCall {
        id: call.id.to_string(),
        name: call.name.clone(),
        arguments: arguments.clone(),
        raw: call.raw.as_ref().map(|raw| raw.to_str().into()),
        provider_executed: call.runner == Runner::Provider,
        metadata: own.cloned().map(Value::from),
    }
}

/// Why arguments are not complete.
pub(super) fn what_is_wrong(args: &Args) -> String {
    match args {
        Args::Malformed { error: Some(error), .. } => format!("the arguments are malformed: {error}"),
        Args::Malformed { error: None, .. } => "the arguments are malformed".to_owned(),
        Args::Streaming(_) | Args::Cut(_) | Args::Complete(_) => "the arguments are cut".to_owned(),
    }
}

/// The event of a block that consists of fields.
pub(super) fn of_fields(block: &Block) -> Option<AgentEvent> {
    let fields = block.extra().clone();
    match block.body() {
        Body::ToolResult { call_id: Some(id), .. } => {
            let is_error = says_that_it_failed(&fields);
            let tool_call_id = id.clone();
            let tool_result = ToolResult { tool_call_id, tool_name: None, result: fields.into(), is_error };
            Some(AgentEvent::ToolResult { tool_result })
        }
        Body::ToolResult { kind, .. } | Body::Other { kind } => {
            Some(AgentEvent::ProviderBlock { kind: kind.clone(), block: fields })
        }
        Body::Text { .. } | Body::Thinking { .. } | Body::ToolCall(_) => None,
    }
}

/// Whether a result says that it is an error, in one of the ways that providers have for it.
fn says_that_it_failed(fields: &Object) -> Option<bool> {
    let said = fields.get("is_error").and_then(Value::as_bool);
    let of_kind = || fields.get("content")?.get("type")?.as_str().map(|kind| kind.ends_with("_error"));
    let given = || fields.get("error").map(|error| !error.is_null());
    said.or_else(|| of_kind().or_else(given).filter(|failed| *failed))
}

/// An error that the provider reported.
pub(super) fn failed(failure: &Failure) -> AgentEvent {
    let kind = failure.kind.as_ref().map_or(String::new(), |kind| format!("{kind}: "));
    let code = ["/error/code", "/code"].into_iter().find_map(|path| failure.raw.pointer(path)?.as_number());
    AgentEvent::Error {
        error: format!("{kind}{}", failure.message),
        status_code: code.filter(|code| is_status_of_error(code)).cloned(),
    }
}

/// The codes of most errors are HTTP status codes, but some providers have codes of their own.
fn is_status_of_error(code: &Number) -> bool {
    code.as_u64().is_some_and(|code| (400..600).contains(&code))
}
