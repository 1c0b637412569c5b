//! [`Target`]: the files that an answer is for.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow};
use reknit::edit::{Action, Edit, Original};
use reknit_workspace::{File, RelPath, Root, root};

use crate::explain;
use crate::files::open_root;
use crate::outcome::Trouble;

/// Where the edits go.
pub(super) enum Target {
    /// One file, whatever the answer calls it; its new content is printed.
    One { name: String, content: Vec<u8> },
    /// Files below a directory, which are written.
    Below { root: Root, files: BTreeMap<String, Option<File>> },
}

/// An edit that is for no file that may be touched.
pub(super) struct Refusal {
    /// The index of the edit.
    pub(super) index: usize,
    /// The path as the answer has it.
    pub(super) path: String,
    pub(super) message: String,
    pub(super) hint: &'static str,
}

impl Target {
    /// One file. Edits are for it from now on, whatever path they name.
    pub(super) fn one(file: &Path, edits: &mut [Edit]) -> Result<Self, Trouble> {
        check_paths(edits)?;
        let content = fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        edits.iter_mut().for_each(|edit| edit.path = None);
        Ok(Self::One { name: file.to_string_lossy().into_owned(), content })
    }

    /// Files below a directory. Edits name them from now on as the directory does, links resolved.
    pub(super) fn below(directory: &Path, edits: &mut [Edit]) -> Result<(Self, Vec<Refusal>), Trouble> {
        let root = open_root(directory)?;
        let mut finder = Finder { root: &root, files: BTreeMap::new(), by_name: names(edits) };
        let mut refusals = Vec::new();
        for (index, edit) in edits.iter_mut().enumerate() {
            if let Err((path, refused)) = finder.find(edit) {
                let (message, hint) = refused.words(&path);
                refusals.push(Refusal { index, path, message, hint });
            }
        }
        let files = finder.files;
        refusals.extend(colliding_moves(edits, &refusals));
        Ok((Self::Below { root, files }, refusals))
    }

    /// The files as they are.
    pub(super) fn originals(&self) -> Vec<Original<'_>> {
        match self {
            Self::One { content, .. } => vec![Original { path: "", content }],
            Self::Below { files, .. } => {
                let there = files.iter().filter_map(|(path, file)| Some((path, file.as_ref()?)));
                there.map(|(path, file)| Original { path, content: &file.bytes }).collect()
            }
        }
    }

    /// The content of a file as it is; of one that does not exist, none.
    pub(super) fn content(&self, path: &str) -> &[u8] {
        match self {
            Self::One { content, .. } => content,
            Self::Below { .. } => self.file(path).map_or(&[], |file| &file.bytes),
        }
    }

    /// Whether there is such a file.
    pub(super) fn exists(&self, path: &str) -> bool {
        matches!(self, Self::One { .. }) || self.file(path).is_some()
    }

    /// A file as it was read; none if it does not exist, or is not written anyway.
    pub(super) fn file(&self, path: &str) -> Option<&File> {
        match self {
            Self::One { .. } => None,
            Self::Below { files, .. } => files.get(path)?.as_ref(),
        }
    }

    /// What a file is called for people.
    pub(super) fn shown<'a>(&'a self, path: &'a str) -> &'a str {
        match self {
            Self::One { name, .. } => name,
            Self::Below { .. } => path,
        }
    }
}

/// Refuses an answer that is for several files.
pub(super) fn check_paths(edits: &[Edit]) -> Result<(), Trouble> {
    let mut named: Vec<&str> = Vec::new();
    for path in edits.iter().filter_map(|edit| edit.path.as_deref()) {
        let path = path.trim_start_matches("./");
        if !named.contains(&path) {
            named.push(path);
        }
    }
    if named.len() <= 1 {
        return Ok(());
    }
    let list: Vec<_> = named.iter().map(|path| format!("`{path}`")).collect();
    let what = anyhow!("the answer edits {} files: {}", named.len(), list.join(", "));
    let hint = "`--original` is for one file; use `--root DIR` for those below a directory";
    Err(Trouble::with_hint(what, hint).explained_as(explain::WRONG_USE))
}

/// The paths that are deleted or moved: there, a link is meant and not the file behind it.
fn names(edits: &[Edit]) -> Vec<String> {
    let by_name = edits.iter().filter(|edit| matches!(edit.action, Action::Delete | Action::Move { .. }));
    by_name.filter_map(|edit| edit.path.clone()).collect()
}

/// The moves to a path that another edit is for too: a file is written once.
fn colliding_moves(edits: &[Edit], refused: &[Refusal]) -> Vec<Refusal> {
    let edits: Vec<_> = edits
        .iter()
        .enumerate()
        .filter(|(index, _)| refused.iter().all(|refusal| refusal.index != *index))
        .collect();
    let mut refusals = Vec::new();
    for (nth, (index, edit)) in edits.iter().enumerate() {
        let Action::Move { to } = &edit.action else { continue };
        let moves_there = |other: &Edit| matches!(&other.action, Action::Move { to: there } if there == to);
        let other = edits
            .iter()
            .enumerate()
            .find(|(other, (_, edit))| edit.path.as_ref() == Some(to) || *other < nth && moves_there(edit));
        let (message, hint) = match other {
            None => continue,
            Some(_) if edit.path.as_ref() == Some(to) => {
                (format!("`{to}`: it is moved to where it is"), "leave the move out")
            }
            Some((_, (other, _))) => (
                format!("`{to}`: edit {} is for the same path", other + 1),
                "move the file to another path, or leave the other edit out",
            ),
        };
        refusals.push(Refusal { index: *index, path: to.clone(), message, hint });
    }
    refusals
}

/// Why an edit is refused before its place is looked for.
enum Refused {
    Path(root::Error),
    /// What git keeps there is run by git.
    Git,
}

impl Refused {
    fn words(&self, path: &str) -> (String, &'static str) {
        match self {
            Self::Path(error) => (error.to_string(), error.hint()),
            Self::Git => (format!("`{path}`: inside of `.git`"), "change what git keeps with git"),
        }
    }
}

impl From<root::Error> for Refused {
    fn from(error: root::Error) -> Self {
        Self::Path(error)
    }
}

/// Finds the files that edits name, and reads each once.
struct Finder<'a> {
    root: &'a Root,
    files: BTreeMap<String, Option<File>>,
    by_name: Vec<String>,
}

impl Finder<'_> {
    fn find(&mut self, edit: &mut Edit) -> Result<(), (String, Refused)> {
        if let Some(path) = &mut edit.path {
            *path = self.read(path).map_err(|refused| (path.clone(), refused))?;
        }
        if let Action::Move { to } = &mut edit.action {
            *to = self.read(to).map_err(|refused| (to.clone(), refused))?;
        }
        Ok(())
    }

    /// Reads a file if there is one, and gives its path from the root on.
    fn read(&mut self, path: &str) -> Result<String, Refused> {
        let resolved = if self.by_name.iter().any(|name| name == path) {
            self.root.resolve_name(path)?
        } else {
            self.root.resolve(path)?
        };
        if resolved.as_str().split('/').any(|name| name.eq_ignore_ascii_case(".git")) {
            return Err(Refused::Git);
        }
        if !self.files.contains_key(resolved.as_str()) {
            let file = match self.root.read(&resolved) {
                Ok(file) => Some(file),
                Err(root::Error::NotFound { .. }) => None,
                Err(error) => return Err(error.into()),
            };
            self.files.insert(resolved.to_string(), file);
        }
        Ok(resolved.into())
    }
}

/// A path of a plan, which was resolved before.
pub(super) fn resolved(path: &str) -> RelPath {
    RelPath::new(path).expect("it was resolved before the edits were placed")
}
