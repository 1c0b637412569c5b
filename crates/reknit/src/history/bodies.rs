//! Turns what was said in requests into the bodies of entries.

use crate::agent::{AgentEvent, Body, Decision, ToolCall, ToolResult};
use crate::wire::request::{Called, Said};

/// The bodies of entries for what was said in a session with this model.
pub(super) fn of(said: Said, dialect: &str, model: &str) -> Vec<Body> {
    let event = match said {
        Said::User(content) => return vec![Body::UserMessage { content }],
        Said::ReplyStarted => {
            return vec![Body::Request { dialect: dialect.to_owned(), model: model.to_owned() }];
        }
        Said::Thinking(thinking) => {
            let metadata = thinking.metadata();
            let delta = AgentEvent::ReasoningDelta { delta: thinking.text };
            return vec![Body::Agent(delta), Body::Agent(AgentEvent::ReasoningEnd { metadata })];
        }
        Said::Text(text) => AgentEvent::TextDelta { delta: text },
        Said::TextFields(fields) => AgentEvent::ProviderBlock { kind: "text".to_owned(), block: fields },
        Said::Call(Called { id, name, arguments, provider_executed, metadata }) => AgentEvent::ToolCall {
            tool_call: ToolCall { id, name, arguments, raw: None, provider_executed, metadata },
        },
        Said::Result { id, name, result, is_error } => AgentEvent::ToolResult {
            tool_result: ToolResult { tool_call_id: id, tool_name: name, result, is_error },
        },
        Said::Decision { id: approval_id, approval } => {
            let decision = if approval.is_allowed { Decision::Allow } else { Decision::Deny };
            AgentEvent::ApprovalResponse { approval_id, decision, reason: approval.reason }
        }
        Said::Block { kind, block } => AgentEvent::ProviderBlock { kind, block },
    };
    vec![Body::Agent(event)]
}
