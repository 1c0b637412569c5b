//! The user's files: where they are, the journal of what was written, and what can be wrong with them.

use std::path::Path;
use std::time::SystemTime;

use anyhow::anyhow;
use reknit_workspace::journal::Keep;
use reknit_workspace::{Journal, Root, journal, root, undo, write};

use crate::outcome::Trouble;
use crate::{explain, tell};

/// Opens the directory that files are below.
pub(crate) fn open_root(directory: &Path) -> Result<Root, Trouble> {
    Ok(Root::open(directory)?)
}

/// Opens the user's journal.
pub(crate) fn open_journal() -> Result<Journal, Trouble> {
    Ok(Journal::open(Journal::default_folder()?)?)
}

/// Removes what is old from the journal. That it fails is worth a word, and no more.
pub(crate) fn prune(journal: &Journal, now: SystemTime) {
    if let Err(error) = journal.prune(&Keep::default(), now) {
        tell(format_args!("warning: the journal could not be pruned: {error}\nhint: {}", error.hint()));
    }
}

impl From<root::Error> for Trouble {
    fn from(error: root::Error) -> Self {
        Self::with_hint(anyhow!("{error}"), error.hint()).explained_as(explain::PATH)
    }
}

impl From<journal::Error> for Trouble {
    fn from(error: journal::Error) -> Self {
        Self::with_hint(anyhow!("{error}"), error.hint()).explained_as(explain::WRITE)
    }
}

impl From<write::Error> for Trouble {
    fn from(error: write::Error) -> Self {
        Self::with_hint(anyhow!("{error}"), error.hint()).explained_as(explain::WRITE)
    }
}

impl From<undo::Error> for Trouble {
    fn from(error: undo::Error) -> Self {
        Self::with_hint(anyhow!("{error}"), error.hint()).explained_as(explain::UNDO)
    }
}
