//! [`Record`]: a step of an entry, as a line of the log.

use serde::{Deserialize, Serialize};

use super::EntryId;

/// A step of an entry, and what is known about all entries of the root after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) event: Event,
    pub(super) id: EntryId,
    /// The time of the entry.
    pub(super) at_ms: u64,
    /// The size of its file; for a staged entry, not known yet.
    pub(super) bytes: u64,
    #[serde(flatten)]
    pub(super) summary: Summary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Event {
    /// Temporary files and directories may exist. No file was changed.
    Staged,
    /// Files may have been changed.
    Begun,
    /// All files were changed.
    Done,
    /// No file is changed any more, and the entry does not exist.
    Dropped,
    /// The entry was removed because of its age, or to make room.
    Pruned,
}

/// What is known about all entries of a root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Summary {
    /// The newest entry that is neither an undo nor undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) live: Option<EntryId>,
    /// The newest entry of any kind, and its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) newest: Option<(EntryId, u64)>,
    /// The size of all entries.
    pub(super) total: u64,
    /// Where in the log the oldest entry begins; before that everything is pruned.
    pub(super) oldest: u64,
}

impl Summary {
    /// Another entry of this size begins here in the log.
    pub(super) fn with_entry(mut self, id: EntryId, at_ms: u64, bytes: u64, here: u64) -> Self {
        if self.total == 0 {
            self.oldest = here;
        }
        self.newest = Some((id, at_ms));
        self.total += bytes;
        self
    }
}
