//! The folders of `corpus/`: their inputs, and what must come out.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use reknit::Dialect;

/// Set to write the expected files instead of comparing them; `cargo xtask corpus` does.
const BLESS: &str = "REKNIT_BLESS";

/// How many lines of a difference are shown.
const SHOWN: usize = 24;

/// One folder of the corpus.
pub(crate) struct Case {
    /// Its path below `corpus/`.
    pub(crate) name: String,
    pub(crate) input: Vec<u8>,
    folder: PathBuf,
}

/// A case of `corpus/wire/`, and the dialect it is in.
pub(crate) struct WireCase {
    pub(crate) case: Case,
    pub(crate) dialect: Dialect,
}

/// Files by their paths, with `/` between the names.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// All cases of `corpus/<kind>/`, by name.
pub(crate) fn cases(kind: &str) -> Vec<Case> {
    let folders = subfolders(&root().join(kind));
    let cases: Vec<_> = folders.into_iter().map(Case::read).collect();
    assert!(!cases.is_empty(), "no case in corpus/{kind}");
    cases
}

/// All cases of `corpus/wire/`, by dialect and name.
pub(crate) fn wire_cases() -> Vec<WireCase> {
    let cases = Dialect::ALL.into_iter().flat_map(|dialect| {
        cases(&format!("wire/{dialect}")).into_iter().map(move |case| WireCase { case, dialect })
    });
    cases.collect()
}

/// Where `cargo xtask fixtures` and `cargo xtask prefixes` say that there are recordings to read as well.
const RECORDINGS: &str = "REKNIT_RECORDINGS";

/// The recorded streams, in `streams` with a folder for each dialect; none if no folder is given.
pub(crate) fn recordings() -> Vec<WireCase> {
    let Some(folder) = std::env::var_os(RECORDINGS) else { return Vec::new() };
    let mut recordings = Vec::new();
    for dialect in Dialect::ALL {
        let folder = Path::new(&folder).join("streams").join(dialect.name());
        let Ok(files) = fs::read_dir(&folder) else { continue };
        let mut files: Vec<_> = files.map(|file| file.expect("it is listed").path()).collect();
        files.sort();
        recordings.extend(files.into_iter().map(|file| {
            let (name, input) = (file.display().to_string(), fs::read(&file).expect("it is listed"));
            WireCase { case: Case { name, folder: folder.clone(), input }, dialect }
        }));
    }
    assert!(!recordings.is_empty(), "no recordings in {}", folder.display());
    recordings
}

/// Compares what came out of each case with what is expected, and reports all that differ at once.
pub(crate) struct Verdict {
    differences: Vec<String>,
}

impl Verdict {
    pub(crate) fn new() -> Self {
        Self { differences: Vec::new() }
    }

    /// `actual` must be the text of `file` in the folder of `case`.
    pub(crate) fn expect(&mut self, case: &Case, file: &str, actual: &str) {
        let path = case.folder.join(file);
        if std::env::var_os(BLESS).is_some() {
            return fs::write(&path, actual).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        let difference = match fs::read_to_string(&path) {
            Ok(expected) => difference(&expected, actual),
            Err(error) => Some(format!("{error}\n")),
        };
        self.differences.extend(difference.map(|lines| format!("corpus/{}/{file}:\n{lines}", case.name)));
    }

    /// `actual` must be the files of `folder` in the folder of `case`, byte for byte.
    pub(crate) fn expect_files(&mut self, case: &Case, folder: &str, actual: &Files) {
        let expected = case.files(folder);
        if std::env::var_os(BLESS).is_some() {
            return write_files(&case.folder.join(folder), &expected, actual);
        }
        for path in expected.keys().chain(actual.keys().filter(|path| !expected.contains_key(*path))) {
            let difference = match (expected.get(path), actual.get(path)) {
                (Some(expected), Some(actual)) => difference(&escaped(expected), &escaped(actual)),
                (Some(_), None) => Some("expected, and not there\n".to_owned()),
                (None, Some(_)) => Some("there, and not expected\n".to_owned()),
                (None, None) => None,
            };
            let named = difference.map(|lines| format!("corpus/{}/{folder}/{path}:\n{lines}", case.name));
            self.differences.extend(named);
        }
    }

    pub(crate) fn give(self) {
        let count = self.differences.len();
        assert!(
            count == 0,
            "{count} expected file(s) differ (`-` is expected, `+` came out)\n\n{}\n\
             hint: if the new is right, write it with `cargo xtask corpus` and say why in the commit",
            self.differences.join("\n")
        );
    }
}

impl Case {
    fn read(folder: PathBuf) -> Self {
        let name = folder.strip_prefix(root()).expect("it lies below the root");
        let name = name.to_string_lossy().replace('\\', "/");
        let inputs =
            fs::read_dir(&folder).expect("it was listed").map(|entry| entry.expect("it is there").path());
        let inputs: Vec<_> = inputs
            .filter(|path| path.file_stem().is_some_and(|stem| stem == "input" || stem == "answer"))
            .collect();
        let [input] = inputs.as_slice() else { panic!("corpus/{name}: {} inputs, not 1", inputs.len()) };
        Self { name, input: fs::read(input).expect("it was listed"), folder }
    }

    /// The input as text, which that of a JSON case is.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.input).unwrap_or_else(|error| panic!("corpus/{}: {error}", self.name))
    }

    /// What a file of one line says, if it is there.
    pub(crate) fn note(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(file)).ok().map(|text| text.trim_end().to_owned())
    }

    /// The files below one of its folders; none if that is not there.
    pub(crate) fn files(&self, folder: &str) -> Files {
        let mut files = Files::new();
        collect(&self.folder.join(folder), "", &mut files);
        files
    }
}

fn collect(folder: &Path, prefix: &str, files: &mut Files) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let entry = entry.expect("it is there");
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{path}/"), files);
        } else {
            files.insert(path, fs::read(entry.path()).expect("it was listed"));
        }
    }
}

fn write_files(folder: &Path, old: &Files, new: &Files) {
    for path in old.keys().filter(|path| !new.contains_key(*path)) {
        fs::remove_file(folder.join(path)).expect("it was listed");
    }
    for (path, content) in new {
        let path = folder.join(path);
        let parent = path.parent().expect("it lies in the folder");
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, content))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// A content with a line for each of its own, in which every byte can be seen.
fn escaped(content: &[u8]) -> String {
    content.split_inclusive(|byte| *byte == b'\n').map(|line| format!("{}\n", line.escape_ascii())).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut folders: Vec<_> =
        entries.map(|entry| entry.expect("it is there").path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// The lines between the first and the last that differ, if any do.
fn difference(expected: &str, actual: &str) -> Option<String> {
    if expected == actual {
        return None;
    }
    let (old, new): (Vec<_>, Vec<_>) =
        (expected.split_inclusive('\n').collect(), actual.split_inclusive('\n').collect());
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[before..], &new[before..]);
    let behind = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let mut lines = format!("  line {}\n", before + 1);
    for (sign, changed) in [('-', &old[..old.len() - behind]), ('+', &new[..new.len() - behind])] {
        for line in changed.iter().take(SHOWN) {
            writeln!(lines, "{sign} {}", line.trim_end_matches('\n')).expect("a string takes all");
        }
        if changed.len() > SHOWN {
            writeln!(lines, "{sign} … {} more", changed.len() - SHOWN).expect("a string takes all");
        }
    }
    Some(lines)
}

#[test]
fn a_difference_is_shown_where_it_is() {
    assert_eq!(difference("a\nb\nc\n", "a\nb\nc\n"), None);
    assert_eq!(difference("a\nb\nc\n", "a\nx\ny\nc\n").unwrap(), "  line 2\n- b\n+ x\n+ y\n");
    assert_eq!(difference("a\n", "a").unwrap(), "  line 1\n- a\n+ a\n");
    assert_eq!(difference("", "a\n").unwrap(), "  line 1\n+ a\n");
}
