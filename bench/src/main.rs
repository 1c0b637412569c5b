//! How the engine's work grows when its input doubles, beside a floor and a peer.
//!
//! Run by `cargo xtask bench`; the README beside this crate says how to read what it prints.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

use series::{BOUND, Plan};

mod input;
mod work;
mod measure;
mod series;
mod table;

const HELP: &str = "\
usage: cargo xtask bench [--quick] [--record]

  --quick     smaller inputs and fewer runs
  --record    also write what is printed to bench/records/

exit code 1 if the work grows faster than its input
";

fn main() -> ExitCode {
    let (mut plan, mut record) = (Plan::FULL, false);
    for argument in env::args().skip(1) {
        match argument.as_str() {
            "--quick" => plan = Plan::QUICK,
            "--record" => record = true,
            "--help" | "-h" => {
                print!("{HELP}");
                return ExitCode::SUCCESS;
            }
            _ => {
                eprint!("error: `{argument}` is not an argument of the benchmarks\n\n{HELP}");
                return ExitCode::from(2);
            }
        }
    }
    let (report, linear) = run(plan);
    if record && let Err(error) = write_record(&report) {
        eprintln!("error: {error:#}");
        return ExitCode::from(2);
    }
    if linear { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints every series as it is done; returns all that was printed, and whether all growth is in bounds.
fn run(plan: Plan) -> (String, bool) {
    let mut report = head();
    print!("{report}");
    let mut broken = Vec::new();
    plan.run(|series| {
        let table = table::render(series);
        print!("{table}");
        report.push_str(&table);
        if !series.is_linear() {
            broken.push(series.name.clone());
        }
    });
    let verdict = match broken.as_slice() {
        [] => format!("all series: growth at most {BOUND}\n"),
        some => format!("growth over {BOUND} in: {}\n", some.join("; ")),
    };
    print!("{verdict}");
    (report + &verdict, broken.is_empty())
}

fn head() -> String {
    let commit = Command::new("git")
        .args(["describe", "--always", "--dirty"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .ok()
        .filter(|output| output.status.success())
        .map_or("unknown".to_owned(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let clock = if cfg!(unix) { "processor time of the thread" } else { "time on the wall" };
    format!(
        "growth, {}, commit {commit}, beside serde_json {} and jiter {}\n\
         {clock}, medians of runs that alternate between all rows of a series\n\
         absolute times mean nothing on a machine that others use too; growth and ratios do\n\n",
        today(),
        version("serde_json"),
        version("jiter"),
    )
}

fn write_record(report: &str) -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("records");
    let path = folder.join(format!("{}-growth.txt", today()));
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&path, report))
        .with_context(|| format!("`{}` could not be written", path.display()))?;
    eprintln!("written to {}", path.display());
    Ok(())
}

/// The version of a dependency, as it is locked.
fn version(name: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let package = lock.split("[[package]]").find(|package| package.contains(&format!("name = \"{name}\"")));
    package.and_then(|package| package.split("version = \"").nth(1)?.split('"').next()).unwrap_or("unknown")
}

/// The date as year, month and day, after Howard Hinnant's `civil_from_days`.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    // From the first of March of year 0 on, so that the leap day is the last of a year.
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}
