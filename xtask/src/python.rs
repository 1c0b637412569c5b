//! `cargo xtask python`: the wheel of `packages/python`, and its tests.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::packages::{self, PYTHON};
use crate::{Project, run as run_command};

/// The package, below the root of the repository.
const PACKAGE: &str = "packages/python";

/// Builds the wheel into `target/python/wheel`.
pub(crate) fn run(project: &Project) -> Result<()> {
    if let Some(why) = missing(project) {
        bail!("the wheel cannot be built: {why}\nhint: install Python 3.10 or newer, with its module `venv`");
    }
    println!("{}", Wheel { project }.build()?.display());
    Ok(())
}

/// Builds the wheel and runs its tests, where there is Python.
pub(crate) fn test(project: &Project) -> Result<()> {
    if let Some(why) = missing(project) {
        println!(
            "left out: the Python package, because {why}; install Python 3.10 or newer with its module `venv`"
        );
        return Ok(());
    }
    // The tests read from `reknit replay --serve`. With the features that the other tests have, so that it is
    // built once.
    run_command(&mut project.cargo(["build", "--workspace", "--all-features", "--bin", "reknit"]))?;
    let wheel = Wheel { project };
    let file = wheel.build()?;
    wheel.try_alone(&file)?;
    wheel.run_tests(&file)
}

/// Runs the benchmarks of the package with `flags`, where there is Python. Fails if a target is missed.
pub(crate) fn bench<'a>(project: &Project, flags: impl Iterator<Item = &'a OsString>) -> Result<()> {
    if let Some(why) = missing(project) {
        println!("skipped: the benchmarks of the Python package, because {why}");
        return Ok(());
    }
    let wheel = Wheel { project };
    let file = wheel.build()?;
    let python = wheel.environment("bench", &project.root.join("bench/python/requirements.txt"))?;
    wheel.install(&python, &file)?;
    run_command(project.command(&python).arg("bench/python/bench.py").args(flags))
}

/// Why there is no Python to work with.
fn missing(project: &Project) -> Option<String> {
    if !packages::has(project, PYTHON) {
        return Some(format!("`{}` or newer is not installed", PYTHON.0));
    }
    // Some systems have Python without the module that creates environments.
    let venv = ("python3", &["-c", "import ensurepip, venv"][..]);
    (!packages::has(project, venv)).then(|| "`python3 -m venv` does not work on this machine".to_owned())
}

struct Wheel<'a> {
    project: &'a Project,
}

impl Wheel<'_> {
    fn folder(&self) -> PathBuf {
        self.project.target.join("python")
    }

    /// Builds the wheel; the file.
    fn build(&self) -> Result<PathBuf> {
        let package = self.project.root.join(PACKAGE);
        let python = self.environment("build", &package.join("requirements/build.txt"))?;
        let out = self.folder().join("wheel");
        // Only the one that is built now is left.
        let _ = fs::remove_dir_all(&out);
        let arguments = ["-m", "maturin", "build", "--release", "--locked", "--quiet", "--out"];
        run_command(
            Command::new(&python)
                .args(arguments)
                .arg(&out)
                .current_dir(&package)
                .env("CARGO_TARGET_DIR", &self.project.target),
        )?;
        let files = fs::read_dir(&out).with_context(|| format!("cannot read `{}`", out.display()))?;
        let wheels: Vec<_> = files.map(|file| Ok(file?.path())).collect::<Result<_>>()?;
        match wheels.as_slice() {
            [wheel] => Ok(wheel.clone()),
            _ => bail!("`{}` has {} files, not one wheel", out.display(), wheels.len()),
        }
    }

    /// The interpreter of an environment that has what a list names. It is made once.
    fn environment(&self, name: &str, list: &Path) -> Result<PathBuf> {
        let folder = self.folder().join(name);
        let python = interpreter(&folder);
        if !python.is_file() {
            run_command(self.project.command("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        }
        packages::install_once(&folder, list, "Python packages", || self.pip(&python, &["-r"], list))?;
        Ok(python)
    }

    /// Puts the wheel into an environment, in place of an earlier one.
    fn install(&self, python: &Path, wheel: &Path) -> Result<()> {
        self.pip(python, &["--force-reinstall", "--no-deps"], wheel)
    }

    fn pip(&self, python: &Path, options: &[&str], what: &Path) -> Result<()> {
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run_command(self.project.command(python).args(pip).args(options).arg(what))
    }

    /// The wheel in a new environment with nothing else: it depends on nothing.
    fn try_alone(&self, wheel: &Path) -> Result<()> {
        let folder = self.folder().join("alone");
        run_command(self.project.command("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        let python = interpreter(&folder);
        self.install(&python, wheel)?;
        let script = self.project.root.join(PACKAGE).join("tests/alone.py");
        // Not from the folder of the package, whose sources would be imported instead of the wheel.
        run_command(Command::new(&python).arg(script).current_dir(&folder))
    }

    fn run_tests(&self, wheel: &Path) -> Result<()> {
        let tests = self.project.root.join(PACKAGE).join("tests");
        let python = self.environment("test", &tests.join("requirements.txt"))?;
        self.install(&python, wheel)?;
        let mut pytest = Command::new(&python);
        pytest.args(["-m", "pytest", "-p", "no:cacheprovider", "--quiet", "-rs"]);
        pytest.arg(&tests).current_dir(self.folder());
        let binary = self.project.target.join("debug/reknit").with_extension(std::env::consts::EXE_EXTENSION);
        pytest.env("REKNIT", binary).env("REKNIT_ROOT", &self.project.root);
        // What the checkers of types download and keep stays below `target`.
        pytest.env("PYRIGHT_PYTHON_CACHE_DIR", self.folder().join("pyright"));
        pytest.env("PYRIGHT_PYTHON_IGNORE_WARNINGS", "1");
        pytest.env("REKNIT_MYPY_CACHE", self.folder().join("mypy"));
        // They talk to this machine only, whatever its proxy settings are.
        for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            pytest.env_remove(proxy).env_remove(proxy.to_lowercase());
        }
        pytest.env("NO_PROXY", "127.0.0.1").env("PYTHONDONTWRITEBYTECODE", "1");
        run_command(&mut pytest)
    }
}

fn interpreter(environment: &Path) -> PathBuf {
    let (folder, program) = if cfg!(windows) { ("Scripts", "python.exe") } else { ("bin", "python") };
    environment.join(folder).join(program)
}
