//! [`Entry`]: what one batch did, as recorded in the journal.

use std::fmt;
use std::num::ParseIntError;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::root::RelPath;
use crate::stamp::{Hash, Stamp};

/// The version of the format that this crate writes, and the only one that it reads.
const VERSION: u64 = 1;

/// What one batch did, or was about to do.
///
/// It is written before the first file is. After a crash some or all of its changes may not have happened; the
/// files themselves show which.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// Its number, larger than that of every earlier entry.
    pub id: EntryId,
    /// When it was written, to the millisecond, by the caller's clock.
    pub at: SystemTime,
    /// The path of the root in canonical form.
    pub root: PathBuf,
    /// The caller's name for it, such as the name of a command.
    pub label: String,
    /// The entry that this one undoes, if it is an undo.
    pub undoes: Option<EntryId>,
    /// What it did to each file.
    pub changes: Vec<Change>,
    /// The directories that were created for it, outer ones first.
    pub made: Vec<RelPath>,
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

/// The line of JSON in the file of an entry, after the line with its hash.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u64,
    id: EntryId,
    at_ms: u64,
    root: PathBuf,
    label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undoes: Option<EntryId>,
    changes: Vec<Change>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    made: Vec<RelPath>,
}

impl Entry {
    /// The text of its file.
    pub(super) fn to_text(&self) -> String {
        let stored = Stored {
            version: VERSION,
            id: self.id,
            at_ms: millis(self.at),
            root: self.root.clone(),
            label: self.label.clone(),
            undoes: self.undoes,
            changes: self.changes.clone(),
            made: self.made.clone(),
        };
        let body = serde_json::to_string(&stored).expect("every field can be written as JSON") + "\n";
        format!("{}\n{body}", Hash::of(body.as_bytes()))
    }

    /// Parses the text of its file; the error says what is wrong with it.
    pub(super) fn from_text(id: EntryId, text: &[u8]) -> Result<Self, String> {
        let end = text.iter().position(|&byte| byte == b'\n').ok_or("truncated")?;
        let (hash, body) = (&text[..end], &text[end + 1..]);
        if Hash::of(body).to_string().as_bytes() != hash {
            return Err("the checksum does not match".into());
        }
        #[derive(Deserialize)]
        struct Versioned {
            version: u64,
        }
        let Versioned { version } = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        if version != VERSION {
            return Err(format!("version {version} is not supported, only version {VERSION}"));
        }
        let stored: Stored = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        if stored.id != id {
            return Err(format!("it contains entry {}", stored.id));
        }
        Ok(Self {
            id,
            at: UNIX_EPOCH + Duration::from_millis(stored.at_ms),
            root: stored.root,
            label: stored.label,
            undoes: stored.undoes,
            changes: stored.changes,
            made: stored.made,
        })
    }
}

/// A time as it is stored: in whole milliseconds, and not before 1970.
pub(crate) fn to_millis(at: SystemTime) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis(at))
}

fn millis(at: SystemTime) -> u64 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
