//! The journal: what was written, and what was there before.
//!
//! It is a folder that only its owner can access, with a folder for each root:
//!
//! ```text
//! counter                     the number of the newest entry of all roots
//! inodes/66305-131073         which folder belongs to a directory that was moved
//! roots/5f2b91c06d8e4a37/     a root, named by the hash of its path
//!     root                    its path, device and inode
//!     lock                    held by the process that is writing below the root, which it names
//!     log                     one record for each step of an entry, only ever appended to
//!     entries/12              an entry: the earlier contents of its files, compressed, and what it did to them
//! ```
//!
//! An entry is *staged*, then *begun* and then *done*. Its record says that it is staged before the first temporary
//! file exists, that it is begun before the first file changes, and that it is done after the last. So an entry
//! that was interrupted is the last one in the log, and the next command below the root finishes it or takes it
//! back: [`Journal::recover`].
//!
//! Each record also has what a command needs to know: the newest entry, the newest one that is not undone, the
//! size of all entries, and where the oldest one is. Only the end of the log is read, so the cost of a command does
//! not depend on how much was written before. Records and descriptions have checksums; a damaged one costs one
//! entry and is reported.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::root::Root;
use crate::system;
use crate::temporary;

mod entry;
mod error;
mod folder;
mod record;
mod records;
mod file;
mod index;
mod counter;
mod lock;
mod chain;
mod log;
mod prune;
mod earlier;

pub use entry::{Change, Entry, EntryId, State};
pub(crate) use entry::{Saved, to_millis};
pub use error::Error;
pub(crate) use file::{Contents, Plan, Unsealed};
pub(crate) use index::Folder;
pub use lock::Holder;
pub(crate) use lock::{Locked, Unfinished};
pub use log::Log;
pub use prune::{Keep, Pruned};

/// Called with the process that is being waited for.
type Waiting = Arc<dyn Fn(&Holder) + Send + Sync>;

/// The folder that contains entries and the earlier contents of files.
///
/// Any number of processes may use it at the same time; those that write below the same root wait for each other.
#[derive(Clone)]
pub struct Journal {
    folder: PathBuf,
    /// Called once if another process is being waited for.
    waiting: Option<Waiting>,
    /// Set to stop a batch that has not changed a file yet.
    stop: Option<Arc<AtomicBool>>,
    /// Present if it is removed with the last copy of this value.
    temporary: Option<Arc<Temporary>>,
}

impl Journal {
    /// The folder of the user's journal: `$XDG_STATE_HOME/reknit/journal`, by default under `~/.local/state`.
    pub fn default_folder() -> Result<PathBuf, Error> {
        folder::default()
    }

    /// Opens the journal in a folder, which is created if it does not exist.
    ///
    /// A journal of an earlier version is carried over.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, Error> {
        let journal = Self { folder: folder.into(), waiting: None, stop: None, temporary: None };
        system::make_private_directory(&journal.roots())
            .map_err(|source| Error::Create { path: journal.folder.clone(), source })?;
        earlier::carry_over(&journal)?;
        Ok(journal)
    }

    /// A journal that is removed with this value: what is written with it can be undone only until then.
    ///
    /// If the process is killed, nothing recovers what it was writing.
    pub fn temporary() -> Result<Self, Error> {
        let folder = std::env::temp_dir().join(format!("reknit-{}", temporary::random_digits()));
        let mut journal = Self::open(&folder)?;
        journal.temporary = Some(Arc::new(Temporary(folder)));
        Ok(journal)
    }

    /// Calls this once when a write has waited for another process for more than a second.
    pub fn on_wait(mut self, waiting: impl Fn(&Holder) + Send + Sync + 'static) -> Self {
        self.waiting = Some(Arc::new(waiting));
        self
    }

    /// Stops a write once this is set, if it has not changed a file yet. One that has is finished.
    pub fn stop_on(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = Some(stop);
        self
    }

    /// The folder of the journal.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The entry with this number, of any root.
    pub fn entry(&self, id: EntryId) -> Result<Entry, Error> {
        self.folder_with(id)?.entry(id)
    }

    /// The content of a file before a change of an entry; `None` if the change has no earlier content.
    ///
    /// A file that was moved and not changed has none in the journal.
    pub fn content(&self, entry: &Entry, change: &Change) -> Result<Option<Vec<u8>>, Error> {
        let index = entry.changes.iter().position(|other| other == change);
        let Some((saved, before)) = index.and_then(|index| entry.saved_before(index)) else {
            return Ok(None);
        };
        let contents = Contents::new(self.folder_with(entry.id)?.entry_file(entry.id), saved);
        let mut bytes = Vec::new();
        contents.read(&before, |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(Some(bytes))
    }

    /// The newest entry below a root that is not an undo and not undone: what an undo is about.
    pub fn newest(&self, root: &Root) -> Result<Option<Entry>, Error> {
        let Some(folder) = Folder::find(self, root)? else { return Ok(None) };
        match chain::newest(&folder)? {
            Some(id) => match folder.entry(id) {
                Err(Error::NoEntry { id }) => Err(Error::Missing { id, path: folder.entry_file(id) }),
                entry => entry.map(Some),
            },
            None => Ok(None),
        }
    }

    /// The folder of the root that has an entry.
    pub(crate) fn folder_with(&self, id: EntryId) -> Result<Folder, Error> {
        for folder in index::all(self)? {
            let file = folder.entry_file(id);
            if system::metadata_of(&file).map_err(io_error(&file, "looking for an entry"))?.is_some() {
                return Ok(folder);
            }
        }
        Err(Error::NoEntry { id })
    }

    /// The same journal for work that has to be finished.
    pub(crate) fn without_stop(mut self) -> Self {
        self.stop = None;
        self
    }

    /// Whether the caller wants to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    fn roots(&self) -> PathBuf {
        self.folder.join("roots")
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// A folder that is removed when dropped.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // It is in the system's folder for temporary files, which is emptied now and then.
        let _ = system::remove_all(&self.0);
    }
}

/// An error of a call on a file of the journal.
fn io_error(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { path, doing, source }
}
