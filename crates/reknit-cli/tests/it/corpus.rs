//! The cases of `corpus/wire/`, by path.

use std::fs;
use std::path::{Path, PathBuf};

/// One folder of `corpus/wire/`.
pub(crate) struct Case {
    pub(crate) folder: PathBuf,
    pub(crate) dialect: String,
    pub(crate) input: String,
}

impl Case {
    /// The text of a file beside the input.
    pub(crate) fn file(&self, name: &str) -> String {
        let path = self.folder.join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

/// All cases, by dialect and name.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dialect in entries(&root()) {
        for folder in entries(&dialect) {
            let input = entries(&folder)
                .into_iter()
                .find(|path| path.file_stem().is_some_and(|stem| stem == "input"));
            let input = input.unwrap_or_else(|| panic!("{}: no input", folder.display()));
            cases.push(Case { input: text(&input), dialect: name(&dialect), folder });
        }
    }
    assert!(cases.len() > 100, "only {} cases", cases.len());
    cases
}

/// The path of the input of one case, such as `anthropic/text`.
pub(crate) fn input(name: &str) -> String {
    let case = cases().into_iter().find(|case| case.folder.ends_with(name));
    case.unwrap_or_else(|| panic!("there is no corpus/wire/{name}")).input
}

/// The bytes of the input of one case.
pub(crate) fn bytes(name: &str) -> Vec<u8> {
    fs::read(input(name)).expect("it was listed")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/wire")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("it is there").path()).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_name().expect("it was listed").to_string_lossy().into_owned()
}

fn text(path: &Path) -> String {
    path.to_str().expect("the repository lies at a path that is UTF-8").to_owned()
}
