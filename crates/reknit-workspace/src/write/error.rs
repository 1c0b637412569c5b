//! Why a batch is not written.

use reknit::Hint;
use std::borrow::Cow;
use std::io;

use crate::journal::{self, EntryId};
use crate::root::{self, Found, RelPath};

/// Why a batch is not written. Unless the error says otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A path is refused.
    #[error(transparent)]
    Path(#[from] root::Error),
    /// The journal could not be written or read. Without it nothing else is written.
    #[error(transparent)]
    Journal(#[from] journal::Error),
    /// Two writes of the batch are for the same path.
    #[error("`{path}`: written twice in one batch")]
    Twice {
        /// The path.
        path: RelPath,
    },
    /// The file has changed since it was read.
    #[error("`{path}`: changed since it was read")]
    Changed {
        /// The path.
        path: RelPath,
    },
    /// Something is already where a file was to be created or moved to.
    #[error("`{path}`: {found} already exists")]
    Exists {
        /// The path.
        path: RelPath,
        /// What is there.
        found: Found,
    },
    /// The file is not writable for this user, or for anybody.
    #[error("`{path}`: read-only")]
    ReadOnly {
        /// The path.
        path: RelPath,
    },
    /// A system call failed.
    #[error("`{path}`: {doing}: {source}")]
    Io {
        /// The path.
        path: RelPath,
        /// What it was for.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The file is mounted by itself, as containers do, and such a file cannot be replaced.
    #[error("`{path}`: a mount point of its own, which cannot be replaced")]
    Mounted {
        /// The path.
        path: RelPath,
    },
    /// No file was changed, and not all temporary files could be removed.
    #[error("{cause}; no file was changed, but temporary files may be left")]
    NotCleaned {
        /// Why nothing was written.
        cause: Box<Error>,
    },
    /// A write failed, and so did taking it back, or recording what became of it.
    #[error("{cause}; entry {entry} is unfinished")]
    Interrupted {
        /// Why it failed.
        cause: Box<Error>,
        /// The entry in the journal.
        entry: EntryId,
    },
    /// A write failed after others, and those were rolled back: all files are as before.
    #[error("{cause}; files rolled back: {count}")]
    RolledBack {
        /// Why it failed.
        cause: Box<Error>,
        /// How many writes had been performed.
        count: usize,
    },
    /// A write failed after others, and not all of those could be rolled back.
    #[error("{cause}; could not roll back {} of entry {entry}", list(left))]
    HalfDone {
        /// Why it failed.
        cause: Box<Error>,
        /// The entry in the journal with which they can be undone.
        entry: EntryId,
        /// The files that are not as before.
        left: Vec<RelPath>,
    },
}

impl Hint for Error {
    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Path(error) => error.hint(),
            Self::Journal(error) => error.hint(),
            Self::Twice { .. } => "combine the writes to a file into one".into(),
            Self::Changed { .. } => "read the file and plan the change again".into(),
            Self::Exists { .. } => "choose another path, or update or delete what is there".into(),
            Self::ReadOnly { .. } => "make the file writable, for example with `chmod u+w`".into(),
            Self::Io { .. } => "check permissions and free disk space".into(),
            Self::Mounted { .. } => {
                "write the file where it is mounted from, or mount its directory instead".into()
            }
            Self::NotCleaned { .. } => "the next command below this root removes them".into(),
            Self::Interrupted { .. } => {
                "the next command below this root finishes it or takes it back".into()
            }
            Self::RolledBack { cause, .. } => cause.hint(),
            Self::HalfDone { .. } => "remove what is in the way, then undo the entry".into(),
        }
    }
}

fn list(paths: &[RelPath]) -> String {
    paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
}
