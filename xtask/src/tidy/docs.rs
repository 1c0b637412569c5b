//! Checks of the Markdown files.

use super::{Problem, Tree, find_word, numbered};

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const CHANGELOG: &str = "CHANGELOG.md";

/// The crates whose modules the code map names.
const MAPPED: [&str; 2] = ["crates/reknit/src/", "crates/reknit-compat/src/"];

/// The code map names each crate, and each module of those in [`MAPPED`].
pub(super) fn code_map(tree: &Tree) -> Vec<Problem> {
    let Some(text) = tree.text(ARCHITECTURE) else { return Vec::new() };
    let Some((start, map)) = section(text, "code map") else {
        return vec![Problem::new(ARCHITECTURE, 1, "no heading `Code map`", "add the section")];
    };
    let unnamed = |what: String| Problem::new(ARCHITECTURE, start, what, "add a line for it to the code map");
    let mut problems = Vec::new();
    for path in tree.files.keys() {
        if let Some(name) = between(path, "crates/", "/Cargo.toml")
            && find_word(map, &format!("crates/{name}")).is_none()
            && !map.contains(&format!("`{name}`"))
        {
            problems.push(unnamed(format!("crate `crates/{name}` is not named")));
        }
        if let Some(name) = MAPPED.iter().find_map(|folder| between(path, folder, ".rs"))
            && find_word(map, &format!("{name}.rs")).is_none()
            && !map.contains(&format!("`{name}`"))
        {
            problems.push(unnamed(format!("module `{path}` is not named")));
        }
    }
    problems
}

/// Every path into a crate that the page on the architecture names exists; `<name>` is any name.
pub(super) fn named_files(tree: &Tree) -> Vec<Problem> {
    let Some(text) = tree.text(ARCHITECTURE) else { return Vec::new() };
    let mut problems = Vec::new();
    for (number, line) in prose(text) {
        let spans = line.split('`').skip(1).step_by(2);
        for path in spans.filter(|span| span.starts_with("crates/") && !span.contains('<')) {
            if !tree.has(path) {
                let what = format!("there is no `{path}`");
                problems.push(Problem::new(ARCHITECTURE, number, what, "name the file that it is in now"));
            }
        }
    }
    problems
}

/// Every relative link points to a file or folder of the repository.
pub(super) fn links(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.with_ends(&[".md"]) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (number, line) in prose(text) {
            for target in targets(line) {
                if !has_target(tree, folder, target) {
                    let what = format!("the link to `{target}` is broken");
                    problems.push(Problem::new(path, number, what, "correct the path or add the file"));
                }
            }
        }
    }
    problems
}

/// The changelog has a heading for what is not released yet.
pub(super) fn changelog(tree: &Tree) -> Vec<Problem> {
    let Some(text) = tree.text(CHANGELOG) else { return Vec::new() };
    if prose(text).any(|(_, line)| line.starts_with('#') && line.contains("Unreleased")) {
        return Vec::new();
    }
    vec![Problem::new(CHANGELOG, 1, "no heading `Unreleased`", "add `## Unreleased` above the last version")]
}

/// The number of the heading's line, and the text under it up to the next heading of its level or above.
fn section<'a>(text: &'a str, name: &str) -> Option<(usize, &'a str)> {
    let level = |line: &str| line.len() - line.trim_start_matches('#').len();
    let mut found = None;
    let mut at = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        match found {
            None if level(line) > 0 && line.to_lowercase().contains(name) => {
                found = Some((index + 1, at + line.len(), level(line)));
            }
            Some((number, start, depth)) if (1..=depth).contains(&level(line)) => {
                return Some((number, &text[start..at]));
            }
            _ => {}
        }
        at += line.len();
    }
    found.map(|(number, start, _)| (number, &text[start..]))
}

/// What is between `start` and `end`, if that is one name and not a path.
fn between<'a>(path: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let name = path.strip_prefix(start)?.strip_suffix(end)?;
    (!name.contains('/') && name != "lib").then_some(name)
}

/// The lines of a Markdown text that are not in a fenced block.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    numbered(text).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fence && !fenced
    })
}

/// The targets of the links in a line: `[words](target "title")` and `[name]: target`.
fn targets(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices("](") {
        let in_code = line[..at].matches('`').count() % 2 == 1;
        if let Some(end) = line[at..].find(')').filter(|_| !in_code) {
            found.push(&line[at + 2..at + end]);
        }
    }
    if line.starts_with('[')
        && let Some((_, target)) = line.split_once("]:")
    {
        found.push(target);
    }
    found.into_iter().filter_map(|target| target.split_whitespace().next()).collect()
}

fn has_target(tree: &Tree, folder: &str, target: &str) -> bool {
    let target = target.trim_start_matches('<').trim_end_matches('>');
    let path = target.split(['#', '?']).next().unwrap_or_default();
    let is_elsewhere = target.contains("://") || target.starts_with("mailto:") || path.is_empty();
    is_elsewhere || resolve(folder, path).is_some_and(|path| tree.has(&path))
}

/// The path from the root of the repository, unless it leads out of the repository.
fn resolve(folder: &str, path: &str) -> Option<String> {
    let mut names: Vec<&str> = match path.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => folder.split('/').collect(),
    };
    names.retain(|name| !name.is_empty());
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()?),
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    #[test]
    fn a_crate_or_module_that_is_not_in_the_map_is_reported() {
        let map = "# A\n## Code map\n`crates/reknit-cli`\n`frame.rs` reads\n## Invariants\n`json.rs`\n";
        let files = [
            (ARCHITECTURE, map),
            ("crates/reknit-cli/Cargo.toml", ""),
            ("crates/reknit/Cargo.toml", ""),
            ("crates/reknit/src/frame.rs", ""),
            ("crates/reknit/src/frame/sse.rs", ""),
            ("crates/reknit/src/json.rs", ""),
            ("crates/reknit/src/lib.rs", ""),
            ("crates/reknit-compat/src/cline.rs", ""),
        ];
        let expected = [
            "ARCHITECTURE.md:2: module `crates/reknit-compat/src/cline.rs` is not named, \
             add a line for it to the code map",
            "ARCHITECTURE.md:2: crate `crates/reknit` is not named, add a line for it to the code map",
            "ARCHITECTURE.md:2: module `crates/reknit/src/json.rs` is not named, \
             add a line for it to the code map",
        ];
        expect(code_map, &files, &expected);
    }

    #[test]
    fn a_file_that_is_named_and_missing_is_reported() {
        let text =
            "`crates/a/src/b.rs`, `crates/a` and `crates/a/src/<x>.rs`\n| a BOM | `crates/a/src/c.rs` |\n";
        let files = [(ARCHITECTURE, text), ("crates/a/src/b.rs", "")];
        let expected =
            ["ARCHITECTURE.md:2: there is no `crates/a/src/c.rs`, name the file that it is in now"];
        expect(named_files, &files, &expected);
    }

    #[test]
    fn a_broken_link_is_reported() {
        let text = "\
[up](../README.md#top) [web](https://example.org) [here](#a) `[code](none.md)`
[folder](../corpus/) [gone](gone.md \"title\") [out](../../x)
```
[fenced](none.md)
```
[name]: ./b.md
";
        let files = [("README.md", ""), ("corpus/README.md", ""), ("docs/a.md", text)];
        let expected = [
            "docs/a.md:2: the link to `gone.md` is broken, correct the path or add the file",
            "docs/a.md:2: the link to `../../x` is broken, correct the path or add the file",
            "docs/a.md:6: the link to `./b.md` is broken, correct the path or add the file",
        ];
        expect(links, &files, &expected);
    }

    #[test]
    fn a_changelog_needs_its_heading() {
        let expected =
            ["CHANGELOG.md:1: no heading `Unreleased`, add `## Unreleased` above the last version"];
        expect(changelog, &[(CHANGELOG, "# Changelog\n## 0.1.0\n")], &expected);
        expect(changelog, &[(CHANGELOG, "# Changelog\n## [Unreleased]\n")], &[]);
        expect(changelog, &[], &[]);
    }
}
