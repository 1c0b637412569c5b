//! Programs and packages of other languages, for the commands that do more where they are there.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::{Project, run as run_command};

/// A program with its version, and arguments with which it says by its exit code that it will do.
pub(crate) type Program = (&'static str, &'static [&'static str]);

const NODE: [Program; 2] = [
    ("node 20", &["-e", "process.exit(Number(process.versions.node.split('.')[0]) < 20 ? 1 : 0)"]),
    ("npm", &["--version"]),
];

/// The name of what is missing on this machine to run JavaScript, if anything is.
pub(crate) fn missing_for_node(project: &Project) -> Option<&'static str> {
    NODE.into_iter().find(|program| !has(project, *program)).map(|(name, _)| name)
}

/// Whether a program is there and will do.
pub(crate) fn has(project: &Project, (name, arguments): Program) -> bool {
    let program = name.split(' ').next().unwrap_or(name);
    let mut command = project.command(program);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Installs what the lock file of npm in `folder` lists, unless that was done.
pub(crate) fn install_for_node(folder: &Path, what: &str) -> Result<()> {
    let modules = folder.join("node_modules");
    install_once(&modules, &folder.join("package-lock.json"), what, || {
        let arguments = ["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
        run_command(Command::new("npm").current_dir(folder).args(arguments))
    })
}

/// Installs unless that was done for this very list, which is then kept beside what was installed.
pub(crate) fn install_once(
    folder: &Path,
    list: &Path,
    what: &str,
    install: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let wanted = fs::read(list).with_context(|| format!("`{}` cannot be read", list.display()))?;
    let stamp = folder.join("installed");
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    println!("installing {what} into {}, once", folder.display());
    install().with_context(|| {
        format!("{what} could not be installed; they come from a package registry: check the network")
    })?;
    fs::write(&stamp, wanted).with_context(|| format!("`{}` cannot be written", stamp.display()))
}
