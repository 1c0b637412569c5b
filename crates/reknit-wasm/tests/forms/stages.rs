//! The stages alone: frames, JSON, calls in text.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::message::{Diagnostic, End};
use super::present;

/// What is found in a stream. The `problem`s of a frame come before it; nothing comes after a `refused`.
#[derive(Deserialize, Serialize, TS)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Found {
    Data(Frame),
    Comment(Frame),
    Error(Frame),
    Problem(Diagnostic),
    Refused {
        #[ts(type = "DiagnosticKind")]
        kind: String,
        message: String,
        hint: String,
    },
}

/// A server-sent event, a line, an element of an array, or a message of AWS.
#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub(crate) struct Frame {
    /// Counted from 0.
    number: u64,
    start_byte: u64,
    /// The byte after its last one.
    end_byte: u64,
    data: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// In milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry: Option<u64>,
}

/// What a piece changed in a value; `path` is a JSON pointer.
#[derive(Deserialize, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JsonChange {
    /// An empty string, array or object was added.
    Opened {
        path: String,
        #[ts(type = "\"\" | never[] | Record<string, never>")]
        value: Value,
    },
    /// A string got longer.
    Grew { path: String, text: String },
    /// A null, boolean or number was added.
    Scalar {
        path: String,
        #[ts(type = "null | boolean | number | bigint")]
        value: Value,
    },
    /// A string, array or object is complete.
    Closed { path: String },
}

/// The blocks of a model's text.
#[derive(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) struct TextBlocks {
    blocks: Vec<TextBlock>,
    diagnostics: Vec<Diagnostic>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics_omitted: Option<u64>,
}

/// A part of a model's text; `partial` is true if it was not closed.
#[derive(Deserialize, Serialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) enum TextBlock {
    Text {
        text: String,
        partial: bool,
    },
    Thinking {
        text: String,
        partial: bool,
    },
    ToolCall {
        name: String,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        #[ts(type = "unknown", optional = false)]
        params: Option<Value>,
        partial: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        end: Option<End>,
        /// The call as the model wrote it, if its `end` is not `closed`.
        #[serde(skip_serializing_if = "Option::is_none")]
        raw: Option<String>,
        /// `true` if there is a list of tools and this one is not in it.
        #[serde(skip_serializing_if = "Option::is_none")]
        unknown: Option<bool>,
        /// The number of the block that contains this one.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent: Option<u64>,
    },
}
