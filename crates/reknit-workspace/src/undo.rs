//! [`Undo`]: an entry of the journal taken back.

use std::fmt;
use std::time::SystemTime;

use crate::journal::{self, Entry, EntryId, Journal};
use crate::root::{self, RelPath, Root};
use crate::write::{self, Committed, Heading, Way, commit, remove_directories};

/// An entry to be taken back.
///
/// Each file gets back the bytes and the permissions that it had before the entry: what was deleted is there
/// again, what was created is gone, with the directories that were made for it if nothing else is in them. It
/// depends only on what is there now, so that an entry whose writes a crash prevented is taken back as far as
/// they happened. The undo is an entry itself, and can be undone.
///
/// ```
/// # use std::time::SystemTime;
/// # use reknit_workspace::{Batch, Journal, Root, Undo};
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
/// assert_eq!(journal.log()?.undone_by(done), Some(undone));
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

/// What to do about files that are not as the entry left them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflicts {
    /// Undo nothing, and name them.
    #[default]
    Refuse,
    /// Replace what was changed since; the undo keeps it, so that it is not lost.
    Overwrite,
    /// Leave them as they are, and undo the others.
    Skip,
}

impl Undo {
    /// Takes back this entry, and refuses if a file was changed since.
    pub fn of(entry: EntryId) -> Self {
        Self { entry, conflicts: Conflicts::Refuse }
    }

    /// The same, with another answer to files that were changed since.
    pub fn conflicts(self, conflicts: Conflicts) -> Self {
        Self { conflicts, ..self }
    }

    /// How each file of the entry stands, without changing anything.
    pub fn preview(&self, root: &Root, journal: &Journal) -> Result<Vec<(RelPath, Standing)>, Error> {
        let entry = self.find(root, journal)?;
        let ways = ways(root, journal, &entry)?;
        Ok(ways.into_iter().map(|(path, way)| (path, standing(&way))).collect())
    }

    /// Takes it back, all or nothing; `at` is the time that the journal gets.
    pub fn commit(self, root: &Root, journal: &Journal, at: SystemTime) -> Result<Committed, Error> {
        let lock = journal.lock()?;
        let entry = self.find(root, journal)?;
        let mut steps = Vec::new();
        let mut conflicts = Vec::new();
        for (path, way) in ways(root, journal, &entry)? {
            let standing = standing(&way);
            match (way, self.conflicts) {
                (Way::Already, _) => {}
                (Way::Restore(step), _) | (Way::Overwrite(step), Conflicts::Overwrite) => steps.push(step),
                (Way::Overwrite(_) | Way::Blocked | Way::Lost, Conflicts::Skip) => {}
                (Way::Overwrite(_), Conflicts::Refuse) | (Way::Blocked | Way::Lost, _) => {
                    conflicts.push((path, standing));
                }
            }
        }
        if !conflicts.is_empty() {
            return Err(Error::Conflicts { entry: entry.id, files: conflicts });
        }
        let heading = Heading { label: entry.label, undoes: Some(entry.id), at };
        let committed = commit(root, &lock, heading, steps)?;
        remove_directories(root, &entry.made);
        Ok(committed)
    }

    /// The entry, if it is one of this root that is not undone.
    fn find(&self, root: &Root, journal: &Journal) -> Result<Entry, Error> {
        let entry = journal.entry(self.entry)?;
        if entry.root != root.path() {
            return Err(Error::OtherRoot { entry: entry.id, root: entry.root.display().to_string() });
        }
        if let Some(by) = journal.log()?.undone_by(entry.id) {
            return Err(Error::AlreadyUndone { entry: entry.id, by });
        }
        Ok(entry)
    }
}

/// How a file stands to an entry that is to be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// It is as the entry left it.
    Ready,
    /// It is as it was before the entry.
    Already,
    /// Somebody changed it since.
    Changed,
    /// Something that is no file is in its place, or in its way.
    Blocked,
    /// The journal has lost what it held.
    Lost,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready => "as the entry left it",
            Self::Already => "as it was before the entry",
            Self::Changed => "changed since",
            Self::Blocked => "something that is no file is there",
            Self::Lost => "what it held is lost from the journal",
        })
    }
}

/// Why an entry is not undone. Unless it says otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The journal could not be read.
    #[error(transparent)]
    Journal(#[from] journal::Error),
    /// A file could not be looked at.
    #[error(transparent)]
    Path(#[from] root::Error),
    /// The files could not be written.
    #[error(transparent)]
    Write(#[from] write::Error),
    /// The entry is about files of another root.
    #[error("entry {entry} is about files below `{root}`")]
    OtherRoot {
        /// The entry.
        entry: EntryId,
        /// Its root.
        root: String,
    },
    /// The entry is undone.
    #[error("entry {entry} is undone already, by entry {by}")]
    AlreadyUndone {
        /// The entry.
        entry: EntryId,
        /// The one that took it back.
        by: EntryId,
    },
    /// Files are not as the entry left them.
    #[error("entry {entry} cannot be undone: {}", list(files))]
    Conflicts {
        /// The entry.
        entry: EntryId,
        /// Each such file, and how it stands.
        files: Vec<(RelPath, Standing)>,
    },
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Journal(error) => error.hint(),
            Self::Path(error) => error.hint(),
            Self::Write(error) => error.hint(),
            Self::OtherRoot { .. } => "undo it with that root",
            Self::AlreadyUndone { .. } => "undo that entry to bring its changes back",
            Self::Conflicts { .. } => "look at these files; then overwrite them, or leave them out",
        }
    }
}

/// The ways back for all files of an entry.
fn ways(root: &Root, journal: &Journal, entry: &Entry) -> Result<Vec<(RelPath, Way)>, root::Error> {
    let ways = entry.changes.iter().map(|change| write::ways(root, journal, change));
    Ok(ways.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

fn standing(way: &Way) -> Standing {
    match way {
        Way::Already => Standing::Already,
        Way::Restore(_) => Standing::Ready,
        Way::Overwrite(_) => Standing::Changed,
        Way::Blocked => Standing::Blocked,
        Way::Lost => Standing::Lost,
    }
}

fn list(files: &[(RelPath, Standing)]) -> String {
    files.iter().map(|(path, standing)| format!("`{path}`: {standing}")).collect::<Vec<_>>().join(", ")
}
