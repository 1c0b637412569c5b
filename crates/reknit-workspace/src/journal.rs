//! The journal: what was written, and what was there before.
//!
//! It is a folder that only its owner may look into, one for all roots of a user:
//!
//! ```text
//! lock                   held by whoever changes the journal
//! entries/12.json        what one batch did: the hash of the next line, and a line of JSON
//! blobs/ba7816bf…        a file as it was, by the hash of its content
//! ```
//!
//! Every file of it is written under another name, synced and renamed, so that it is there whole or not at
//! all, and is never changed afterwards. An entry comes behind the blobs that it needs and before the first
//! file that it speaks of. What is undone is not marked: it follows from the entries that undo.

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

/// The folder in which entries and the files before them are kept.
///
/// Any number of processes may use one at the same time; those that write wait for one another.
#[derive(Clone, Debug)]
pub struct Journal {
    folder: PathBuf,
}

impl Journal {
    /// The folder of the user's journal: `$XDG_STATE_HOME/reknit/journal`, by default below `~/.local/state`.
    pub fn default_folder() -> Result<PathBuf, Error> {
        folder::default()
    }

    /// Opens the journal in a folder, which is made if it is not there.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, Error> {
        let journal = Self { folder: folder.into() };
        for path in [journal.entries(), journal.blobs()] {
            DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(|source| Error::Io {
                path,
                doing: "making the folder of the journal",
                source,
            })?;
        }
        Ok(journal)
    }

    /// The folder that it is in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The entry of this number.
    pub fn entry(&self, id: EntryId) -> Result<Entry, Error> {
        let path = self.entry_file(id);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Error::NoEntry { id }),
            Err(source) => return Err(Error::Io { path, doing: "reading an entry", source }),
        };
        Entry::from_text(id, &text).map_err(|what| Error::Damaged { id, path, what })
    }

    /// The bytes of a file as it was before an entry.
    pub fn content(&self, hash: Hash) -> Result<Vec<u8>, Error> {
        let path = self.blob(hash);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Error::Lost { hash, path }),
            Err(source) => return Err(Error::Io { path, doing: "reading a kept file", source }),
        };
        if Hash::of(&bytes) != hash {
            return Err(Error::Lost { hash, path });
        }
        Ok(bytes)
    }

    /// Whether the content that a stamp speaks of is there, and undamaged.
    pub(crate) fn has(&self, stamp: &Stamp) -> bool {
        let found = fs::File::open(self.blob(stamp.hash)).and_then(|mut file| Stamp::of_file(&mut file));
        found.is_ok_and(|found| found.same_content(stamp))
    }

    /// Holds the journal; waits while another process does.
    pub(crate) fn lock(&self) -> Result<Locked<'_>, Error> {
        Locked::new(self)
    }

    /// The file with the content of this hash.
    pub(crate) fn blob(&self, hash: Hash) -> PathBuf {
        self.blobs().join(hash.to_string())
    }

    /// The numbers of all entries, damaged or not, in their order.
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
