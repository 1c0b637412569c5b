//! The journal: what was written, and what was there before.
//!
//! It is a folder that only its owner can access, one for all roots of a user:
//!
//! ```text
//! lock                   held by the process that is changing the journal
//! entries/12.json        what one batch did: a line of JSON, preceded by its hash
//! blobs/ba7816bf…        the earlier content of a file, named by its hash
//! ```
//!
//! Every file in it is written under a temporary name, synced and renamed, so it is complete or does not exist,
//! and it is never changed afterwards. An entry is written after the blobs that it needs and before the first
//! file that it is about. Nothing marks an entry as undone: that follows from the entries that undo it.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::stamp::{Hash, Stamp};

mod entry;
mod error;
mod folder;
mod locked;
mod log;
mod prune;

pub(crate) use entry::to_millis;
pub use entry::{Change, Entry, EntryId};
pub use error::Error;
pub(crate) use locked::Locked;
pub use log::Log;
pub use prune::{Keep, Pruned};

/// The folder that contains entries and the earlier contents of files.
///
/// Any number of processes may use it at the same time; those that write wait for each other.
#[derive(Clone, Debug)]
pub struct Journal {
    folder: PathBuf,
}

impl Journal {
    /// The folder of the user's journal: `$XDG_STATE_HOME/reknit/journal`, by default under `~/.local/state`.
    pub fn default_folder() -> Result<PathBuf, Error> {
        folder::default()
    }

    /// Opens the journal in a folder, which is created if it does not exist.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, Error> {
        let journal = Self { folder: folder.into() };
        for path in [journal.entries(), journal.blobs()] {
            DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(|source| Error::Io {
                path,
                doing: "creating the folder of the journal",
                source,
            })?;
        }
        Ok(journal)
    }

    /// The folder of the journal.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The entry with this number.
    pub fn entry(&self, id: EntryId) -> Result<Entry, Error> {
        let path = self.entry_file(id);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Error::NoEntry { id }),
            Err(source) => return Err(Error::Io { path, doing: "reading an entry", source }),
        };
        Entry::from_text(id, &text).map_err(|what| Error::Damaged { id, path, what })
    }

    /// The content of a file before an entry, by its hash.
    pub fn content(&self, hash: Hash) -> Result<Vec<u8>, Error> {
        let path = self.blob(hash);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Error::Lost { hash, path }),
            Err(source) => return Err(Error::Io { path, doing: "reading a saved file", source }),
        };
        if Hash::of(&bytes) != hash {
            return Err(Error::Lost { hash, path });
        }
        Ok(bytes)
    }

    /// Whether the content of a stamp is there and undamaged.
    pub(crate) fn has(&self, stamp: &Stamp) -> bool {
        let found = fs::File::open(self.blob(stamp.hash)).and_then(|mut file| Stamp::of_file(&mut file));
        found.is_ok_and(|found| found.same_content(stamp))
    }

    /// Locks the journal; waits while another process has it locked.
    pub(crate) fn lock(&self) -> Result<Locked<'_>, Error> {
        Locked::new(self)
    }

    /// The file with the content that has this hash.
    pub(crate) fn blob(&self, hash: Hash) -> PathBuf {
        self.blobs().join(hash.to_string())
    }

    /// The numbers of all entries in order, including damaged ones.
    fn ids(&self) -> Result<Vec<EntryId>, Error> {
        let names = self.names(self.entries())?;
        let mut ids: Vec<EntryId> =
            names.iter().filter_map(|name| name.strip_suffix(".json")?.parse().ok()).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// The names of the files in a folder of the journal.
    fn names(&self, folder: PathBuf) -> Result<Vec<String>, Error> {
        let names = fs::read_dir(&folder).and_then(|files| {
            files.map(|file| Ok(file?.file_name().to_string_lossy().into_owned())).collect()
        });
        names.map_err(|source| Error::Io { path: folder, doing: "listing the journal", source })
    }

    fn entries(&self) -> PathBuf {
        self.folder.join("entries")
    }

    fn blobs(&self) -> PathBuf {
        self.folder.join("blobs")
    }

    fn entry_file(&self, id: EntryId) -> PathBuf {
        self.entries().join(format!("{id}.json"))
    }
}
