//! What is told of a part, or of a message, that is over.

use crate::agent::{AgentEvent, TokenCounts, ToolCall, ToolResult};
use crate::event::{Failure, Runner, Usage};
use crate::json::{Number, Object, Value};
use crate::message::{Message, State};
use crate::parts::{self, Address, Args, Input, Origin, Part};

/// What has to go back to the provider with some thinking; of a signature, only a whole one. `own` are the
/// provider's own fields of it.
pub(super) fn metadata(thinking: &Part, own: Option<&Object>) -> Option<Value> {
    let Part::Thinking { signature, redacted, state, .. } = thinking else { return None };
    let mut metadata = Object::new();
    if !signature.is_empty() && *state == State::Closed {
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

/// A call whose arguments are whole. `own` are the provider's own fields of it.
pub(super) fn whole(
    call: &parts::ToolCall,
    arguments: &Value,
    own: Option<&Object>,
    part: Address,
    message: &Message,
) -> ToolCall {
    let raw = match &call.origin {
        Origin::Tagged(tagged) => message.block(part.block).and_then(|block| tagged.raw(block)),
        Origin::Native => None,
    };
    ToolCall {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: arguments.clone(),
        raw: raw.map(Into::into),
        provider_executed: call.runner == Runner::Provider,
        metadata: own.cloned().map(Value::from),
    }
}

/// Why arguments are not whole.
pub(super) fn what_is_wrong(args: &Args) -> String {
    let Args::Malformed(input) = args else { return "the arguments are cut".to_owned() };
    let error = match input {
        Input::Json(json) => json.error(),
        Input::Plain(_) | Input::Params(_) => None,
    };
    "the arguments are malformed".to_owned() + &error.map_or(String::new(), |error| format!(": {error}"))
}

/// The event of a block that is nothing but its fields.
pub(super) fn of_fields(part: &Part, fields: Object) -> Option<AgentEvent> {
    match part {
        Part::ToolResult { call_id: Some(id), .. } => {
            let is_error = says_that_it_failed(&fields);
            let tool_call_id = id.clone();
            let tool_result = ToolResult { tool_call_id, tool_name: None, result: fields.into(), is_error };
            Some(AgentEvent::ToolResult { tool_result })
        }
        Part::ToolResult { kind, .. } | Part::Other { kind, .. } => {
            Some(AgentEvent::ProviderBlock { kind: kind.clone(), block: fields })
        }
        Part::Text { .. } | Part::Thinking { .. } | Part::Call(_) => None,
    }
}

/// Whether a result says of itself that it is an error, in one of the ways in which results do.
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

/// Providers number their errors like the response would be, but some have numbers of their own.
fn is_status_of_error(code: &Number) -> bool {
    code.as_u64().is_some_and(|code| (400..600).contains(&code))
}

impl From<Usage> for TokenCounts {
    fn from(Usage { input, output, cache_read, cache_write, reasoning }: Usage) -> Self {
        Self {
            input_tokens: input,
            output_tokens: output,
            cache_read_tokens: cache_read,
            cache_write_tokens: cache_write,
            reasoning_tokens: reasoning,
        }
    }
}
