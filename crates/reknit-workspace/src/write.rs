//! Writing: several files at once, each whole or not at all.
//!
//! A batch goes through five stages, and no file changes before the last:
//!
//! 1. **Check**: each path, what is there, whether it may be written, whether it is what was read.
//! 2. **Keep**: each file that will change goes to the journal.
//! 3. **Stage**: each new content goes to a temporary file in its directory, and to the disk.
//! 4. **Enter**: the journal gets an entry that says all of it.
//! 5. **Do**: a rename or a removal for each file. If one fails, those before it are put back.
//!
//! What a careful user should know of the last stage:
//!
//! - A file is replaced by another one of the same name. Permissions stay; owner and group stay where the
//!   system lets them, and a [`Note`] says when it did not. Extended attributes are not carried over.
//! - If the file has further names (hard links), those keep the old content, and a [`Note`] says so. Such a
//!   name may lie outside of the root, so to write through it is not for this crate.
//! - A crash leaves each file as it was or as it was to be, and an entry that [`Undo`](crate::Undo) can take
//!   back. Files named `.reknit-….tmp`, if there are any, may be deleted.

use std::fmt;
use std::time::SystemTime;

use crate::journal::{Entry, Journal};
use crate::root::{RelPath, Root};
use crate::stamp::Stamp;

use step::{Asked, Content, Step};

mod error;
mod step;
mod current;
mod staged;
mod perform;
mod back;
mod commit;

pub(crate) use back::{Way, ways};
pub(crate) use commit::{Heading, commit, remove_directories};
pub use error::Error;

/// Writes that belong together: all of them are done, or none.
///
/// Contents are iterators of pieces, so that a large file with a small change is never copied as a whole; they
/// are run once, when the batch is committed.
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
    steps: Vec<Asked<'a>>,
}

impl<'a> Batch<'a> {
    /// An empty batch; the label, such as the name of a command, is for the journal.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), steps: Vec::new() }
    }

    /// Creates a file, and the directories that it needs. Refused if anything is there.
    pub fn create(&mut self, path: RelPath, pieces: impl IntoIterator<Item = &'a [u8], IntoIter: 'a>) {
        self.steps.push(Step::Create { path, new: Content::pieces(pieces) });
    }

    /// Gives a file another content. Refused if it is not what was seen.
    pub fn update(
        &mut self,
        path: RelPath,
        seen: &Stamp,
        pieces: impl IntoIterator<Item = &'a [u8], IntoIter: 'a>,
    ) {
        self.steps.push(Step::Update { path, old: *seen, new: Content::pieces(pieces) });
    }

    /// Deletes a file. Refused if it is not what was seen.
    ///
    /// The path is better one from [`Root::resolve_name`], so that a link does not stand for what is behind it.
    pub fn delete(&mut self, path: RelPath, seen: &Stamp) {
        self.steps.push(Step::Delete { path, old: *seen });
    }

    /// Moves a file as it is. Refused if it is not what was seen, or if anything is at `to`.
    ///
    /// As with [`delete`](Self::delete), the path is better one from [`Root::resolve_name`].
    pub fn move_to(&mut self, path: RelPath, seen: &Stamp, to: RelPath) {
        self.steps.push(Step::Move { path, old: *seen, to });
    }

    /// Moves a file and gives it another content. Refused as [`move_to`](Self::move_to) is.
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

    /// Writes all of it, or nothing; `at` is the time that the journal gets.
    ///
    /// Waits while another process writes with the same journal.
    pub fn commit(self, root: &Root, journal: &Journal, at: SystemTime) -> Result<Committed, Error> {
        let lock = journal.lock()?;
        commit(root, &lock, Heading { label: self.label, undoes: None, at }, self.steps)
    }
}

/// A batch that was written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Committed {
    /// What the journal has of it.
    pub entry: Entry,
    /// What could not be kept as it was.
    pub notes: Vec<Note>,
}

/// Something about a file that is not as it was, beside what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The file has another owner or group now: the system does not let this user give files away.
    OwnerNotKept {
        /// The path.
        path: RelPath,
    },
    /// The file had further names, and those still have the old content.
    LinkBroken {
        /// The path.
        path: RelPath,
        /// How many further names.
        others: u64,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OwnerNotKept { path } => write!(f, "`{path}`: owner or group could not be kept"),
            Self::LinkBroken { path, others } => {
                write!(f, "`{path}`: {others} other names of the file keep the old content")
            }
        }
    }
}
