//! The files to read: those named, and those in the folders named.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};

use crate::explain;
use crate::outcome::CommandError;

/// What is read.
pub(super) enum Inputs<'a> {
    /// One file, or standard input.
    One(Option<&'a Path>),
    Several(Vec<PathBuf>),
}

/// How the names of files end that are read in a folder.
const ENDS: [&str; 2] = ["sse", "rec"];
/// The same of compressed ones.
const COMPRESSED: [&str; 2] = ["gz", "zst"];

/// Lists what is read, in the order of the arguments; the files of a folder by name.
pub(super) fn list(named: &[PathBuf]) -> Result<Inputs<'_>, CommandError> {
    match named {
        [] => return Ok(Inputs::One(None)),
        [file] if !file.is_dir() => return Ok(Inputs::One(Some(file))),
        _ => {}
    }
    let mut files = Vec::new();
    for path in named {
        if path == Path::new("-") {
            let what = anyhow!("standard input cannot be one of several files");
            let error = CommandError::with_hint(what, "read it with a command of its own");
            return Err(error.explained_as(explain::WRONG_USE));
        }
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        add_folder(path, &mut files)?;
        if files.len() == before {
            let what = anyhow!("`{}` contains no recordings", path.display());
            let hint = "a folder is searched for *.sse and *.rec; name other files themselves";
            return Err(CommandError::with_hint(what, hint).explained_as(explain::WRONG_USE));
        }
    }
    Ok(Inputs::Several(files))
}

/// Adds the files of a folder and of the folders in it. Links to folders are not followed.
fn add_folder(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), CommandError> {
    let doing = || format!("cannot list `{}`", folder.display());
    let mut entries =
        fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>).with_context(doing)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().with_context(doing)?.is_dir() {
            add_folder(&path, files)?;
        } else if is_recording(&path) {
            files.push(path);
        }
    }
    Ok(())
}

fn is_recording(path: &Path) -> bool {
    let ends_with = |path: &Path, ends: &[&str]| {
        path.extension().is_some_and(|extension| ends.iter().any(|end| extension == *end))
    };
    let inner = if ends_with(path, &COMPRESSED) { path.with_extension("") } else { path.to_owned() };
    ends_with(&inner, &ENDS)
}
