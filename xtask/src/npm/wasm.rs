//! The WebAssembly modules: the ways to build them, and what is in them.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::licences::{elements, text, tree};
use crate::{Project, run as run_command};

/// What is missing, and how to get it.
pub(super) const NO_WAY: &str = "there is no standard library for WebAssembly: run \
    `rustup target add wasm32-unknown-unknown`, or install its sources with `rustup component add rust-src` \
    or Debian's package `rust-src` of the same version as `rustc`";

const TARGET: &str = "wasm32-unknown-unknown";

/// The variable that makes cargo find the sources of the standard library elsewhere than in the toolchain.
const SOURCES: &str = "__CARGO_TESTS_ONLY_SRC_ROOT";

/// A way to a standard library for WebAssembly.
pub(super) enum Way {
    /// The toolchain has it.
    Installed,
    /// It is built from the sources in the toolchain.
    FromToolchain,
    /// It is built from the sources in another folder.
    From(PathBuf),
}

impl Way {
    /// The first that works here.
    pub(super) fn find(project: &Project) -> Result<Option<Self>> {
        let toolchain = PathBuf::from(printed(project, &["--print", "sysroot"])?);
        if toolchain.join("lib/rustlib").join(TARGET).join("lib").is_dir() {
            return Ok(Some(Self::Installed));
        }
        if toolchain.join("lib/rustlib/src/rust/library/Cargo.lock").is_file() {
            return Ok(Some(Self::FromToolchain));
        }
        let version = printed(project, &["--version"])?;
        let version = version.split(' ').nth(1).context("`rustc --version` prints no version")?;
        let sources = PathBuf::from(format!("/usr/src/rustc-{version}/library"));
        Ok(sources.join("Cargo.lock").is_file().then_some(Self::From(sources)))
    }

    /// Builds the module of a feature, in a folder of its own: with other settings the rest would be built
    /// twice. The next module replaces it.
    pub(super) fn build(&self, project: &Project, folder: &Path, feature: &str) -> Result<PathBuf> {
        let mut cargo = project.cargo(["build", "--quiet", "--locked", "-p", "reknit-wasm", "--lib"]);
        cargo.args(["--no-default-features", "--features", feature]);
        cargo.args(["--profile", "npm", "--target", TARGET, "--target-dir"]).arg(folder);
        match self {
            Self::Installed => {}
            Self::FromToolchain => {
                cargo.args(["-Z", "build-std=std,panic_abort"]).env("RUSTC_BOOTSTRAP", "1");
            }
            Self::From(sources) => {
                cargo
                    .args(["-Z", "build-std=std,panic_abort"])
                    .env("RUSTC_BOOTSTRAP", "1")
                    .env(SOURCES, sources);
            }
        }
        run_command(&mut cargo)?;
        Ok(folder.join(TARGET).join("npm/reknit_wasm.wasm"))
    }
}

/// What `rustc` prints.
fn printed(project: &Project, arguments: &[&str]) -> Result<String> {
    let output = project.command("rustc").args(arguments).output().context("cannot start `rustc`")?;
    if !output.status.success() {
        bail!("`rustc {}` failed: {}", arguments.join(" "), output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Checks that both sides of the bindings are of the same version: they agree on a format that changes.
pub(super) fn check_versions(project: &Project, package: &Path) -> Result<()> {
    let locked = |path: PathBuf, name: &str| -> Result<String> {
        let lock = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let lock: toml::Table = lock.parse().with_context(|| format!("`{}` is not TOML", path.display()))?;
        let packages = lock.get("package").and_then(|packages| packages.as_array());
        let mut packages = packages.into_iter().flatten();
        let found =
            packages.find(|package| package.get("name").and_then(|found| found.as_str()) == Some(name));
        let version = found.and_then(|package| package.get("version")?.as_str());
        Ok(version.with_context(|| format!("`{}` has no `{name}`", path.display()))?.to_owned())
    };
    let ours = locked(project.root.join("Cargo.lock"), "wasm-bindgen")?;
    let theirs = locked(package.join("bindgen/Cargo.lock"), "wasm-bindgen-cli-support")?;
    if ours != theirs {
        bail!(
            "the module uses wasm-bindgen {ours}, and `packages/npm/bindgen` has {theirs}\n\
             hint: set the same version in its `Cargo.toml`"
        );
    }
    Ok(())
}

/// The licences of everything that is compiled into the modules.
pub(super) fn licences(project: &Project) -> Result<String> {
    let mut cargo = project.cargo(["tree", "--locked", "-p", "reknit-wasm", "--target", TARGET]);
    let output = cargo.args(["--edges", "normal", "--prefix", "none", "--format", "{p}"]).output();
    let output = output.context("cannot start `cargo tree`")?;
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    let used = |name: &str, version: &str| {
        listed
            .lines()
            .any(|line| line.starts_with(&format!("{name} v{version}")) && !line.contains("(proc-macro)"))
    };
    let mut licences = "The modules were built from these crates and the Rust standard library.\n".to_owned();
    let tree = tree(project)?;
    for package in elements(&tree["packages"]).filter(|package| !package["source"].is_null()) {
        let (name, version) = (text(&package["name"]), text(&package["version"]));
        if !used(name, version) {
            continue;
        }
        write!(licences, "\n== {name} {version}: {}\n", text(&package["license"]))?;
        let Some(source) = Path::new(text(&package["manifest_path"])).parent() else { continue };
        let mut files: Vec<_> = fs::read_dir(source)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        for path in files.iter().filter(|path| path.is_file()) {
            let file = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
            // One that is offered under several licences is used under the first of these.
            if file.starts_with("LICENSE-MIT")
                || file == "LICENSE"
                || file == "LICENSE.MD"
                || file == "COPYING"
            {
                write!(licences, "\n{}\n", fs::read_to_string(path)?.trim_end())?;
            }
        }
    }
    Ok(licences)
}
