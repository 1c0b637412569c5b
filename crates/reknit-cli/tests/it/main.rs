//! The binary `reknit` as a script sees it: what is on stdout, what on stderr, and the exit code.

mod apply;
mod apply_replies;
mod chunks;
mod command;
mod corpus;
#[cfg(unix)]
mod dialogue;
mod edit_cases;
mod endings;
mod explain;
mod folder;
mod help;
#[cfg(target_os = "linux")]
mod memory;
mod moves;
mod outputs;
mod pipes;
#[cfg(unix)]
mod pty;
mod streaming;
#[cfg(unix)]
mod terminal;
mod tools;
mod safety;
mod undo;
