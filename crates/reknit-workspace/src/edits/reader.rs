//! Finds the files that edits name, confined to the root, and reads each once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use reknit::Limits;
use reknit::edit::{Action, Edit};

use super::{Refusal, Refused};
use crate::journal::Journal;
use crate::root::{self, File, Guard, RelPath, Root};
use crate::stamp::Stamp;

type Files = BTreeMap<RelPath, Option<Named>>;

/// A file that an edit names, as it was when it was read.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) stamp: Stamp,
    /// Not there until it is needed, if the file is only moved.
    bytes: OnceLock<Vec<u8>>,
}

impl Named {
    /// Its bytes if they were read. No place is looked for in a file that is only moved.
    pub(super) fn read_bytes(&self) -> &[u8] {
        self.bytes.get().map_or(&[], Vec::as_slice)
    }

    /// Its bytes, which are read now if they were not; `None` if they are not the same any more.
    pub(super) fn bytes(&self, root: &Root, path: &RelPath) -> Option<&[u8]> {
        if self.bytes.get().is_none() {
            let file = root.read(path).ok().filter(|file| file.stamp == self.stamp)?;
            // Should another thread be faster, it has read the same.
            let _ = self.bytes.set(file.bytes);
        }
        Some(self.read_bytes())
    }
}

/// What is needed of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needed {
    Stamp,
    Bytes,
}

/// Reads the files and replaces the paths of the edits with resolved ones. Returns the edits that are refused.
pub(super) fn read(root: &Root, edits: &mut [Edit], limits: &Limits) -> (Files, Vec<Refusal>) {
    let by_name = deleted_or_moved(edits);
    let guard = Guard::new(root, Journal::default_folder().ok());
    let mut reader = Reader { root, by_name, files: Files::new(), guard, max: limits.file_bytes };
    let mut refusals = Vec::new();
    for (index, edit) in edits.iter_mut().enumerate() {
        if let Err(why) = reader.read_files_of(edit) {
            refusals.push(Refusal { index, why });
        }
    }
    (reader.files, refusals)
}

/// The paths that are deleted or moved: for a symlink that does not mean its target.
fn deleted_or_moved(edits: &[Edit]) -> BTreeSet<String> {
    let by_name = edits.iter().filter(|edit| matches!(edit.action, Action::Delete | Action::Move { .. }));
    by_name.filter_map(|edit| edit.path.clone()).collect()
}

struct Reader<'a> {
    root: &'a Root,
    by_name: BTreeSet<String>,
    files: Files,
    guard: Guard<'a>,
    /// How many bytes a file may have.
    max: u64,
}

impl Reader<'_> {
    fn read_files_of(&mut self, edit: &mut Edit) -> Result<(), Refused> {
        let mut needed = Needed::Bytes;
        if let Action::Move { to } = &mut edit.action {
            let target = self.read(to, Needed::Bytes)?;
            // An existing file gets the bytes; if there is none, the file itself is moved.
            if self.files[&target].is_none() {
                needed = Needed::Stamp;
            }
            *to = target.into();
        }
        if let Some(path) = &mut edit.path {
            *path = self.read(path, needed)?.into();
        }
        Ok(())
    }

    /// Reads a file if it exists, and returns its resolved path.
    fn read(&mut self, path: &str, needed: Needed) -> Result<RelPath, Refused> {
        let refused = |error| Refused::Path { path: path.to_owned(), error };
        let resolved = if self.by_name.contains(path) {
            self.root.resolve_name(path).map_err(refused)?
        } else {
            self.root.resolve(path).map_err(refused)?
        };
        // What a write refuses, so that it is known before anything is shown or asked. Both forms, because `.git` may
        // be a symlink, and a symlink may point into it.
        Guard::check_name(self.below_root(path))
            .and_then(|()| self.guard.check(&resolved))
            .map_err(refused)?;
        let is_known = |known: &Option<Named>| match known {
            Some(file) => needed == Needed::Stamp || file.bytes.get().is_some(),
            None => true,
        };
        if !self.files.get(&resolved).is_some_and(is_known) {
            let file = match self.read_resolved(&resolved, needed) {
                Ok(file) => Some(file),
                Err(root::Error::NotFound { .. }) => None,
                Err(error) => return Err(refused(error)),
            };
            self.files.insert(resolved.clone(), file);
        }
        Ok(resolved)
    }

    fn read_resolved(&self, path: &RelPath, needed: Needed) -> Result<Named, root::Error> {
        match needed {
            Needed::Stamp => Ok(Named { stamp: self.root.stamp(path)?, bytes: OnceLock::new() }),
            Needed::Bytes => {
                let File { bytes, stamp } = self.root.read_up_to(path, self.max)?;
                Ok(Named { stamp, bytes: OnceLock::from(bytes) })
            }
        }
    }

    /// A path without the root, which may itself be inside a `.git`.
    fn below_root<'p>(&self, path: &'p str) -> &'p str {
        let root = self.root.path().to_str().expect("the path of a root is UTF-8");
        path.strip_prefix(root).unwrap_or(path)
    }
}
