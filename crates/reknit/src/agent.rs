//! [`AgentEvent`]: something that happened in a session.
//!
//! [`ReplyEvents`] turns a reply into agent events, the log of a session stores them as [`Entry`]s, and
//! [`transcript::append`](crate::transcript::append) builds what a person sees from them.
//!
//! ```
//! use reknit::agent::AgentEvent;
//!
//! let event: AgentEvent = serde_json::from_str(r#"{"type": "text-delta", "delta": "Hello"}"#)?;
//! assert_eq!(event, AgentEvent::TextDelta { delta: "Hello".into() });
//! # Ok::<(), serde_json::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::event::Usage;
use crate::json::{Number, Object, Value};

mod bridge;
mod reply_events;
mod entry;
mod join;
mod lifecycle;
mod read;
pub(crate) mod tokens;

pub(crate) use crate::json::Members;
pub use crate::json::Misread;
pub use crate::wire::request::Content;
pub use bridge::Bridge;
pub use entry::{Body, Decision, EndReason, Entry};
pub use lifecycle::Lifecycle;
pub use reply_events::ReplyEvents;

/// Something that happened in a session.
///
/// In JSON it is an object. Its `type` is the name of the variant in kebab case, and its other members are
/// the fields in camel case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum AgentEvent {
    /// More of the model's text.
    TextDelta {
        /// The new text.
        delta: String,
    },
    /// More of the model's thinking.
    ReasoningDelta {
        /// The new text.
        delta: String,
    },
    /// The end of the model's thinking.
    ReasoningEnd {
        /// What has to be sent back to the provider with it: `signature`, `redactedData`, and the provider's
        /// own fields under their names. Any metadata seals the thinking: later thinking is separate.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Value>,
    },
    /// The model started to write a call.
    ToolInputStart {
        /// The id of the call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
    },
    /// More of the text of a call's arguments.
    ToolInputDelta {
        /// The id of the call.
        tool_call_id: String,
        /// The new text.
        delta: String,
    },
    /// The arguments of a call will never be complete.
    ToolInputError {
        /// The id of the call.
        tool_call_id: String,
        /// Why.
        error: String,
    },
    /// The model calls a tool; the arguments are complete.
    ToolCall {
        /// The call.
        tool_call: ToolCall,
    },
    /// The result of a call.
    ToolResult {
        /// The result.
        tool_result: ToolResult,
    },
    /// Output of a command that a call runs.
    ShellOutput {
        /// The output.
        data: String,
        /// Where it was written to.
        stream: Stream,
        /// The id of the call. If it is `None`, the last call is meant.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<String>,
    },
    /// Someone has to decide whether a call may run.
    ApprovalRequest {
        /// The id that the answer has to refer to.
        approval_id: String,
        /// The id of the call.
        tool_call_id: String,
        /// Why the question is asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Someone decided whether a call may run.
    ApprovalResponse {
        /// The id of the request.
        approval_id: String,
        /// The decision.
        decision: Decision,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// More of the new content of a file, while the model writes an edit.
    EditPreview {
        /// The id of the call that makes the edit.
        tool_call_id: String,
        /// The file.
        path: String,
        /// The new text.
        delta: String,
        /// Whether the earlier content has to be discarded.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        restarted: bool,
    },
    /// A block of the provider that is not text, thinking or a call; or fields that it sent with a text.
    ProviderBlock {
        /// The provider's word for it; `text` for the fields of the previous text.
        kind: String,
        /// Its fields.
        block: Object,
    },
    /// Something failed.
    Error {
        /// The error message.
        error: String,
        /// The HTTP status code, if there was one.
        #[serde(skip_serializing_if = "Option::is_none")]
        status_code: Option<Number>,
    },
    /// A message for the user.
    Notice {
        /// The text.
        message: String,
    },
    /// Another model answers from here on.
    ModelChanged {
        /// The key that is used.
        key_id: String,
        /// The model.
        model_id: String,
    },
    /// The configuration was reloaded.
    ConfigReload {},
    /// A turn starts.
    TurnStart {
        /// Its id.
        #[serde(skip_serializing_if = "Option::is_none")]
        turn_id: Option<String>,
    },
    /// A turn is over and was saved.
    TurnSealed {
        /// Its id.
        #[serde(skip_serializing_if = "Option::is_none")]
        turn_id: Option<String>,
    },
    /// The provider paused its reply, and continues when the reply is sent back to it.
    TurnPaused {},
    /// The model is done.
    Done {},
    /// The number of tokens that a request took.
    Usage {
        /// The counts. One that is unknown is absent, not zero.
        #[serde(skip_serializing_if = "Usage::is_empty", with = "tokens")]
        usage: Usage,
    },
    /// Something that happened outside of the conversation.
    #[serde(untagged)]
    Lifecycle(Lifecycle),
    /// An event of an unknown type, as it came.
    #[serde(untagged)]
    Unknown(Object),
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The id that the result has to refer to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments.
    pub arguments: Value,
    /// The call as the model wrote it, if it was found in a text. It is then answered in text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// Whether the provider runs it. The client must not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub provider_executed: bool,
    /// The provider's own fields of the call, which have to be sent back: a signature, the id and type of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The id of the call.
    pub tool_call_id: String,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The result, nearly always a string.
    pub result: Value,
    /// Whether it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
}

/// Where a command writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}
