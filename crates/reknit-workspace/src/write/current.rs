//! [`Current`]: a file as it is when a batch is checked.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use rustix::fs::{Access, AtFlags, accessat};

use super::Error;
use crate::attributes::Attributes;
use crate::root::{Place, RelPath, Root};
use crate::stamp::Stamp;
use crate::system;

/// An existing file that will change.
#[derive(Debug)]
pub(super) struct Current {
    /// Its state.
    pub(super) stamp: Stamp,
    /// Owner, permissions and number of links.
    pub(super) metadata: fs::Metadata,
    pub(super) attributes: Attributes,
}

impl Current {
    /// Opens a file and checks what is cheap to check: it is writable, and as long as it was when it was read.
    pub(super) fn open(root: &Root, path: &RelPath, seen: &Stamp) -> Result<(fs::File, Self), Error> {
        let place = root.place(path)?;
        let file = place.open()?;
        let metadata = metadata(&place, &file)?;
        if !is_writable(&place, &metadata) {
            return Err(Error::ReadOnly { path: path.clone() });
        }
        if metadata.len() != seen.size {
            return Err(Error::Changed { path: path.clone() });
        }
        let attributes =
            Attributes::of(&file, &metadata).map_err(|error| place.io("reading its attributes", error))?;
        Ok((file, Self { stamp: *seen, metadata, attributes }))
    }

    /// Takes the stamp of the content that was read; refused if it is not what the caller saw.
    pub(super) fn with_stamp(self, stamp: Stamp, path: &RelPath) -> Result<Self, Error> {
        if stamp.same_content(&self.stamp) {
            Ok(Self { stamp, ..self })
        } else {
            Err(Error::Changed { path: path.clone() })
        }
    }

    /// Refuses if the file at its path has been replaced or changed in the meantime.
    ///
    /// Its metadata is compared first, so that an unchanged file is not read again. What changes between this check
    /// and the rename that follows is noticed by [`is`](Self::is).
    pub(super) fn check_again(&self, place: &Place, path: &RelPath) -> Result<(), Error> {
        let mut file = place.open()?;
        let now = metadata(place, &file)?;
        if identity(&now) == identity(&self.metadata) && changed(&now) == changed(&self.metadata) {
            return Ok(());
        }
        let stamp = Stamp::of_file(&mut file).map_err(|error| place.io("reading", error))?;
        if stamp == self.stamp { Ok(()) } else { Err(Error::Changed { path: path.clone() }) }
    }

    /// Whether a file that was renamed is this one, or at least has its content.
    pub(super) fn is(&self, place: &Place) -> Result<bool, Error> {
        let mut file = place.open()?;
        // A rename changes the time of the last change, so it is not compared.
        if identity(&metadata(place, &file)?) == identity(&self.metadata) {
            return Ok(true);
        }
        let stamp = Stamp::of_file(&mut file).map_err(|error| place.io("reading", error))?;
        Ok(stamp.same_content(&self.stamp))
    }
}

fn metadata(place: &Place, file: &fs::File) -> Result<fs::Metadata, Error> {
    Ok(system::metadata(file).map_err(|error| place.io("reading its metadata", error))?)
}

/// Whether the user may write the file.
///
/// A rename does not need that permission, but a file without it is meant to stay as it is. A file that nobody
/// may write is left alone even for a superuser, whom the system would allow everything.
fn is_writable(place: &Place, metadata: &fs::Metadata) -> bool {
    let has_write_bit = metadata.mode() & 0o222 != 0;
    has_write_bit && accessat(&place.directory, place.name(), Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

/// The metadata that changes whenever the content does.
fn identity(metadata: &fs::Metadata) -> [i128; 5] {
    [
        metadata.dev().into(),
        metadata.ino().into(),
        metadata.size().into(),
        metadata.mtime().into(),
        metadata.mtime_nsec().into(),
    ]
}

/// The time of the last change of any kind.
fn changed(metadata: &fs::Metadata) -> [i64; 2] {
    [metadata.ctime(), metadata.ctime_nsec()]
}
