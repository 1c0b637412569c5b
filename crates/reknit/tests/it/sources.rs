//! The source files of a crate, and the types that they define. The tests of `reknit-compat` include this file.

use std::fs;
use std::path::{Path, PathBuf};

/// The type that a line defines for everyone.
pub(crate) fn public_type(line: &str) -> Option<&str> {
    let rest = line.trim_start();
    let rest =
        ["pub struct ", "pub enum ", "pub union "].iter().find_map(|start| rest.strip_prefix(start))?;
    rest.split(|char: char| !char.is_alphanumeric() && char != '_').next()
}

/// All source files below a folder.
pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the sources are beside the tests");
    let paths = entries.map(|entry| entry.expect("it is there").path());
    paths
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}
