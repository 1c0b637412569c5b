//! Licences and sources of what enters the tree, checked with `cargo metadata` against `deny.toml`.
//!
//! cargo-deny checks the same and more where it is installed; building it takes longer than everything else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Stdio;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use crate::{Project, packages, run as run_command};

mod expression;

const POLICY: &str = "deny.toml";

/// The one registry that is trusted, as cargo names it.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Checks licences, bans and sources.
pub(crate) fn check(project: &Project) -> Result<()> {
    if packages::has(project, ("cargo-deny", &["--version"])) {
        return run_command(project.command("cargo-deny").args(["check", "licenses", "bans", "sources"]));
    }
    let policy =
        fs::read_to_string(project.root.join(POLICY)).with_context(|| format!("cannot read `{POLICY}`"))?;
    let allowed = allowed(&policy)?;
    let tree = tree(project)?;
    let found = find(&tree, &allowed);
    for warning in &found.warnings {
        println!("warning: {warning}");
    }
    for problem in &found.problems {
        println!("error: {problem}");
    }
    if !found.problems.is_empty() {
        bail!("{} of what enters the tree is not allowed by `{POLICY}`", found.problems.len());
    }
    println!("{} packages, all from the registry and under allowed licences", found.packages);
    Ok(())
}

/// What cargo says about all packages, with all features and for all platforms.
pub(crate) fn tree(project: &Project) -> Result<Value> {
    let mut cargo = project.cargo(["metadata", "--format-version", "1", "--all-features", "--locked"]);
    let output = cargo.stderr(Stdio::inherit()).output().context("cannot start `cargo metadata`")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: {}", output.status);
    }
    serde_json::from_slice(&output.stdout).context("`cargo metadata` does not print JSON")
}

/// The licences that the policy allows.
fn allowed(policy: &str) -> Result<BTreeSet<String>> {
    let policy: toml::Table = policy.parse().with_context(|| format!("`{POLICY}` is not TOML"))?;
    let list = policy.get("licenses").and_then(|licences| licences.get("allow")?.as_array());
    let list = list.ok_or_else(|| anyhow!("`{POLICY}` has no list `licenses.allow`"))?;
    Ok(list.iter().filter_map(|name| name.as_str()).map(str::to_owned).collect())
}

/// What a check found.
#[derive(Default)]
struct Found {
    packages: usize,
    problems: Vec<String>,
    warnings: Vec<String>,
}

fn find(tree: &Value, allowed: &BTreeSet<String>) -> Found {
    let mut found = Found::default();
    let mut used = BTreeSet::new();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in elements(&tree["packages"]) {
        let (name, version) = (text(&package["name"]), text(&package["version"]));
        let what = format!("{name} {version}");
        found.packages += 1;
        versions.entry(name).or_default().push(version);
        match expression::allow(text(&package["license"]), allowed) {
            Ok(Some(names)) => used.extend(names),
            Ok(None) => {
                let licence = text(&package["license"]);
                found.problems.push(format!("{what}: the licence `{licence}` is not allowed"));
            }
            Err(error) => found.problems.push(format!("{what}: {error}")),
        }
        // A package without a source is a folder of this repository.
        if let Some(source) = package["source"].as_str().filter(|source| *source != REGISTRY) {
            found.problems.push(format!("{what}: `{source}` is not the registry"));
        }
        let dependencies = elements(&package["dependencies"]);
        for dependency in
            dependencies.filter(|dependency| dependency["req"] == "*" && dependency["path"].is_null())
        {
            if package["source"].is_null() {
                let needs = text(&dependency["name"]);
                found.problems.push(format!("{what}: any version of {needs} will do, which is a wildcard"));
            }
        }
    }
    for licence in allowed.difference(&used) {
        found.problems.push(format!("the licence `{licence}` is allowed, but nothing has it"));
    }
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        found.warnings.push(format!("{name} is there in several versions: {}", versions.join(", ")));
    }
    found
}

/// The elements of an array; nothing if it is not one.
pub(crate) fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().map_or(&[][..], Vec::as_slice).iter()
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const POLICY: &str = "[licenses]\nallow = [\"MIT\", \"Apache-2.0\"]\n";

    fn package(name: &str, licence: Option<&str>, source: Option<&str>) -> Value {
        let dependencies = json!([]);
        json!({"name": name, "version": "1.0.0", "license": licence, "source": source, "dependencies": dependencies})
    }

    fn problems(packages: &[Value]) -> Vec<String> {
        let allowed = allowed(POLICY).expect("it is a policy");
        find(&json!({"packages": packages}), &allowed).problems
    }

    /// So that no allowed licence is unused.
    fn ours() -> Value {
        package("ours", Some("MIT AND Apache-2.0"), None)
    }

    #[test]
    fn what_is_allowed_passes() {
        let other = package("other", Some("MIT OR GPL-3.0"), Some(REGISTRY));
        assert_eq!(problems(&[ours(), other]), Vec::<String>::new());
    }

    #[test]
    fn another_licence_or_none_fails() {
        let copyleft = package("copyleft", Some("GPL-3.0-only"), Some(REGISTRY));
        let both = package("both", Some("MIT AND MPL-2.0"), Some(REGISTRY));
        let none = package("none", None, Some(REGISTRY));
        let expected = [
            "copyleft 1.0.0: the licence `GPL-3.0-only` is not allowed",
            "both 1.0.0: the licence `MIT AND MPL-2.0` is not allowed",
            "none 1.0.0: it names no licence",
        ];
        assert_eq!(problems(&[ours(), copyleft, both, none]), expected);
    }

    #[test]
    fn another_source_fails() {
        let git = package("git", Some("MIT"), Some("git+https://example.org/x#1"));
        let mirror = package("mirror", Some("MIT"), Some("registry+https://example.org/index"));
        let expected = [
            "git 1.0.0: `git+https://example.org/x#1` is not the registry",
            "mirror 1.0.0: `registry+https://example.org/index` is not the registry",
        ];
        assert_eq!(problems(&[ours(), git, mirror]), expected);
    }

    #[test]
    fn a_wildcard_of_ours_fails_unless_it_is_a_path() {
        let mut loose = ours();
        loose["dependencies"] = json!([{"name": "a", "req": "*"}, {"name": "b", "req": "*", "path": "/b"}]);
        assert_eq!(problems(&[loose]), ["ours 1.0.0: any version of a will do, which is a wildcard"]);
    }

    #[test]
    fn a_licence_that_nothing_has_fails() {
        let only = package("only", Some("MIT"), None);
        assert_eq!(problems(&[only]), ["the licence `Apache-2.0` is allowed, but nothing has it"]);
    }

    #[test]
    fn this_repository_passes() {
        let project = Project::here();
        let policy = fs::read_to_string(project.root.join(super::POLICY)).expect("it is there");
        let tree = tree(&project).expect("cargo runs this test");
        let found = find(&tree, &allowed(&policy).expect("it is a policy"));
        assert!(found.packages > 50, "{}", found.packages);
        assert_eq!(found.problems, Vec::<String>::new());
    }
}
