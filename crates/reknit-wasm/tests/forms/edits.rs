//! What became of edits.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// What became of the edits of an answer.
#[derive(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) struct EditReport {
    /// How the edits are written, if that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(type = "EditFormat")]
    format: Option<String>,
    files: Vec<FileReport>,
    /// What looks like an edit but cannot be read as one.
    problems: Vec<EditProblem>,
}

#[derive(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) struct FileReport {
    /// As the answer names it: check it before you write.
    path: String,
    #[ts(type = "\"create\" | \"update\" | \"delete\" | \"move\" | \"missing\"")]
    action: String,
    /// Where it is moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    /// The new content, if it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// The new content, if it is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(type = "Uint8Array")]
    bytes: Option<String>,
    edits: Vec<EditOutcome>,
}

/// The lines of a place, counted from 1, both included.
type Lines = (u64, u64);

#[derive(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) struct EditOutcome {
    /// The number of the edit in the answer, counted from 0.
    index: u64,
    /// The line of the answer where it begins.
    line: u64,
    #[ts(type = "\"applied\" | \"unchanged\" | \"rejected\"")]
    outcome: String,
    /// What differed between the search text and the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(type = "How")]
    how: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Lines>,
    /// All places of an edit that has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    places: Option<Vec<Lines>>,
    /// The earlier edit in whose replacement it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    inside: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(type = "Array<{ kind: string; line?: number; text?: string }>")]
    notes: Option<Vec<Value>>,
    /// Why it was rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(type = "EditReason")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// The lines at which the places of an ambiguous edit begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Vec<u64>>,
    /// The earlier edit that is in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    edit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fitting: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    heading: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    /// The place that comes closest.
    #[serde(skip_serializing_if = "Option::is_none")]
    closest: Option<Closest>,
    /// What was put right in how the edit is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(type = "Array<{ kind: string; line: number }>")]
    repairs: Option<Vec<Value>>,
}

#[derive(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
pub(crate) struct Closest {
    lines: Lines,
    /// How much of the search text is there, from 0 to 1.
    score: f64,
    /// The search text (`-`) beside what is there (`+`).
    diff: String,
}

#[derive(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub(crate) struct EditProblem {
    #[ts(type = "EditProblemKind")]
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<String>,
    message: String,
    hint: String,
    /// How such an edit is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<String>,
}
