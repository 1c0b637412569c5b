//! What can be wrong with the journal.

use std::io;
use std::path::PathBuf;

use super::EntryId;
use crate::stamp::Hash;

/// What is wrong with the journal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is neither a state folder nor a home to have one in.
    #[error("there is no folder for the journal: neither `XDG_STATE_HOME` nor a home is known")]
    NoHome,
    /// There is no entry of this number.
    #[error("there is no entry {id} in the journal")]
    NoEntry {
        /// The number.
        id: EntryId,
    },
    /// The file of an entry is not what was written.
    #[error("entry {id} of the journal is damaged: `{}`: {what}", path.display())]
    Damaged {
        /// The number.
        id: EntryId,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The content of a file before an entry is missing or damaged.
    #[error("a kept file is missing or damaged: `{}`", path.display())]
    Lost {
        /// The hash of the content.
        hash: Hash,
        /// The file of the journal in which it should be.
        path: PathBuf,
    },
    /// The system refused.
    #[error("`{}`: {doing}: {source}", path.display())]
    Io {
        /// The file or folder of the journal.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the system says.
        source: io::Error,
    },
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoHome => "set `XDG_STATE_HOME` to an absolute path, or name a folder",
            Self::NoEntry { .. } => "look at the log; an old entry may have been pruned",
            Self::Damaged { .. } => "the other entries can be undone; delete the file to be told no more",
            Self::Lost { .. } => "the other files of the entry can be undone by leaving this one out",
            Self::Io { .. } => "see what the system says; permissions and free space are the usual reasons",
        }
    }
}
