//! The cases of `corpus/edit` on real files: written, as a patch for git, and taken back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::folder::Folder;

/// Files by their path.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

pub(crate) fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/edit");
    let mut cases: Vec<_> = fs::read_dir(root).unwrap().map(|case| case.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() > 100, "only {} cases", cases.len());
    cases
}

/// The files below a directory; none if it is not there.
fn files(root: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().expect("it is UTF-8").to_owned();
                files.insert(name, fs::read(path).unwrap());
            }
        }
    }
    files
}

pub(crate) fn folder(before: &Files) -> Folder {
    let folder = Folder::new(&[]);
    before.iter().for_each(|(path, content)| folder.write(path, content));
    folder
}

/// What a case says.
pub(crate) struct Case {
    pub(crate) name: String,
    format: String,
    answer: Vec<u8>,
    pub(crate) before: Files,
    after: Files,
}

impl Case {
    pub(crate) fn read(folder: &Path) -> Self {
        let before = files(&folder.join("before"));
        let report = fs::read_to_string(folder.join("report.txt")).unwrap();
        // Without a folder they stay as they are, or none is left.
        let is_told = folder.join("after").exists() || report.contains(": delete\n");
        let after = if is_told { files(&folder.join("after")) } else { before.clone() };
        let format = fs::read_to_string(folder.join("format"));
        Self {
            name: folder.file_name().unwrap().to_str().unwrap().to_owned(),
            format: format.map_or("auto".to_owned(), |name| name.trim().to_owned()),
            answer: fs::read(folder.join("answer.txt")).unwrap(),
            before,
            after,
        }
    }

    pub(crate) fn apply(&self, folder: &Folder, arguments: &[&str]) -> Output {
        folder
            .output(&[&["apply", "--keep-going", "--format", &self.format], arguments].concat(), &self.answer)
    }

    /// Lets git apply what a dry run prints.
    fn check_patch(&self, arguments: &[&str]) {
        let patched = folder(&self.before);
        let patch = self.apply(&patched, &[&["--dry-run"], arguments].concat()).stdout;
        if !patch.is_empty() {
            patched.write("../change.patch", patch);
            let git = patched.command("git", &["apply", "../change.patch"]).output().expect("there is git");
            assert!(git.status.success(), "{}: {}", self.name, String::from_utf8_lossy(&git.stderr));
        }
        assert_eq!(files(&patched.root()), self.after, "{}", self.name);
    }
}

#[test]
fn files_are_written_as_cases_say_and_taken_back() {
    let mut written = 0;
    for case in cases().iter().map(|folder| Case::read(folder)) {
        let folder = folder(&case.before);
        let printed = String::from_utf8_lossy(&case.apply(&folder, &["--yes"]).stderr).into_owned();
        if !printed.contains("the answer does not name a file") {
            assert_eq!(files(&folder.root()), case.after, "{}: {printed}", case.name);
            case.check_patch(&[]);
            folder.run(&["undo", "--yes"], "");
            written += 1;
        } else if let (1, Some((path, _))) = (case.before.len(), case.before.first_key_value()) {
            // Then it is for the one that is given.
            let printed = case.apply(&folder, &["--original", path]).stdout;
            assert_eq!(Some(&printed), case.after.get(path), "{}", case.name);
            case.check_patch(&["--original", path]);
        }
        assert_eq!(files(&folder.root()), case.before, "{}", case.name);
    }
    assert!(written > 40, "only {written} answers name their files");
}
