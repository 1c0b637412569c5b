//! [`Log`]: the newest entries of a journal.

use std::collections::BTreeSet;

use super::record::Event;
use super::{Entry, Error, Folder, Journal, State, index};
use crate::root::Root;
use crate::sealed;

/// The newest entries of a journal, newest first.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Log {
    /// The entries that can be read.
    pub entries: Vec<Entry>,
    /// What is wrong with those that cannot be read.
    pub damaged: Vec<Error>,
}

impl Journal {
    /// Lists the newest entries below a root, at most this many.
    ///
    /// A damaged entry does not hide the others.
    pub fn log(&self, root: &Root, count: usize) -> Result<Log, Error> {
        match Folder::find(self, root)? {
            Some(folder) => of_folder(&folder, count),
            None => Ok(Log::default()),
        }
    }

    /// Lists the newest entries of all roots, at most this many.
    pub fn log_of_all(&self, count: usize) -> Result<Log, Error> {
        let mut all = Log::default();
        for folder in index::all(self)? {
            let log = of_folder(&folder, count)?;
            all.entries.extend(log.entries);
            all.damaged.extend(log.damaged);
        }
        all.entries.sort_by_key(|entry| std::cmp::Reverse(entry.id));
        all.entries.truncate(count);
        Ok(all)
    }
}

fn of_folder(folder: &Folder, count: usize) -> Result<Log, Error> {
    let mut log = Log::default();
    let Some(records) = folder.records()? else { return Ok(log) };
    let oldest = records.tail()?.record.map_or(0, |record| record.summary.oldest);
    let mut lines = records.backwards()?;
    // The newest record of each entry comes first.
    let mut seen = BTreeSet::new();
    while log.entries.len() < count
        && let Some((at, line)) = lines.next()?
        && at >= oldest
    {
        let record: super::record::Record = match sealed::parse(&line) {
            Ok(record) => record,
            // Torn: it was never written.
            Err(_) if !line.ends_with(b"\n") => continue,
            Err(what) => {
                log.damaged.push(Error::DamagedRecord { path: records.path().to_owned(), at, what });
                continue;
            }
        };
        if !seen.insert(record.id) || matches!(record.event, Event::Dropped | Event::Pruned) {
            continue;
        }
        match folder.entry(record.id) {
            Ok(mut entry) => {
                if record.event != Event::Done {
                    entry.state = State::Unfinished;
                }
                log.entries.push(entry);
            }
            Err(Error::NoEntry { .. } | Error::Damaged { .. }) if record.event == Event::Staged => {}
            Err(Error::NoEntry { id }) => {
                log.damaged.push(Error::Missing { id, path: folder.entry_file(id) });
            }
            Err(error) => log.damaged.push(error),
        }
    }
    Ok(log)
}
