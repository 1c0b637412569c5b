//! `cargo xtask bench`: the benchmarks, which are a workspace of their own.

use std::ffi::OsString;

use anyhow::{Result, bail};

use crate::Project;

/// Builds and runs `bench/` with `args`.
pub(crate) fn run(project: &Project, args: &[OsString]) -> Result<()> {
    if !project.root.join("bench/Cargo.toml").is_file() {
        bail!("there is no `bench/Cargo.toml`\nhint: run this in a checkout that has the benchmarks");
    }
    let cargo = ["run", "--release", "--manifest-path", "bench/Cargo.toml", "--"];
    crate::run(project.cargo(cargo).args(args))
}
