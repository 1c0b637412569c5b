//! Where and when it was measured, and the dated file of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

use crate::measure::Effort;
use crate::node::Node;

const CRATES: [&str; 8] =
    ["eventsource-stream", "jiter", "memchr", "serde_json", "sse-core", "sse-stream", "sseer", "strsim"];
const PACKAGES: [&str; 5] = ["node", "@anthropic-ai/sdk", "ai", "eventsource-parser", "partial-json"];

/// What is printed above the table.
pub(crate) fn head(node: Option<&Node>, effort: Effort) -> String {
    let commit = Command::new("git")
        .args(["describe", "--always", "--dirty"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .ok()
        .filter(|output| output.status.success())
        .map_or("unknown".to_owned(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let clock = if cfg!(unix) { "processor time of the thread" } else { "time on the wall" };
    let crates = CRATES.map(|name| format!("{name} {}", version(name))).join(", ");
    let packages = node.map_or("there is no Node: its packages are left out".to_owned(), |node| {
        PACKAGES.map(|name| format!("{name} {}", node.version(name))).join(", ")
    });
    format!(
        "reknit {}, commit {commit}, {}, load {}\n{crates}\n{packages}\n\
         {clock}, medians of {} runs that alternate between all who are in a row\n\
         a column of a peer: how many times as long as reknit it took; ~: on a sample, as noted below\n\
         absolute times mean nothing on a machine that others use too; ratios do\n\n",
        today(),
        processor(),
        load(),
        effort.runs,
    )
}

/// Writes a record of today and returns where.
pub(crate) fn write(report: &str) -> Result<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("records/{}.txt", today()));
    fs::write(&path, report).with_context(|| format!("`{}` could not be written", path.display()))?;
    Ok(path)
}

/// The version of a dependency, as it is locked.
fn version(name: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let package = lock.split("[[package]]").find(|package| package.contains(&format!("name = \"{name}\"")));
    package.and_then(|package| package.split("version = \"").nth(1)?.split('"').next()).unwrap_or("unknown")
}

/// How many processors there are, and their model, where the system says.
fn processor() -> String {
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let name = name.map_or(std::env::consts::ARCH, |(_, name)| name.trim());
    format!("{count} x {name}")
}

/// How busy the machine was in the last minute, where the system says.
fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().filter(|load| !load.is_empty()).unwrap_or("unknown").to_owned()
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
