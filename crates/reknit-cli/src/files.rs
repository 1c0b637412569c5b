//! The user's files and the journal of what was written, and their errors.

use reknit::Hint;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, anyhow};
use reknit_workspace::journal::Keep;
use reknit_workspace::{Journal, Root, edits, journal, root, undo, write};

use crate::outcome::CommandError;
use crate::{explain, interrupt, print_message};

/// Opens the directory that files are below.
pub(crate) fn open_root(directory: &Path) -> Result<Root, CommandError> {
    Ok(Root::open(directory)?)
}

/// Opens the journal in a folder, by default the user's. The folder is created if it does not exist.
pub(crate) fn open_journal(folder: Option<&Path>) -> Result<Journal, CommandError> {
    Ok(Journal::open(journal_folder(folder)?)?.on_wait(|holder| {
        print_message(format_args!("waiting for {holder}, which is writing below this directory"));
    }))
}

/// The same for a command that only looks at it: `None` if nothing was ever written with it.
pub(crate) fn existing_journal(folder: Option<&Path>) -> Result<Option<Journal>, CommandError> {
    let path = journal_folder(folder)?;
    let exists =
        path.try_exists().with_context(|| format!("cannot open the journal `{}`", path.display()))?;
    if exists { open_journal(folder).map(Some) } else { Ok(None) }
}

fn journal_folder(folder: Option<&Path>) -> Result<PathBuf, CommandError> {
    match folder {
        // What is protected and found later must not depend on the current directory.
        Some(folder) => Ok(std::path::absolute(folder).context("cannot find the current directory")?),
        None => Ok(Journal::default_folder()?),
    }
}

/// Finishes or takes back what was interrupted below a directory, and says so.
pub(crate) fn recover(journal: &Journal, root: &Root) -> Result<(), CommandError> {
    if let Some(recovered) = journal.recover(root)? {
        print_message(format_args!("note: {recovered}"));
    }
    Ok(())
}

/// Says if a write was finished although a signal came.
pub(crate) fn mention_signal() {
    if let Some((name, _)) = interrupt::signal() {
        print_message(format_args!("{name} came during the write: all files are written"));
    }
}

/// Says which entries the journal loses if something is written that takes this many bytes there.
pub(crate) fn announce_pruning(journal: &Journal, root: &Root, bytes: u64) -> Result<(), CommandError> {
    let pruned = journal.would_prune(root, &Keep::default(), bytes, SystemTime::now())?;
    if let Some(newest) = pruned.newest {
        print_message(format_args!(
            "note: the journal keeps 30 days and 1 GiB for each directory: this write removes {} from it, up to \
             entry {newest}, which cannot be undone then",
            if pruned.entries == 1 { "1 entry".to_owned() } else { format!("{} entries", pruned.entries) },
        ));
    }
    Ok(())
}

/// Removes old entries of a root from the journal. A failure is reported and has no other consequence.
pub(crate) fn prune(journal: &Journal, root: &Root, now: SystemTime) {
    if let Err(error) = journal.prune(root, &Keep::default(), now) {
        print_message(format_args!("warning: cannot prune the journal: {error}\nhint: {}", error.hint()));
    }
}

impl From<root::Error> for CommandError {
    fn from(error: root::Error) -> Self {
        Self::of(&error).explained_as(explain::PATH)
    }
}

impl From<journal::Error> for CommandError {
    fn from(error: journal::Error) -> Self {
        let hint = match &error {
            journal::Error::Stopped => return Self::Stopped,
            journal::Error::Create { .. } => {
                "choose a folder with `--journal`, or use `apply --no-journal` to write without undo".into()
            }
            journal::Error::Unfinished { .. } => {
                "`reknit log` finishes it or takes it back, unless another process is still writing it".into()
            }
            error => error.hint(),
        };
        Self::with_hint(anyhow!("{error}"), hint).explained_as(explain::WRITE)
    }
}

impl From<write::Error> for CommandError {
    fn from(error: write::Error) -> Self {
        match error {
            write::Error::Journal(error) => error.into(),
            error => Self::of(&error).explained_as(explain::WRITE),
        }
    }
}

impl From<edits::Error> for CommandError {
    fn from(error: edits::Error) -> Self {
        match error {
            edits::Error::Write(error) => error.into(),
            error => Self::of(&error),
        }
    }
}

impl From<undo::Error> for CommandError {
    fn from(error: undo::Error) -> Self {
        match error {
            undo::Error::Journal(error) => Self::from(error).explained_as(explain::UNDO),
            undo::Error::Write(error) => Self::from(error).explained_as(explain::UNDO),
            error => Self::of(&error).explained_as(explain::UNDO),
        }
    }
}
