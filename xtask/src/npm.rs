//! `cargo xtask npm`: the npm package, and its tests where it runs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::licences::{elements, text, tree};
use crate::{Project, packages, run as run_command};

mod wasm;

use wasm::Way;

/// Where the package is in the repository.
const SOURCE: &str = "packages/npm";

/// Files of the package that are not compiled.
const FILES: [&str; 5] = ["package.json", "package-lock.json", "tsconfig.json", "README.md", "CHANGELOG.md"];

/// Its modules, each of which is a feature of `reknit-wasm`.
const MODULES: [&str; 3] = ["reply", "edits", "session"];

/// Builds `target/npm/reknit-VERSION.tgz`.
pub(crate) fn run(project: &Project) -> Result<()> {
    if let Some(name) = packages::missing_for_node(project) {
        bail!("`{name}` or newer is not installed, and the package is compiled with it");
    }
    let Some(way) = Way::find(project)? else { bail!("{}", wasm::NO_WAY) };
    let packed = Package::new(project)?.pack(&way)?;
    println!("{}", packed.display());
    Ok(())
}

/// Builds the package and runs its tests, as far as this machine allows.
pub(crate) fn test(project: &Project) -> Result<()> {
    if let Some(name) = packages::missing_for_node(project) {
        println!("left out: the npm package, because `{name}` or newer is not installed");
        return Ok(());
    }
    let Some(way) = Way::find(project)? else {
        println!("left out: the npm package, because {}", wasm::NO_WAY);
        return Ok(());
    };
    let package = Package::new(project)?;
    let packed = package.pack(&way)?;
    package.test(&packed)
}

/// Builds the package and installs it into a folder, if this machine can build it.
pub(crate) fn install(project: &Project, folder: &Path) -> Result<()> {
    match Way::find(project)? {
        Some(way) => unpack(&Package::new(project)?.pack(&way)?, folder),
        None => {
            println!("left out: the npm package, because {}", wasm::NO_WAY);
            Ok(())
        }
    }
}

/// Puts a packed package where Node looks for it.
fn unpack(packed: &Path, folder: &Path) -> Result<()> {
    let installed = folder.join("node_modules/reknit");
    if installed.exists() {
        fs::remove_dir_all(&installed).context("cannot remove the package of an earlier run")?;
    }
    fs::create_dir_all(&installed).context("cannot create the folder of the package")?;
    let mut tar = Command::new("tar");
    run_command(tar.arg("-xzf").arg(packed).arg("-C").arg(&installed).arg("--strip-components=1"))
}

struct Package<'a> {
    project: &'a Project,
    source: PathBuf,
    /// Where everything is built.
    folder: PathBuf,
    version: String,
}

impl<'a> Package<'a> {
    fn new(project: &'a Project) -> Result<Self> {
        let (source, folder) = (project.root.join(SOURCE), project.target.join("npm"));
        let tree = tree(project)?;
        let engine = elements(&tree["packages"]).find(|package| package["name"] == "reknit");
        let version = text(&engine.context("the workspace has no `reknit`")?["version"]).to_owned();
        let manifest: serde_json::Value = serde_json::from_str(&read(&source.join("package.json"))?)
            .context("`packages/npm/package.json` is not JSON")?;
        if manifest["version"] != *version {
            bail!(
                "the npm package has version {}, and the engine has {version}\n\
                 hint: set it in `{SOURCE}/package.json`",
                manifest["version"]
            );
        }
        Ok(Self { project, source, folder, version })
    }

    /// Compiles everything and packs it.
    fn pack(&self, way: &Way) -> Result<PathBuf> {
        let glue = self.folder.join("glue");
        for name in MODULES {
            let module = way.build(self.project, &self.folder.join("wasm"), name)?;
            self.bind(&module, &glue, name)?;
        }
        let folder = self.assemble(&glue)?;
        packages::install_for_node(&folder, "the compiler of the npm package")?;
        run_command(Command::new("node").arg("node_modules/typescript/bin/tsc").current_dir(&folder))?;
        let npm = ["pack", "--silent", "--ignore-scripts", "--pack-destination"];
        run_command(
            Command::new("npm").args(npm).arg(&self.folder).current_dir(&folder).stdout(Stdio::null()),
        )?;
        Ok(self.folder.join(format!("reknit-{}.tgz", self.version)))
    }

    /// Makes the JavaScript side of a module.
    fn bind(&self, module: &Path, glue: &Path, name: &str) -> Result<()> {
        wasm::check_versions(self.project, &self.source)?;
        let manifest = self.source.join("bindgen/Cargo.toml");
        let mut cargo = self.project.cargo(["run", "--quiet", "--release", "--locked", "--manifest-path"]);
        cargo.arg(manifest).arg("--target-dir").arg(self.folder.join("bindgen"));
        run_command(cargo.arg("--").arg(module).arg(glue).arg(name))
    }

    /// Puts together what the compiler reads and what is packed as it is.
    fn assemble(&self, glue: &Path) -> Result<PathBuf> {
        let folder = self.folder.join("package");
        for name in ["src", "dist"] {
            let earlier = folder.join(name);
            if earlier.exists() {
                fs::remove_dir_all(&earlier)
                    .with_context(|| format!("cannot remove `{}`", earlier.display()))?;
            }
        }
        for name in FILES {
            copy(&self.source.join(name), &folder.join(name))?;
        }
        for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
            copy(&self.project.root.join(name), &folder.join(name))?;
        }
        copy_all(&self.source.join("src"), &folder.join("src"))?;
        for name in MODULES {
            for file in [format!("{name}.js"), format!("{name}.d.ts")] {
                copy(&glue.join(&file), &folder.join("src/glue").join(&file))?;
                copy(&glue.join(&file), &folder.join("dist/glue").join(&file))?;
            }
            let module = glue.join(format!("{name}_bg.wasm"));
            copy(&module, &folder.join(format!("dist/entry/{name}.wasm")))?;
            let bytes = fs::read(&module).context("cannot read the module")?;
            let inline = format!("export const MODULE: string = \"{}\";\n", STANDARD.encode(bytes));
            write(&folder.join(format!("src/inline/{name}.ts")), &inline)?;
        }
        write(&folder.join("THIRD-PARTY-LICENSES.txt"), &wasm::licences(self.project)?)?;
        Ok(folder)
    }

    /// Runs the tests with the packed package, in a folder that has nothing else of ours.
    fn test(&self, packed: &Path) -> Result<()> {
        let folder = self.folder.join("test");
        let source = self.source.join("test");
        let mut tests = Vec::new();
        for entry in fs::read_dir(&source).context("the package has no tests")? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_owned();
            copy_all(&path, &folder.join(&name))?;
            tests.extend(Some(name).filter(|name| name.to_string_lossy().ends_with(".test.mjs")));
        }
        tests.sort();
        packages::install_for_node(&folder, "what the npm package is tested with")?;
        unpack(packed, &folder)?;
        run_command(&mut self.project.cargo(["build", "--workspace", "--all-features", "--bin", "reknit"]))?;
        let binary = self.project.target.join("debug/reknit").with_extension(env::consts::EXE_EXTENSION);
        let mut node = Command::new("node");
        node.args(["--expose-gc", "--test", "--test-reporter=spec"]).args(tests).current_dir(&folder);
        node.env("REKNIT", binary).env("REKNIT_TARBALL", packed);
        node.env("REKNIT_CORPUS", self.project.root.join("corpus"));
        node.env("REKNIT_SDK", self.project.root.join("tests/sdk"));
        // They talk to this machine only, whatever its proxy settings are.
        for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            node.env_remove(proxy).env_remove(proxy.to_lowercase());
        }
        run_command(node.env("NO_PROXY", "127.0.0.1"))
    }
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    create_folder_of(path)?;
    fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    create_folder_of(to)?;
    fs::copy(from, to).with_context(|| format!("cannot copy `{}`", from.display())).map(drop)
}

fn create_folder_of(path: &Path) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))
}

/// Copies a file, or a folder and what is in it.
fn copy_all(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        return copy(from, to);
    }
    for entry in fs::read_dir(from).with_context(|| format!("cannot list `{}`", from.display()))? {
        let path = entry?.path();
        copy_all(&path, &to.join(path.file_name().unwrap_or_default()))?;
    }
    Ok(())
}
