//! A message and its changes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use super::{is_zero, present};

/// The address of a block: a number, or two for a block that was found in the text of another one.
#[derive(Deserialize, Serialize, TS)]
#[serde(untagged)]
pub(crate) enum Slot {
    Sent(u32),
    Found(u32, u32),
}

/// What was unexpected in a stream, a text or a session.
#[derive(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) struct Diagnostic {
    #[ts(type = "DiagnosticKind")]
    kind: String,
    /// The byte of the input, or the one where the frame begins with which it was noticed.
    #[serde(rename = "at", skip_serializing_if = "Option::is_none")]
    #[ts(rename = "atByte")]
    at_byte: Option<u64>,
    /// The number of the frame, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<u64>,
    /// The block in whose text it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<Slot>,
    /// The byte of that text.
    #[serde(rename = "offset", skip_serializing_if = "Option::is_none")]
    #[ts(rename = "offsetByte")]
    offset_byte: Option<u64>,
    /// The number of the event, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<u64>,
    message: String,
    /// What to do about it.
    hint: String,
}

#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Waiting,
    Streaming,
    Stopped,
    Failed,
    Cut,
}

#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StopReason {
    End,
    Length,
    Tool,
    StopSequence,
    Refusal,
    Filter,
    Pause,
    Other,
}

/// Numbers of tokens, as the provider counts them.
#[derive(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) struct Usage {
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_read: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_write: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<u64>,
}

/// The error of a provider.
#[derive(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) struct ProviderFailure {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    message: String,
    #[ts(type = "unknown")]
    raw: Value,
}

/// A reply, the same for every provider. What is unknown is absent.
#[derive(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) struct Message {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    /// `stopped`: it is complete. `cut`: the stream ended before. `failed`: the provider reported an error.
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<StopReason>,
    /// The provider's own word for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ProviderFailure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    blocks: Vec<Block>,
    /// Only if there are several; each block then has a `choice`.
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<Vec<Choice>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "Record<string, unknown>")]
    choice_extra: Option<Map<String, Value>>,
    /// Fields that are not part of this form, under the provider's names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "Record<string, unknown>")]
    extra: Option<Map<String, Value>>,
    diagnostics: Vec<Diagnostic>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics_omitted: Option<u64>,
}

#[derive(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) struct Choice {
    index: u32,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<StopReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_detail: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "Record<string, unknown>")]
    extra: Option<Map<String, Value>>,
}

/// How a block ended: `closed` is complete, and only then a call may be acted on.
#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    Closed,
    Cut,
    Malformed,
}

/// A part of a message.
#[derive(Deserialize, Serialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(optional_fields)]
pub(crate) enum Block {
    Text {
        #[serde(skip_serializing_if = "Option::is_none")]
        choice: Option<u32>,
        text: String,
        /// Whether the model refuses the request with it.
        #[serde(skip_serializing_if = "Option::is_none")]
        refusal: Option<bool>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(type = "Record<string, unknown>")]
        extra: Option<Map<String, Value>>,
    },
    Thinking {
        #[serde(skip_serializing_if = "Option::is_none")]
        choice: Option<u32>,
        text: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        redacted: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(type = "\"tagged\"")]
        origin: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(type = "Record<string, unknown>")]
        extra: Option<Map<String, Value>>,
    },
    ToolCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        choice: Option<u32>,
        id: String,
        name: String,
        /// `provider` if the provider runs the call itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(type = "\"provider\"")]
        runner: Option<String>,
        /// Absent while its arguments arrive.
        #[serde(skip_serializing_if = "Option::is_none")]
        end: Option<End>,
        /// The arguments, if they are complete.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        #[ts(type = "unknown")]
        input: Option<Value>,
        /// Their text otherwise.
        #[serde(skip_serializing_if = "Option::is_none")]
        raw: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(type = "\"tagged\"")]
        origin: Option<String>,
        /// `true` if there is a list of tools and this one is not in it.
        #[serde(skip_serializing_if = "Option::is_none")]
        unknown: Option<bool>,
        /// The id of the call that contains this one.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(type = "Record<string, unknown>")]
        extra: Option<Map<String, Value>>,
    },
    ToolResult {
        #[serde(skip_serializing_if = "Option::is_none")]
        choice: Option<u32>,
        kind: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
        #[serde(flatten)]
        #[ts(type = "Record<string, unknown>", skip)]
        rest: Map<String, Value>,
    },
    Other {
        #[serde(skip_serializing_if = "Option::is_none")]
        choice: Option<u32>,
        kind: String,
        #[ts(type = "Record<string, unknown>")]
        raw: Map<String, Value>,
    },
}

/// What one step changed in a message, as a patch: all of them together give the message.
#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(optional_fields)]
pub(crate) enum Change {
    /// A message starts; if there was one already, the next one starts.
    Started {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        role: Option<String>,
    },
    Opened(Opened),
    /// The id and name of a call, as far as they are known.
    Named {
        block: Slot,
        id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        invented: Option<bool>,
        name: String,
    },
    /// More text, thinking or arguments; `at` is where, in UTF-16 units.
    Grew {
        block: Slot,
        at: u64,
        text: String,
    },
    /// More of a signature; `at` is where, in UTF-16 units.
    Signed {
        block: Slot,
        at: u64,
        signature: String,
    },
    Closed {
        block: Slot,
        #[serde(skip_serializing_if = "Option::is_none")]
        end: Option<End>,
        #[serde(skip_serializing_if = "Option::is_none")]
        notice: Option<Diagnostic>,
        #[serde(skip_serializing_if = "Option::is_none")]
        raw: Option<String>,
    },
    Kept {
        owner: Owner,
        key: String,
        keep: Keep,
    },
    Switched {
        model: String,
    },
    Usage(Usage),
    Stopped {
        #[serde(default, skip_serializing_if = "is_zero")]
        #[ts(as = "Option<u64>")]
        choice: u64,
        reason: StopReason,
        detail: String,
    },
    Ended {
        #[serde(skip_serializing_if = "Option::is_none")]
        notice: Option<Diagnostic>,
    },
    Cut {},
    Failed(ProviderFailure),
    Noticed(Diagnostic),
    Ping {},
}

/// A block starts.
#[derive(Deserialize, Serialize, TS)]
#[ts(optional_fields)]
pub(crate) struct Opened {
    block: Slot,
    #[serde(default, skip_serializing_if = "is_zero")]
    #[ts(as = "Option<u64>")]
    choice: u64,
    #[serde(flatten)]
    opening: Opening,
}

#[derive(Deserialize, Serialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(optional_fields)]
pub(crate) enum Opening {
    Text {
        #[serde(skip_serializing_if = "Option::is_none")]
        refusal: Option<bool>,
    },
    Thinking {
        #[serde(skip_serializing_if = "Option::is_none")]
        redacted: Option<String>,
    },
    ToolCall {
        id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        invented: Option<bool>,
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(type = "\"provider\"")]
        runner: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(type = "\"plain\"")]
        notation: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        origin: Option<Origin>,
    },
    ToolResult {
        kind: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
    },
    Other {
        kind: String,
    },
}

#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(optional_fields)]
pub(crate) enum Origin {
    Tagged {
        known: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent: Option<String>,
    },
}

/// What a kept field belongs to.
#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Owner {
    Message,
    Choice(u32),
    Block(Slot),
}

/// What to do with a kept field.
#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Keep {
    Set(#[ts(type = "unknown")] Value),
    Push(#[ts(type = "unknown")] Value),
    Grow(String),
    Merge(#[ts(type = "unknown")] Value),
}
