//! Reading agent events from JSON.
//!
//! This is not derived: for a tagged enum, `serde` buffers numbers as floats, and arguments have to keep
//! every digit.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::{AgentEvent, Decision, Lifecycle, Members, Misread, Stream, ToolCall, ToolResult};
use crate::event::Usage;
use crate::json::{Object, Value, exact};

impl AgentEvent {
    /// Reads an event, and returns the members that this version does not know as well.
    pub fn read(value: Value) -> Result<(Self, Object), Misread> {
        let mut members = Members::new("an event", value)?;
        let kind = members.text("type")?;
        members.rename(format!("`{kind}`"));
        let event = Self::of_kind(&kind, &mut members)?;
        Ok(match event {
            Some(event) => (event, members.rest()),
            None => (Self::Unknown(members.rest_of_kind(kind)), Object::new()),
        })
    }

    /// The event of this type; `None` if this version does not know it.
    fn of_kind(kind: &str, members: &mut Members) -> Result<Option<Self>, Misread> {
        Ok(Some(match kind {
            "text-delta" => Self::TextDelta { delta: members.text("delta")? },
            "reasoning-delta" => Self::ReasoningDelta { delta: members.text("delta")? },
            "reasoning-end" => Self::ReasoningEnd { metadata: members.optional("metadata") },
            "tool-input-start" => Self::ToolInputStart {
                tool_call_id: members.text("toolCallId")?,
                tool_name: members.text("toolName")?,
            },
            "tool-input-delta" => Self::ToolInputDelta {
                tool_call_id: members.text("toolCallId")?,
                delta: members.text("delta")?,
            },
            "tool-input-error" => Self::ToolInputError {
                tool_call_id: members.text("toolCallId")?,
                error: members.text("error")?,
            },
            "tool-call" => Self::ToolCall { tool_call: tool_call(members)? },
            "tool-result" => Self::ToolResult { tool_result: tool_result(members)? },
            "shell-output" => Self::ShellOutput {
                data: members.text("data")?,
                stream: members.word("stream", "`stdout`, `stderr`", Stream::named)?,
                tool_call_id: members.optional_text("toolCallId")?,
            },
            "approval-request" => Self::ApprovalRequest {
                approval_id: members.text("approvalId")?,
                tool_call_id: members.text("toolCallId")?,
                reason: members.optional_text("reason")?,
            },
            "approval-response" => Self::ApprovalResponse {
                approval_id: members.text("approvalId")?,
                decision: members.word("decision", Decision::NAMES, Decision::named)?,
                reason: members.optional_text("reason")?,
            },
            "edit-preview" => Self::EditPreview {
                tool_call_id: members.text("toolCallId")?,
                path: members.text("path")?,
                delta: members.text("delta")?,
                restarted: members.optional_flag("restarted")?.unwrap_or_default(),
            },
            "provider-block" => {
                Self::ProviderBlock { kind: members.text("kind")?, block: members.object("block")? }
            }
            "error" => Self::Error {
                error: members.text("error")?,
                status_code: members.optional_number("statusCode")?,
            },
            "notice" => Self::Notice { message: members.text("message")? },
            "model-changed" => {
                Self::ModelChanged { key_id: members.text("keyId")?, model_id: members.text("modelId")? }
            }
            "config-reload" => Self::ConfigReload {},
            "turn-start" => Self::TurnStart { turn_id: members.if_any("turnId", text) },
            "turn-sealed" => Self::TurnSealed { turn_id: members.if_any("turnId", text) },
            "turn-paused" => Self::TurnPaused {},
            "done" => Self::Done {},
            "usage" => Self::Usage { usage: token_counts(members) },
            kind => return Ok(Lifecycle::of_kind(kind, members)?.map(Self::Lifecycle)),
        }))
    }
}

fn tool_call(members: &mut Members) -> Result<ToolCall, Misread> {
    let mut call = members.members("toolCall")?;
    let read = ToolCall {
        id: call.text("id")?,
        name: call.text("name")?,
        arguments: call.value("arguments")?,
        raw: call.optional_text("raw")?,
        provider_executed: call.optional_flag("providerExecuted")?.unwrap_or_default(),
        metadata: call.optional("metadata"),
    };
    members.put_back("toolCall", call);
    Ok(read)
}

fn tool_result(members: &mut Members) -> Result<ToolResult, Misread> {
    let mut result = members.members("toolResult")?;
    let read = ToolResult {
        tool_call_id: result.text("toolCallId")?,
        tool_name: result.optional_text("toolName")?,
        result: result.value("result")?,
        is_error: result.optional_flag("isError")?,
    };
    members.put_back("toolResult", result);
    Ok(read)
}

fn token_counts(members: &mut Members) -> Usage {
    let Some(mut usage) = members.members_if_any("usage") else { return Usage::default() };
    let read = Usage {
        input: usage.if_any("inputTokens", Value::as_u64),
        output: usage.if_any("outputTokens", Value::as_u64),
        cache_read: usage.if_any("cacheReadTokens", Value::as_u64),
        cache_write: usage.if_any("cacheWriteTokens", Value::as_u64),
        reasoning: usage.if_any("reasoningTokens", Value::as_u64),
    };
    members.put_back("usage", usage);
    read
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(Into::into)
}

impl Stream {
    /// The stream with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "stdout" => Some(Self::Stdout),
            "stderr" => Some(Self::Stderr),
            _ => None,
        }
    }
}

/// Ignores members that this version does not know; [`AgentEvent::read`] returns them.
impl<'de> Deserialize<'de> for AgentEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (event, _) = Self::read(exact(deserializer)?).map_err(D::Error::custom)?;
        Ok(event)
    }
}
