//! The folders of `corpus/`: their inputs, and what must come out.

use std::fs;
use std::path::{Path, PathBuf};

/// Set to write the expected files instead of comparing them; `cargo xtask corpus` does.
const BLESS: &str = "REKNIT_BLESS";

/// One folder of the corpus with an `input.ndjson` or an `input.json`.
pub(crate) struct Case {
    /// Its path below `corpus/`.
    pub(crate) name: String,
    pub(crate) input: String,
    folder: PathBuf,
}

/// All cases of `corpus/<kind>/`, by name.
pub(crate) fn cases(kind: &str) -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(kind);
    let entries = fs::read_dir(&root).unwrap_or_else(|error| panic!("{}: {error}", root.display()));
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("it is there").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    assert!(!names.is_empty(), "no case in corpus/{kind}");
    names.into_iter().map(|name| Case::read(root.join(&name), format!("{kind}/{name}"))).collect()
}

impl Case {
    fn read(folder: PathBuf, name: String) -> Self {
        let inputs = ["input.ndjson", "input.json"].map(|file| folder.join(file));
        let path = inputs.iter().find(|path| path.exists()).unwrap_or(&inputs[0]);
        let input = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { name, input, folder }
    }

    /// The line in a file of the case, if the file exists.
    pub(crate) fn note(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(file)).ok().map(|text| text.trim_end().to_owned())
    }
}

/// Compares what came out of each case with what is expected, and reports all differences at once.
#[derive(Default)]
pub(crate) struct Verdict {
    differences: Vec<String>,
}

impl Verdict {
    /// `actual` must be the text of `file` in the folder of `case`.
    pub(crate) fn expect(&mut self, case: &Case, file: &str, actual: &str) {
        let path = case.folder.join(file);
        if std::env::var_os(BLESS).is_some() {
            return fs::write(&path, actual).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if let Some(difference) = difference(&expected, actual) {
            self.differences.push(format!("corpus/{}/{file}{difference}", case.name));
        }
    }

    pub(crate) fn give(self) {
        assert!(
            self.differences.is_empty(),
            "{} expected file(s) differ\n\n{}\n\
             hint: if the new content is right, write it with `cargo xtask corpus` and say why in the commit",
            self.differences.len(),
            self.differences.join("\n")
        );
    }
}

/// The first line that differs, if any does.
fn difference(expected: &str, actual: &str) -> Option<String> {
    if expected == actual {
        return None;
    }
    let same = expected.split_inclusive('\n').zip(actual.split_inclusive('\n')).take_while(|(a, b)| a == b);
    let at = same.count();
    let line = |text: &str| format!("{:?}", text.split_inclusive('\n').nth(at).unwrap_or_default());
    Some(format!(":{}:\nexpected {}\n   found {}\n", at + 1, line(expected), line(actual)))
}

#[test]
fn a_difference_is_shown_where_it_is() {
    assert_eq!(difference("a\nb\n", "a\nb\n"), None);
    assert_eq!(difference("a\nb\n", "a\nc\n").unwrap(), ":2:\nexpected \"b\\n\"\n   found \"c\\n\"\n");
    assert_eq!(difference("", "a").unwrap(), ":1:\nexpected \"\"\n   found \"a\"\n");
}
