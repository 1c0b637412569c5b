//! Why a batch is not written.

use std::io;

use crate::journal::{self, EntryId};
use crate::root::{self, Found, RelPath};

/// Why a batch is not written. Unless it says otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A path is refused.
    #[error(transparent)]
    Path(#[from] root::Error),
    /// The journal could not be written or read; without it nothing else is written.
    #[error(transparent)]
    Journal(#[from] journal::Error),
    /// Two writes of the batch concern the same path.
    #[error("`{path}`: the batch writes it twice")]
    Twice {
        /// The path.
        path: RelPath,
    },
    /// The file holds something else than what was read.
    #[error("`{path}`: changed since it was read")]
    Changed {
        /// The path.
        path: RelPath,
    },
    /// Something is where a file was to be created, or moved to.
    #[error("`{path}`: {found} is already there")]
    Exists {
        /// The path.
        path: RelPath,
        /// What is there.
        found: Found,
    },
    /// The file may not be written by this user, or by anybody.
    #[error("`{path}`: read-only")]
    ReadOnly {
        /// The path.
        path: RelPath,
    },
    /// The system refused.
    #[error("`{path}`: {doing}: {source}")]
    Io {
        /// The path.
        path: RelPath,
        /// What was being done.
        doing: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// A write failed behind others, and those were put back: all files are as before.
    #[error("{cause}; files written before it were put back: {count}")]
    PutBack {
        /// Why it failed.
        cause: Box<Error>,
        /// How many files had been written.
        count: usize,
    },
    /// A write failed behind others, and not all of those could be put back.
    #[error("{cause}; this could not be put back: {}", list(left))]
    HalfDone {
        /// Why it failed.
        cause: Box<Error>,
        /// The entry of the journal under which they can be undone.
        entry: EntryId,
        /// The files that are not as before.
        left: Vec<RelPath>,
    },
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Path(error) => error.hint(),
            Self::Journal(error) => error.hint(),
            Self::Twice { .. } => "join the writes of a file into one",
            Self::Changed { .. } => "read the file again and plan the change anew",
            Self::Exists { .. } => "choose another path, or update or delete what is there",
            Self::ReadOnly { .. } => "make the file writable for you if it is to change, as with `chmod u+w`",
            Self::Io { .. } => "see what the system says; permissions and free space are the usual reasons",
            Self::PutBack { cause, .. } => cause.hint(),
            Self::HalfDone { .. } => "remove what is in the way, then undo the entry",
        }
    }
}

fn list(paths: &[RelPath]) -> String {
    paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
}
