//! The binary `reknit` as a script sees it: what is on stdout, what on stderr, and the exit code.

mod apply;
mod apply_replies;
mod chunks;
#[cfg(unix)]
mod colours;
mod command;
mod corpus;
#[cfg(unix)]
mod dialogue;
mod edit_cases;
mod endings;
mod explain;
mod folder;
mod help;
#[cfg(unix)]
mod injected;
mod inputs;
#[cfg(target_os = "linux")]
mod memory;
mod moves;
mod outputs;
mod pipes;
#[cfg(unix)]
mod providers;
#[cfg(unix)]
mod pty;
#[cfg(unix)]
mod readme;
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod several;
#[cfg(unix)]
mod shells;
mod streaming;
#[cfg(unix)]
mod terminal;
mod tools;
mod safety;
mod undo;
