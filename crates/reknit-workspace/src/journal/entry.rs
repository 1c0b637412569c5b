//! [`Entry`]: what one batch did, as recorded in the journal.

use std::fmt;
use std::num::ParseIntError;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::attributes::Attributes;
use crate::root::RelPath;
use crate::stamp::Stamp;

/// The version of the format that this crate writes, and the only one that it reads.
const VERSION: u64 = 2;

/// What one batch did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// Its number, larger than that of every earlier entry.
    pub id: EntryId,
    /// When it was written, to the millisecond, by the caller's clock.
    pub at: SystemTime,
    /// The path of the root in canonical form; of a root that was moved, where it is now.
    pub root: PathBuf,
    /// The caller's name for it, such as the name of a command.
    pub label: String,
    /// The entry that this one undoes, if it is an undo.
    pub undoes: Option<EntryId>,
    /// What it did to each file.
    pub changes: Vec<Change>,
    /// The directories that were created for it, outer ones first.
    pub made: Vec<RelPath>,
    /// What became of it.
    pub state: State,
    /// What the journal has of each changed file.
    pub(crate) saved: Vec<Option<Saved>>,
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// Its changes are in effect.
    Done,
    /// It was undone, and that was not undone itself.
    Undone {
        /// The entry that undid it.
        by: EntryId,
    },
    /// Another process is writing it, or was interrupted while it did.
    Unfinished,
}

/// What the journal has of a file before a change: where its content is in the file of the entry, and its
/// attributes. A file that is only moved has no content there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Saved {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<Range>,
    /// `None` if they are not known: the entry is from an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) attributes: Option<Attributes>,
}

/// A part of the file of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Range {
    pub(crate) start: u64,
    pub(crate) length: u64,
}

/// The number of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(pub(crate) u64);

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for EntryId {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(Self)
    }
}

/// What was done to one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Change {
    /// A file was created.
    Create {
        /// Where.
        path: RelPath,
        /// Its state afterwards.
        after: Stamp,
    },
    /// The content of a file was replaced.
    Update {
        /// Which.
        path: RelPath,
        /// Its state before.
        before: Stamp,
        /// Its state afterwards.
        after: Stamp,
    },
    /// A file was deleted.
    Delete {
        /// Which.
        path: RelPath,
        /// Its state before.
        before: Stamp,
    },
    /// A file was moved, and its content may have been replaced.
    Move {
        /// Where it was.
        path: RelPath,
        /// Where it was moved to.
        to: RelPath,
        /// Its state before.
        before: Stamp,
        /// Its state afterwards.
        after: Stamp,
    },
}

impl Change {
    /// The path of the file; for a move, the old path.
    pub fn path(&self) -> &RelPath {
        match self {
            Self::Create { path, .. }
            | Self::Update { path, .. }
            | Self::Delete { path, .. }
            | Self::Move { path, .. } => path,
        }
    }

    /// The state of the file before, if it existed.
    pub fn before(&self) -> Option<&Stamp> {
        match self {
            Self::Create { .. } => None,
            Self::Update { before, .. } | Self::Delete { before, .. } | Self::Move { before, .. } => {
                Some(before)
            }
        }
    }

    /// The paths that it affects.
    pub fn paths(&self) -> impl Iterator<Item = &RelPath> {
        let to = match self {
            Self::Move { to, .. } => Some(to),
            Self::Create { .. } | Self::Update { .. } | Self::Delete { .. } => None,
        };
        [self.path()].into_iter().chain(to)
    }
}

/// The description of an entry in its file.
#[derive(Serialize, Deserialize)]
pub(super) struct Description {
    version: u64,
    id: EntryId,
    at_ms: u64,
    root: PathBuf,
    label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undoes: Option<EntryId>,
    changes: Vec<Described>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    made: Vec<RelPath>,
}

#[derive(Serialize, Deserialize)]
struct Described {
    #[serde(flatten)]
    change: Change,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    saved: Option<Saved>,
}

impl Entry {
    /// The earlier content of the file of a change, and its state.
    pub(crate) fn saved_before(&self, index: usize) -> Option<(Range, Stamp)> {
        let content = self.saved.get(index)?.as_ref()?.content?;
        Some((content, *self.changes[index].before()?))
    }

    pub(super) fn describe(&self) -> Description {
        let changes = self.changes.iter().zip(&self.saved);
        Description {
            version: VERSION,
            id: self.id,
            at_ms: millis(self.at),
            root: self.root.clone(),
            label: self.label.clone(),
            undoes: self.undoes,
            changes: changes
                .map(|(change, saved)| Described { change: change.clone(), saved: saved.clone() })
                .collect(),
            made: self.made.clone(),
        }
    }

    /// The entry with a description; the error says what is wrong with it.
    pub(super) fn described(id: EntryId, description: Description, state: State) -> Result<Self, String> {
        if description.version != VERSION {
            return Err(format!("version {} is not supported, only version {VERSION}", description.version));
        }
        if description.id != id {
            return Err(format!("it contains entry {}", description.id));
        }
        let (changes, saved) =
            description.changes.into_iter().map(|described| (described.change, described.saved)).unzip();
        Ok(Self {
            id,
            at: at(description.at_ms),
            root: description.root,
            label: description.label,
            undoes: description.undoes,
            changes,
            made: description.made,
            state,
            saved,
        })
    }
}

/// A time as it is stored: in whole milliseconds, and not before 1970.
pub(crate) fn to_millis(time: SystemTime) -> SystemTime {
    at(millis(time))
}

pub(super) fn at(millis: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis)
}

pub(super) fn millis(at: SystemTime) -> u64 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
