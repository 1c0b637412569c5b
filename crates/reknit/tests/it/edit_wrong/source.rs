//! Real files to edit: this repository's own, and those of packages in its lock file.

use std::fs;
use std::path::{Path, PathBuf};

/// A file, line by line.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) lines: Vec<String>,
}

/// What the files are: each has to be there.
const OWN: [&str; 9] = [
    "crates/reknit/src/edit/plan.rs",
    "crates/reknit/src/edit/running.rs",
    "crates/reknit/src/json/value.rs",
    "crates/reknit-cli/src/apply.rs",
    "xtask/src/main.rs",
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "docs/json.md",
];
const PACKAGES: [(&str, &str); 10] = [
    ("anyhow", "src/error.rs"),
    ("anyhow", ".github/workflows/ci.yml"),
    ("triomphe", ".github/workflows/tests.yml"),
    ("memchr", "src/memmem/mod.rs"),
    ("serde_json", "src/value/mod.rs"),
    ("clap_builder", "src/builder/arg.rs"),
    ("imara-diff", ".github/workflows/ci.yml"),
    ("allocation-counter", "Makefile"),
    ("aho-corasick", "src/automaton.rs"),
    ("memchr", "README.md"),
];

/// All files, the same ones on every machine. One that is missing is a failure.
pub(crate) fn all() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut sources: Vec<_> = OWN.iter().map(|path| read(path, &root.join(path))).collect();
    sources.extend(PACKAGES.iter().map(|(package, path)| read(path, &registry(&root, package).join(path))));
    sources.push(table(&root));
    sources.push(minified(&read("minified JavaScript", &root.join("bench/node/peers.mjs"))));
    sources
}

fn read(name: &str, path: &Path) -> Source {
    let text = fs::read_to_string(path).unwrap_or_else(|error| {
        panic!("`{}` cannot be read: {error}\nhint: `cargo fetch` brings what is missing", path.display())
    });
    let lines: Vec<_> = text.lines().take(700).map(str::to_owned).collect();
    Source { name: name.to_owned(), lines }
}

/// The packages of the lock file as comma-separated values.
fn table(root: &Path) -> Source {
    let lock = read("table", &root.join("Cargo.lock"));
    let value = |line: &str| line.split('"').nth(1).map(str::to_owned);
    let mut lines = vec!["name,version,checksum".to_owned()];
    for line in &lock.lines {
        match line.split(' ').next() {
            Some("name") => lines.extend(value(line)),
            Some("version" | "checksum") if lines.len() > 1 => {
                if let (Some(last), Some(value)) = (lines.last_mut(), value(line)) {
                    *last = format!("{last},{value}");
                }
            }
            _ => {}
        }
    }
    Source { name: "table.csv".to_owned(), lines }
}

/// A script with few and long lines.
fn minified(script: &Source) -> Source {
    let code = script.lines.iter().map(|line| line.trim()).filter(|line| !line.starts_with("//"));
    let code: Vec<_> = code.filter(|line| !line.is_empty()).collect();
    Source { name: "script.min.js".to_owned(), lines: code.chunks(6).map(<[&str]>::concat).collect() }
}

/// The folder of a package in cargo's registry, in the version of the lock file.
fn registry(root: &Path, package: &str) -> PathBuf {
    let lock = fs::read_to_string(root.join("Cargo.lock")).expect("the workspace has a lock file");
    let entry = format!("name = \"{package}\"\nversion = \"");
    let (_, version) = lock.split_once(&entry).unwrap_or_else(|| panic!("`{package}` is not in Cargo.lock"));
    let version = &version[..version.find('"').expect("a version is in quotes")];
    let home = std::env::var_os("CARGO_HOME")
        .map_or_else(|| std::env::home_dir().expect("a home folder").join(".cargo"), PathBuf::from);
    let registries = fs::read_dir(home.join("registry/src")).into_iter().flatten().flatten();
    let mut folders = registries.map(|entry| entry.path().join(format!("{package}-{version}")));
    folders.find(|folder| folder.is_dir()).unwrap_or_else(|| {
        panic!("`{package}-{version}` is not in `{}`", home.join("registry/src").display())
    })
}
