//! [`Place`]: what a path that a model wrote leads to.

use reknit::Hint;
use std::fs;
use std::io;
use std::path::PathBuf;

use reknit_workspace::root::{Error, Found};
use reknit_workspace::{RelPath, Root};

use super::nearest;
use crate::tool::Failure;

/// Something below the root that exists.
pub(super) enum Place {
    File(RelPath),
    Directory(Directory),
}

/// A directory below the root, or the root itself.
pub(super) struct Directory(Option<RelPath>);

impl Place {
    /// Follows symlinks and refuses whatever is outside the root.
    pub(super) fn find(root: &Root, path: &str) -> Result<Self, Failure> {
        let trimmed = match path.trim_end_matches('/') {
            "" if path.starts_with('/') => path,
            trimmed => trimmed,
        };
        if matches!(trimmed, "." | "") {
            return Ok(Self::Directory(Directory(None)));
        }
        let resolved = match root.resolve(trimmed) {
            Ok(resolved) => resolved,
            Err(Error::NotAFile { found: Found::Directory, .. }) => {
                return Ok(Self::Directory(Directory(None)));
            }
            Err(error) => return Err(refused(root, path, &error)),
        };
        match fs::symlink_metadata(root.path().join(resolved.as_str())) {
            Ok(metadata) if metadata.is_dir() => Ok(Self::Directory(Directory(Some(resolved)))),
            Ok(_) => Ok(Self::File(resolved)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(refused(root, path, &Error::NotFound { path: path.to_owned() }))
            }
            Err(source) => {
                let path = path.to_owned();
                Err(refused(root, &path.clone(), &Error::Io { path, doing: "reading its metadata", source }))
            }
        }
    }

    /// The same if it is a directory.
    pub(super) fn directory(root: &Root, path: &str) -> Result<Directory, Failure> {
        match Self::find(root, path)? {
            Self::Directory(directory) => Ok(directory),
            Self::File(_) => Err(Failure::mistake(format!("`{path}`: not a directory but a file."))),
        }
    }
}

impl Directory {
    /// Its path for the system.
    pub(super) fn absolute(&self, root: &Root) -> PathBuf {
        self.0.as_ref().map_or_else(|| root.path().to_owned(), |path| root.path().join(path.as_str()))
    }

    /// Its path for people, `.` for the root.
    pub(super) fn shown(&self) -> &str {
        self.0.as_ref().map_or(".", RelPath::as_str)
    }
}

/// Why a path cannot be used, for the model: with the names that it may have meant.
pub(super) fn refused(root: &Root, path: &str, error: &Error) -> Failure {
    match error {
        Error::NotFound { .. } => Failure::mistake(format!("{error}.{}", nearest::sentence(root, path))),
        Error::Io { .. } => Failure::other(format!("{error}\nhint: {}", error.hint())),
        _ => Failure::mistake(format!("{error}\nhint: {}", error.hint())),
    }
}
