//! Pruning: removes old entries and the saved files that only they need.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, SystemTime};

use super::locked::UNFINISHED;
use super::{Entry, Error, Journal};
use crate::stamp::Hash;

/// How much of the journal to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Entries older than this are removed.
    pub age: Duration,
    /// Entries are removed, oldest first, until the saved files of the others take at most this many bytes.
    pub bytes: u64,
}

impl Default for Keep {
    /// Thirty days and one gibibyte.
    fn default() -> Self {
        Self { age: Duration::from_secs(30 * 24 * 60 * 60), bytes: 1 << 30 }
    }
}

/// What pruning removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// The number of entries.
    pub entries: usize,
    /// The number of bytes in saved files.
    pub bytes: u64,
}

impl Journal {
    /// Removes the oldest entries, and the saved files that no other entry needs.
    ///
    /// The newest entry always stays, so that the last change can be undone whatever its size, and numbers are
    /// never reused. A damaged entry is removed along with the entries around it. Until then it is unknown which
    /// saved files it needs, so none are removed.
    pub fn prune(&self, keep: &Keep, now: SystemTime) -> Result<Pruned, Error> {
        let lock = self.lock()?;
        let mut log = self.log()?;
        let ids = self.ids()?;
        // The size of each blob, and how many of the remaining entries need it.
        let sizes = self.blob_sizes()?;
        let mut needed: BTreeMap<Hash, usize> = BTreeMap::new();
        for hash in log.entries.iter().flat_map(hashes) {
            *needed.entry(hash).or_default() += 1;
        }
        let size = |hash: &Hash| sizes.get(hash).copied().unwrap_or_default();
        let mut total: u64 = needed.keys().map(size).sum();
        let is_old = |entry: &Entry| now.duration_since(entry.at).is_ok_and(|age| age > keep.age);

        let mut first_kept = ids.first().copied();
        while let [_, .., oldest] = log.entries.as_slice()
            && (total > keep.bytes || is_old(oldest))
        {
            for hash in hashes(oldest) {
                let uses = needed.get_mut(&hash).expect("every hash was counted");
                *uses -= 1;
                if *uses == 0 {
                    needed.remove(&hash);
                    total -= size(&hash);
                }
            }
            log.entries.pop();
            first_kept = log.entries.last().map(|entry| entry.id);
        }

        let mut pruned = Pruned::default();
        let (gone, stay): (Vec<_>, Vec<_>) = ids.into_iter().partition(|id| Some(*id) < first_kept);
        for id in gone {
            lock.remove_entry(id)?;
            pruned.entries += 1;
        }
        if stay.len() == log.entries.len() {
            for (hash, size) in sizes.iter().filter(|(hash, _)| !needed.contains_key(hash)) {
                lock.remove_blob(*hash)?;
                pruned.bytes += size;
            }
        }
        for folder in [self.entries(), self.blobs()] {
            for name in self.names(folder.clone())?.iter().filter(|name| name.starts_with(UNFINISHED)) {
                // Left by a crash. If removing it fails now, the next pruning tries again.
                let _ = fs::remove_file(folder.join(name));
            }
        }
        Ok(pruned)
    }

    fn blob_sizes(&self) -> Result<BTreeMap<Hash, u64>, Error> {
        let hashes = self.names(self.blobs())?.into_iter().filter_map(|name| name.parse::<Hash>().ok());
        Ok(hashes.filter_map(|hash| Some((hash, fs::metadata(self.blob(hash)).ok()?.len()))).collect())
    }
}

/// The saved files that are needed to undo an entry.
fn hashes(entry: &Entry) -> impl Iterator<Item = Hash> {
    entry.changes.iter().filter_map(|change| Some(change.before()?.hash))
}
