//! Checks of lock and config files.

use super::{Problem, Tree, numbered};

/// What cargo writes for a crate of the public registry, whatever mirror it was fetched from.
const STANDARD_SOURCE: &str = r#"source = "registry+https://github.com/rust-lang/crates.io-index""#;

/// Whether a line that holds an address is at fault.
type Rule = fn(&str) -> bool;

const FILES: [(&str, Rule); 8] = [
    ("Cargo.lock", |line| line != STANDARD_SOURCE),
    ("package-lock.json", |line| line.starts_with(r#""resolved""#)),
    (".cargo/config.toml", any),
    ("deny.toml", any),
    ("pip.conf", any),
    ("requirements.txt", any),
    (".npmrc", any),
    (".yarnrc.yml", any),
];

fn any(_line: &str) -> bool {
    true
}

/// No lock or config file names a registry of its own: a checkout builds with whatever the machine has set.
pub(super) fn registries(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (end, at_fault) in FILES {
        let here = |path: &str| path == end || path.ends_with(&format!("/{end}"));
        for (path, text) in tree.with_ends(&[end]).filter(|(path, _)| here(path)) {
            for (number, line) in numbered(text) {
                if line.contains("://") && at_fault(line.trim()) {
                    let fix = "keep it in the settings of the machine";
                    problems.push(Problem::new(path, number, "an address of a registry", fix));
                }
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    #[test]
    fn only_the_standard_source_may_stand_in_a_lock() {
        let other = "source = \"registry+https://mirror.example/index\"";
        let lock = format!("{STANDARD_SOURCE}\n{other}\n");
        let package_lock =
            "\"resolved\": \"https://mirror.example/a.tgz\",\n\"url\": \"https://example.org\"\n";
        let expected = [
            "Cargo.lock:2: an address of a registry, keep it in the settings of the machine",
            "web/package-lock.json:1: an address of a registry, keep it in the settings of the machine",
        ];
        expect(registries, &[("Cargo.lock", &lock), ("web/package-lock.json", package_lock)], &expected);
    }
}
