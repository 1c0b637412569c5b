//! The project's own commands, for whatever takes more than one call of cargo.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

mod test;
mod tidy;
mod api;
mod packages;
mod licences;
mod dist;
mod sdk;
mod python;
mod npm;
mod fixtures;
mod misplaced;
mod prefixes;
mod fuzz;
mod bench;
#[cfg(unix)]
mod picture;

const HELP: &str = "\
usage: cargo xtask COMMAND

  test [STEP]     run every check that must pass before a change is merged, or those from STEP on
  tidy            check the repository itself: file length, corpus, links, code map
  api             regenerate the listings of the public API in docs/api, for review
  corpus          regenerate the expected files in corpus/, for review
  sdk             run the providers' SDKs against `reknit replay --serve`
  python [test]   build the wheel of the Python package, and run its tests
  npm [test]      build the npm package, target/npm/reknit-VERSION.tgz, and test it
  fixtures DIR    read the recorded streams in DIR/streams, whole and cut; apply the edits in DIR/edits
  misplaced N [SEED]
                  generate N edits over real files, of which none may be wrong
  prefixes N [DIR]
                  end N streams of the corpus, and of DIR/streams, too early, and N texts with
                  calls: none may look complete
  picture         record `reknit` in a terminal as an SVG for the README
  fuzz MINUTES [TARGET…]
                  run the targets in fuzz/, or those named, for MINUTES in total
  dist            pack the release binary with completions, manual pages and licences
  bench [ARG…]    build and run bench/ with these arguments
";

fn main() -> ExitCode {
    if let Some(code) = api::as_rustdoc() {
        return code;
    }
    let mut args = env::args_os().skip(1);
    let command = args.next().unwrap_or_default();
    let rest: Vec<OsString> = args.collect();
    let project = Project::here();
    let outcome = match (command.to_str(), rest.as_slice()) {
        (Some("test"), []) => test::run(&project),
        (Some("test"), [step]) => test::run_from(&project, &step.to_string_lossy()),
        (Some("tidy"), []) => tidy::run(&project),
        (Some("api"), []) => api::write(&project),
        (Some("corpus"), []) => test::rewrite_corpus(&project),
        (Some("sdk"), []) => sdk::run(&project),
        (Some("python"), []) => python::run(&project),
        (Some("python"), [test]) if test == "test" => python::test(&project),
        (Some("npm"), []) => npm::run(&project),
        (Some("npm"), [word]) if word == "test" => npm::test(&project),
        (Some("fixtures"), [dir]) => fixtures::run(&project, Path::new(dir)),
        (Some("misplaced"), [edits]) => misplaced::run(&project, edits, None),
        (Some("misplaced"), [edits, seed]) => misplaced::run(&project, edits, Some(seed)),
        (Some("prefixes"), [count]) => prefixes::run(&project, count, None),
        (Some("prefixes"), [count, dir]) => prefixes::run(&project, count, Some(dir)),
        #[cfg(unix)]
        (Some("picture"), []) => picture::run(&project),
        (Some("fuzz"), [minutes, targets @ ..]) => fuzz::run(&project, minutes, targets),
        (Some("dist"), []) => dist::run(&project),
        (Some("bench"), args) => bench::run(&project, args),
        (Some("help" | "--help" | "-h"), []) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Where the repository is and where its build output goes.
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
}

impl Project {
    pub(crate) fn here() -> Self {
        let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = xtask.parent().expect("xtask is a folder of the repository").to_path_buf();
        // `join` with an absolute path returns that path. Cargo resolves a relative one from where it runs,
        // which is the root for every command below.
        let target = root.join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()));
        Self { root, target }
    }

    /// A command that runs at the root of the repository.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }

    /// A call of the cargo that runs this program.
    pub(crate) fn cargo<I: IntoIterator<Item: AsRef<OsStr>>>(&self, args: I) -> Command {
        let mut command = self.command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(args);
        command
    }
}

/// Runs a command with our own standard streams. Any exit code but 0 is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    let status = command.status().with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed: {status}");
    }
    Ok(())
}

/// The command as one would type it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_stem().unwrap_or_default();
    let words: Vec<_> = [program].into_iter().chain(command.get_args()).map(OsStr::to_string_lossy).collect();
    words.join(" ")
}
