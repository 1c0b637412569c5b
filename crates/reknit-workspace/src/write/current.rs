//! [`Current`]: a file as it is when a batch is checked.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use rustix::fs::{Access, AtFlags, accessat};

use super::Error;
use crate::journal::Locked;
use crate::root::{Place, RelPath, Root};
use crate::stamp::Stamp;

/// A file that is there, and safe in the journal.
pub(super) struct Current {
    /// What it is.
    pub(super) stamp: Stamp,
    /// Whether the journal had nothing of this content before.
    pub(super) new_in_journal: bool,
    /// Owner, permissions and number of links.
    pub(super) metadata: fs::Metadata,
}

impl Current {
    /// Looks at a file and keeps it; refused if it may not be written or is not what was seen.
    pub(super) fn keep(root: &Root, lock: &Locked<'_>, path: &RelPath, seen: &Stamp) -> Result<Self, Error> {
        let place = root.place(path)?;
        let mut file = place.open()?;
        let metadata = metadata(&place, &file)?;
        if !writable(&place, &metadata) {
            return Err(Error::ReadOnly { path: path.clone() });
        }
        // A cheap look first: a file of another length need not be copied to be refused.
        if metadata.len() != seen.size {
            return Err(Error::Changed { path: path.clone() });
        }
        let kept = lock.keep(&mut file)?;
        if !kept.stamp.same_content(seen) {
            if kept.new {
                lock.forget(kept.stamp.hash)?;
            }
            return Err(Error::Changed { path: path.clone() });
        }
        Ok(Self { stamp: kept.stamp, new_in_journal: kept.new, metadata })
    }

    /// Refuses if the file is another one by now, or holds something else.
    ///
    /// What the system says of it is compared first, so that it is not read once more. Between this look and
    /// the rename behind it a moment remains in which a change goes unseen: no system has a rename that
    /// compares.
    pub(super) fn check_again(&self, place: &Place, path: &RelPath) -> Result<(), Error> {
        let mut file = place.open()?;
        if look(&metadata(place, &file)?) == look(&self.metadata) {
            return Ok(());
        }
        let stamp = Stamp::of_file(&mut file).map_err(|error| place.io("reading", error))?;
        if stamp == self.stamp { Ok(()) } else { Err(Error::Changed { path: path.clone() }) }
    }
}

fn metadata(place: &Place, file: &fs::File) -> Result<fs::Metadata, Error> {
    Ok(file.metadata().map_err(|error| place.io("looking at it", error))?)
}

/// Whether the user may write the file.
///
/// A rename needs no such permission, but who takes it away means the file to stay as it is. One that nobody
/// may write is left alone even by a superuser, for whom the system would find nothing forbidden.
fn writable(place: &Place, metadata: &fs::Metadata) -> bool {
    let by_somebody = metadata.mode() & 0o222 != 0;
    by_somebody && accessat(&place.directory, place.name(), Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

/// What changes when a file does, as far as the system tells.
fn look(metadata: &fs::Metadata) -> [i128; 7] {
    [
        metadata.dev().into(),
        metadata.ino().into(),
        metadata.size().into(),
        metadata.mtime().into(),
        metadata.mtime_nsec().into(),
        metadata.ctime().into(),
        metadata.ctime_nsec().into(),
    ]
}
