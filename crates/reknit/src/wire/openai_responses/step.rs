//! [`Step`]: the meaning of an event, by its name.

use super::arguments::Inner;
use super::part::{Moment, Part};
use crate::event::Opening;

/// The meaning of an event, by its name.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// The response begins, goes on or ends.
    Response(&'a str),
    Added,
    Done,
    Part(fn(u64) -> Part, Moment),
    /// A text that is a block.
    Text(&'static str, fn(u64) -> Part, Opening),
    /// The text of a call's arguments.
    Arguments(&'static str),
    /// A string inside a call's arguments.
    Inner(&'static str, fn(u64) -> Inner),
    ShellOutput,
    Audio(&'static str),
    PartialImage,
    /// The status of an item that the provider works on.
    Progress(&'a str, &'a str),
    Unknown,
}

pub(super) const PREFIX: &str = "response.";

impl<'a> Step<'a> {
    pub(super) fn of(name: &'a str) -> Self {
        const TEXT: Opening = Opening::Text { refusal: false };
        const REFUSAL: Opening = Opening::Text { refusal: true };
        const THINKING: Opening = Opening::Thinking { redacted: None };
        let Some(name) = name.strip_prefix(PREFIX) else { return Self::Unknown };
        let Some((family, step)) = name.rsplit_once('.') else {
            return if LIFECYCLE.contains(&name) { Self::Response(name) } else { Self::Unknown };
        };
        match (family, step) {
            ("output_item", "added") => Self::Added,
            ("output_item", "done") => Self::Done,
            ("content_part", "added") => Self::Part(Part::Content, Moment::Begin),
            ("content_part", "done") => Self::Part(Part::Content, Moment::End),
            ("reasoning_summary_part", "added") => Self::Part(Part::Summary, Moment::Begin),
            ("reasoning_summary_part", "done") => Self::Part(Part::Summary, Moment::End),
            ("output_text", "delta" | "done") | ("output_text.annotation", "added") => {
                Self::Text("message", Part::Content, TEXT)
            }
            ("refusal", "delta" | "done") => Self::Text("message", Part::Content, REFUSAL),
            ("reasoning_text", "delta" | "done") => Self::Text("reasoning", Part::Content, THINKING),
            ("reasoning_summary_text", "delta" | "done") => Self::Text("reasoning", Part::Summary, THINKING),
            ("function_call_arguments", "delta" | "done") => Self::Arguments("function_call"),
            ("custom_tool_call_input", "delta" | "done") => Self::Arguments("custom_tool_call"),
            ("mcp_call_arguments", "delta" | "done") => Self::Arguments("mcp_call"),
            ("code_interpreter_call_code", "delta" | "done") => {
                Self::Inner("code_interpreter_call", |_| Inner::Code)
            }
            ("apply_patch_call_operation_diff", "delta" | "done") => {
                Self::Inner("apply_patch_call", |_| Inner::Diff)
            }
            ("shell_call_command", "added" | "delta" | "done") => Self::Inner("shell_call", Inner::Command),
            ("shell_call_output_content", "delta" | "done") => Self::ShellOutput,
            ("audio", "delta" | "done") => Self::Audio("data"),
            ("audio.transcript", "delta" | "done") => Self::Audio("transcript"),
            ("image_generation_call", "partial_image") => Self::PartialImage,
            (family, step) if PROGRESS.contains(&step) && WORKING.iter().any(|end| family.ends_with(end)) => {
                Self::Progress(family, step)
            }
            _ => Self::Unknown,
        }
    }
}

/// Events that carry the whole response.
const LIFECYCLE: [&str; 7] =
    ["created", "queued", "in_progress", "completed", "incomplete", "failed", "cancelled"];

/// The values of `status` of an item that the provider works on.
const PROGRESS: [&str; 6] = ["in_progress", "searching", "interpreting", "generating", "completed", "failed"];

/// The suffix of the types of items that the provider works on.
const WORKING: [&str; 2] = ["_call", "mcp_list_tools"];
