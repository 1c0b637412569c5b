//! `cargo xtask api`: the public API of the library crates, listed in `docs/api`.
//!
//! The listings are committed, so that every change of what we promise shows in review.

use std::collections::BTreeSet;
use std::fs;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use crate::{Project, run as run_command};

mod listing;
mod signature;

const FOLDER: &str = "docs/api";

/// The variable with which this program runs rustdoc instead.
const AS_RUSTDOC: &str = "REKNIT_XTASK_AS_RUSTDOC";

/// The formats of rustdoc's JSON that are known to be read correctly: what later ones add is not read here.
const FORMATS: RangeInclusive<u64> = 57..=61;

/// Writes the listing of every library crate.
pub(crate) fn write(project: &Project) -> Result<()> {
    fs::create_dir_all(project.root.join(FOLDER)).with_context(|| format!("cannot create `{FOLDER}`"))?;
    write_documents(project)?;
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
    write_documents(project)?;
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

/// The crates that others can depend on: those with a `lib.rs`, except modules for another language, which have
/// types of their own.
fn library_crates(project: &Project) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(project.root.join("crates")).context("cannot read `crates`")? {
        let path = entry?.path();
        // What a binding exports is for another language, and the package in that language is what is promised.
        let manifest = fs::read_to_string(path.join("Cargo.toml")).unwrap_or_default();
        if path.join("src/lib.rs").is_file() && !manifest.contains("cdylib") {
            names.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

fn listing_file(project: &Project, name: &str) -> PathBuf {
    project.root.join(FOLDER).join(format!("{name}.txt"))
}

/// Makes rustdoc write about all library crates, as JSON.
///
/// The JSON is unstable, and only a variable makes a stable toolchain write it. Cargo must not see the variable: it
/// would run build scripts and build all dependencies again. So this program takes the place of rustdoc, and sets it.
fn write_documents(project: &Project) -> Result<()> {
    let mut cargo = project.cargo(["doc", "--workspace", "--no-deps", "--lib", "--all-features"]);
    cargo.env("RUSTDOCFLAGS", "-Z unstable-options --output-format json");
    let this = std::env::current_exe().context("cannot find this program")?;
    run_command(cargo.env("RUSTDOC", this).env(AS_RUSTDOC, "1"))
}

/// Runs rustdoc instead of this program if cargo started it as rustdoc, and returns its exit code.
pub(crate) fn as_rustdoc() -> Option<ExitCode> {
    std::env::var_os(AS_RUSTDOC)?;
    let status =
        Command::new("rustdoc").args(std::env::args_os().skip(1)).env("RUSTC_BOOTSTRAP", "1").status();
    Some(if status.is_ok_and(|status| status.success()) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What rustdoc wrote about a crate.
fn document(project: &Project, name: &str) -> Result<Value> {
    let file = project.target.join("doc").join(name.replace('-', "_")).with_extension("json");
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
