//! Real code to edit: files of packages that a build of this repository brings along.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// How many files of each language are taken.
const FILES: usize = 12;
/// Files with fewer lines are not taken.
const LEAST_LINES: usize = 301;
/// Nor are longer ones, for the sake of time.
const MOST_BYTES: u64 = 50_000;

/// A language, how its files end, and the packages that they are taken from.
struct Language {
    name: &'static str,
    ends: &'static [&'static str],
    home: Home,
    packages: &'static [&'static str],
}

/// Where packages lie.
#[derive(Clone, Copy)]
enum Home {
    /// The registry of cargo, in the versions of the lock file.
    Cargo,
    /// What `cargo xtask sdk` installs for JavaScript.
    Npm,
    /// What `cargo xtask sdk` installs for Python.
    Pip,
}

const LANGUAGES: [Language; 4] = [
    Language {
        name: "Rust",
        ends: &[".rs"],
        home: Home::Cargo,
        packages: &[
            "anyhow",
            "base64",
            "clap_builder",
            "hashbrown",
            "memchr",
            "proptest",
            "serde_json",
            "syn",
            "winnow",
        ],
    },
    Language {
        name: "JavaScript",
        ends: &[".js", ".mjs"],
        home: Home::Npm,
        packages: &["@anthropic-ai/sdk", "fast-sha256", "openai"],
    },
    Language {
        name: "TypeScript",
        ends: &[".ts"],
        home: Home::Npm,
        packages: &["@anthropic-ai/sdk", "openai"],
    },
    Language {
        name: "Python",
        ends: &[".py"],
        home: Home::Pip,
        packages: &["anthropic", "anyio", "h11", "httpx2", "openai", "pydantic"],
    },
];

/// A file of a package.
pub(super) struct Source {
    package: &'static str,
    /// From the package's folder on.
    path: String,
    pub(super) lines: Vec<String>,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.path, self.package)
    }
}

/// The files, the same ones on every machine. Too few of them is a failure: the suite would say nothing.
pub(super) fn all() -> Vec<Source> {
    let sources: Vec<_> = LANGUAGES.iter().flat_map(of_language).collect();
    let packages: BTreeSet<_> = sources.iter().map(|source| source.package).collect();
    assert!(sources.len() >= 40 && packages.len() >= 10, "{} files of {packages:?}", sources.len());
    sources
}

/// Some files of each package, in turn.
fn of_language(language: &'static Language) -> Vec<Source> {
    let packages = language.packages.len();
    let mut sources = Vec::new();
    for (nth, package) in language.packages.iter().enumerate() {
        let folder = language.home.folder(package);
        let mut found = Vec::new();
        collect(&folder, language, &mut found);
        found.sort();
        // Those that are left of the language, shared out over the packages that are left.
        let wanted = (FILES - sources.len()).div_ceil(packages - nth).min(found.len());
        for number in 0..wanted {
            let path = &found[number * found.len() / wanted];
            let text = fs::read_to_string(path).expect("it was read before");
            sources.push(Source {
                package,
                path: path.strip_prefix(&folder).expect("it was found there").to_string_lossy().into_owned(),
                lines: text.lines().map(str::to_owned).collect(),
            });
        }
    }
    assert!(
        sources.len() >= FILES - 2,
        "only {} files of {} are long enough; is `{}` as the lock files say?",
        sources.len(),
        language.name,
        language.home.folder(language.packages[0]).display()
    );
    sources
}

/// The files below a folder that can be taken.
fn collect(folder: &Path, language: &Language, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| {
        panic!(
            "`{}` cannot be read: {error}\n\
             hint: this test edits real code: run `cargo xtask sdk` once, which needs node and python3",
            folder.display()
        )
    });
    for entry in entries {
        let path = entry.expect("an entry of a folder").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            collect(&path, language, found);
        } else if language.ends.iter().any(|end| name.ends_with(end))
            && !name.ends_with(".d.ts")
            && path.metadata().is_ok_and(|file| file.len() <= MOST_BYTES)
            && fs::read_to_string(&path).is_ok_and(|text| is_code(&text))
        {
            found.push(path);
        }
    }
}

/// Long enough, and with one kind of line end, which is what the expected contents are made of.
fn is_code(text: &str) -> bool {
    text.lines().count() >= LEAST_LINES && !text.contains('\r')
}

impl Home {
    fn folder(self, package: &str) -> PathBuf {
        // The folder that the build gives to tests lies in the target folder, wherever that is.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it lies in the target folder");
        match self {
            Self::Cargo => registry(package),
            Self::Npm => target.join("sdk/node/node_modules").join(package),
            Self::Pip => {
                let python = target.join("sdk/python");
                let versions = fs::read_dir(python.join("lib")).into_iter().flatten().flatten();
                let library = versions.map(|entry| entry.path()).find(|path| path.is_dir());
                library.unwrap_or_else(|| python.join("Lib")).join("site-packages").join(package)
            }
        }
    }
}

/// The folder of a package in cargo's registry, in the version of the lock file.
fn registry(package: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let lock = fs::read_to_string(root.join("Cargo.lock")).expect("the workspace has a lock file");
    let entry = format!("name = \"{package}\"\nversion = \"");
    let (_, version) = lock.split_once(&entry).unwrap_or_else(|| panic!("`{package}` is not in Cargo.lock"));
    let version = &version[..version.find('"').expect("a version is in quotes")];
    let home = std::env::var_os("CARGO_HOME")
        .map_or_else(|| std::env::home_dir().expect("a home folder").join(".cargo"), PathBuf::from);
    let name = format!("{package}-{version}");
    let registries = fs::read_dir(home.join("registry/src")).into_iter().flatten().flatten();
    let folders = registries.map(|entry| entry.path().join(&name));
    folders.into_iter().find(|folder| folder.is_dir()).unwrap_or_else(|| {
        panic!("`{name}` is not in `{}`", home.join("registry/src").display());
    })
}
