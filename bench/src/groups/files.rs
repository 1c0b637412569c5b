//! Many files at once: the command line with one job and with two, and its memory.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::{Bench, Group, Scale};
use crate::input::{DELTA, pieces, words};
use crate::report::{self, Target};

/// The variable that names the release binary; `cargo xtask bench` sets it.
const BINARY: &str = "REKNIT_BINARY";

/// The length of a reply's text; its stream is ten times as long.
const TEXT: usize = 1_000;

/// How often the process is asked for its memory.
const POLL: Duration = Duration::from_millis(10);

const LIMIT: usize = 64 << 20;

/// What one run took.
struct Run {
    time: Duration,
    peak: usize,
}

pub(crate) fn run(bench: &Bench) -> Result<Group> {
    let title = "files: `reknit read --json` of a folder, one job and two";
    let Some(binary) = env::var_os(BINARY).map(PathBuf::from) else {
        let table = format!("{title}\nnot measured: {BINARY} does not name the release binary\n");
        return Ok(Group { table, targets: targets(None, None), rows: Vec::new() });
    };
    let count = if bench.scale == Scale::Full { 100_000 } else { 10_000 };
    let folder = env::temp_dir().join(format!("reknit-bench-files-{}", std::process::id()));
    let measured = write(&folder, count).and_then(|size| Ok((size, measure(&binary, &folder, count)?)));
    fs::remove_dir_all(&folder).context("cannot remove the files")?;
    let (size, runs) = measured?;
    // Pairs of neighbours, so that a slow spell of the machine affects both.
    let mut ratios: Vec<_> =
        runs.iter().map(|(one, two)| one.time.as_secs_f64() / two.time.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios[ratios.len() / 2];
    let peak = runs.iter().map(|(one, two)| one.peak.max(two.peak)).max().unwrap_or_default();
    let (one, two) = &runs[0];
    let table = format!(
        "{title}\n{count} files, {} in all: {} with one job, {} with two, {ratio:.2} times as fast; at most {} of memory\n",
        report::size(size),
        report::duration(one.time),
        report::duration(two.time),
        report::size(peak),
    );
    Ok(Group { table, targets: targets(Some(ratio), Some(peak)), rows: Vec::new() })
}

fn targets(ratio: Option<f64>, peak: Option<usize>) -> Vec<Target> {
    #[expect(clippy::cast_precision_loss, reason = "it is rounded anyway")]
    let share = peak.map(|peak| peak as f64 / LIMIT as f64);
    vec![
        Target::at_least("files: two jobs, times as fast as one", 1.6, ratio),
        Target::at_most("files: memory, of 64 MB", 1.0, share),
    ]
}

/// Writes so many replies, and returns their size in all.
fn write(folder: &Path, count: usize) -> Result<usize> {
    let mut stream = String::new();
    for delta in pieces(&words(TEXT), DELTA) {
        let delta = serde_json::json!({"choices": [{"index": 0, "delta": {"content": delta}}], "id": "c", "model": "m",
            "object": "chat.completion.chunk", "created": 1_700_000_000, "system_fingerprint": "fp"});
        stream += &format!("data: {delta}\n\n");
    }
    stream +=
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    for number in 0..count {
        let part = folder.join((number / 1000).to_string());
        if number % 1000 == 0 {
            fs::create_dir_all(&part).context("cannot create a folder for the files")?;
        }
        fs::write(part.join(format!("{number}.sse")), &stream).context("cannot write the files")?;
    }
    Ok(stream.len() * count)
}

fn measure(binary: &Path, folder: &Path, count: usize) -> Result<Vec<(Run, Run)>> {
    // The first run has the files read from the disk.
    read(binary, folder, "2", count)?;
    (0..3).map(|_| Ok((read(binary, folder, "1", count)?, read(binary, folder, "2", count)?))).collect()
}

fn read(binary: &Path, folder: &Path, jobs: &str, count: usize) -> Result<Run> {
    let start = Instant::now();
    let mut command = Command::new(binary);
    command.args(["read", "--json", "--jobs", jobs]).arg(folder).stdout(Stdio::null()).stderr(Stdio::piped());
    // What keeps memory with the benchmarks is not how the program runs.
    command.env_remove("MALLOC_TRIM_THRESHOLD_").env_remove("MALLOC_MMAP_THRESHOLD_");
    let mut child = command.spawn().with_context(|| format!("cannot start `{}`", binary.display()))?;
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak =
            peak.max(line.and_then(|kilobytes| kilobytes.parse::<usize>().ok()).unwrap_or_default() * 1024);
        thread::sleep(POLL);
    }
    let time = start.elapsed();
    let output = child.wait_with_output()?;
    let summary = String::from_utf8_lossy(&output.stderr);
    ensure!(summary == format!("{count} files: {count} stopped\n"), "it prints {summary}");
    Ok(Run { time, peak })
}
