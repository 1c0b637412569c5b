//! What can be wrong with the journal.

use reknit::Hint;
use std::borrow::Cow;
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
    /// The folder of the journal cannot be created.
    #[error("`{}`: cannot create the journal: {source}", path.display())]
    Create {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
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
    /// The file of an entry is missing.
    #[error("entry {id} of the journal is missing: `{}`", path.display())]
    Missing {
        /// The number.
        id: EntryId,
        /// Where the file should be.
        path: PathBuf,
    },
    /// A record of a log is damaged.
    #[error("a record of the journal is damaged: `{}` at byte {at}: {what}", path.display())]
    DamagedRecord {
        /// The file.
        path: PathBuf,
        /// Where the record begins.
        at: u64,
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
    /// The last entry was interrupted, and has to be recovered first.
    #[error("entry {id} was interrupted, or is still being written")]
    Unfinished {
        /// The number.
        id: EntryId,
    },
    /// All numbers of entries are used.
    #[error("the journal has no number for another entry")]
    Full,
    /// The caller stopped the write before it changed a file.
    #[error("stopped before anything was written")]
    Stopped,
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

impl Hint for Error {
    fn hint(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::NoHome => "set `XDG_STATE_HOME` to an absolute path, or choose a folder",
            Self::Create { .. } => {
                "choose a folder for the journal that you can write to, or write without one"
            }
            Self::NoEntry { .. } => "check the log; old entries are removed",
            Self::Damaged { .. } | Self::Missing { .. } | Self::DamagedRecord { .. } => {
                "the other entries can still be undone by their numbers"
            }
            Self::Lost { .. } => "skip this file to undo the other files of the entry",
            Self::Unfinished { .. } => {
                "the next write, undo or recovery below the root finishes it or takes it back"
            }
            Self::Full => "move the folder of the journal away, to start with an empty one",
            Self::Stopped => "start again to write",
            Self::Io { .. } => "check permissions and free disk space",
        })
    }
}
