//! `cargo xtask misplaced N`: many generated edits of real files, of which none may be wrong.

use std::ffi::OsString;

use anyhow::{Context, Result};

use crate::Project;

/// Runs the generators of the tests with `edits` edits and, if given, another seed, and prints their table.
pub(crate) fn run(project: &Project, edits: &OsString, seed: Option<&OsString>) -> Result<()> {
    let count: usize = edits.to_str().and_then(|edits| edits.parse().ok()).context("N is not a number")?;
    let test =
        ["test", "--release", "-p", "reknit", "--test", "it", "--", "--nocapture", "edit_wrong::every_edit"];
    let mut command = project.cargo(test);
    command.env("REKNIT_MISPLACED", count.to_string());
    if let Some(seed) = seed {
        command.env("REKNIT_MISPLACED_SEED", seed);
    }
    crate::run(&mut command)
}
