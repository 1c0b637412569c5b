//! The binary `reknit`: each stage of the engine as a filter on a pipe.

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

mod colour;
mod message;
mod outcome;
mod interrupt;
mod names;
mod explain;
mod pieces;
mod print;
mod ask;
mod configuration;
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
mod run;
mod sessions;
mod models;
mod doctor;
mod completions;
mod man;

use colour::When;
use message::print_message;
use outcome::Outcome;

/// Turn streaming LLM responses into complete messages, tool calls and file edits
#[derive(Parser)]
#[command(name = "reknit", version, long_version = LONG_VERSION, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,

    /// When to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    #[arg(global = true, display_order = 500)]
    color: When,

    /// Print errors only: no warnings, notes, progress or summary
    #[arg(short, long, global = true, display_order = 501)]
    quiet: bool,
}

/// What a bug report should begin with.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("REKNIT_COMMIT"),
    ")\nfeatures: gzip, zlib, zstd\ntarget: ",
    env!("REKNIT_TARGET"),
    ", ",
    env!("REKNIT_PROFILE"),
);

#[derive(Subcommand)]
enum Command {
    Run(run::Arguments),
    Sessions(sessions::Arguments),
    Models(models::Arguments),
    Doctor(doctor::Arguments),
    Read(read::Arguments),
    Replay(replay::Arguments),
    Tools(tools::Arguments),
    Chunks(chunks::Arguments),
    Apply(apply::Arguments),
    Undo(undo::Arguments),
    Log(log::Arguments),
    Explain(explain::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
}

fn main() -> ExitCode {
    let words = chunks::with_joined_name(env::args_os().collect());
    let arguments = match parse(&words) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are not errors. If the message cannot be printed, there is nowhere to report it.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let result = match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Sessions(arguments) => sessions::run(&arguments),
        Command::Models(arguments) => models::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Read(arguments) => read::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Tools(arguments) => tools::run(&arguments),
        Command::Chunks(arguments) => chunks::run(&arguments),
        Command::Apply(arguments) => apply::run(&arguments),
        Command::Undo(arguments) => undo::run(&arguments),
        Command::Log(arguments) => log::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
    };
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Partly) => ExitCode::from(1),
        Ok(Outcome::Unreadable) => ExitCode::from(2),
        Ok(Outcome::Interrupted) => ExitCode::from(interrupt::exit_code()),
        Err(error) => error.report(),
    }
}

/// The arguments, and what they say about all commands.
fn parse(words: &[OsString]) -> Result<Arguments, clap::Error> {
    // Errors and help have colours too.
    colour::choose(colour::named_in(words));
    let matches = Arguments::command().color(colour::for_clap()).try_get_matches_from(words)?;
    let arguments = Arguments::from_arg_matches(&matches)?;
    colour::choose(arguments.color);
    if arguments.quiet {
        message::be_quiet();
    }
    Ok(arguments)
}
