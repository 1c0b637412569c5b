//! [`Log`]: the entries of a journal, and which of them are undone.

use std::collections::BTreeMap;

use super::{Entry, EntryId, Error, Journal};

/// The entries of a journal, newest first.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Log {
    /// The entries that can be read.
    pub entries: Vec<Entry>,
    /// What is wrong with the entries that cannot be read.
    pub damaged: Vec<Error>,
    undone_by: BTreeMap<EntryId, EntryId>,
}

impl Log {
    /// The entry that undid this one, unless it was undone itself.
    pub fn undone_by(&self, id: EntryId) -> Option<EntryId> {
        self.undone_by.get(&id).copied()
    }
}

impl Journal {
    /// Lists the entries of all roots.
    ///
    /// A damaged entry does not hide the others.
    pub fn log(&self) -> Result<Log, Error> {
        let mut log = Log::default();
        for id in self.ids()?.into_iter().rev() {
            match self.entry(id) {
                Ok(entry) => {
                    // Newer entries come first, so it is already known whether this one is undone.
                    if let Some(target) = entry.undoes
                        && !log.undone_by.contains_key(&id)
                    {
                        log.undone_by.entry(target).or_insert(id);
                    }
                    log.entries.push(entry);
                }
                // It was pruned after its name was read.
                Err(Error::NoEntry { .. }) => {}
                Err(error) => log.damaged.push(error),
            }
        }
        Ok(log)
    }
}
