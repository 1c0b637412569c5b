//! Writing: several files at once, all of them or none.
//!
//! A batch goes through five stages, and no file changes before the last:
//!
//! 1. **Check**: is each path allowed and writable, and is the file there the one that was read?
//! 2. **Save**: a copy of each file that will change goes to the journal.
//! 3. **Stage**: each new content is written to a temporary file in the same directory, and synced.
//! 4. **Record**: an entry in the journal lists all changes.
//! 5. **Perform**: each file is renamed or removed. If that fails for one, the files before it are rolled back.
//!
//! What to know about the last stage:
//!
//! - A file is replaced by a new one with the same name. The permissions stay. Owner and group stay if the
//!   system allows it; if not, a [`Note`] says so. Extended attributes are not copied.
//! - Other hard links to the file keep the old content, and a [`Note`] says so. They may be outside the root, so
//!   this crate does not write through them.
//! - A crash leaves each file in its old or its new state, and an entry that [`Undo`](crate::Undo) can revert.
//!   Files named `.reknit-….tmp` that a crash leaves can be deleted.

use std::fmt;
use std::time::SystemTime;

use crate::journal::{Entry, Journal};
use crate::root::{RelPath, Root};
use crate::stamp::Stamp;

use step::{Content, Requested, Step};

mod error;
mod step;
mod current;
mod staged;
mod perform;
mod revert;
mod commit;

pub(crate) use commit::{Heading, commit, remove_directories};
pub use error::Error;
pub(crate) use revert::{Revert, reverts};

/// Writes that belong together: all of them are performed, or none.
///
/// Contents are iterators of pieces, so that a small change to a large file does not copy all of it. They are
/// consumed once, when the batch is committed.
///
/// ```
/// use std::time::SystemTime;
/// use reknit_workspace::{Batch, Journal, Root};
///
/// # let folder = tempfile::tempdir()?;
/// # let (home, state) = (folder.path().join("home"), folder.path().join("state"));
/// # std::fs::create_dir(&home)?;
/// std::fs::write(home.join("main.c"), "int main() { return 1; }\n")?;
/// let root = Root::open(&home)?;
/// let journal = Journal::open(&state)?;
///
/// let path = root.resolve("main.c")?;
/// let file = root.read(&path)?;
/// let (before, after) = (&file.bytes[..20], &file.bytes[21..]);
/// let mut batch = Batch::new("apply");
/// batch.update(path, &file.stamp, [before, b"0", after]);
/// batch.create(root.resolve("doc/readme.md")?, ["# Main\n".as_bytes()]);
/// let committed = batch.commit(&root, &journal, SystemTime::now())?;
///
/// assert_eq!(std::fs::read_to_string(home.join("main.c"))?, "int main() { return 0; }\n");
/// assert_eq!(committed.entry.changes.len(), 2);
/// assert_eq!(journal.log()?.entries, [committed.entry]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is written before `commit`"]
pub struct Batch<'a> {
    label: String,
    steps: Vec<Requested<'a>>,
}

impl<'a> Batch<'a> {
    /// An empty batch. The label, such as the name of a command, is for the journal.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), steps: Vec::new() }
    }

    /// Creates a file, and its directories if needed. Refused if the path exists.
    pub fn create(&mut self, path: RelPath, pieces: impl IntoIterator<Item = &'a [u8], IntoIter: 'a>) {
        self.steps.push(Step::Create { path, new: Content::pieces(pieces) });
    }

    /// Replaces the content of a file. Refused if the file has changed since `seen`.
    pub fn update(
        &mut self,
        path: RelPath,
        seen: &Stamp,
        pieces: impl IntoIterator<Item = &'a [u8], IntoIter: 'a>,
    ) {
        self.steps.push(Step::Update { path, old: *seen, new: Content::pieces(pieces) });
    }

    /// Deletes a file. Refused if the file has changed since `seen`.
    ///
    /// Use a path from [`Root::resolve_name`], so that a symlink is not mistaken for its target.
    pub fn delete(&mut self, path: RelPath, seen: &Stamp) {
        self.steps.push(Step::Delete { path, old: *seen });
    }

    /// Moves a file unchanged. Refused if the file has changed since `seen`, or if `to` exists.
    ///
    /// As for [`delete`](Self::delete), use a path from [`Root::resolve_name`].
    pub fn move_to(&mut self, path: RelPath, seen: &Stamp, to: RelPath) {
        self.steps.push(Step::Move { path, old: *seen, to });
    }

    /// Moves a file and replaces its content. Refused in the same cases as [`move_to`](Self::move_to).
    pub fn move_and_update(
        &mut self,
        path: RelPath,
        seen: &Stamp,
        to: RelPath,
        pieces: impl IntoIterator<Item = &'a [u8], IntoIter: 'a>,
    ) {
        self.steps.push(Step::MoveAndUpdate { path, old: *seen, to, new: Content::pieces(pieces) });
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Performs all writes or none. `at` is the time for the journal.
    ///
    /// Waits while another process writes with the same journal.
    pub fn commit(self, root: &Root, journal: &Journal, at: SystemTime) -> Result<Committed, Error> {
        let lock = journal.lock()?;
        commit(root, &lock, Heading { label: self.label, undoes: None, at }, self.steps)
    }
}

/// The result of a commit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Committed {
    /// The entry in the journal.
    pub entry: Entry,
    /// What could not be preserved.
    pub notes: Vec<Note>,
}

/// A side effect of a write that the caller did not ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The file has another owner or group now: this user is not allowed to give files away.
    OwnerNotKept {
        /// The path.
        path: RelPath,
    },
    /// The file had other hard links, and those still have the old content.
    LinkBroken {
        /// The path.
        path: RelPath,
        /// The number of other hard links.
        others: u64,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OwnerNotKept { path } => write!(f, "`{path}`: could not preserve the owner or group"),
            Self::LinkBroken { path, others } => {
                write!(f, "`{path}`: other hard links keep the old content: {others}")
            }
        }
    }
}
