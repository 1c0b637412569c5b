//! [`RelPath`]: a path under a root, valid by existing.

use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Error, Found};

/// A path under a root: relative, with names separated by `/`, none of which is empty, `.` or `..`.
///
/// The file does not have to exist. Symlinks in the path are not followed: if one of its names is a symlink,
/// every operation on the path is refused.
/// [`Root::resolve`](crate::Root::resolve) returns a path in which no name is a symlink.
///
/// ```
/// use reknit_workspace::RelPath;
///
/// assert_eq!(RelPath::new("./src//lib.rs")?.as_str(), "src/lib.rs");
/// assert!(RelPath::new("src/../../etc/passwd").is_err());
/// assert!(RelPath::new("/etc/passwd").is_err());
/// # Ok::<(), reknit_workspace::root::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RelPath(String);

impl RelPath {
    /// Parses a path; redundant `/` and `.` are removed.
    pub fn new(path: &str) -> Result<Self, Error> {
        check_text(path)?;
        if path.starts_with('/') {
            return Err(Error::Outside { path: path.into() });
        }
        let names: Vec<_> = path.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        if names.is_empty() || path.ends_with('/') || path.ends_with("/.") {
            return Err(Error::NotAFile { path: path.into(), found: Found::Directory });
        }
        Ok(Self(names.join("/")))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last name.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&self.0, |(_, name)| name)
    }

    /// The directory that contains it; `None` if that is the root.
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(parent, _)| Self(parent.into()))
    }

    /// Its names, starting at the root.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    /// A path in the same directory with another last name, which must be a single name.
    pub(crate) fn sibling(&self, name: &str) -> Self {
        debug_assert!(!name.is_empty() && !name.contains('/'), "`{name}` is a single name");
        match self.0.rsplit_once('/') {
            Some((parent, _)) => Self(format!("{parent}/{name}")),
            None => Self(name.into()),
        }
    }
}

/// Refuses what no path may contain, relative or absolute.
pub(super) fn check_text(path: &str) -> Result<(), Error> {
    if path.is_empty() {
        return Err(Error::Empty);
    }
    if let Some(at) = path.find('\0') {
        return Err(Error::Nul { path: path.replace('\0', "\u{fffd}"), at });
    }
    if path.split('/').any(|name| name == "..") {
        return Err(Error::Parent { path: path.into() });
    }
    Ok(())
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Borrow<str> for RelPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RelPath {
    type Error = Error;

    fn try_from(path: String) -> Result<Self, Error> {
        Self::new(&path)
    }
}

impl From<RelPath> for String {
    fn from(path: RelPath) -> Self {
        path.0
    }
}
