//! [`Locked`]: the journal while nobody else may change it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::{Entry, EntryId, Error, Journal};
use crate::stamp::{Hash, Hasher, Stamp, mode_of, read_pieces};
use crate::temporary;

/// The journal, held by this process alone.
///
/// Whatever changes the journal goes through one of these, also between threads: the lock belongs to the open
/// file, and each of these opens its own.
pub(crate) struct Locked<'j> {
    pub(crate) journal: &'j Journal,
    // The lock goes when the file is closed, by whatever end the process takes.
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

    /// Copies a file from its beginning into the journal; the stamp is of what was copied.
    pub(crate) fn keep(&self, file: &mut fs::File) -> Result<Kept, Error> {
        let temporary = Temporary::new(&self.journal.blobs());
        let io = |source| Error::Io { path: temporary.path.clone(), doing: "keeping a file", source };
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
        // One that is there already is replaced all the same: it may have been damaged since.
        temporary.rename(&path)?;
        Ok(Kept { stamp, new })
    }

    /// Makes what was kept since then survive a loss of power.
    pub(crate) fn sync_blobs(&self) -> Result<(), Error> {
        sync_directory(&self.journal.blobs())
    }

    /// Removes a kept file that no entry needs.
    pub(crate) fn forget(&self, hash: Hash) -> Result<(), Error> {
        let path = self.journal.blob(hash);
        fs::remove_file(&path).or_else(if_there).map_err(|source| Error::Io {
            path,
            doing: "removing a kept file",
            source,
        })
    }

    /// The number of the next entry.
    pub(crate) fn next_id(&self) -> Result<EntryId, Error> {
        Ok(EntryId(self.journal.ids()?.last().map_or(0, |id| id.0) + 1))
    }

    /// Writes an entry, whole or not at all.
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
    pub(crate) fn remove(&self, id: EntryId) -> Result<(), Error> {
        let path = self.journal.entry_file(id);
        fs::remove_file(&path).or_else(if_there).map_err(|source| Error::Io {
            path,
            doing: "removing an entry",
            source,
        })
    }
}

/// A file that was copied into the journal.
pub(crate) struct Kept {
    /// What it was.
    pub(crate) stamp: Stamp,
    /// Whether nothing of this content was there before.
    pub(crate) new: bool,
}

/// The names of files that are not finished begin with this; whoever holds the lock may remove them.
pub(super) const UNFINISHED: &str = "unfinished-";

/// A file of the journal that has no name to go by yet; removed unless it gets one.
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    fn new(folder: &Path) -> Self {
        Self { path: folder.join(format!("{UNFINISHED}{}", temporary::unguessable())) }
    }

    fn create(&self) -> Result<fs::File, Error> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).open(&self.path).map_err(|source| Error::Io {
            path: self.path.clone(),
            doing: "creating a file of the journal",
            source,
        })
    }

    fn rename(self, to: &Path) -> Result<(), Error> {
        fs::rename(&self.path, to).map_err(|source| Error::Io {
            path: to.to_owned(),
            doing: "naming a file of the journal",
            source,
        })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After the rename there is nothing of this name. Should removing fail, pruning does it.
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

/// That a file is gone already is as good as having removed it.
fn if_there(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
