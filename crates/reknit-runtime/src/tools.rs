//! The tools that come with a session: files, search, commands, and talking to the user.
//!
//! [`standard`] has all of them. A tool of your own goes beside them with [`Tools::with`]:
//!
//! ```
//! let tools = reknit_runtime::tools::standard();
//! assert!(tools.get("read_file").is_some());
//! assert_eq!(tools.definitions().count(), 10);
//! ```
//!
//! What all of them keep to:
//!
//! - Nothing outside the root is read or written by them, whatever the path says and wherever a symlink leads. A
//!   command is the exception: it runs with the rights of the user, which is why somebody is asked first.
//! - Files are written through [`reknit_workspace`] alone, so every write can be undone.
//! - What goes to the model has a limit, and what was left out is said together with how to get it.
//! - A failure says what is wrong and what to do next, because a model is going to read it.

use crate::tool::Tools;

mod arguments;
mod blocking;
mod place;
mod nearest;
mod secret;
mod excerpt;
mod diff;
mod change;
pub mod group;
pub mod preview;

mod read_file;
mod write_to_file;
mod apply_diff;
mod edit;
mod list_files;
mod search_files;
mod execute_command;
mod read_command_output;
mod attempt_completion;
mod ask_followup_question;

/// All tools of this module.
pub fn standard() -> Tools {
    Tools::new()
        .with(read_file::ReadFile::new())
        .with(write_to_file::WriteToFile::new())
        .with(apply_diff::ApplyDiff::new())
        .with(edit::Edit::new())
        .with(list_files::ListFiles::new())
        .with(search_files::SearchFiles::new())
        .with(execute_command::ExecuteCommand::new())
        .with(read_command_output::ReadCommandOutput::new())
        .with(attempt_completion::AttemptCompletion::new())
        .with(ask_followup_question::AskFollowupQuestion::new())
}
