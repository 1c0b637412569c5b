//! The texts that a model gets as results of its calls.
//!
//! The wording is that of the agents from which models have learnt it; scripts match on it too.

/// The result of a tool that gave nothing.
pub(crate) const NOTHING: &str = "(tool did not return anything)";

pub(crate) fn error(message: &str) -> String {
    format!("The tool execution failed with the following error:\n<error>\n{message}\n</error>")
}

pub(crate) fn denied(words: Option<&str>) -> String {
    match words {
        None => "The user denied this operation.".to_owned(),
        Some(words) => format!(
            "The user denied this operation and responded with the message:\n\
             <user_message>\n{words}\n</user_message>"
        ),
    }
}

/// Comes before the result of a call that was approved with words.
pub(crate) fn approved(words: &str) -> String {
    format!(
        "The user approved this operation and provided the following context:\n\
         <feedback>\n{words}\n</feedback>\n"
    )
}

pub(crate) fn skipped(description: &str) -> String {
    format!("Skipping tool {description} due to user rejecting a previous tool.")
}

pub(crate) fn interrupted_by_rejection(description: &str) -> String {
    format!("Tool {description} was interrupted and not executed due to user rejecting a previous tool.")
}

pub(crate) fn only_one(name: &str) -> String {
    format!(
        "Tool [{name}] was not executed because a tool has already been used in this message. Only one tool \
         may be used per message. You must assess the first tool's result before proceeding to use the next tool."
    )
}

pub(crate) fn after_completion(description: &str) -> String {
    format!("Tool {description} was not executed because the task was completed before it.")
}

pub(crate) fn completion_after_failure(description: &str) -> String {
    format!(
        "Tool {description} was not executed because another tool failed in this message. Look at its result \
         before you complete the task."
    )
}

pub(crate) fn cut(description: &str) -> String {
    format!("Tool {description} was not executed: the call was cut off before its arguments were complete.")
}

pub(crate) fn cancelled(description: &str) -> String {
    format!("Tool {description} was cancelled by the user.")
}

pub(crate) fn interrupted() -> String {
    "Task was interrupted before this tool call could be completed.".to_owned()
}

#[cfg(feature = "session")]
pub(crate) fn unknown_tool<'a>(name: &str, available: impl Iterator<Item = &'a str>) -> String {
    let available: Vec<_> = available.collect();
    format!(
        "Unknown tool \"{name}\". This tool does not exist. Please use one of the available tools: {}.",
        available.join(", ")
    )
}

#[cfg(feature = "session")]
pub(crate) fn not_allowed(name: &str, mode: &str) -> String {
    format!("Tool \"{name}\" is not allowed in {mode} mode.")
}
