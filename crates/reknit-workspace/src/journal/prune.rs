//! Pruning: removes the oldest entries of a root.

use std::time::{Duration, SystemTime};

use super::entry::at;
use super::record::{Event, Record};
use super::records::{Records, Tail};
use super::{EntryId, Error, Folder, Journal, Locked, index, io_error};
use crate::root::Root;
use crate::system;

/// How much of the journal of a root to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Entries older than this are removed.
    pub age: Duration,
    /// Entries are removed, oldest first, until the files of the others take at most this many bytes.
    pub bytes: u64,
}

impl Default for Keep {
    /// Thirty days and one gibibyte.
    fn default() -> Self {
        Self { age: Duration::from_secs(30 * 24 * 60 * 60), bytes: 1 << 30 }
    }
}

/// What pruning removed, or would remove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// The number of entries.
    pub entries: usize,
    /// The size of their files.
    pub bytes: u64,
    /// The newest one.
    pub newest: Option<EntryId>,
}

/// A log is shortened when as much of it is about pruned entries, and more than about others.
const SHORTENED: u64 = 64 * 1024;

impl Journal {
    /// Removes the oldest entries of a root. The newest one always stays, whatever its size.
    ///
    /// Roots below which nothing was written for so long that nothing would stay are forgotten.
    pub fn prune(&self, root: &Root, keep: &Keep, now: SystemTime) -> Result<Pruned, Error> {
        let Some(folder) = Folder::find(self, root)? else { return Ok(Pruned::default()) };
        let mut lock = Locked::new(self, folder)?;
        if lock.unfinished().is_some() {
            return Ok(Pruned::default());
        }
        let mut pruned = Pruned::default();
        while let Some((record, next)) = oldest(lock.records(), lock.summary().oldest)? {
            let summary = lock.summary();
            let is_newest = summary.newest.is_none_or(|(newest, _)| newest == record.id);
            let must_go = summary.total > keep.bytes || is_old(record.at_ms, keep, now);
            if is_newest || record.bytes == summary.total || !must_go {
                break;
            }
            lock.prune(&record, next)?;
            pruned.add(&record);
        }
        shorten(&mut lock)?;
        if pruned.entries > 0 {
            forget(self, keep, now)?;
        }
        Ok(pruned)
    }

    /// What [`prune`](Self::prune) would remove after another entry that takes this many bytes.
    pub fn would_prune(
        &self,
        root: &Root,
        keep: &Keep,
        bytes: u64,
        now: SystemTime,
    ) -> Result<Pruned, Error> {
        let mut pruned = Pruned::default();
        let Some(folder) = Folder::find(self, root)? else { return Ok(pruned) };
        let Some(records) = folder.records()? else { return Ok(pruned) };
        let Some(Record { summary, .. }) = records.tail()?.record else { return Ok(pruned) };
        let mut total = summary.total.saturating_add(bytes);
        let mut next = summary.oldest;
        while let Some((record, end)) = oldest(&records, next)? {
            if !(total > keep.bytes || is_old(record.at_ms, keep, now)) {
                break;
            }
            total = total.saturating_sub(record.bytes);
            next = end;
            pruned.add(&record);
        }
        Ok(pruned)
    }
}

impl Pruned {
    fn add(&mut self, record: &Record) {
        self.entries += 1;
        self.bytes += record.bytes;
        self.newest = Some(record.id);
    }
}

fn is_old(at_ms: u64, keep: &Keep, now: SystemTime) -> bool {
    now.duration_since(at(at_ms)).is_ok_and(|age| age > keep.age)
}

/// The first entry that begins here or later and was not dropped, and where the search for the next one starts.
fn oldest(records: &Records, mut next: u64) -> Result<Option<(Record, u64)>, Error> {
    let mut begun: Option<Record> = None;
    while let Some((record, end)) = records.at(next)? {
        next = end;
        let Ok(record) = record else { continue };
        match record.event {
            Event::Begun => begun = Some(record),
            Event::Done if begun.is_some_and(|begun| begun.id == record.id) => {
                return Ok(Some((record, next)));
            }
            Event::Staged | Event::Done | Event::Dropped | Event::Pruned => {}
        }
    }
    Ok(None)
}

/// Removes the records of pruned entries from the log, if they are most of it.
fn shorten(lock: &mut Locked<'_>) -> Result<(), Error> {
    let summary = lock.summary();
    let length = lock.records().tail()?.end();
    if summary.oldest < SHORTENED || summary.oldest < length - summary.oldest {
        return Ok(());
    }
    let path = lock.folder.path().join("log.new");
    system::remove(&path).map_err(io_error(&path, "shortening the log"))?;
    let mut shorter = Records::open(path.clone())?;
    let mut tail = Tail::default();
    let mut next = summary.oldest;
    while let Some((record, end)) = lock.records().at(next)? {
        next = end;
        if let Ok(mut record) = record {
            record.summary.oldest = record.summary.oldest.saturating_sub(summary.oldest);
            shorter.append(&mut tail, record)?;
        }
    }
    shorter.sync()?;
    lock.replace_log(&path)
}

/// Removes the folders of roots whose newest entry is too old.
fn forget(journal: &Journal, keep: &Keep, now: SystemTime) -> Result<(), Error> {
    for folder in index::all(journal)? {
        let last = folder.records()?.map(|records| records.tail()).transpose()?.and_then(|tail| tail.record);
        let is_over = |record: &Record| {
            record.event != Event::Begun
                && record.summary.newest.is_some_and(|(_, at_ms)| is_old(at_ms, keep, now))
        };
        if !last.as_ref().is_some_and(is_over) {
            continue;
        }
        if let Some(lock) = Locked::try_new(journal, folder)? {
            let path = lock.folder.path();
            system::remove_all(path).map_err(io_error(path, "removing the folder of a root"))?;
        }
    }
    Ok(())
}
