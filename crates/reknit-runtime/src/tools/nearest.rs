//! The names that a model may have meant when it named a file that does not exist.

use std::cmp::Reverse;

use reknit_workspace::Root;

use super::list_files::walk;

/// How many names are suggested.
const SUGGESTED: usize = 3;
/// How many files are looked at.
const LOOKED_AT: usize = 20_000;
/// Longer names are not compared letter by letter.
const LONGEST: usize = 100;

/// ` Similar files: …`, or what to do if there are none.
pub(super) fn sentence(root: &Root, path: &str) -> String {
    let found = find(root, path);
    if found.is_empty() {
        return " Paths are relative to the root; list_files shows what is there.".to_owned();
    }
    let found: Vec<_> = found.iter().map(|path| format!("`{path}`")).collect();
    format!(" Similar files: {}.", found.join(", "))
}

/// The paths of files whose names are most like that of this path, the best first.
fn find(root: &Root, path: &str) -> Vec<String> {
    let wanted = path.trim_end_matches('/');
    let name = file_name(wanted);
    let mut found = Vec::new();
    for entry in walk(root.path()).build().flatten().take(LOOKED_AT) {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let relative = entry.path().strip_prefix(root.path()).ok().and_then(|path| path.to_str());
        let (true, Some(candidate)) = (is_file, relative) else { continue };
        if let Some(difference) = difference(name, file_name(candidate)) {
            found.push((difference, Reverse(shared_end(wanted, candidate)), candidate.to_owned()));
        }
    }
    found.sort();
    found.truncate(SUGGESTED);
    found.into_iter().map(|(.., path)| path).collect()
}

/// How different two names are; `None` if one was hardly meant to be the other.
fn difference(wanted: &str, name: &str) -> Option<usize> {
    let (wanted, name) = (wanted.to_lowercase(), name.to_lowercase());
    if wanted == name {
        return Some(0);
    }
    if wanted.len().max(name.len()) > LONGEST {
        return None;
    }
    let stem = |name: &str| name.rsplit_once('.').map_or(name.len(), |(stem, _)| stem.len());
    let same_stem = !wanted.is_empty() && wanted[..stem(&wanted)] == name[..stem(&name)];
    let letters = distance(&wanted, &name);
    (same_stem || letters <= (wanted.len() / 4).max(1)).then_some(letters)
}

/// How many letters have to be added, removed or changed.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, candidate) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *candidate);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

/// How many names at the ends of two paths are the same.
fn shared_end(one: &str, other: &str) -> usize {
    one.rsplit('/').zip(other.rsplit('/')).take_while(|(one, other)| one == other).count()
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_letters() {
        for (one, other, letters) in
            [("", "", 0), ("a", "", 1), ("lib.rs", "lbi.rs", 2), ("main", "mains", 1), ("é", "e", 1)]
        {
            assert_eq!(distance(one, other), letters, "{one} {other}");
            assert_eq!(distance(other, one), letters, "{other} {one}");
        }
    }

    #[test]
    fn names_are_alike_by_letters_or_by_stem() {
        assert_eq!(difference("README.md", "readme.MD"), Some(0));
        assert_eq!(difference("config.yml", "config.toml"), Some(2));
        assert_eq!(difference("main.rs", "lib.rs"), None);
    }
}
