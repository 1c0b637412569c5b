//! [`Step`]: one write of a batch, on its way from being asked for to being done.

use std::fmt;

use super::current::Current;
use super::staged::Staged;
use crate::root::RelPath;
use crate::stamp::Stamp;

/// One write of a batch; how far it is shows in what is known of the old file and of the new one.
#[derive(Debug)]
pub(crate) enum Step<Old, New> {
    Create { path: RelPath, new: New },
    Update { path: RelPath, old: Old, new: New },
    Delete { path: RelPath, old: Old },
    Move { path: RelPath, old: Old, to: RelPath },
    MoveAndUpdate { path: RelPath, old: Old, to: RelPath, new: New },
}

/// As the caller asks for it: the stamp is of the file that was seen.
pub(crate) type Asked<'a> = Step<Stamp, Content<'a>>;
/// With the file that is there, looked at and kept.
pub(super) type Checked<'a> = Step<Current, Content<'a>>;
/// With the new content on the disk.
pub(super) type Ready<'r> = Step<Current, Staged<'r>>;

impl<Old, New> Step<Old, New> {
    /// The paths that it concerns.
    pub(super) fn paths(&self) -> impl Iterator<Item = &RelPath> {
        let (path, to) = match self {
            Self::Create { path, .. } | Self::Update { path, .. } | Self::Delete { path, .. } => (path, None),
            Self::Move { path, to, .. } | Self::MoveAndUpdate { path, to, .. } => (path, Some(to)),
        };
        [path].into_iter().chain(to)
    }
}

/// What a file is to hold.
pub(crate) enum Content<'a> {
    /// These bytes, one piece behind the other; the permissions stay.
    Pieces(Box<dyn Iterator<Item = &'a [u8]> + 'a>),
    /// What the journal has under this hash, with these permissions.
    Kept(Stamp),
}

impl<'a> Content<'a> {
    pub(super) fn pieces(pieces: impl IntoIterator<Item = &'a [u8], IntoIter: 'a>) -> Self {
        Self::Pieces(Box::new(pieces.into_iter()))
    }
}

impl fmt::Debug for Content<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pieces(_) => f.write_str("Pieces(..)"),
            Self::Kept(stamp) => f.debug_tuple("Kept").field(stamp).finish(),
        }
    }
}
