//! The numbers of entries: unique over all roots, and never used again.

use std::fs::File;
use std::io::Seek as _;

use super::{EntryId, Error, Journal, index, io_error};
use crate::{sealed, system};

/// Takes the next number.
pub(super) fn next(journal: &Journal) -> Result<EntryId, Error> {
    take(journal, |last| last.checked_add(1))
}

/// Makes sure that no number up to this one is given out.
pub(super) fn skip_to(journal: &Journal, id: EntryId) -> Result<EntryId, Error> {
    take(journal, |last| Some(last.max(id.0)))
}

fn take(journal: &Journal, step: impl Fn(u64) -> Option<u64>) -> Result<EntryId, Error> {
    let path = journal.folder.join("counter");
    let failed = || io_error(&path, "counting entries");
    let mut file = system::open_private(&path).map_err(failed())?;
    // Held for a moment, and never while anything else is locked after it.
    file.lock().map_err(failed())?;
    let line = system::read_to_end(&mut file).map_err(failed())?;
    let last = match sealed::parse::<u64>(&line) {
        Ok(last) => last,
        Err(_) => newest(journal)?,
    };
    let Some(next) = step(last) else { return Err(Error::Full) };
    let written = write(&mut file, next);
    // Closing the file does the same. If the system cannot do that, nobody has to wait for it.
    let _ = file.unlock();
    written.map_err(failed())?;
    Ok(EntryId(next))
}

/// In place: one block, which a disk writes as a whole. Should it be damaged all the same, the entries are counted.
fn write(file: &mut File, number: u64) -> std::io::Result<()> {
    system::truncate(file, 0)?;
    file.rewind()?;
    system::write(file, sealed::line(&number).as_bytes())?;
    system::sync_data(file)
}

/// The newest entry of all roots, whether it can be read or not.
fn newest(journal: &Journal) -> Result<u64, Error> {
    let mut newest = 0;
    for folder in index::all(journal)? {
        let last = folder.ids()?.last().map_or(0, |id| id.0);
        let tail = folder.records()?.map(|records| records.tail()).transpose()?;
        let logged = tail.and_then(|tail| tail.record).map_or(0, |record| record.id.0);
        newest = newest.max(last).max(logged);
    }
    Ok(newest)
}
