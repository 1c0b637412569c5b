//! [`Undo`]: reverts an entry of the journal.

use reknit::Hint;
use std::borrow::Cow;
use std::fmt;
use std::time::SystemTime;

use crate::journal::{self, Entry, EntryId, Folder, Journal, Locked, State};
use crate::root::{RelPath, Root};
use crate::write::{self, Committed, Heading, Revert, commit, recover};

/// The undo of an entry.
///
/// Each file gets back the bytes and the permissions that it had before the entry: deleted files are restored,
/// created files are removed, along with the directories that were created for them if nothing else is in them.
/// Only the current state of the files matters, so after a crash exactly those writes are undone that happened.
/// The undo is an entry itself and can be undone.
///
/// ```
/// # use std::time::SystemTime;
/// # use reknit_workspace::{Batch, Journal, Root, Undo};
/// # use reknit_workspace::journal::State;
/// # let folder = tempfile::tempdir()?;
/// # let (home, state) = (folder.path().join("home"), folder.path().join("state"));
/// # std::fs::create_dir(&home)?;
/// # let root = Root::open(&home)?;
/// # let journal = Journal::open(&state)?;
/// # let now = SystemTime::now();
/// let mut batch = Batch::new("apply");
/// batch.create(root.resolve("notes/a.txt")?, ["one\n".as_bytes()]);
/// let done = batch.commit(&root, &journal, now)?.entry.id;
///
/// let undone = Undo::of(done).commit(&root, &journal, now)?.entry.id;
/// assert!(!home.join("notes").exists());
/// assert_eq!(journal.entry(done)?.state, State::Undone { by: undone });
///
/// Undo::of(undone).commit(&root, &journal, now)?;
/// assert_eq!(std::fs::read_to_string(home.join("notes/a.txt"))?, "one\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is undone before `commit`"]
pub struct Undo {
    entry: EntryId,
    conflicts: Conflicts,
}

/// What to do about files that have changed since the entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflicts {
    /// Undo nothing and report them.
    #[default]
    Refuse,
    /// Overwrite them. The undo saves what they contained, so that nothing is lost.
    Overwrite,
    /// Leave them as they are and undo the others.
    Skip,
}

impl Undo {
    /// Undoes this entry, unless a file has changed since.
    pub fn of(entry: EntryId) -> Self {
        Self { entry, conflicts: Conflicts::Refuse }
    }

    /// Sets what to do about files that have changed since.
    pub fn conflicts(self, conflicts: Conflicts) -> Self {
        Self { conflicts, ..self }
    }

    /// The standing of each file of the entry, without changing anything.
    pub fn preview(&self, root: &Root, journal: &Journal) -> Result<Vec<(RelPath, Standing)>, Error> {
        let (folder, entry) = self.find(root, journal)?;
        let reverts = reverts(root, &folder, &entry)?;
        Ok(reverts.into_iter().map(|(path, revert)| (path, standing(&revert))).collect())
    }

    /// Undoes the entry, all of it or nothing. `at` is the time for the journal.
    ///
    /// An entry that was interrupted is recovered first.
    pub fn commit(self, root: &Root, journal: &Journal, at: SystemTime) -> Result<Committed, Error> {
        let (folder, _) = self.find(root, journal)?;
        let mut lock = Locked::new(journal, folder)?;
        recover(root, &mut lock)?;
        // It may have been undone by the process that was waited for.
        let (_, entry) = self.find(root, journal)?;
        let mut steps = Vec::new();
        let mut conflicts = Vec::new();
        for (path, revert) in reverts(root, &lock.folder, &entry)? {
            let standing = standing(&revert);
            match (revert, self.conflicts) {
                (Revert::Already, _) => {}
                (Revert::Restore(step), _) | (Revert::Overwrite(step), Conflicts::Overwrite) => {
                    steps.push(step);
                }
                (Revert::Overwrite(_) | Revert::Blocked | Revert::Lost, Conflicts::Skip) => {}
                (Revert::Overwrite(_), Conflicts::Refuse) | (Revert::Blocked | Revert::Lost, _) => {
                    conflicts.push((path, standing));
                }
            }
        }
        if !conflicts.is_empty() {
            return Err(Error::Conflicts { entry: entry.id, files: conflicts });
        }
        let heading = Heading { label: entry.label, undoes: Some(entry.id), at, emptied: entry.made };
        Ok(commit(root, &mut lock, heading, steps)?)
    }

    /// The entry and the folder that it is in, if it belongs to this root and is not undone.
    fn find(&self, root: &Root, journal: &Journal) -> Result<(Folder, Entry), Error> {
        let mut folder = journal.folder_with(self.entry)?;
        let mut entry = folder.entry(self.entry)?;
        if let State::Undone { by } = entry.state {
            return Err(Error::AlreadyUndone { entry: entry.id, by });
        }
        if Folder::find(journal, root)?.as_ref() != Some(&folder) {
            // A root that was moved to another file system has another inode, but its files are what they were.
            let other = || Error::OtherRoot { entry: self.entry, root: entry.root.display().to_string() };
            if !folder.is_abandoned()? {
                return Err(other());
            }
            let fits = |revert: &Revert| matches!(revert, Revert::Already | Revert::Restore(_));
            let reverts = reverts(root, &folder, &entry)?;
            if !reverts.iter().all(|(_, revert)| fits(revert)) {
                return Err(other());
            }
            folder = folder.move_to(journal, root)?;
            entry = folder.entry(self.entry)?;
        }
        Ok((folder, entry))
    }
}

/// The state of a file relative to an entry that is to be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// It is as the entry left it.
    Ready,
    /// It is as it was before the entry.
    Already,
    /// It has changed since.
    Changed,
    /// Something that is not a file is in its place or in its path.
    Blocked,
    /// The journal has lost its content.
    Lost,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready => "as the entry left it",
            Self::Already => "already as it was before the entry",
            Self::Changed => "changed since",
            Self::Blocked => "something that is not a file is there",
            Self::Lost => "its content is missing from the journal",
        })
    }
}

/// Why an entry is not undone. Unless the error says otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The journal could not be read.
    #[error(transparent)]
    Journal(#[from] journal::Error),
    /// The files could not be read or written.
    #[error(transparent)]
    Write(#[from] write::Error),
    /// The entry belongs to another root.
    #[error("entry {entry} belongs to another root: `{root}`")]
    OtherRoot {
        /// The entry.
        entry: EntryId,
        /// Its root.
        root: String,
    },
    /// The entry is already undone.
    #[error("entry {entry} was already undone by entry {by}")]
    AlreadyUndone {
        /// The entry.
        entry: EntryId,
        /// The entry that undid it.
        by: EntryId,
    },
    /// Files have changed since the entry, or cannot be restored.
    #[error("entry {entry} cannot be undone: {}", list(files))]
    Conflicts {
        /// The entry.
        entry: EntryId,
        /// Each such file and its standing.
        files: Vec<(RelPath, Standing)>,
    },
}

impl Hint for Error {
    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Journal(error) => error.hint(),
            Self::Write(error) => error.hint(),
            Self::OtherRoot { .. } => {
                "use that root to undo it; if it was moved, its files must be as the entry left them".into()
            }
            Self::AlreadyUndone { .. } => "undo that entry to bring the changes back".into(),
            Self::Conflicts { .. } => "check these files, then overwrite or skip them".into(),
        }
    }
}

/// How to revert each file of an entry.
fn reverts(root: &Root, folder: &Folder, entry: &Entry) -> Result<Vec<(RelPath, Revert)>, write::Error> {
    let reverts = (0..entry.changes.len()).map(|index| write::reverts(root, folder, entry, index));
    Ok(reverts.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

fn standing(revert: &Revert) -> Standing {
    match revert {
        Revert::Already => Standing::Already,
        Revert::Restore(_) => Standing::Ready,
        Revert::Overwrite(_) => Standing::Changed,
        Revert::Blocked => Standing::Blocked,
        Revert::Lost => Standing::Lost,
    }
}

fn list(files: &[(RelPath, Standing)]) -> String {
    files.iter().map(|(path, standing)| format!("`{path}`: {standing}")).collect::<Vec<_>>().join(", ")
}
