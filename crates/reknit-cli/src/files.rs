//! The user's files and the journal of what was written, and their errors.

use std::path::Path;
use std::time::SystemTime;

use anyhow::anyhow;
use reknit_workspace::journal::Keep;
use reknit_workspace::{Journal, Root, edits, journal, root, undo, write};

use crate::outcome::CommandError;
use crate::{explain, print_message};

/// Opens the directory that files are below.
pub(crate) fn open_root(directory: &Path) -> Result<Root, CommandError> {
    Ok(Root::open(directory)?)
}

/// Opens the user's journal.
pub(crate) fn open_journal() -> Result<Journal, CommandError> {
    Ok(Journal::open(Journal::default_folder()?)?)
}

/// Removes old entries from the journal. A failure is reported and has no other consequence.
pub(crate) fn prune(journal: &Journal, now: SystemTime) {
    if let Err(error) = journal.prune(&Keep::default(), now) {
        print_message(format_args!("warning: cannot prune the journal: {error}\nhint: {}", error.hint()));
    }
}

impl From<root::Error> for CommandError {
    fn from(error: root::Error) -> Self {
        Self::with_hint(anyhow!("{error}"), error.hint()).explained_as(explain::PATH)
    }
}

impl From<journal::Error> for CommandError {
    fn from(error: journal::Error) -> Self {
        Self::with_hint(anyhow!("{error}"), error.hint()).explained_as(explain::WRITE)
    }
}

impl From<write::Error> for CommandError {
    fn from(error: write::Error) -> Self {
        Self::with_hint(anyhow!("{error}"), error.hint()).explained_as(explain::WRITE)
    }
}

impl From<edits::Error> for CommandError {
    fn from(error: edits::Error) -> Self {
        match error {
            edits::Error::Write(error) => error.into(),
            error => Self::with_hint(anyhow!("{error}"), error.hint()),
        }
    }
}

impl From<undo::Error> for CommandError {
    fn from(error: undo::Error) -> Self {
        Self::with_hint(anyhow!("{error}"), error.hint()).explained_as(explain::UNDO)
    }
}
