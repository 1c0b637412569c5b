//! Checks of the source text.

use super::{Problem, Tree, find_word, numbered};

const SOURCE: [&str; 9] = [".rs", ".toml", ".py", ".js", ".ts", ".css", ".html", ".sh", ".ci/run"];

const MAX_LINES: usize = 800;

/// Written in halves, so that the check does not find this file.
const LEFTOVERS: [(&str, &str); 5] = [
    (concat!("TO", "DO"), "do it now or remove it"),
    (concat!("FIX", "ME"), "fix it now or remove it"),
    (concat!("to", "do!"), "write the code or remove the function"),
    (concat!("#[ig", "nore"), "make the test pass or delete it"),
    (concat!("db", "g!"), "remove it"),
];

pub(super) const ENGINE: &str = "crates/reknit/src/";

/// The engine, and what is built on it under the same rules.
const WITHOUT_IO: [&str; 2] = [ENGINE, "crates/reknit-compat/src/"];

const NOT_IN_THE_ENGINE: [(&str, &str); 12] = [
    ("std::fs", "let the caller read and write"),
    ("std::net", "let the caller read and write"),
    ("std::env", "take it as an argument"),
    ("std::time", "take times as an argument"),
    ("std::thread", "use a plain `&mut self`"),
    ("std::process", "let the caller run programs"),
    ("rand", "take ids and seeds as an argument"),
    ("HashMap", "use a BTreeMap or an ordered list, whose order is always the same"),
    ("Instant", "take times as an argument"),
    ("SystemTime", "take times as an argument"),
    ("println!", "return a diagnostic"),
    ("eprintln!", "return a diagnostic"),
];

/// Source files have at most [`MAX_LINES`] lines.
pub(super) fn length(tree: &Tree) -> Vec<Problem> {
    let long = tree.with_ends(&SOURCE).filter_map(|(path, text)| {
        let lines = text.lines().count();
        (lines > MAX_LINES).then(|| {
            let what = format!("{lines} lines, more than {MAX_LINES}");
            Problem::new(path, MAX_LINES + 1, what, "split the file by concept")
        })
    });
    long.collect()
}

/// Source files contain no marker of unfinished work.
pub(super) fn leftovers(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.with_ends(&SOURCE) {
        for (number, line) in numbered(text) {
            for (word, fix) in LEFTOVERS {
                if find_word(line, word).is_some() {
                    problems.push(Problem::new(path, number, format!("`{word}`"), fix));
                }
            }
        }
    }
    problems
}

/// Nothing in the engine reaches outside it, not even its unit tests.
///
/// Clippy's list of types in the engine's `clippy.toml` sees through imports; this finds what that list
/// misses.
pub(super) fn engine(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    let is_engine = |path: &str| WITHOUT_IO.iter().any(|folder| path.starts_with(folder));
    for (path, text) in tree.with_ends(&[".rs"]).filter(|(path, _)| is_engine(path)) {
        let mut in_group = false;
        for (number, line) in numbered(text) {
            // A comment may say what is absent, and an example in the docs is a user's program.
            if line.trim_start().starts_with("//") {
                continue;
            }
            let group = grouped(line, in_group);
            in_group = group.is_some() && !line.contains("};");
            for (word, fix) in NOT_IN_THE_ENGINE {
                let imported = match (group, word.strip_prefix("std::")) {
                    (Some(names), Some(module)) => find_word(names, module).is_some(),
                    _ => false,
                };
                if imported || find_word(line, word).is_some() {
                    let what = format!("`{word}` in the engine");
                    problems.push(Problem::new(path, number, what, fix));
                }
            }
        }
    }
    problems
}

/// The part of `line` that is inside a `use std::{…}`, which may have been opened on an earlier line.
fn grouped(line: &str, in_group: bool) -> Option<&str> {
    match line.split_once("use std::{") {
        Some((_, names)) => Some(names),
        None => in_group.then_some(line),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    #[test]
    fn a_long_file_is_reported() {
        let (fits, long) = ("x\n".repeat(800), "x\n".repeat(801));
        let expected = ["src/b.rs:801: 801 lines, more than 800, split the file by concept"];
        expect(length, &[("src/a.rs", &fits), ("src/b.rs", &long), ("c.txt", &long)], &expected);
    }

    #[test]
    fn leftovers_are_reported_and_longer_words_are_not() {
        let text = concat!("// TO", "DO later\nlet autodo = 1;\n#[ig", "nore = \"slow\"]\n");
        let expected = [
            concat!("a.rs:1: `TO", "DO`, do it now or remove it"),
            concat!("a.rs:3: `#[ig", "nore`, make the test pass or delete it"),
        ];
        expect(leftovers, &[("a.rs", text), ("notes.md", text)], &expected);
    }

    #[test]
    fn the_engine_is_searched_and_others_are_not() {
        let text =
            "// No HashMap here.\nuse std::collections::HashMap;\nuse std::{fmt, fs};\nfn operand() {}\n";
        let expected = [
            "crates/reknit-compat/src/a.rs:1: `std::env` in the engine, take it as an argument",
            "crates/reknit/src/a.rs:2: `HashMap` in the engine, use a BTreeMap or an ordered list, \
             whose order is always the same",
            "crates/reknit/src/a.rs:3: `std::fs` in the engine, let the caller read and write",
        ];
        let files = [
            ("crates/reknit/src/a.rs", text),
            ("crates/reknit-cli/src/a.rs", text),
            ("crates/reknit-compat/src/a.rs", "use std::env;\n"),
        ];
        expect(engine, &files, &expected);
    }

    #[test]
    fn an_import_over_several_lines_is_searched() {
        let text = "use std::{\n    fmt,\n    thread,\n};\nlet thread = 1;\n";
        let expected = ["crates/reknit/src/a.rs:3: `std::thread` in the engine, use a plain `&mut self`"];
        expect(engine, &[("crates/reknit/src/a.rs", text)], &expected);
    }
}
