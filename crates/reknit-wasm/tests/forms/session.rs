//! The events and the log of a session, and what a person sees of it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use super::message::Diagnostic;
use super::present;

/// Something that happened in a session. An event of another type is kept as it is.
#[derive(Deserialize, Serialize, TS)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) enum AgentEvent {
    TextDelta {
        delta: String,
    },
    ReasoningDelta {
        delta: String,
    },
    ReasoningEnd {
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        #[ts(type = "unknown")]
        metadata: Option<Value>,
    },
    ToolInputStart {
        tool_call_id: String,
        tool_name: String,
    },
    ToolInputDelta {
        tool_call_id: String,
        delta: String,
    },
    ToolInputError {
        tool_call_id: String,
        error: String,
    },
    ToolCall {
        tool_call: AgentToolCall,
    },
    ToolResult {
        tool_result: AgentToolResult,
    },
    ShellOutput {
        data: String,
        stream: OutputStream,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<String>,
    },
    ApprovalRequest {
        approval_id: String,
        tool_call_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    ApprovalResponse {
        approval_id: String,
        decision: Decision,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    EditPreview {
        tool_call_id: String,
        path: String,
        delta: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        restarted: Option<bool>,
    },
    ProviderBlock {
        kind: String,
        #[ts(type = "Record<string, unknown>")]
        block: Map<String, Value>,
    },
    Error {
        error: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(type = "number")]
        status_code: Option<serde_json::Number>,
    },
    Notice {
        message: String,
    },
    ModelChanged {
        key_id: String,
        model_id: String,
    },
    ConfigReload {},
    TurnStart {
        #[serde(skip_serializing_if = "Option::is_none")]
        turn_id: Option<String>,
    },
    TurnSealed {
        #[serde(skip_serializing_if = "Option::is_none")]
        turn_id: Option<String>,
    },
    TurnPaused {},
    Done {},
    Usage {
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Tokens>,
    },
    Status {
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<String>,
    },
    Checkpoint {
        checkpoint_id: String,
    },
    TaskListUpdate {
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        #[ts(type = "unknown")]
        tasks: Option<Value>,
    },
    TabCreated {},
    MessageQueued {},
    MessageConsumed {},
    MessageCancelled {},
    CompactionStarted {},
    CompactionComplete {},
    CompactionError {},
}

#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) struct AgentToolCall {
    id: String,
    name: String,
    #[ts(type = "unknown")]
    arguments: Value,
    /// The call as the model wrote it, if it was found in a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_executed: Option<bool>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown")]
    metadata: Option<Value>,
}

#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) struct AgentToolResult {
    tool_call_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<String>,
    #[ts(type = "unknown")]
    result: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_error: Option<bool>,
}

#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OutputStream {
    Stdout,
    Stderr,
}

#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Decision {
    Allow,
    Deny,
}

#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) struct Tokens {
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_read_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_write_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_tokens: Option<u64>,
}

/// A line in the log of a session.
#[derive(Deserialize, Serialize, TS)]
#[ts(optional_fields)]
pub(crate) struct Entry {
    /// The version of the form, which is 1.
    v: u64,
    /// Counted from 1 without gaps.
    seq: u64,
    /// In milliseconds since the Unix epoch.
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<String>,
    body: Body,
}

#[derive(Deserialize, Serialize, TS)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[ts(optional_fields)]
pub(crate) enum Body {
    UserMessage {
        content: Vec<Content>,
    },
    Request {
        dialect: String,
        model: String,
    },
    Decision {
        tool_call_id: String,
        decision: Decision,
        hash: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    ToolStarted {
        tool_call_id: String,
    },
    Mode {
        mode: String,
    },
    Todos {
        #[ts(type = "unknown[]")]
        todos: Vec<Value>,
    },
    Condensation {
        up_to: u64,
        summary: String,
    },
    Child {
        session_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<String>,
    },
    End {
        #[ts(type = "\"done\" | \"failed\" | \"cancelled\" | \"interrupted\"")]
        reason: String,
    },
    #[serde(untagged)]
    Agent(AgentEvent),
}

#[derive(Deserialize, Serialize, TS)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(crate) enum Content {
    Text {
        text: String,
    },
    Image {
        media_type: String,
        data: String,
    },
    #[serde(untagged)]
    Other(#[ts(type = "{ type: string } & Record<string, unknown>")] Map<String, Value>),
}

/// A displayed part of a message.
#[derive(Deserialize, Serialize, TS)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) enum Chunk {
    Text {
        text: String,
    },
    Thinking {
        text: String,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        #[ts(type = "unknown")]
        metadata: Option<Value>,
    },
    ToolBatch {
        calls: Vec<ChunkCall>,
    },
    Error {
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(type = "number")]
        status_code: Option<serde_json::Number>,
    },
    System {
        #[ts(type = "\"notice\" | \"model-changed\" | \"config-reload\" | \"cancelled\"")]
        kind: String,
        text: String,
    },
}

/// A call and its outcome.
#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) struct ChunkCall {
    id: String,
    name: String,
    /// The arguments, if they are complete.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown")]
    arguments: Option<Value>,
    /// Otherwise the text of the arguments so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    input_text: Option<String>,
    /// Why they will never be complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    input_error: Option<String>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown")]
    result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_error: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shell_output: Option<ShellOutput>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<Approval>,
    /// The new content of a file, while the model writes the edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    preview: Option<Preview>,
}

#[derive(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShellOutput {
    stdout: String,
    stderr: String,
}

#[derive(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) struct Approval {
    id: String,
    /// Absent until there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Decision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
pub(crate) struct Preview {
    path: String,
    text: String,
}

/// What an event changed in the chunks of a message; `at` is in UTF-16 units.
#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(optional_fields)]
pub(crate) enum ChunkChange {
    Opened {
        chunk: u64,
        value: Chunk,
    },
    Grew {
        chunk: u64,
        at: u64,
        text: String,
    },
    Sealed {
        chunk: u64,
        #[ts(type = "unknown")]
        metadata: Value,
    },
    Called {
        chunk: u64,
        call: u64,
        value: ChunkCall,
    },
    InputGrew {
        chunk: u64,
        call: u64,
        at: u64,
        text: String,
    },
    InputWhole {
        chunk: u64,
        call: u64,
        name: String,
        #[ts(type = "unknown")]
        arguments: Value,
    },
    InputBroken {
        chunk: u64,
        call: u64,
        error: String,
    },
    Answered {
        chunk: u64,
        call: u64,
        #[ts(type = "unknown")]
        result: Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    },
    Wrote {
        chunk: u64,
        call: u64,
        stream: OutputStream,
        at: u64,
        text: String,
    },
    Approval {
        chunk: u64,
        call: u64,
        approval: Approval,
    },
    Previewed {
        chunk: u64,
        call: u64,
        path: String,
        at: u64,
        text: String,
    },
    Dropped(Diagnostic),
    Nothing {},
}

/// A message of a session, as a person sees it.
#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) struct TranscriptMessage {
    #[ts(type = "\"user\" | \"assistant\" | \"system\"")]
    role: String,
    status: TranscriptStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    started_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Tokens>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attachments: Option<Vec<Content>>,
    chunks: Vec<Chunk>,
    events: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<Vec<Diagnostic>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics_omitted: Option<u64>,
}

#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TranscriptStatus {
    Waiting,
    Streaming,
    Done,
    Failed,
    Cancelled,
    Interrupted,
}

/// The messages of a session.
#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) struct TranscriptState {
    /// The version of the form, which is 1.
    v: u64,
    /// The number of the last entry.
    seq: u64,
    messages: Vec<TranscriptMessage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<Vec<Diagnostic>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics_omitted: Option<u64>,
}

/// What an entry changed in a transcript.
#[derive(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) struct Step {
    seq: u64,
    /// The time of the entry.
    at: u64,
    /// The open message that ends because of this entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupted: Option<u64>,
    /// A message that was added at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    opened: Option<TranscriptMessage>,
    effect: Effect,
}

#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    Chunk { message: u64, change: ChunkChange, status: TranscriptStatus },
    Ended { message: u64, status: TranscriptStatus },
    Usage { message: u64, usage: Tokens },
    Model { message: u64, model: String },
    Dropped(Diagnostic),
    Nothing {},
}

/// What had to be repaired in a log for a request.
#[derive(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
pub(crate) struct Repair {
    /// The entry that it is about.
    seq: u64,
    kind: String,
    message: String,
    hint: String,
}
