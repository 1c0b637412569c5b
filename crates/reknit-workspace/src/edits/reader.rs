//! Finds the files that edits name, confined to the root, and reads each once.

use std::collections::{BTreeMap, BTreeSet};

use reknit::Limits;
use reknit::edit::{Action, Edit};

use super::{Refusal, Refused};
use crate::journal::Journal;
use crate::root::{self, File, Guard, RelPath, Root};

type Files = BTreeMap<RelPath, Option<File>>;

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
        if let Some(path) = &mut edit.path {
            *path = self.read(path)?;
        }
        if let Action::Move { to } = &mut edit.action {
            *to = self.read(to)?;
        }
        Ok(())
    }

    /// Reads a file if it exists, and returns its resolved path.
    fn read(&mut self, path: &str) -> Result<String, Refused> {
        let refused = |error| Refused::Path { path: path.to_owned(), error };
        let resolved = if self.by_name.contains(path) {
            self.root.resolve_name(path).map_err(refused)?
        } else {
            self.root.resolve(path).map_err(refused)?
        };
        // Both forms, because `.git` may be a symlink, and a symlink may point into it.
        if is_inside_git(self.below_root(path)) || is_inside_git(resolved.as_str()) {
            return Err(Refused::Git { path: path.to_owned() });
        }
        // The rest of what a write refuses, so that it is known before anything is shown or asked.
        self.guard.check(&resolved).map_err(refused)?;
        if !self.files.contains_key(&resolved) {
            let file = match self.root.read_up_to(&resolved, self.max) {
                Ok(file) => Some(file),
                Err(root::Error::NotFound { .. }) => None,
                Err(error) => return Err(refused(error)),
            };
            self.files.insert(resolved.clone(), file);
        }
        Ok(resolved.into())
    }

    /// A path without the root, which may itself be inside a `.git`.
    fn below_root<'p>(&self, path: &'p str) -> &'p str {
        let root = self.root.path().to_str().expect("the path of a root is UTF-8");
        path.strip_prefix(root).unwrap_or(path)
    }
}

/// Whether a path is `.git` or inside it. Case is ignored, as some file systems do.
fn is_inside_git(path: &str) -> bool {
    path.split('/').any(|name| name.eq_ignore_ascii_case(".git"))
}
