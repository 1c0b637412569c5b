//! What `reknit --version` says about the build: the commit, the target and the profile.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    let commit = commit().unwrap_or_else(|| "unknown commit".to_owned());
    println!("cargo:rustc-env=REKNIT_COMMIT={commit}");
    for (name, variable) in [("REKNIT_TARGET", "TARGET"), ("REKNIT_PROFILE", "PROFILE")] {
        println!("cargo:rustc-env={name}={}", env::var(variable).unwrap_or_default());
    }
    println!("cargo:rerun-if-changed=build.rs");
}

/// The commit that is checked out, if this is a checkout and not a package.
fn commit() -> Option<String> {
    // Every change of what is checked out is appended there.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).is_file() {
        println!("cargo:rerun-if-changed={log}");
    }
    // Another repository may contain the package.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
