//! `cargo xtask dist`: an archive with the release binary and what a package needs besides.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::licences::{elements, text, tree};
use crate::{Project, run as run_command};

/// The shells, and the name that each expects of a file with completions.
const COMPLETIONS: [(&str, &str); 5] = [
    ("bash", "reknit.bash"),
    ("elvish", "reknit.elv"),
    ("fish", "reknit.fish"),
    ("powershell", "_reknit.ps1"),
    ("zsh", "_reknit"),
];

/// Files of the repository that are in the archive.
const FILES: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Builds the binary and packs it with its completions, manual pages and licences, those of its dependencies too.
pub(crate) fn run(project: &Project) -> Result<()> {
    run_command(&mut project.cargo(["build", "--profile", "dist", "--locked", "-p", "reknit-cli"]))?;
    let binary = project.target.join("dist/reknit").with_extension(std::env::consts::EXE_EXTENSION);
    let tree = tree(project)?;
    let name = format!("reknit-{}-{}", version(&tree)?, host(project)?);
    let dist = project.target.join("dist");
    let folder = dist.join(&name);
    // From an earlier run.
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove `{}`", folder.display()))?;
    }
    for part in ["completions", "man", "licenses"] {
        create(&folder.join(part))?;
    }
    let packed = folder.join(binary.file_name().unwrap_or_default());
    copy(&binary, &packed)?;
    for (shell, file) in COMPLETIONS {
        let output = project.command(&binary).args(["completions", shell]).output();
        let output = output.with_context(|| format!("cannot start `{}`", binary.display()))?;
        if !output.status.success() {
            bail!("`reknit completions {shell}` failed: {}", output.status);
        }
        write(&folder.join("completions").join(file), &output.stdout)?;
    }
    run_command(project.command(&binary).arg("man").arg(folder.join("man")))?;
    for file in FILES {
        copy(&project.root.join(file), &folder.join(file))?;
    }
    copy_licences(&tree, &folder.join("licenses"))?;
    let archive = format!("{name}.tar.gz");
    run_command(
        project.command("tar").arg("-C").arg(&dist).args(["-czf"]).arg(dist.join(&archive)).arg(&name),
    )?;
    let size = |path: &Path| fs::metadata(path).map_or(0.0, |metadata| metadata.len() as f64 / 1e6);
    println!(
        "{}: {:.1} MB; the binary is {:.1} MB",
        dist.join(&archive).display(),
        size(&dist.join(&archive)),
        size(&packed)
    );
    Ok(())
}

/// Copies the licences of everything that is linked into the binary.
fn copy_licences(tree: &serde_json::Value, folder: &Path) -> Result<()> {
    for package in elements(&tree["packages"]).filter(|package| !package["source"].is_null()) {
        let Some(source) = Path::new(text(&package["manifest_path"])).parent() else { continue };
        let own = folder.join(format!("{}-{}", text(&package["name"]), text(&package["version"])));
        for entry in fs::read_dir(source).with_context(|| format!("cannot list `{}`", source.display()))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
            let is_licence = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"]
                .iter()
                .any(|start| name.starts_with(start));
            if is_licence && path.is_file() {
                create(&own)?;
                copy(&path, &own.join(path.file_name().unwrap_or_default()))?;
            }
        }
    }
    Ok(())
}

fn version(tree: &serde_json::Value) -> Result<&str> {
    let cli = elements(&tree["packages"]).find(|package| package["name"] == "reknit-cli");
    Ok(text(&cli.context("the workspace has no `reknit-cli`")?["version"]))
}

/// The platform that cargo builds for.
fn host(project: &Project) -> Result<String> {
    let output = project.command("rustc").arg("-vV").output().context("cannot start `rustc`")?;
    let printed = String::from_utf8(output.stdout).context("`rustc -vV` does not print text")?;
    let host = printed.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}

fn create(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("cannot copy `{}`", from.display())).map(drop)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
}
