//! [`AgentEvent`]: one thing that happened in a session, in the vocabulary that everybody behind a reply
//! shares.
//!
//! A reply becomes agent events by a [`Bridge`], a session's log holds them as [`Entry`]s, and
//! [`transcript::append`](crate::transcript::append) folds them into what a person sees.
//!
//! ```
//! use reknit::agent::AgentEvent;
//!
//! let event: AgentEvent = serde_json::from_str(r#"{"type": "text-delta", "delta": "Hello"}"#)?;
//! assert_eq!(event, AgentEvent::TextDelta { delta: "Hello".into() });
//! # Ok::<(), serde_json::Error>(())
//! ```

use std::ops::Add;

use serde::{Deserialize, Serialize};

use crate::json::{Number, Object, Value};

mod bridge;
mod entry;
mod join;
mod members;
mod read;

pub use bridge::Bridge;
pub use entry::{Body, Content, Decision, EndReason, Entry};
pub(crate) use members::Members;
pub use members::Misread;

/// One thing that happened in a session.
///
/// On the wire it is an object whose `type` is the variant's name with dashes, and whose other members are
/// the fields in camel case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum AgentEvent {
    /// The model's text went on.
    TextDelta {
        /// What came.
        delta: String,
    },
    /// The model's thinking went on.
    ReasoningDelta {
        /// What came.
        delta: String,
    },
    /// The model's thinking is over.
    ReasoningEnd {
        /// What the provider wants back with it: `signature`, `redactedData`, and its own fields under their
        /// names. It seals the thinking, whatever it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Value>,
    },
    /// The model began to write a call.
    ToolInputStart {
        /// The call's id.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
    },
    /// The text of a call's arguments went on.
    ToolInputDelta {
        /// The call's id.
        tool_call_id: String,
        /// What came.
        delta: String,
    },
    /// The arguments of a call will never be whole.
    ToolInputError {
        /// The call's id.
        tool_call_id: String,
        /// Why.
        error: String,
    },
    /// The model asks for a call; its arguments are whole.
    ToolCall {
        /// The call.
        tool_call: ToolCall,
    },
    /// A call has its result.
    ToolResult {
        /// The result.
        tool_result: ToolResult,
    },
    /// A command that a call runs wrote something.
    ShellOutput {
        /// What.
        data: String,
        /// Where to.
        stream: Stream,
        /// The call's id. Without it the newest call is meant.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<String>,
    },
    /// Somebody has to say whether a call may run.
    ApprovalRequest {
        /// The id that the answer has to name.
        approval_id: String,
        /// The call's id.
        tool_call_id: String,
        /// Why it is asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Somebody said whether a call may run.
    ApprovalResponse {
        /// The request's id.
        approval_id: String,
        /// What was said.
        decision: Decision,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Files were kept as they are now, to go back to.
    Checkpoint {
        /// The checkpoint's id.
        checkpoint_id: String,
    },
    /// The new content of a file, as far as an edit shows it while it is written, went on.
    EditPreview {
        /// The id of the call that edits.
        tool_call_id: String,
        /// The file.
        path: String,
        /// What came.
        delta: String,
        /// Whether what was shown before is void.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        restarted: bool,
    },
    /// A block of the provider that is neither text, thinking nor a call, or what it sent with a text.
    ProviderBlock {
        /// The provider's word for it; `text` for the fields of the text before.
        kind: String,
        /// Its fields.
        block: Object,
    },
    /// Something failed.
    Error {
        /// What it says.
        error: String,
        /// The status of the response, if there was one.
        #[serde(skip_serializing_if = "Option::is_none")]
        status_code: Option<Number>,
    },
    /// Something that the reader should know.
    Notice {
        /// What it says.
        message: String,
    },
    /// Another model answers from here on.
    ModelChanged {
        /// Under which key.
        key_id: String,
        /// Which model.
        model_id: String,
    },
    /// The configuration was read again.
    ConfigReload {},
    /// The session idles, runs or failed, in the sender's word.
    Status {
        /// The word.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<String>,
    },
    /// A turn begins.
    TurnStart {
        /// Its id.
        #[serde(skip_serializing_if = "Option::is_none")]
        turn_id: Option<String>,
    },
    /// A turn is over, and kept.
    TurnSealed {
        /// Its id.
        #[serde(skip_serializing_if = "Option::is_none")]
        turn_id: Option<String>,
    },
    /// The provider has paused its reply, and goes on with it when it gets it back.
    TurnPaused {},
    /// The model is done.
    Done {},
    /// Tokens that one request took.
    Usage {
        /// The counts.
        #[serde(skip_serializing_if = "TokenCounts::is_empty")]
        usage: TokenCounts,
    },
    /// The list of tasks is another one.
    TaskListUpdate {
        /// All tasks.
        #[serde(skip_serializing_if = "Option::is_none")]
        tasks: Option<Value>,
    },
    /// A session was opened beside this one.
    TabCreated {},
    /// A message of the user waits for the turn to end.
    MessageQueued {},
    /// Waiting messages were taken into a turn.
    MessageConsumed {},
    /// A waiting message was withdrawn.
    MessageCancelled {},
    /// The history is being made shorter.
    CompactionStarted {},
    /// The history is shorter now.
    CompactionComplete {},
    /// The history could not be made shorter.
    CompactionError {},
    /// An event of a type that this version does not know, as it came.
    #[serde(untagged)]
    Unknown(Object),
}

/// A call that the model asks for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The id that the result has to name.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it is called with.
    pub arguments: Value,
    /// The call as the model wrote it into its text, if it did. It is answered in text then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// Whether the provider carries it out: the client must not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub provider_executed: bool,
    /// The provider's own fields of the call that it wants back, such as a signature or the id of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call's id.
    pub tool_call_id: String,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// What came out, nearly always a text.
    pub result: Value,
    /// Whether it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
}

/// Where a command writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Its output.
    Stdout,
    /// Its errors.
    Stderr,
}

/// Tokens that one request took; what was not counted is absent, not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenCounts {
    /// Of the request. Whether cached ones are in it depends on the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Of the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Of the request, read from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Of the request, written to a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// Of the reply, thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
}

impl Add for TokenCounts {
    type Output = Self;

    /// What both took together; what neither counted stays unknown.
    fn add(self, other: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        Self {
            input_tokens: sum(self.input_tokens, other.input_tokens),
            output_tokens: sum(self.output_tokens, other.output_tokens),
            cache_read_tokens: sum(self.cache_read_tokens, other.cache_read_tokens),
            cache_write_tokens: sum(self.cache_write_tokens, other.cache_write_tokens),
            reasoning_tokens: sum(self.reasoning_tokens, other.reasoning_tokens),
        }
    }
}

impl TokenCounts {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
