//! `cargo xtask tidy`: checks of the repository itself that no compiler makes.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;

use anyhow::{Context, Result, bail};

use crate::{Project, shown};

mod code;
mod corpus;
mod docs;
mod locks;
mod modules;
mod providers;
mod spans;
mod tokens;

type Check = fn(&Tree) -> Vec<Problem>;

const CHECKS: [(&str, Check); 12] = [
    ("source files are short", code::length),
    ("the source has no leftovers", code::leftovers),
    ("the engine does no IO", code::engine),
    ("modules of the engine use only those before them", modules::order),
    ("only `wire/` knows providers", providers::names),
    ("corpus cases are complete and every file is read", corpus::cases),
    ("spans of calls in text agree with their blocks", spans::agree),
    ("the code map names every crate and module", docs::code_map),
    ("the files that the architecture names exist", docs::named_files),
    ("links in the docs are not broken", docs::links),
    ("the changelog has a section for unreleased changes", docs::changelog),
    ("lock and config files name no registry", locks::registries),
];

/// Runs every check, prints what each finds, and fails if any finds a problem.
pub(crate) fn run(project: &Project) -> Result<()> {
    let tree = Tree::of(project)?;
    let mut count = 0;
    for (name, check) in CHECKS {
        let problems = check(&tree);
        println!("{}  {name}", if problems.is_empty() { "ok " } else { "BAD" });
        for problem in &problems {
            println!("     {problem}");
        }
        count += problems.len();
    }
    if count > 0 {
        bail!("tidy found {count} problem{}", if count == 1 { "" } else { "s" });
    }
    Ok(())
}

/// One thing to fix, printed as `path:line: what, how to fix`.
#[derive(Debug, PartialEq)]
struct Problem {
    path: String,
    line: usize,
    what: String,
    fix: &'static str,
}

impl Problem {
    /// `line` counts from 1. A problem of a whole file is reported at line 1.
    fn new(path: &str, line: usize, what: impl Into<String>, fix: &'static str) -> Self {
        Self { path: path.into(), line, what: what.into(), fix }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}, {}", self.path, self.line, self.what, self.fix)
    }
}

/// The files of the repository by path, with `/` as the separator. Invalid UTF-8 is read as U+FFFD.
struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    fn of(project: &Project) -> Result<Self> {
        let mut git = project.command("git");
        // A CI machine may run this as a user that does not own the checkout.
        git.arg("-c").arg(format!("safe.directory={}", project.root.display()));
        // New files too: what would fail after a commit should fail before it.
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let output = git.output().with_context(|| format!("cannot start `{}`", shown(&git)))?;
        if !output.status.success() {
            let reason = String::from_utf8_lossy(&output.stderr);
            bail!("cannot list the files: {}\nhint: run this in a git checkout", reason.trim());
        }
        let mut files = BTreeMap::new();
        for path in String::from_utf8(output.stdout)?.split_terminator('\0') {
            let file = project.root.join(path);
            // Git also lists links to folders, and files whose deletion is not committed yet.
            if file.is_file() {
                let bytes = fs::read(&file).with_context(|| format!("cannot read `{path}`"))?;
                files.insert(path.to_owned(), String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        Ok(Self { files })
    }

    fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether there is such a file, or such a folder that contains a file.
    fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self.files.range(folder.clone()..).next().is_some_and(|(file, _)| file.starts_with(&folder))
    }

    fn with_ends<'a>(&'a self, ends: &'a [&str]) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files
            .iter()
            .filter(|(path, _)| ends.iter().any(|end| path.ends_with(end)))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }
}

/// The lines of a text with their numbers, counted from 1.
fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

/// Where `text` contains `word` and not as part of a longer name.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(word).map(|(at, _)| at).find(|&at| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        // A word that begins or ends with punctuation is bounded there by the punctuation itself.
        let continues_before = word.starts_with(is_name) && before.is_some_and(is_name);
        let continues_after = word.ends_with(is_name) && after.is_some_and(is_name);
        !continues_before && !continues_after
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs one check on a made-up tree and compares the problems that it reports.
    pub(super) fn expect(check: Check, files: &[(&str, &str)], expected: &[&str]) {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let problems: Vec<_> = check(&Tree { files }).iter().map(ToString::to_string).collect();
        assert_eq!(problems, expected);
    }

    #[test]
    fn the_repository_is_tidy() {
        let tree = Tree::of(&Project::here()).expect("the tests run in a git checkout");
        for (name, check) in CHECKS {
            let problems: Vec<_> = check(&tree).iter().map(ToString::to_string).collect();
            assert!(problems.is_empty(), "{name}:\n{}", problems.join("\n"));
        }
    }

    #[test]
    fn a_word_is_not_found_inside_a_longer_one() {
        assert_eq!(find_word("operand, rand", "rand"), Some(9));
        assert_eq!(find_word("crates/reknit-cli", "crates/reknit"), None);
        assert_eq!(find_word("eprintln!(x)", "println!"), None);
    }
}
