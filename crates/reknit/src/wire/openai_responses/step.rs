//! [`Step`]: the meaning of an event, by its name.

use super::call_kind::Inner;
use super::part::{Moment, Part};
use crate::event::Opening;
use crate::wire::blocks::{TEXT, THINKING};

/// The meaning of an event, by its name.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// The response begins, goes on or ends.
    Response(&'a str),
    Added,
    Done,
    /// A step of an item of this type.
    Item(&'a str, ItemStep<'a>),
    Audio(&'static str),
    Unknown,
}

/// The meaning of an event about an item.
#[derive(Debug)]
pub(super) enum ItemStep<'a> {
    Part(Part, Moment),
    /// A text that is a block.
    Text(Part, Opening),
    /// The text of a call's arguments, in this member.
    Arguments(&'a str),
    /// A string inside a call's arguments.
    Inner(Inner),
    ShellOutput,
    PartialImage,
    /// What `status` will be when the item is sent again. Keeping it now lets a reader show that a search is
    /// running.
    Status(&'a str),
}

pub(super) const PREFIX: &str = "response.";

impl<'a> Step<'a> {
    /// The step of an event with this name, about the part of an item with this index.
    pub(super) fn of(name: &'a str, index: u64) -> Self {
        const REFUSAL: Opening = Opening::Text { refusal: true };
        let Some(name) = name.strip_prefix(PREFIX) else { return Self::Unknown };
        let Some((family, step)) = name.rsplit_once('.') else {
            return if LIFECYCLE.contains(&name) { Self::Response(name) } else { Self::Unknown };
        };
        let (content, summary) = (Part::Content(index), Part::Summary(index));
        let (word, step) = match (family, step) {
            ("output_item", "added") => return Self::Added,
            ("output_item", "done") => return Self::Done,
            ("audio", "delta" | "done") => return Self::Audio("data"),
            ("audio.transcript", "delta" | "done") => return Self::Audio("transcript"),
            ("content_part", "added") => ("message", ItemStep::Part(content, Moment::Begin)),
            ("content_part", "done") => ("message", ItemStep::Part(content, Moment::End)),
            ("reasoning_summary_part", "added") => ("reasoning", ItemStep::Part(summary, Moment::Begin)),
            ("reasoning_summary_part", "done") => ("reasoning", ItemStep::Part(summary, Moment::End)),
            ("output_text", "delta" | "done") | ("output_text.annotation", "added") => {
                ("message", ItemStep::Text(content, TEXT))
            }
            ("refusal", "delta" | "done") => ("message", ItemStep::Text(content, REFUSAL)),
            ("reasoning_text", "delta" | "done") => ("reasoning", ItemStep::Text(content, THINKING)),
            ("reasoning_summary_text", "delta" | "done") => ("reasoning", ItemStep::Text(summary, THINKING)),
            ("function_call_arguments", "delta" | "done") => {
                ("function_call", ItemStep::Arguments("arguments"))
            }
            ("custom_tool_call_input", "delta" | "done") => {
                ("custom_tool_call", ItemStep::Arguments("input"))
            }
            ("mcp_call_arguments", "delta" | "done") => ("mcp_call", ItemStep::Arguments("arguments")),
            ("code_interpreter_call_code", "delta" | "done") => {
                ("code_interpreter_call", ItemStep::Inner(Inner::Code))
            }
            ("apply_patch_call_operation_diff", "delta" | "done") => {
                ("apply_patch_call", ItemStep::Inner(Inner::Diff))
            }
            ("shell_call_command", "added" | "delta" | "done") => {
                ("shell_call", ItemStep::Inner(Inner::Command(index)))
            }
            ("shell_call_output_content", "delta" | "done") => ("shell_call_output", ItemStep::ShellOutput),
            ("image_generation_call", "partial_image") => (family, ItemStep::PartialImage),
            (family, step) if PROGRESS.contains(&step) && WORKING.iter().any(|end| family.ends_with(end)) => {
                (family, ItemStep::Status(step))
            }
            _ => return Self::Unknown,
        };
        Self::Item(word, step)
    }
}

/// Events that carry the whole response.
const LIFECYCLE: [&str; 7] =
    ["created", "queued", "in_progress", "completed", "incomplete", "failed", "cancelled"];

/// The values of `status` of an item that the provider works on.
const PROGRESS: [&str; 6] = ["in_progress", "searching", "interpreting", "generating", "completed", "failed"];

/// The suffix of the types of items that the provider works on.
const WORKING: [&str; 2] = ["_call", "mcp_list_tools"];
