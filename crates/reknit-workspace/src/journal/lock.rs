//! [`Locked`]: the journal of a root while no other process can change it.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Seek as _};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::entry::millis;
use super::file::Unsealed;
use super::record::{Event, Record, Summary};
use super::records::{Records, Tail};
use super::{Entry, EntryId, Error, Folder, Journal, Plan, chain, counter, io_error};
use crate::system;

/// The journal of a root, locked.
///
/// Every change to it goes through one of these. It also excludes other threads: the lock belongs to the open file,
/// and each of these opens its own.
pub(crate) struct Locked<'j> {
    pub(crate) journal: &'j Journal,
    pub(crate) folder: Folder,
    records: Records,
    tail: Tail,
    _lock: Held,
}

/// A file that is locked until this is dropped, or the process ends in any way.
struct Held(File);

impl Drop for Held {
    fn drop(&mut self) {
        // Closing the file does the same. If the system cannot do that, nobody has to wait for it.
        let _ = self.0.unlock();
    }
}

/// An entry that was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfinished {
    /// It changed no file; temporary files and directories may exist.
    Staged(EntryId),
    /// It changed some files, or all.
    Begun(EntryId),
}

impl Unfinished {
    pub(crate) fn id(self) -> EntryId {
        match self {
            Self::Staged(id) | Self::Begun(id) => id,
        }
    }
}

/// The process that has the journal of a root locked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// The number of the process; `None` if it did not leave one.
    pub process: Option<u32>,
    /// The folder of the root in the journal.
    pub folder: PathBuf,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process {
            Some(process) => write!(f, "process {process}"),
            None => f.write_str("another process"),
        }
    }
}

/// How long to wait before the holder is named, and how often to try until then and afterwards.
const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(10);

impl<'j> Locked<'j> {
    /// Locks the journal of a root; waits while another process has it locked.
    pub(crate) fn new(journal: &'j Journal, folder: Folder) -> Result<Self, Error> {
        let path = folder.path().join("lock");
        let mut lock = open(&path)?;
        let start = Instant::now();
        let mut has_said = false;
        while !try_lock(&lock, &path)? {
            if journal.is_stopped() {
                return Err(Error::Stopped);
            }
            if !has_said && start.elapsed() > PATIENCE {
                has_said = true;
                if let Some(waiting) = &journal.waiting {
                    waiting(&holder(&folder));
                }
            }
            thread::sleep(PAUSE);
        }
        // Only for those who wait: without it they do not know whom for.
        let _ = name_holder(&mut lock);
        Self::with(journal, folder, lock)
    }

    /// Locks the journal of a root, unless another process has it locked.
    pub(crate) fn try_new(journal: &'j Journal, folder: Folder) -> Result<Option<Self>, Error> {
        let path = folder.path().join("lock");
        let lock = open(&path)?;
        if try_lock(&lock, &path)? { Self::with(journal, folder, lock).map(Some) } else { Ok(None) }
    }

    fn with(journal: &'j Journal, folder: Folder, lock: File) -> Result<Self, Error> {
        let records = Records::open(folder.log_file())?;
        let tail = records.tail()?;
        let mut locked = Self { journal, folder, records, tail, _lock: Held(lock) };
        if locked.tail.damaged.is_some() {
            locked.restore()?;
        }
        Ok(locked)
    }

    /// Logs the entries whose records at the end of the log are damaged, as if each had been interrupted.
    fn restore(&mut self) -> Result<(), Error> {
        let last = self.summary().newest.map(|(id, _)| id);
        for id in self.folder.ids()?.into_iter().filter(|id| Some(*id) > last) {
            let bytes = fs::metadata(self.folder.entry_file(id)).map_or(0, |metadata| metadata.len());
            let at_ms = self.folder.entry(id).map_or(0, |entry| millis(entry.at));
            if self.unfinished().is_some() {
                // Only the last one can have been interrupted.
                self.log_done_again()?;
            }
            let summary = self.summary().with_entry(id, at_ms, bytes, self.tail.end());
            self.append(Record { event: Event::Begun, id, at_ms, bytes, summary })?;
        }
        Ok(())
    }

    fn log_done_again(&mut self) -> Result<(), Error> {
        let Some(record) = self.tail.record else { return Ok(()) };
        let undoes = self.folder.footer(record.id).is_ok_and(|footer| footer.undoes.is_some());
        let mut summary = record.summary;
        if !undoes {
            summary.live = Some(record.id);
        }
        self.append(Record { event: Event::Done, summary, ..record }).map(drop)
    }

    /// The entry that was interrupted, if there is one: it is the last in the log.
    pub(crate) fn unfinished(&self) -> Option<Unfinished> {
        unfinished(&self.tail)
    }

    /// Takes the number of a new entry and logs that it is being staged.
    pub(crate) fn stage(&mut self, at: SystemTime, mut plan: Plan) -> Result<(EntryId, Unsealed), Error> {
        let id = counter::next(self.journal)?;
        plan.id = id;
        let record =
            Record { event: Event::Staged, id, at_ms: millis(at), bytes: 0, summary: self.summary() };
        self.append(record)?;
        match Unsealed::create(self.folder.entry_file(id), &plan) {
            Ok(file) => Ok((id, file)),
            Err(error) => {
                // If that fails, the next command does it. It must not hide why the entry cannot be written.
                let _ = self.drop_entry(id);
                Err(error)
            }
        }
    }

    /// Writes the description of a staged entry and logs that it begins. All of it survives a power failure.
    pub(crate) fn begin(&mut self, entry: &Entry, file: Unsealed) -> Result<(), Error> {
        let at_ms = millis(entry.at);
        let bytes = self.seal(entry, file)?;
        let summary = self.summary().with_entry(entry.id, at_ms, bytes, self.tail.end());
        self.append(Record { event: Event::Begun, id: entry.id, at_ms, bytes, summary })?;
        self.records.sync()
    }

    /// Writes the description of an entry. Returns the size of its file.
    pub(super) fn seal(&self, entry: &Entry, file: Unsealed) -> Result<u64, Error> {
        let bytes = file.seal(entry, self.summary().live)?;
        let entries = self.folder.path().join("entries");
        let synced = system::open(&entries).and_then(|folder| Ok(system::sync_directory(folder)?));
        synced.map_err(io_error(&entries, "syncing the journal"))?;
        Ok(bytes)
    }

    /// Logs that all changes of an entry are made. The entries that it undoes are marked first.
    pub(crate) fn finish(&mut self, id: EntryId) -> Result<(), Error> {
        let record = self.record(id);
        let mut summary = record.summary;
        match self.folder.footer(id) {
            Ok(footer) => chain::finished(&self.folder, id, &footer, &mut summary.live)?,
            // Its own file is damaged: whatever it is, an undo must not pass over it.
            Err(_) => summary.live = Some(id),
        }
        self.append(Record { event: Event::Done, summary, ..record }).map(drop)
    }

    /// Removes an entry none of whose changes are left.
    pub(crate) fn drop_entry(&mut self, id: EntryId) -> Result<(), Error> {
        let record = self.record(id);
        let path = self.folder.entry_file(id);
        let mut summary = record.summary;
        if record.event == Event::Begun {
            summary.total = summary.total.saturating_sub(record.bytes);
        }
        system::remove(&path).map_err(io_error(&path, "removing an entry"))?;
        self.append(Record { event: Event::Dropped, summary, ..record }).map(drop)
    }

    /// Removes the oldest entry.
    pub(super) fn prune(&mut self, oldest: &Record, next: u64) -> Result<(), Error> {
        let path = self.folder.entry_file(oldest.id);
        system::remove(&path).map_err(io_error(&path, "removing an entry"))?;
        let mut summary = self.summary();
        summary.total = summary.total.saturating_sub(oldest.bytes);
        summary.oldest = next;
        if summary.live == Some(oldest.id) {
            summary.live = None;
        }
        self.append(Record { event: Event::Pruned, summary, ..*oldest }).map(drop)
    }

    pub(super) fn records(&self) -> &Records {
        &self.records
    }

    pub(super) fn summary(&self) -> Summary {
        self.tail.record.map(|record| record.summary).unwrap_or_default()
    }

    /// Replaces the log by a shorter one.
    pub(super) fn replace_log(&mut self, path: &std::path::Path) -> Result<(), Error> {
        system::rename(path, self.records.path()).map_err(io_error(path, "shortening the log"))?;
        self.records = Records::open(self.folder.log_file())?;
        self.tail = self.records.tail()?;
        Ok(())
    }

    /// Logs an entry of an earlier version, which is done.
    pub(super) fn carry_over(&mut self, entry: &Entry, bytes: u64) -> Result<(), Error> {
        let at_ms = millis(entry.at);
        let summary = self.summary().with_entry(entry.id, at_ms, bytes, self.tail.end());
        self.append(Record { event: Event::Begun, id: entry.id, at_ms, bytes, summary })?;
        self.finish(entry.id)
    }

    fn record(&self, id: EntryId) -> Record {
        let record = self.tail.record.filter(|record| record.id == id);
        record.expect("an entry is finished or dropped before another begins")
    }

    fn append(&mut self, record: Record) -> Result<u64, Error> {
        self.records.append(&mut self.tail, record)
    }
}

/// The entry at the end of a log, if it is neither done nor dropped.
pub(super) fn unfinished(tail: &Tail) -> Option<Unfinished> {
    let record = tail.record?;
    match record.event {
        Event::Staged => Some(Unfinished::Staged(record.id)),
        Event::Begun => Some(Unfinished::Begun(record.id)),
        Event::Done | Event::Dropped | Event::Pruned => None,
    }
}

fn open(path: &std::path::Path) -> Result<File, Error> {
    system::open_private(path).map_err(io_error(path, "locking the journal"))
}

fn try_lock(lock: &File, path: &std::path::Path) -> Result<bool, Error> {
    match lock.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(source)) => Err(io_error(path, "locking the journal")(source)),
    }
}

fn name_holder(lock: &mut File) -> io::Result<()> {
    system::truncate(lock, 0)?;
    lock.rewind()?;
    system::write(lock, std::process::id().to_string().as_bytes())
}

fn holder(folder: &Folder) -> Holder {
    let name = fs::read_to_string(folder.path().join("lock")).ok();
    Holder { process: name.and_then(|name| name.parse().ok()), folder: folder.path().to_owned() }
}
