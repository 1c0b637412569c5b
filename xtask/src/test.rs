//! `cargo xtask test`: every check that must pass, in the order in which a failure is cheapest to find.

use std::env;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::{Project, api, fuzz, licences, npm, python, run as run_command, sdk, tidy};

type Step = fn(&Project) -> Result<()>;

const STEPS: [(&str, Step); 15] = [
    ("format", format),
    ("tidy", tidy::run),
    ("lint", lint),
    ("lint of bench", lint_bench),
    ("build of the tests", build_tests),
    // Before the tests: one of them edits the code of the SDKs.
    ("SDKs", sdk::check),
    ("tests", tests),
    ("Python package", python::test),
    ("npm package", npm::test),
    ("features: none", features_none),
    ("features: default", features_default),
    ("docs", docs),
    ("listing of the public API", api::check),
    ("fuzz targets, briefly", fuzz::brief),
    ("licences, bans and sources", licences::check),
];

/// The variable that `proptest` reads the seed of its cases from.
const GENERATOR_SEED: &str = "PROPTEST_RNG_SEED";

/// Runs every step up to the first that fails, and prints how long each took.
pub(crate) fn run(project: &Project) -> Result<()> {
    run_steps(project, &STEPS)
}

/// The same from a step on, to go on after a failure that is corrected.
pub(crate) fn run_from(project: &Project, first: &str) -> Result<()> {
    let at = STEPS.iter().position(|(name, _)| *name == first);
    let names = STEPS.map(|(name, _)| format!("`{name}`")).join(", ");
    let at = at.with_context(|| format!("there is no step `{first}`\nhint: the steps are {names}"))?;
    run_steps(project, &STEPS[at..])
}

fn run_steps(project: &Project, steps: &[(&'static str, Step)]) -> Result<()> {
    let mut durations = Vec::new();
    let mut outcome = Ok(());
    for (name, step) in steps.iter().copied() {
        println!("== {name}");
        let start = Instant::now();
        outcome = step(project).with_context(|| format!("step `{name}` failed"));
        durations.push((name, start.elapsed()));
        if outcome.is_err() {
            break;
        }
    }
    print_summary(&durations, if outcome.is_ok() { "passed" } else { "failed at the last of these" });
    outcome
}

/// Writes the expected files of the corpus again: the tests do so when this variable is set.
pub(crate) fn rewrite_corpus(project: &Project) -> Result<()> {
    for (package, test) in [("reknit", "it"), ("reknit-compat", "it"), ("reknit-cli", "replay")] {
        // The tests of the examples need more than this builds.
        let cargo = ["test", "-p", package, "--test", test, "--all-features", "--", "--skip", "examples::"];
        run_command(project.cargo(cargo).env("REKNIT_BLESS", "1"))?;
    }
    println!("the expected files in corpus/ are written; read `git diff corpus` like code");
    Ok(())
}

fn print_summary(durations: &[(&str, Duration)], verdict: &str) {
    println!("\n{verdict}:");
    for (name, duration) in durations {
        println!("{:8.1} s  {name}", duration.as_secs_f64());
    }
    let total: Duration = durations.iter().map(|(_, duration)| duration).sum();
    println!("{:8.1} s  total", total.as_secs_f64());
}

fn format(project: &Project) -> Result<()> {
    run_command(&mut project.cargo(["fmt", "--all", "--check"]))
}

fn lint(project: &Project) -> Result<()> {
    let cargo = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
    run_command(&mut project.cargo(cargo))
}

fn lint_bench(project: &Project) -> Result<()> {
    if !project.root.join("bench/Cargo.toml").is_file() {
        println!("there is no bench/");
        return Ok(());
    }
    run_command(&mut project.cargo(["fmt", "--manifest-path", "bench/Cargo.toml", "--check"]))?;
    // The same target folder, so that what the workspace and the benchmarks share is built once.
    let target = project.target.as_os_str();
    let cargo = ["clippy", "--manifest-path", "bench/Cargo.toml", "--target-dir"];
    run_command(project.cargo(cargo).arg(target).args(["--", "-D", "warnings"]))
}

const TESTS: [&str; 3] = ["test", "--workspace", "--all-features"];

/// Builds the tests, the examples and the command line, which the SDKs are checked with.
fn build_tests(project: &Project) -> Result<()> {
    run_command(project.cargo(TESTS).arg("--no-run"))
}

fn tests(project: &Project) -> Result<()> {
    let mut cargo = project.cargo(TESTS);
    // The same generated cases in every run, unless the caller sets a seed, so that a test has the same
    // outcome everywhere. `cargo test` alone tries new ones.
    if env::var_os(GENERATOR_SEED).is_none() {
        cargo.env(GENERATOR_SEED, "1");
    }
    run_command(&mut cargo)
}

fn features_none(project: &Project) -> Result<()> {
    run_command(&mut project.cargo(["check", "-p", "reknit", "--no-default-features"]))
}

fn features_default(project: &Project) -> Result<()> {
    run_command(&mut project.cargo(["check", "-p", "reknit"]))
}

fn docs(project: &Project) -> Result<()> {
    let cargo = ["doc", "--workspace", "--no-deps", "--all-features"];
    run_command(project.cargo(cargo).env("RUSTDOCFLAGS", "-D warnings"))
}
