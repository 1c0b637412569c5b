//! [`Target`]: the files that an answer is for.

use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow};
use reknit::Limits;
use reknit::edit::{Edit, Parsed};
use reknit_workspace::Edits;
use reknit_workspace::edits::Refusal;

use crate::explain;
use crate::outcome::CommandError;

/// Where the edits of an answer go.
pub(super) enum Target<'r> {
    /// One file, whatever the answer calls it; its new content is printed.
    One { name: String, content: Vec<u8>, answer: Parsed },
    /// Files below a directory, which are written.
    Below(Edits<'r>),
}

impl Target<'_> {
    /// One file. All edits are made to refer to it, whatever path they name.
    pub(super) fn one(file: &Path, mut answer: Parsed) -> Result<Self, CommandError> {
        check_paths(&answer.edits)?;
        let content = read_original(file)?;
        answer.edits.iter_mut().for_each(|edit| edit.path = None);
        Ok(Self::One { name: file.to_string_lossy().into_owned(), content, answer })
    }

    /// The answer, with the paths of its edits as the target has them.
    pub(super) fn answer(&self) -> &Parsed {
        match self {
            Self::One { answer, .. } => answer,
            Self::Below(edits) => edits.answer(),
        }
    }

    /// The edits of files that may not be touched.
    pub(super) fn refusals(&self) -> &[Refusal] {
        match self {
            Self::One { .. } => &[],
            Self::Below(edits) => edits.refusals(),
        }
    }

    /// The content of a file as it is; `None` if it does not exist.
    pub(super) fn content(&self, path: &str) -> Option<&[u8]> {
        match self {
            Self::One { content, .. } => Some(content),
            Self::Below(edits) => edits.content(path),
        }
    }

    /// Whether a file exists.
    pub(super) fn exists(&self, path: &str) -> bool {
        match self {
            Self::One { .. } => true,
            Self::Below(edits) => edits.stamp(path).is_some(),
        }
    }

    /// The name of a file for people.
    pub(super) fn shown<'a>(&'a self, path: &'a str) -> &'a str {
        match self {
            Self::One { name, .. } => name,
            Self::Below(_) => path,
        }
    }
}

/// The content of the file that is edited, unless it is too large.
pub(super) fn read_original(file: &Path) -> Result<Vec<u8>, CommandError> {
    let cannot = || format!("cannot read `{}`", file.display());
    let (size, max) = (fs::metadata(file).with_context(cannot)?.len(), Limits::default().file_bytes);
    if size > max {
        let what = anyhow!("`{}`: {size} bytes, and at most {max} are read", file.display());
        return Err(CommandError::with_hint(what, "edit a smaller file").explained_as(explain::WRONG_USE));
    }
    Ok(fs::read(file).with_context(cannot)?)
}

/// Refuses an answer that is for several files.
pub(super) fn check_paths(edits: &[Edit]) -> Result<(), CommandError> {
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
    let hint = "`--original` is for one file; use `--root DIR` for files below a directory";
    Err(CommandError::with_hint(what, hint).explained_as(explain::WRONG_USE))
}
