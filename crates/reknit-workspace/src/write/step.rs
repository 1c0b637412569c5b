//! [`Step`]: one write of a batch, from the request to its last stage.

use std::fmt;

use super::current::Current;
use super::staged::Staged;
use crate::attributes::Attributes;
use crate::journal::Contents;
use crate::root::RelPath;
use crate::stamp::Stamp;

/// One write of a batch. Its stage is in the types: what is known about the old file and the new content.
#[derive(Debug)]
pub(crate) enum Step<Old, New> {
    Create { path: RelPath, new: New },
    Update { path: RelPath, old: Old, new: New },
    Delete { path: RelPath, old: Old },
    Move { path: RelPath, old: Old, to: RelPath },
    MoveAndUpdate { path: RelPath, old: Old, to: RelPath, new: New },
}

/// As the caller requests it: the stamp is that of the file when it was read.
pub(crate) type Requested<'a> = Step<Stamp, Content<'a>>;
/// The existing file was checked.
pub(super) type Checked<'a> = Step<Current, Content<'a>>;
/// The new content is on disk.
pub(super) type Ready<'r> = Step<Current, Staged<'r>>;

impl<Old, New> Step<Old, New> {
    /// The paths that it affects.
    pub(super) fn paths(&self) -> impl Iterator<Item = &RelPath> {
        let (path, to) = match self {
            Self::Create { path, .. } | Self::Update { path, .. } | Self::Delete { path, .. } => (path, None),
            Self::Move { path, to, .. } | Self::MoveAndUpdate { path, to, .. } => (path, Some(to)),
        };
        [path].into_iter().chain(to)
    }

    /// The path at which it may create a file, whose directories it creates.
    pub(super) fn created(&self) -> Option<&RelPath> {
        match self {
            Self::Create { path, .. } => Some(path),
            Self::Move { to, .. } | Self::MoveAndUpdate { to, .. } => Some(to),
            Self::Update { .. } | Self::Delete { .. } => None,
        }
    }
}

/// The new content of a file.
pub(crate) enum Content<'a> {
    /// These pieces, one after the other; permissions and attributes stay.
    Pieces(Box<dyn Iterator<Item = &'a [u8]> + 'a>),
    /// What the journal has, with its permissions.
    Saved(SavedFile),
}

/// A file that the journal has.
#[derive(Clone, Debug)]
pub(crate) struct SavedFile {
    pub(crate) stamp: Stamp,
    pub(crate) contents: Contents,
    /// `None` if they are not known.
    pub(crate) attributes: Option<Attributes>,
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
            Self::Saved(saved) => f.debug_tuple("Saved").field(saved).finish(),
        }
    }
}
