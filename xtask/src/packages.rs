//! Programs and packages of other languages, for the commands that do more where these are installed.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::{Project, run as run_command};

/// A program with its version, and the arguments with which its exit code says whether it is recent enough.
pub(crate) type Program = (&'static str, &'static [&'static str]);

const NODE: [Program; 2] = [
    ("node 20", &["-e", "process.exit(Number(process.versions.node.split('.')[0]) < 20 ? 1 : 0)"]),
    ("npm", &["--version"]),
];

pub(crate) const PYTHON: Program =
    ("python3 3.10", &["-c", "import sys; sys.exit(sys.version_info < (3, 10))"]);

/// The first program that is missing on this machine to run JavaScript.
pub(crate) fn missing_for_node(project: &Project) -> Option<&'static str> {
    NODE.into_iter().find(|program| !has(project, *program)).map(|(name, _)| name)
}

/// Whether a program is installed and recent enough.
pub(crate) fn has(project: &Project, (name, arguments): Program) -> bool {
    let program = name.split(' ').next().unwrap_or(name);
    let mut command = project.command(program);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Installs what the `package-lock.json` in `folder` lists, unless that has been done.
pub(crate) fn install_for_node(folder: &Path, what: &str) -> Result<()> {
    let modules = folder.join("node_modules");
    install_once(&modules, &folder.join("package-lock.json"), what, || {
        let arguments = ["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
        run_command(Command::new("npm").current_dir(folder).args(arguments))
    })
}

/// Installs what `list` names, unless that has been done: a copy of the list is kept with what it installed.
pub(crate) fn install_once(
    folder: &Path,
    list: &Path,
    what: &str,
    install: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let wanted = fs::read(list).with_context(|| format!("cannot read `{}`", list.display()))?;
    let stamp = folder.join("installed");
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    println!("installing {what} into {}, only once", folder.display());
    install().with_context(|| {
        format!("cannot install {what}; they come from a package registry: check the network")
    })?;
    fs::write(&stamp, wanted).with_context(|| format!("cannot write `{}`", stamp.display()))
}
