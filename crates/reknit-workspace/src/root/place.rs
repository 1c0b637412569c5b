//! [`Place`]: a name in an open directory; every operation on a file starts from one.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use super::{Error, Found, RelPath};
use crate::system::{self, At};

/// A name in a directory that was reached from the root's handle without following a symlink.
///
/// The handle refers to that directory even if the path leads elsewhere later.
pub(crate) struct Place {
    pub(crate) directory: OwnedFd,
    path: RelPath,
}

impl Place {
    pub(super) fn new(directory: OwnedFd, path: RelPath) -> Self {
        Self { directory, path }
    }

    pub(crate) fn path(&self) -> &RelPath {
        &self.path
    }

    /// The name in the directory.
    pub(crate) fn name(&self) -> &str {
        self.path.name()
    }

    /// Opens the regular file that is there, for reading.
    pub(crate) fn open(&self) -> Result<fs::File, Error> {
        // Checked first, because opening a device can have side effects.
        match self.found()? {
            None => return Err(Error::NotFound { path: self.path.to_string() }),
            Some(Found::File) => {}
            Some(found) => return Err(self.not_a_file(found)),
        }
        // The file may be swapped right now: do not follow a symlink, and do not block on a named pipe.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = system::open_at(&self.directory, self.name(), flags)
            .map_err(|errno| self.io("opening", errno))?;
        let file = fs::File::from(file);
        let metadata = system::metadata(&file).map_err(|error| self.io("reading its metadata", error))?;
        if metadata.is_file() { Ok(file) } else { Err(self.not_a_file(Found::Other)) }
    }

    /// The directory and the name, for a call of the system.
    pub(crate) fn at(&self) -> At<'_> {
        (self.directory.as_fd(), self.path.name())
    }

    /// Another name in the same directory.
    pub(crate) fn sibling(&self, name: &str) -> Result<Self, Error> {
        let directory =
            self.directory.try_clone().map_err(|error| self.io("reopening a directory", error))?;
        Ok(Self { directory, path: self.path.sibling(name) })
    }

    /// What is there, if anything. A symlink is not followed.
    pub(crate) fn found(&self) -> Result<Option<Found>, Error> {
        found(&self.directory, self.name()).map_err(|errno| self.io("reading its metadata", errno))
    }

    /// A system error for this place.
    pub(crate) fn io(&self, doing: &'static str, source: impl Into<io::Error>) -> Error {
        Error::Io { path: self.path.to_string(), doing, source: source.into() }
    }

    fn not_a_file(&self, found: Found) -> Error {
        let path = self.path.to_string();
        match found {
            Found::Link => Error::Link { link: path.clone(), path },
            found => Error::NotAFile { path, found },
        }
    }
}

/// Opens a directory inside a directory; `walked` is the part of `path` up to it.
pub(super) fn open_directory(
    parent: impl AsFd,
    name: &str,
    walked: &str,
    path: &RelPath,
) -> Result<OwnedFd, Error> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let (path, walked) = (path.to_string(), walked.to_owned());
    match system::open_at(&parent, name, flags) {
        Ok(directory) => Ok(directory),
        Err(Errno::NOENT) => Err(Error::NotFound { path }),
        // Systems report a symlink that may not be followed in different ways, so check what is there.
        Err(errno) => Err(match found(parent, name) {
            Ok(Some(Found::Link)) => Error::Link { path, link: walked },
            Ok(Some(Found::Directory)) | Err(_) => {
                Error::Io { path, doing: "opening a parent directory", source: errno.into() }
            }
            Ok(Some(_)) => Error::NotADirectory { path, file: walked },
            Ok(None) => Error::NotFound { path },
        }),
    }
}

fn found(directory: impl AsFd, name: &str) -> Result<Option<Found>, Errno> {
    let stat = match system::stat_at(directory, name) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(errno),
    };
    Ok(Some(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Found::File,
        FileType::Directory => Found::Directory,
        FileType::Symlink => Found::Link,
        FileType::Fifo => Found::Fifo,
        FileType::Socket => Found::Socket,
        FileType::CharacterDevice | FileType::BlockDevice => Found::Device,
        _ => Found::Other,
    }))
}
