//! The binary `reknit` as a script sees it: what is on stdout, what on stderr, and the exit code.

mod command;
mod corpus;
mod endings;
mod explain;
mod help;
mod outputs;
mod pipes;
#[cfg(unix)]
mod pty;
#[cfg(unix)]
mod terminal;
mod tools;
