//! `cargo xtask sdk`: the providers' own SDKs against `reknit replay --serve`, and beside `reknit run` against a strict
//! provider.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::packages::{self, PYTHON};
use crate::{Project, run as run_command};

/// Builds the command line and the strict provider, and runs the checks.
pub(crate) fn run(project: &Project) -> Result<()> {
    let build = ["build", "--workspace", "--all-features", "--bin", "reknit", "--example", "strict"];
    run_command(&mut project.cargo(build))?;
    check(project)
}

/// Installs what is missing into `target/sdk` and runs the checks with the programs that were built last. A language
/// that is not installed is skipped.
pub(crate) fn check(project: &Project) -> Result<()> {
    let checks = Checks {
        project,
        source: project.root.join("tests/sdk"),
        binary: project.target.join("debug/reknit").with_extension(std::env::consts::EXE_EXTENSION),
        strict: project.target.join("debug/examples/strict").with_extension(std::env::consts::EXE_EXTENSION),
        folder: project.target.join("sdk"),
    };
    checks.node()?;
    checks.python()
}

struct Checks<'a> {
    project: &'a Project,
    /// Where the programs and recordings are.
    source: PathBuf,
    binary: PathBuf,
    /// The strict provider.
    strict: PathBuf,
    /// Where the SDKs are installed.
    folder: PathBuf,
}

impl Checks<'_> {
    fn node(&self) -> Result<()> {
        if let Some(name) = packages::missing_for_node(self.project) {
            println!("skipped: the JavaScript SDKs, because `{name}` or newer is not installed");
            return Ok(());
        }
        // Node looks for modules next to the program that imports them, and they may only be installed in
        // `target`.
        let folder = self.folder.join("node");
        fs::create_dir_all(&folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
        for name in ["package.json", "package-lock.json", "check.mjs", "strict.mjs"] {
            fs::copy(self.source.join(name), folder.join(name))
                .with_context(|| format!("cannot copy `{name}`"))?;
        }
        packages::install_for_node(&folder, "the SDKs")?;
        self.check(Command::new("node").arg("check.mjs").current_dir(&folder))?;
        self.check(Command::new("node").arg("strict.mjs").current_dir(&folder))
    }

    fn python(&self) -> Result<()> {
        if !packages::has(self.project, PYTHON) {
            println!("skipped: the Python SDKs, because `{}` or newer is not installed", PYTHON.0);
            return Ok(());
        }
        let folder = self.folder.join("python");
        let bin = folder.join(if cfg!(windows) { "Scripts" } else { "bin" });
        let requirements = self.source.join("requirements.txt");
        // Some systems have Python without the module that creates environments.
        if !bin.is_dir()
            && run_command(self.project.command("python3").args(["-m", "venv"]).arg(&folder)).is_err()
        {
            println!("skipped: the Python SDKs, because `python3 -m venv` does not work on this machine");
            let _ = fs::remove_dir_all(&folder);
            return Ok(());
        }
        let python = bin.join("python");
        packages::install_once(&folder, &requirements, "the SDKs", || {
            let arguments = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
            run_command(self.project.command(&python).args(arguments).arg(&requirements))
        })?;
        self.check(self.project.command(&python).arg(self.source.join("check.py")))
    }

    fn check(&self, command: &mut Command) -> Result<()> {
        command
            .env("REKNIT", &self.binary)
            .env("REKNIT_SDK", &self.source)
            .env("REKNIT_STRICT", &self.strict);
        // They talk to this machine only, whatever its proxy settings are.
        for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env_remove(proxy).env_remove(proxy.to_lowercase());
        }
        command.env("NO_PROXY", "127.0.0.1").env("PYTHONDONTWRITEBYTECODE", "1");
        run_command(command)
    }
}
