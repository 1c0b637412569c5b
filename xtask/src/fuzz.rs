//! `cargo xtask fuzz`: runs the targets in `fuzz/` one after the other, with seeds from the corpus.
//!
//! The fuzzer is libFuzzer, without a sanitizer, because we have no `unsafe` to watch. Its counters come from
//! a compiler pass that every toolchain has, so neither nightly nor `cargo-fuzz` is needed; the folder is
//! laid out as `cargo-fuzz` expects it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{Project, run as run_command};

mod damage;
mod seeds;

/// Makes the compiler count edges and comparisons, so that the fuzzer sees what an input reached.
const RUSTFLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0";

/// What `cargo xtask test` asks of the fuzzer: to try the inputs that it is given and to make up none. Those
/// it makes up depend on where the program is in memory, and a test must have the same outcome everywhere.
const BRIEF: &str = "-runs=0";

/// Longer inputs find nothing more and take longer to try.
const LONGEST: &str = "-max_len=6000";

/// Runs the named targets, or all of them, for this many minutes in total. What they reach is kept for the
/// next run.
pub(crate) fn run(project: &Project, minutes: &OsString, names: &[OsString]) -> Result<()> {
    let minutes = minutes.to_str().and_then(|text| text.parse::<f64>().ok()).filter(|minutes| *minutes > 0.0);
    let minutes = minutes.context("MINUTES must be a number above 0")?;
    let mut targets = targets(project)?;
    if let Some(name) = names.iter().find(|name| !targets.iter().any(|target| *name == target.as_str())) {
        bail!("there is no target `{}`\nhint: the targets are {}", name.display(), targets.join(", "));
    }
    targets.retain(|target| names.is_empty() || names.iter().any(|name| name == target.as_str()));
    if !has_compiler(project) {
        bail!("cannot build the fuzzer without a C++ compiler\nhint: install one, or set CXX to its name");
    }
    let seconds = (minutes * 60.0 / targets.len() as f64).ceil();
    let fuzzer = Fuzzer::build(project)?;
    fuzzer.run_all(&targets, "corpus", &format!("-max_total_time={seconds}"))
}

/// Runs every target on the inputs of the corpus and on damaged copies of them. Skipped where there is no C++
/// compiler.
pub(crate) fn brief(project: &Project) -> Result<()> {
    run_command(&mut project.cargo(["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))?;
    if !has_compiler(project) {
        println!("skipped: the fuzzer, because no C++ compiler is installed");
        return Ok(());
    }
    let host = host(project)?;
    run_command(cargo(project, "clippy", &host).args(["--", "-D", "warnings"]))?;
    let fuzzer = Fuzzer::build(project)?;
    // Inputs from an earlier run would make this run a different one.
    let damaged = fuzzer.folder.join("damaged");
    if damaged.exists() {
        fs::remove_dir_all(&damaged).with_context(|| format!("cannot remove `{}`", damaged.display()))?;
    }
    let targets = targets(project)?;
    for target in &targets {
        damage::write(&fuzzer.seeds(target)?, &damaged.join(target))?;
    }
    fuzzer.run_all(&targets, "damaged", BRIEF)
}

/// The names of the targets, which are the files in `fuzz/targets`.
fn targets(project: &Project) -> Result<Vec<String>> {
    let folder = project.root.join("fuzz/targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read `{}`", folder.display()))? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

/// Whether there is a C++ compiler to build the fuzzer with.
fn has_compiler(project: &Project) -> bool {
    let mut command = project.command(std::env::var_os("CXX").unwrap_or_else(|| "c++".into()));
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// A call of cargo on `fuzz/`, with the counters. Naming the host as the target keeps the counters out of
/// build scripts and macros, where nothing reads them.
fn cargo(project: &Project, verb: &str, host: &str) -> Command {
    let mut cargo =
        project.cargo([verb, "--release", "--manifest-path", "fuzz/Cargo.toml", "--target", host]);
    cargo.arg("--target-dir").arg(project.target.join("fuzz")).env("RUSTFLAGS", RUSTFLAGS);
    cargo
}

/// The targets that were built, and where their files go.
struct Fuzzer<'a> {
    project: &'a Project,
    folder: PathBuf,
    programs: PathBuf,
}

/// How a run of a target ended.
struct Run {
    target: String,
    executions: Option<u64>,
    finding: Option<PathBuf>,
}

impl<'a> Fuzzer<'a> {
    fn build(project: &'a Project) -> Result<Self> {
        let host = host(project)?;
        run_command(&mut cargo(project, "build", &host))?;
        let folder = project.target.join("fuzz");
        let programs = folder.join(host).join("release");
        Ok(Self { project, folder, programs })
    }

    /// Runs the targets one after the other, whatever they find, and prints how each ended.
    fn run_all(&self, targets: &[String], reached: &str, limit: &str) -> Result<()> {
        let mut runs = Vec::new();
        for target in targets {
            println!("fuzzing `{target}`");
            runs.push(self.run(target, reached, limit).with_context(|| format!("target `{target}`"))?);
        }
        println!();
        for Run { target, executions, finding } in &runs {
            let executions = executions.map_or("unknown".to_owned(), |count| count.to_string());
            match finding {
                None => println!("{executions:>12} executions  {target}: nothing found"),
                Some(path) => println!("{executions:>12} executions  {target}: found {}", path.display()),
            }
        }
        let found = runs.iter().filter(|run| run.finding.is_some()).count();
        if found > 0 {
            bail!(
                "{found} of {} targets found something\n\
                 hint: to see it again, run the target in `{}` on the file; fuzz/README.md says what to do",
                runs.len(),
                self.programs.display()
            );
        }
        Ok(())
    }

    /// Writes the seeds of a target again, and returns their folder.
    fn seeds(&self, target: &str) -> Result<PathBuf> {
        let seeds = self.folder.join("seeds").join(target);
        seeds::write(&self.project.root.join("corpus"), target, &seeds, &self.words(target))?;
        Ok(seeds)
    }

    fn words(&self, target: &str) -> PathBuf {
        self.folder.join("words").join(target)
    }

    fn run(&self, target: &str, reached: &str, limit: &str) -> Result<Run> {
        let seeds = self.seeds(target)?;
        let reached = self.folder.join(reached).join(target);
        let findings = self.folder.join("findings").join(target);
        for folder in [&reached, &findings] {
            fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
        }
        let log = self.folder.join(format!("{target}.log"));
        let file = File::create(&log).with_context(|| format!("cannot write `{}`", log.display()))?;
        // The fuzzer writes new inputs to the first folder and only reads the second.
        let mut command = self.program(target)?;
        command.arg(&reached).arg(&seeds).args([limit, LONGEST, "-timeout=20", "-print_final_stats=1"]);
        command.arg(option("-dict", &self.words(target))).arg(option("-artifact_prefix", &findings.join("")));
        command.stdout(Stdio::null()).stderr(file);
        let status = command.status().context("cannot start it")?;
        let log_text = fs::read(&log).with_context(|| format!("cannot read `{}`", log.display()))?;
        let log_text = String::from_utf8_lossy(&log_text);
        let finding =
            log_text.lines().find_map(|line| line.split_once("Test unit written to ")).map(|line| line.1);
        if !status.success() && finding.is_none() {
            bail!("it failed without a finding: {status}; see `{}`", log.display());
        }
        let count = log_text.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
        let executions = count.and_then(|count| count.trim().parse().ok());
        Ok(Run { target: target.to_owned(), executions, finding: finding.map(PathBuf::from) })
    }

    fn program(&self, target: &str) -> Result<Command> {
        let program = self.programs.join(target).with_extension(std::env::consts::EXE_EXTENSION);
        if !program.is_file() {
            bail!("its program was not built\nhint: add a line for it to fuzz/Cargo.toml");
        }
        Ok(self.project.command(program))
    }
}

/// The machine that this toolchain builds for by default.
fn host(project: &Project) -> Result<String> {
    let output = project.command("rustc").arg("-vV").output().context("cannot start `rustc -vV`")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` does not name a host")?.to_owned())
}

fn option(name: &str, value: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push("=");
    option.push(value);
    option
}
