//! `cargo xtask api`: the public API of the library crates, listed in `docs/api`.
//!
//! The listings are committed, so that every change of what we promise shows in review.

use std::collections::BTreeSet;
use std::fs;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use crate::{Project, run as run_command};

mod listing;
mod signature;

const FOLDER: &str = "docs/api";

/// The formats of rustdoc's JSON that are known to be read correctly: what later ones add is not read here.
const FORMATS: RangeInclusive<u64> = 57..=61;

/// Writes the listing of every library crate.
pub(crate) fn write(project: &Project) -> Result<()> {
    fs::create_dir_all(project.root.join(FOLDER)).with_context(|| format!("cannot create `{FOLDER}`"))?;
    for name in library_crates(project)? {
        let document = document(project, &name)?;
        let file = listing_file(project, &name);
        fs::write(&file, list(&document)?).with_context(|| format!("cannot write `{}`", file.display()))?;
        println!("{FOLDER}/{name}.txt is written{}", note(&document));
    }
    println!("read `git diff {FOLDER}` like code");
    Ok(())
}

/// Compares the listings with the code.
pub(crate) fn check(project: &Project) -> Result<()> {
    let mut failed = Vec::new();
    for name in library_crates(project)? {
        let document = document(project, &name)?;
        // A crate that has no listing yet is compared with an empty one.
        let committed = fs::read_to_string(listing_file(project, &name)).unwrap_or_default();
        let difference = difference(&committed, &list(&document)?);
        if !difference.is_empty() {
            println!("{FOLDER}/{name}.txt:\n{}{}", difference.join("\n"), note(&document));
            failed.push(name);
        }
    }
    if !failed.is_empty() {
        bail!(
            "the listings of the public API in `{FOLDER}` do not match the code: {}\n\
             hint: if the change is intended, run `cargo xtask api` and commit what it writes",
            failed.join(", ")
        );
    }
    Ok(())
}

/// The crates that others can depend on: those with a `lib.rs`.
fn library_crates(project: &Project) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(project.root.join("crates")).context("cannot read `crates`")? {
        let path = entry?.path();
        if path.join("src/lib.rs").is_file() {
            names.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

fn listing_file(project: &Project, name: &str) -> PathBuf {
    project.root.join(FOLDER).join(format!("{name}.txt"))
}

/// What rustdoc writes about a crate as JSON.
fn document(project: &Project, name: &str) -> Result<Value> {
    // A target folder of its own: build scripts run again whenever the variable below changes.
    let target = project.target.join("api");
    let mut cargo = project.cargo(["rustdoc", "-p", name, "--lib", "--all-features"]);
    cargo.arg("--target-dir").arg(&target);
    cargo.args(["--", "-Z", "unstable-options", "--output-format", "json"]);
    // The JSON output is unstable; this lets a stable toolchain write it.
    run_command(cargo.env("RUSTC_BOOTSTRAP", "1"))?;
    let file = target.join("doc").join(name.replace('-', "_")).with_extension("json");
    let bytes = fs::read(&file).with_context(|| format!("cannot read `{}`", file.display()))?;
    serde_json::from_slice(&bytes).with_context(|| format!("`{}` is not JSON", file.display()))
}

fn list(document: &Value) -> Result<String> {
    serde_json::from_value(document.clone())
        .context("cannot understand the JSON that rustdoc wrote")
        .and_then(|krate| listing::list(&krate))
        .map_err(|error| anyhow!("{error:#}{}", note(document)))
}

/// What to add to a result if the format is not a known one.
fn note(document: &Value) -> String {
    match document["format_version"].as_u64() {
        Some(version) if FORMATS.contains(&version) => String::new(),
        version => format!(
            "\nnote: rustdoc of this toolchain writes JSON format {}, and this command knows {} to {}\n\
             hint: use Rust 1.95 as CI does (`cargo +1.95 xtask api`), or update `rustdoc-types` in \
             Cargo.toml and `FORMATS` in xtask/src/api.rs",
            version.map_or("unknown".to_owned(), |version| version.to_string()),
            FORMATS.start(),
            FORMATS.end(),
        ),
    }
}

/// The lines that only one of the two listings has.
fn difference(committed: &str, actual: &str) -> Vec<String> {
    let [old, new] = [committed, actual].map(|listing| listing.lines().collect::<BTreeSet<_>>());
    let removed = old.difference(&new).map(|line| format!("- {line}"));
    removed.chain(new.difference(&old).map(|line| format!("+ {line}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_the_lines_of_one_side() {
        assert!(difference("fn a()\nfn b()\n", "fn a()\nfn b()\n").is_empty());
        assert_eq!(difference("fn a()\nfn b()\n", "fn a()\nfn c()\n"), ["- fn b()", "+ fn c()"]);
        assert_eq!(difference("", "fn a()\n"), ["+ fn a()"]);
    }

    #[test]
    fn a_format_that_is_not_known_is_reported() {
        assert_eq!(note(&serde_json::json!({"format_version": 57})), "");
        let error = list(&serde_json::json!({"format_version": 99}))
            .expect_err("there is no crate in it")
            .to_string();
        assert!(error.contains("writes JSON format 99, and this command knows 57 to 61"), "{error}");
        assert!(error.contains("cargo +1.95 xtask api"), "{error}");
    }
}
