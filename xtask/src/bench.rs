//! `cargo xtask bench`: the benchmarks, which are a workspace of their own.

use std::ffi::OsString;

use anyhow::{Result, bail};

use crate::{Project, npm, packages, python};

/// More memory than the benchmarks ever use.
const HEAP: &str = "4000000000";

/// The largest value that glibc accepts for this setting; it ignores larger ones.
const BLOCK: &str = "33554432";

/// Builds and runs `bench/` with `args`, and with the JavaScript peers where Node is installed. The Python
/// package has a script of its own. The peer `tool-parser` has a workspace of its own and is run by name.
pub(crate) fn run(project: &Project, args: &[OsString]) -> Result<()> {
    if !project.root.join("bench/Cargo.toml").is_file() {
        bail!("there is no `bench/Cargo.toml`\nhint: run this in a checkout that has the benchmarks");
    }
    if args.iter().any(|arg| arg == "tool-parser") {
        let manifest = "bench/tool-parser/Cargo.toml";
        return crate::run(&mut project.cargo(["run", "--release", "--manifest-path", manifest]));
    }
    // Whatever is not an option names a group; all groups run if none is named.
    let (options, groups): (Vec<_>, Vec<_>) =
        args.iter().partition(|arg| arg.to_string_lossy().starts_with('-'));
    if groups == ["python"] {
        return python::bench(project, options.into_iter());
    }
    match packages::missing_for_node(project) {
        Some(name) => println!("skipped: the JavaScript peers, because `{name}` or newer is not installed"),
        None => {
            let folder = project.root.join("bench/node");
            packages::install_for_node(&folder, "the JavaScript peers")?;
            if groups.is_empty() || groups.iter().any(|group| *group == "npm") {
                npm::install(project, &folder)?;
            }
        }
    }
    // One group runs the command line itself.
    crate::run(&mut project.cargo(["build", "--release", "-p", "reknit-cli"]))?;
    let binary = project.target.join("release/reknit").with_extension(std::env::consts::EXE_EXTENSION);
    let cargo = ["run", "--release", "--manifest-path", "bench/Cargo.toml", "--"];
    // Freed memory stays with the process. Otherwise glibc would give it back and take it again in every run,
    // and the kernel's work would be measured instead of ours.
    // And it is sorted into the heap at once, not by whoever asks for a large block later.
    let keep = [
        ("MALLOC_TRIM_THRESHOLD_", HEAP),
        ("MALLOC_MMAP_THRESHOLD_", BLOCK),
        ("GLIBC_TUNABLES", "glibc.malloc.mxfast=0"),
    ];
    let outcome = crate::run(project.cargo(cargo).args(args).envs(keep).env("REKNIT_BINARY", binary));
    let asks_for_help = options.iter().any(|option| *option == "--help" || *option == "-h");
    if groups.is_empty() && !asks_for_help {
        python::bench(project, options.into_iter())?;
    }
    outcome
}
