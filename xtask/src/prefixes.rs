//! `cargo xtask prefixes N [DIR]`: many streams and texts that end too early, of which none may look complete.

use std::ffi::OsString;

use anyhow::{Context, Result};

use crate::Project;

/// Tries `prefixes` prefixes of the streams of the corpus and, if given, of the recordings in `dir`, and as many
/// of the texts with calls.
pub(crate) fn run(project: &Project, prefixes: &OsString, dir: Option<&OsString>) -> Result<()> {
    let count: usize = prefixes.to_str().and_then(|count| count.parse().ok()).context("N is not a number")?;
    let test = ["test", "--release", "-p", "reknit", "--test", "it", "--", "--nocapture", "prefixes::"];
    let mut command = project.cargo(test);
    command.env("REKNIT_PREFIXES", count.to_string());
    if let Some(dir) = dir {
        let dir = std::path::Path::new(dir);
        command.env("REKNIT_RECORDINGS", dir.canonicalize().context("DIR cannot be opened")?);
    }
    crate::run(&mut command)
}
