//! The binary `reknit`: each stage of the engine as a filter on a pipe.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod outcome;
mod interrupt;
mod explain;
mod pieces;
mod print;
mod ask;
mod files;
mod diff;
mod record;
mod view;
mod present;
mod report;
mod read;
mod replay;
mod tools;
mod chunks;
mod apply;
mod undo;
mod log;

use outcome::Outcome;

/// Turn streaming LLM responses into complete messages, tool calls and file edits
#[derive(Parser)]
#[command(name = "reknit", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Read(read::Arguments),
    Replay(replay::Arguments),
    Tools(tools::Arguments),
    Chunks(chunks::Arguments),
    Apply(apply::Arguments),
    Undo(undo::Arguments),
    Log(log::Arguments),
    Explain(explain::Arguments),
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are not errors. If the message cannot be printed, there is nowhere to report it.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let result = match arguments.command {
        Command::Read(arguments) => read::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Tools(arguments) => tools::run(&arguments),
        Command::Chunks(arguments) => chunks::run(&arguments),
        Command::Apply(arguments) => apply::run(&arguments),
        Command::Undo(arguments) => undo::run(&arguments),
        Command::Log(arguments) => log::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
    };
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Partly) => ExitCode::from(1),
        Ok(Outcome::Interrupted) => ExitCode::from(130),
        Err(error) => error.report(),
    }
}

/// Prints a line for people on standard error, if it is still open.
fn print_message(words: std::fmt::Arguments<'_>) {
    let words = words.to_string();
    let words = if std::io::stderr().is_terminal() { view::sanitized(&words) } else { words.into() };
    let _ = writeln!(std::io::stderr(), "{words}");
}
