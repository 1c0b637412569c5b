//! Checks of the test cases in `corpus/`, against the table in its README.

use std::collections::{BTreeMap, BTreeSet};

use super::{Problem, Tree, numbered};

const README: &str = "corpus/README.md";

/// A row of the table: the shape of the case folders, and the files that each holds.
struct Kind {
    /// The folder in pieces; one in `<…>` stands for any name.
    folder: Vec<String>,
    /// A case has exactly one of these.
    inputs: Vec<String>,
    /// A case has all of these.
    expected: Vec<String>,
    /// A case may have these. A name that ends in `/` is a folder of any files.
    optional: Vec<String>,
}

impl Kind {
    /// The case that a file belongs to, and its path there.
    fn case<'p>(&self, path: &'p str) -> Option<(&'p str, &'p str)> {
        let slash = path.match_indices('/').nth(self.folder.len() - 1)?.0;
        let (folder, file) = (&path[..slash], &path[slash + 1..]);
        let mut names = self.folder.iter().zip(folder.split('/'));
        let belongs = names.all(|(want, name)| want.starts_with('<') || want == name)
            && (!file.contains('/') || self.reads(file));
        belongs.then_some((folder, file))
    }

    fn reads(&self, file: &str) -> bool {
        self.inputs.iter().chain(&self.expected).any(|name| name == file)
            || self.optional.iter().any(|name| name == file || name.ends_with('/') && file.starts_with(name))
    }
}

/// Every case folder holds the files of its kind, and nothing in `corpus/` is outside of a case.
pub(super) fn cases(tree: &Tree) -> Vec<Problem> {
    let files: Vec<_> = tree.files.keys().filter(|path| path.starts_with("corpus/")).collect();
    let kinds = kinds(tree.text(README).unwrap_or_default());
    if kinds.is_empty() && !files.is_empty() {
        let fix = "write one with the columns folder, input, expected";
        return vec![Problem::new(README, 1, "no table of the kinds of cases", fix)];
    }

    let mut problems = Vec::new();
    let mut cases: BTreeMap<&str, (&Kind, BTreeSet<&str>)> = BTreeMap::new();
    for path in files.into_iter().filter(|path| *path != README) {
        match kinds.iter().find_map(|kind| kind.case(path).map(|case| (kind, case))) {
            Some((kind, (folder, file))) => {
                cases.entry(folder).or_insert_with(|| (kind, BTreeSet::new())).1.insert(file);
            }
            None => {
                let fix = "move it into a case folder or add its kind to corpus/README.md";
                problems.push(Problem::new(path, 1, "no test reads this file", fix));
            }
        }
    }
    for (folder, (kind, names)) in cases {
        check_case(kind, folder, &names, &mut problems);
    }
    problems
}

fn check_case(kind: &Kind, folder: &str, names: &BTreeSet<&str>, problems: &mut Vec<Problem>) {
    for name in names.iter().filter(|name| !kind.reads(name)) {
        let fix = "delete it or add it to the table in corpus/README.md";
        problems.push(Problem::new(&format!("{folder}/{name}"), 1, "no test reads this file", fix));
    }
    for name in kind.expected.iter().filter(|name| !names.contains(name.as_str())) {
        let fix = "run `cargo xtask corpus` and read what it writes";
        problems.push(Problem::new(&format!("{folder}/{name}"), 1, "missing", fix));
    }
    let inputs = kind.inputs.iter().filter(|name| names.contains(name.as_str())).count();
    if inputs != 1 {
        let what = format!("{inputs} inputs, of {}", kind.inputs.join(", "));
        problems.push(Problem::new(folder, 1, what, "keep exactly one"));
    }
}

/// The rows of the table that describe a folder in `corpus/`.
fn kinds(readme: &str) -> Vec<Kind> {
    let rows = numbered(readme).filter_map(|(_, line)| {
        let cells: Vec<_> = line.strip_prefix('|')?.split('|').map(code_spans).collect();
        let [folders, inputs, expected, optional, ..] = cells.as_slice() else { return None };
        let folder = folders.first().filter(|folder| folder.starts_with("corpus/"))?;
        let folder = folder.trim_end_matches('/').split('/').map(str::to_owned).collect();
        Some(Kind { folder, inputs: inputs.clone(), expected: expected.clone(), optional: optional.clone() })
    });
    rows.collect()
}

fn code_spans(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    const TABLE: &str = "\
| Folder | Input | Expected | Optional |
| --- | --- | --- | --- |
| `corpus/wire/<dialect>/<case>/` | one of `input.sse`, `input.json` | `message.json` | |
| `corpus/edit/<case>/` | `answer.txt` | `report.txt` | `format`, `before/` |
";

    #[test]
    fn a_whole_case_is_fine() {
        let files =
            [(README, TABLE), ("corpus/wire/x/a/input.sse", ""), ("corpus/wire/x/a/message.json", "")];
        expect(cases, &files, &[]);
    }

    #[test]
    fn a_case_may_have_folders() {
        let files = [
            (README, TABLE),
            ("corpus/edit/a/answer.txt", ""),
            ("corpus/edit/a/before/src/lib.rs", ""),
            ("corpus/edit/a/report.txt", ""),
            ("corpus/edit/b/answer.txt", ""),
            ("corpus/edit/b/behind/lib.rs", ""),
            ("corpus/edit/b/format", ""),
            ("corpus/edit/b/report.txt", ""),
        ];
        let expected = ["corpus/edit/b/behind/lib.rs:1: no test reads this file, \
             move it into a case folder or add its kind to corpus/README.md"];
        expect(cases, &files, &expected);
    }

    #[test]
    fn what_is_missing_and_what_is_unread_is_named() {
        let files = [
            (README, TABLE),
            ("corpus/stray.txt", ""),
            ("corpus/wire/x/a/input.json", ""),
            ("corpus/wire/x/a/input.sse", ""),
            ("corpus/wire/x/a/notes.txt", ""),
        ];
        let expected = [
            "corpus/stray.txt:1: no test reads this file, \
             move it into a case folder or add its kind to corpus/README.md",
            "corpus/wire/x/a/notes.txt:1: no test reads this file, \
             delete it or add it to the table in corpus/README.md",
            "corpus/wire/x/a/message.json:1: missing, run `cargo xtask corpus` and read what it writes",
            "corpus/wire/x/a:1: 2 inputs, of input.sse, input.json, keep exactly one",
        ];
        expect(cases, &files, &expected);
    }
}
