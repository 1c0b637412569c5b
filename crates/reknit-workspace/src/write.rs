//! Writing: several files at once, all of them or none.
//!
//! A batch goes through five stages, and no file changes before the last:
//!
//! 1. **Check**: is each path allowed and writable, and is the file there the one that was read?
//! 2. **Save**: a copy of each file that will change goes to the journal. A file that is only moved is not copied.
//! 3. **Stage**: each new content is written to a temporary file in the same directory, and synced.
//! 4. **Begin**: an entry in the journal lists all changes.
//! 5. **Perform**: each file is replaced, moved or removed. If that fails for one, those before it are taken back.
//!    At the end the entry is done.
//!
//! Whichever stage fails, its temporary files and directories are removed. If that or taking back fails too, the error
//! says so ([`Error::NotCleaned`], [`Error::Interrupted`]), and the next commit, undo or [`Journal::recover`] below the
//! root does it.
//!
//! What to know about the last stage:
//!
//! - A file is replaced by a new one with the same name. Owner, group, permissions, access control list,
//!   capabilities and other extended attributes stay if this user may set them; if not, a [`Note`] says so. A file
//!   that could not keep its owner and group does not keep its setuid and setgid bits.
//! - Other hard links to the file keep the old content, and a [`Note`] says so. They may be outside the root, so
//!   this crate does not write through them.
//! - Long runs of zeros become holes.
//! - After a crash or a kill, the next commit, undo or [`Journal::recover`] below the root finishes the entry or
//!   takes it back, and removes its temporary files, named `.reknit-…`. After a power failure such files can remain
//!   if they were staged right before it.
//! - What another program saves during the write is not lost if it saves by renaming a file, and if the file system
//!   can exchange two files, as those of Linux and macOS usually can: the old and the new file change places, and if
//!   the wrong one came out they change places again, and the batch fails. A program that has the file open and
//!   writes into it at that moment writes into the old file, and that is lost.

use std::fmt;
use std::time::SystemTime;

use crate::journal::{Entry, Folder, Journal, Locked};
use crate::root::{RelPath, Root};
use crate::stamp::Stamp;

use step::{Content, Requested, Step};

mod error;
mod step;
mod current;
mod staged;
mod prepare;
mod replace;
mod revert;
mod recover;
mod commit;

pub(crate) use commit::{Heading, commit};
pub use error::Error;
pub(crate) use recover::recover;
pub use recover::{Outcome, Recovered};
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
/// assert_eq!(journal.log(&root, 20)?.entries, [committed.entry]);
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
    /// Waits while another process writes below the same root. An entry that was interrupted is recovered first.
    pub fn commit(self, root: &Root, journal: &Journal, at: SystemTime) -> Result<Committed, Error> {
        let mut lock = Locked::new(journal, Folder::of(journal, root)?)?;
        recover(root, &mut lock)?;
        let heading = Heading { label: self.label, undoes: None, at, emptied: Vec::new() };
        commit(root, &mut lock, heading, self.steps)
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
    /// The file does not have these extended attributes any more: this user is not allowed to set them.
    AttributesNotKept {
        /// The path.
        path: RelPath,
        /// The names of the attributes.
        names: Vec<String>,
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
            Self::AttributesNotKept { path, names } => {
                write!(f, "`{path}`: could not preserve the attributes {}", names.join(", "))
            }
            Self::LinkBroken { path, others } => {
                write!(f, "`{path}`: other hard links keep the old content: {others}")
            }
        }
    }
}
