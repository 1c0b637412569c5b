//! `reknit man`: the manual pages, for packages.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, CommandFactory};

use crate::outcome::{CommandError, Outcome};

/// Write the manual pages of all commands into a folder
#[derive(Args)]
#[command(after_help = "\
Examples:
  reknit man ~/.local/share/man/man1    then `man reknit-read` shows one of them")]
pub(crate) struct Arguments {
    /// Folder, which must exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, CommandError> {
    let folder = &arguments.folder;
    let doing = || format!("cannot write the manual pages into `{}`", folder.display());
    clap_mangen::generate_to(crate::Arguments::command(), folder).with_context(doing)?;
    Ok(Outcome::Done)
}
