//! Checks of lock and config files.

use super::{Problem, Tree, numbered};

/// What cargo writes for a crate of the public registry, whichever mirror it came from.
const STANDARD_SOURCE: &str = r#"source = "registry+https://github.com/rust-lang/crates.io-index""#;

/// Whether a line that contains an address is a problem.
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

/// No lock or config file names a registry, so that a checkout builds with whatever the machine is set to
/// use.
pub(super) fn registries(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (end, is_problem) in FILES {
        let here = |path: &str| path == end || path.ends_with(&format!("/{end}"));
        for (path, text) in tree.with_ends(&[end]).filter(|(path, _)| here(path)) {
            for (number, line) in numbered(text) {
                if line.contains("://") && is_problem(line.trim()) {
                    let fix = "move it to the settings of the machine";
                    problems.push(Problem::new(path, number, "the address of a registry", fix));
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
    fn a_lock_may_name_only_the_standard_source() {
        let other = "source = \"registry+https://mirror.example/index\"";
        let lock = format!("{STANDARD_SOURCE}\n{other}\n");
        let package_lock =
            "\"resolved\": \"https://mirror.example/a.tgz\",\n\"url\": \"https://example.org\"\n";
        let expected = [
            "Cargo.lock:2: the address of a registry, move it to the settings of the machine",
            "web/package-lock.json:1: the address of a registry, move it to the settings of the machine",
        ];
        expect(registries, &[("Cargo.lock", &lock), ("web/package-lock.json", package_lock)], &expected);
    }
}
