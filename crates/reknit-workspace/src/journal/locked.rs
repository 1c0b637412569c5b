//! [`Locked`]: the journal while no other process can change it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::{Entry, EntryId, Error, Journal};
use crate::stamp::{Hash, Hasher, Stamp, mode_of, read_pieces};
use crate::temporary;

/// The journal, locked.
///
/// Every change to the journal goes through one of these. It also excludes other threads: the lock belongs to
/// the open file, and each of these opens its own.
pub(crate) struct Locked<'j> {
    pub(crate) journal: &'j Journal,
    // The lock is released when the file is closed, however the process ends.
    _lock: fs::File,
}

impl<'j> Locked<'j> {
    pub(super) fn new(journal: &'j Journal) -> Result<Self, Error> {
        let path = journal.folder.join("lock");
        let io = |source| Error::Io { path: path.clone(), doing: "locking the journal", source };
        let mut options = OpenOptions::new();
        let lock = options.create(true).append(true).mode(0o600).open(&path).map_err(io)?;
        lock.lock().map_err(io)?;
        Ok(Self { journal, _lock: lock })
    }

    /// Copies a file from its current position into the journal; the stamp is of what was copied.
    pub(crate) fn save(&self, file: &mut fs::File) -> Result<Saved, Error> {
        let temporary = Temporary::new(&self.journal.blobs());
        let io = |source| Error::Io { path: temporary.path.clone(), doing: "saving a file", source };
        let mut copy = temporary.create()?;
        let mode = mode_of(&file.metadata().map_err(io)?);
        let mut hasher = Hasher::default();
        let copied = read_pieces(file, |piece| {
            hasher.update(piece);
            copy.write_all(piece)
        });
        copied.and_then(|()| copy.sync_all()).map_err(io)?;
        let stamp = hasher.finish(mode);
        let path = self.journal.blob(stamp.hash);
        let new = !path.exists();
        // An existing copy is replaced anyway: it may have been damaged since.
        temporary.rename(&path)?;
        Ok(Saved { stamp, new })
    }

    /// Makes saved files survive a power failure.
    pub(crate) fn sync_blobs(&self) -> Result<(), Error> {
        sync_directory(&self.journal.blobs())
    }

    /// Removes a saved file that no entry needs.
    pub(crate) fn remove_blob(&self, hash: Hash) -> Result<(), Error> {
        let path = self.journal.blob(hash);
        fs::remove_file(&path).or_else(ignore_missing).map_err(|source| Error::Io {
            path,
            doing: "removing a saved file",
            source,
        })
    }

    /// The number of the next entry.
    pub(crate) fn next_id(&self) -> Result<EntryId, Error> {
        Ok(EntryId(self.journal.ids()?.last().map_or(0, |id| id.0) + 1))
    }

    /// Writes an entry, as a whole or not at all.
    pub(crate) fn append(&self, entry: &Entry) -> Result<(), Error> {
        let folder = self.journal.entries();
        let temporary = Temporary::new(&folder);
        let io = |source| Error::Io { path: temporary.path.clone(), doing: "writing an entry", source };
        let mut file = temporary.create()?;
        file.write_all(entry.to_text().as_bytes()).and_then(|()| file.sync_all()).map_err(io)?;
        temporary.rename(&self.journal.entry_file(entry.id))?;
        sync_directory(&folder)
    }

    /// Removes an entry.
    pub(crate) fn remove_entry(&self, id: EntryId) -> Result<(), Error> {
        let path = self.journal.entry_file(id);
        fs::remove_file(&path).or_else(ignore_missing).map_err(|source| Error::Io {
            path,
            doing: "removing an entry",
            source,
        })
    }
}

/// A file that was copied into the journal.
pub(crate) struct Saved {
    /// Its state.
    pub(crate) stamp: Stamp,
    /// Whether the journal did not have this content before.
    pub(crate) new: bool,
}

/// The prefix of temporary files. Whoever holds the lock may remove them.
pub(super) const UNFINISHED: &str = "unfinished-";

/// A file in the journal that does not have its final name yet; removed when dropped before it gets one.
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    fn new(folder: &Path) -> Self {
        Self { path: folder.join(format!("{UNFINISHED}{}", temporary::random_digits())) }
    }

    fn create(&self) -> Result<fs::File, Error> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).open(&self.path).map_err(|source| Error::Io {
            path: self.path.clone(),
            doing: "creating a file in the journal",
            source,
        })
    }

    fn rename(self, to: &Path) -> Result<(), Error> {
        fs::rename(&self.path, to).map_err(|source| Error::Io {
            path: to.to_owned(),
            doing: "renaming a file in the journal",
            source,
        })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After the rename nothing has this name. If the removal fails, pruning removes the file.
        let _ = fs::remove_file(&self.path);
    }
}

fn sync_directory(path: &Path) -> Result<(), Error> {
    fs::File::open(path).and_then(|folder| folder.sync_all()).map_err(|source| Error::Io {
        path: path.to_owned(),
        doing: "syncing the journal",
        source,
    })
}

/// A file that is already gone does not have to be removed.
fn ignore_missing(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
