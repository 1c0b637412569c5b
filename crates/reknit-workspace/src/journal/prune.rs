//! Pruning: old entries go, and with them what only they needed.

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
    /// Entries are removed, oldest first, until what the others need is no more than this.
    pub bytes: u64,
}

impl Default for Keep {
    /// Thirty days and a gibibyte.
    fn default() -> Self {
        Self { age: Duration::from_secs(30 * 24 * 60 * 60), bytes: 1 << 30 }
    }
}

/// What pruning removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// How many entries.
    pub entries: usize,
    /// How many bytes of kept files.
    pub bytes: u64,
}

impl Journal {
    /// Removes the oldest entries, and the kept files that no other entry needs.
    ///
    /// The newest entry always stays: the last change can be taken back whatever its size, and numbers never
    /// repeat. A damaged entry goes when the entries around it do; as long as one is there nobody can say what
    /// it needs, so no kept file is removed.
    pub fn prune(&self, keep: &Keep, now: SystemTime) -> Result<Pruned, Error> {
        let lock = self.lock()?;
        let mut log = self.log()?;
        let ids = self.ids()?;
        // What each blob weighs, and how many of the entries that stay need it.
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
                let uses = needed.get_mut(&hash).expect("it was counted");
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
            lock.remove(id)?;
            pruned.entries += 1;
        }
        if stay.len() == log.entries.len() {
            for (hash, size) in sizes.iter().filter(|(hash, _)| !needed.contains_key(hash)) {
                lock.forget(*hash)?;
                pruned.bytes += size;
            }
        }
        for folder in [self.entries(), self.blobs()] {
            for name in self.names(folder.clone())?.iter().filter(|name| name.starts_with(UNFINISHED)) {
                // Left by a crash. What cannot be removed now is tried again the next time.
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

/// What an entry needs to be undone.
fn hashes(entry: &Entry) -> impl Iterator<Item = Hash> {
    entry.changes.iter().filter_map(|change| Some(change.before()?.hash))
}
