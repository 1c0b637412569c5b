//! What can be wrong with the journal.

use std::io;
use std::path::PathBuf;

use super::EntryId;
use crate::stamp::Hash;

/// What is wrong with the journal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Neither a state folder nor a home directory is known.
    #[error("no folder for the journal: neither `XDG_STATE_HOME` nor a home directory is known")]
    NoHome,
    /// No entry has this number.
    #[error("no entry {id} in the journal")]
    NoEntry {
        /// The number.
        id: EntryId,
    },
    /// The file of an entry is damaged.
    #[error("entry {id} of the journal is damaged: `{}`: {what}", path.display())]
    Damaged {
        /// The number.
        id: EntryId,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The saved content of a file is missing or damaged.
    #[error("a saved file is missing or damaged: `{}`", path.display())]
    Lost {
        /// The hash of the content.
        hash: Hash,
        /// The file in the journal that should contain it.
        path: PathBuf,
    },
    /// A system call failed.
    #[error("`{}`: {doing}: {source}", path.display())]
    Io {
        /// The file or folder in the journal.
        path: PathBuf,
        /// What it was for.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoHome => "set `XDG_STATE_HOME` to an absolute path, or choose a folder",
            Self::NoEntry { .. } => "check the log; old entries are removed",
            Self::Damaged { .. } => {
                "the other entries can still be undone; delete the file to stop this message"
            }
            Self::Lost { .. } => "skip this file to undo the other files of the entry",
            Self::Io { .. } => "check permissions and free disk space",
        }
    }
}
