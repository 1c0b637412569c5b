//! `reknit completions`: the commands and options, for a shell.

use std::io::{self, Write};

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::outcome::{CommandError, Outcome};

/// Print the completions of commands, options and names for a shell
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit completions bash > ~/.local/share/bash-completion/completions/reknit
  reknit completions fish > ~/.config/fish/completions/reknit.fish
  reknit completions zsh > ~/.zfunc/_reknit    with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc")]
pub(crate) struct Arguments {
    /// Shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::Arguments::command(), "reknit", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(Outcome::Done)
}
