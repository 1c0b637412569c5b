//! [`Current`]: a file as it is when a batch is checked.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use rustix::fs::{Access, AtFlags, accessat};

use super::Error;
use crate::journal::Locked;
use crate::root::{Place, RelPath, Root};
use crate::stamp::Stamp;

/// An existing file that was saved in the journal.
pub(super) struct Current {
    /// Its state.
    pub(super) stamp: Stamp,
    /// Whether the journal did not have this content before.
    pub(super) new_in_journal: bool,
    /// Owner, permissions and number of links.
    pub(super) metadata: fs::Metadata,
}

impl Current {
    /// Saves a file; refused if it is not writable or has changed since `seen`.
    pub(super) fn save(root: &Root, lock: &Locked<'_>, path: &RelPath, seen: &Stamp) -> Result<Self, Error> {
        let place = root.place(path)?;
        let mut file = place.open()?;
        let metadata = metadata(&place, &file)?;
        if !is_writable(&place, &metadata) {
            return Err(Error::ReadOnly { path: path.clone() });
        }
        // The cheap check first: a file of another length is refused without being copied.
        if metadata.len() != seen.size {
            return Err(Error::Changed { path: path.clone() });
        }
        let saved = lock.save(&mut file)?;
        if !saved.stamp.same_content(seen) {
            if saved.new {
                lock.remove_blob(saved.stamp.hash)?;
            }
            return Err(Error::Changed { path: path.clone() });
        }
        Ok(Self { stamp: saved.stamp, new_in_journal: saved.new, metadata })
    }

    /// Refuses if the file has been replaced or changed in the meantime.
    ///
    /// Its metadata is compared first, so that an unchanged file is not read again. A change between this check
    /// and the rename that follows goes unnoticed: no system has a rename that compares.
    pub(super) fn check_again(&self, place: &Place, path: &RelPath) -> Result<(), Error> {
        let mut file = place.open()?;
        if identity(&metadata(place, &file)?) == identity(&self.metadata) {
            return Ok(());
        }
        let stamp = Stamp::of_file(&mut file).map_err(|error| place.io("reading", error))?;
        if stamp == self.stamp { Ok(()) } else { Err(Error::Changed { path: path.clone() }) }
    }
}

fn metadata(place: &Place, file: &fs::File) -> Result<fs::Metadata, Error> {
    Ok(file.metadata().map_err(|error| place.io("reading its metadata", error))?)
}

/// Whether the user may write the file.
///
/// A rename does not need that permission, but a file without it is meant to stay as it is. A file that nobody
/// may write is left alone even for a superuser, whom the system would allow everything.
fn is_writable(place: &Place, metadata: &fs::Metadata) -> bool {
    let has_write_bit = metadata.mode() & 0o222 != 0;
    has_write_bit && accessat(&place.directory, place.name(), Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

/// The metadata that changes whenever the file does.
fn identity(metadata: &fs::Metadata) -> [i128; 7] {
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
