//! [`Guard`]: what nobody may write below a root, whatever the operation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::{Error, RelPath, Root, git};

/// What is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protected {
    /// The data of a git repository: git runs what it finds there.
    Git,
    /// The journal: what is undone comes from there.
    Journal,
}

impl Protected {
    pub(super) fn hint(self) -> &'static str {
        match self {
            Self::Git => "use git to change what is in its repository",
            Self::Journal => "choose another path: only the journal itself is written there",
        }
    }
}

impl fmt::Display for Protected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Git => "part of a git repository's own data",
            Self::Journal => "inside the journal",
        })
    }
}

/// Refuses paths that are protected. Every write of the crate asks it, the undo included.
pub(crate) struct Guard<'r> {
    root: &'r Root,
    /// Device and inode of each folder that is the journal's, and its path.
    journals: Vec<(Option<(u64, u64)>, PathBuf)>,
    /// Paths that will exist after the batch: a repository must not come into being file by file.
    planned: BTreeSet<&'r str>,
    /// What is known about directories, so that each is looked at once.
    known: BTreeMap<Option<RelPath>, Option<Protected>>,
    /// What git uses because of a `.git` in a directory.
    used: BTreeMap<Option<RelPath>, Vec<PathBuf>>,
}

impl<'r> Guard<'r> {
    /// A guard for writes below a root, with the journals in these folders.
    pub(crate) fn new(root: &'r Root, journals: impl IntoIterator<Item = PathBuf>) -> Self {
        let journals = journals.into_iter().map(|folder| {
            let path = fs::canonicalize(&folder).unwrap_or(folder);
            (identity(&path), path)
        });
        Self {
            root,
            journals: journals.collect(),
            planned: BTreeSet::new(),
            known: BTreeMap::new(),
            used: BTreeMap::new(),
        }
    }

    /// Also considers what these paths will make of their directories.
    pub(crate) fn with_planned(mut self, planned: impl IntoIterator<Item = &'r RelPath>) -> Self {
        self.planned = planned.into_iter().map(RelPath::as_str).collect();
        self
    }

    /// Refuses a path, whatever is there, if one of its names is that of a repository.
    pub(crate) fn check_name(path: &str) -> Result<(), Error> {
        if path.split('/').any(git::is_name) {
            return Err(Error::Protected { path: path.to_owned(), what: Protected::Git });
        }
        Ok(())
    }

    /// Refuses a path, none of whose names is a symlink, if it is protected.
    pub(crate) fn check(&mut self, path: &RelPath) -> Result<(), Error> {
        // A file with a repository's name is as good as the repository.
        Self::check_name(path.as_str())?;
        match self.of_directory(path.parent()).or_else(|| self.of_itself(path)) {
            Some(what) => Err(Error::Protected { path: path.to_string(), what }),
            None => Ok(()),
        }
    }

    /// Why nothing may be written in a directory; `None` is the root itself.
    fn of_directory(&mut self, directory: Option<RelPath>) -> Option<Protected> {
        if let Some(known) = self.known.get(&directory) {
            return *known;
        }
        let above = match &directory {
            Some(path) => self.of_directory(path.parent()),
            None => git::is_inside_repository(self.root.path()).then_some(Protected::Git),
        };
        let what = above.or_else(|| self.by_itself(directory.as_ref()));
        self.known.insert(directory, what);
        what
    }

    fn by_itself(&mut self, directory: Option<&RelPath>) -> Option<Protected> {
        let place = self.absolute(directory);
        if self.is_journal(&place) {
            return Some(Protected::Journal);
        }
        let exists = |name: &str| git::may_exist(&place.join(name)) || self.is_planned(directory, name);
        let is_git = git::is_repository(exists) || self.is_resolved_by_git(directory);
        is_git.then_some(Protected::Git)
    }

    /// Whether git uses a directory because of a `.git` in one of the directories above it.
    fn is_resolved_by_git(&mut self, directory: Option<&RelPath>) -> bool {
        let Some(directory) = directory else { return false };
        let place = self.absolute(Some(directory));
        let mut above = directory.parent();
        loop {
            let parent = self.absolute(above.as_ref());
            let used = self.used.entry(above.clone()).or_insert_with(|| git::directories_of(&parent));
            if used.iter().any(|used| place.starts_with(used)) {
                return true;
            }
            match above {
                Some(path) => above = path.parent(),
                None => return false,
            }
        }
    }

    /// Why the place of a path itself may not be written: it is the folder of a journal, or used by git as a file.
    fn of_itself(&mut self, path: &RelPath) -> Option<Protected> {
        let place = self.absolute(Some(path));
        if self.is_journal(&place) {
            return Some(Protected::Journal);
        }
        self.is_resolved_by_git(Some(path)).then_some(Protected::Git)
    }

    fn is_journal(&self, place: &Path) -> bool {
        let is_one = |(there, path): &(Option<(u64, u64)>, PathBuf)| {
            place.starts_with(path) || there.is_some() && identity(place) == *there
        };
        self.journals.iter().any(is_one)
    }

    fn is_planned(&self, directory: Option<&RelPath>, name: &str) -> bool {
        let path = directory.map_or_else(|| name.to_owned(), |directory| format!("{directory}/{name}"));
        let inside = format!("{path}/");
        let first = self.planned.range(inside.as_str()..).next();
        self.planned.contains(path.as_str()) || first.is_some_and(|first| first.starts_with(&inside))
    }

    fn absolute(&self, path: Option<&RelPath>) -> PathBuf {
        path.map_or_else(|| self.root.path().to_owned(), |path| self.root.path().join(path.as_str()))
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}
