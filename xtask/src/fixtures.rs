//! `cargo xtask fixtures DIR`: real recordings, which the release binary reads whole and cut.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, bail};

use crate::{Project, run as run_command};

mod chunks;
mod edits;
mod json;
mod together;

/// A dialect that this version reads.
struct Wire {
    name: &'static str,
    /// A recording that contains one of these is complete, so a reader that calls it cut or failed is wrong.
    end_marks: &'static [&'static str],
    /// Whether `check.py` knows what the provider's SDK makes of the recordings.
    is_compared: bool,
}

const WIRES: [Wire; 7] = [
    Wire { name: "anthropic", end_marks: &["message_stop"], is_compared: true },
    // Some servers leave out `[DONE]` and one sends no reason, but no complete recording lacks both.
    Wire {
        name: "openai-chat",
        end_marks: &["\"finish_reason\":\"", "\"finish_reason\": \""],
        is_compared: true,
    },
    Wire {
        name: "openai-responses",
        end_marks: &["response.completed", "response.incomplete"],
        is_compared: true,
    },
    Wire { name: "gemini", end_marks: &["\"finishReason\":\"", "\"finishReason\": \""], is_compared: true },
    Wire { name: "gemini-interactions", end_marks: &["interaction.completed"], is_compared: false },
    Wire { name: "bedrock-converse", end_marks: &["messageStop"], is_compared: false },
    Wire { name: "cohere", end_marks: &["message-end"], is_compared: false },
];

/// The cuts with which `check.py` compares the native form; the first does not cut.
const CUTS: [&[&str]; 3] = [&[], &["--recut", "1"], &["--recut", "bytes"]];

/// The kinds of diagnostics that say that part of the stream is not in the message.
const LOSS: [&str; 5] =
    ["dropped-frame", "malformed-frame", "trailing-bytes", "orphan-fragment", "after-end"];

const THREADS: usize = 2;

/// Builds the binary and reads every recording of each dialect.
pub(crate) fn run(project: &Project, dir: &Path) -> Result<()> {
    let streams = dir.join("streams");
    // An absolute path, because the commands run at the root of the repository.
    let streams = streams.canonicalize().with_context(|| format!("cannot open `{}`", streams.display()))?;
    run_command(&mut project.cargo(["build", "--release", "-p", "reknit-cli"]))?;
    let binary = project.target.join("release/reknit").with_extension(std::env::consts::EXE_EXTENSION);

    let mut failed = Vec::new();
    for wire in WIRES.iter().filter(|wire| wire.is_compared) {
        for cut in CUTS {
            let name = [&["check.py", "--wire", wire.name], cut].concat().join(" ");
            println!("== {name}");
            let mut check = project.command("python3");
            check.arg(streams.join("check.py")).arg(&binary).args(["--wire", wire.name]).args(cut);
            // Nothing may be written to the folder with the recordings.
            check.env("PYTHONDONTWRITEBYTECODE", "1");
            if let Err(error) = run_command(&mut check) {
                println!("{error:#}");
                failed.push(name);
            }
        }
    }
    for wire in &WIRES {
        println!("== read --from auto: {}", wire.name);
        let recordings = recordings(&streams.join(wire.name))?;
        let verdicts = in_parallel(&recordings, |recording| read(project, &binary, wire, recording));
        let mut good = 0;
        for (recording, verdict) in recordings.iter().zip(verdicts) {
            match verdict {
                Ok(()) => good += 1,
                Err(error) => println!("{}: {error:#}", recording.display()),
            }
        }
        println!("{}: {good} of {} read without loss", wire.name, recordings.len());
        if good != recordings.len() {
            failed.push(format!("reading of {}", wire.name));
        }
    }
    println!("== read of all at once");
    if let Err(error) = together::run(project, &binary, &streams) {
        println!("{error:#}");
        failed.push("all at once".to_owned());
    }
    println!("== read --events | chunks");
    let mut all = Vec::new();
    for wire in &WIRES {
        all.extend(recordings(&streams.join(wire.name))?);
    }
    if !chunks::run(project, &binary, &all) {
        failed.push("chunks".to_owned());
    }
    println!("== requests from every prefix of the log of every recording");
    let mut tests =
        project.cargo(["test", "--release", "-p", "reknit", "--test", "it", "history::replies::"]);
    tests.env("REKNIT_RECORDINGS", dir.canonicalize()?);
    if let Err(error) = run_command(&mut tests) {
        println!("{error:#}");
        failed.push("requests".to_owned());
    }
    let parity = dir.join("toolcalls-parity");
    if parity.is_dir() && !tool_calls(project, &parity.canonicalize()?, &binary)? {
        failed.push("calls in text".to_owned());
    }
    let edits = dir.join("edits");
    if edits.is_dir() && !edits::run(project, &edits, &binary)?.is_empty() {
        failed.push("edits".to_owned());
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join("; "));
    }
    Ok(())
}

/// How many percent of the answers must be the ones that all recorded engines gave.
///
/// A recorded engine is not always right: docs/grammars.md says where we differ from all of them, and why.
const AGREED: usize = 97;

/// Compares the calls in recorded texts, whole and cut, with those that other engines found.
fn tool_calls(project: &Project, folder: &Path, binary: &Path) -> Result<bool> {
    let mut good = true;
    for options in [&["--all"][..], &["--recut", "1"], &["--recut", "bytes"]] {
        println!("== check.py of calls in text {}", options.join(" "));
        let mut check = project.command("python3");
        check.arg(folder.join("check.py")).arg(binary).args(options);
        check.env("PYTHONDONTWRITEBYTECODE", "1");
        let output = check.output().context("cannot start `python3`")?;
        let report = String::from_utf8_lossy(&output.stdout);
        print!("{report}");
        // Its exit code says whether every answer is the same, which is more than we ask for.
        let last = report.lines().last().unwrap_or_default();
        let mut numbers = last.split(' ').filter_map(|word| word.parse::<usize>().ok());
        let (Some(right), Some(total)) = (numbers.next(), numbers.next()) else {
            bail!("`check.py` printed no counts: {}", String::from_utf8_lossy(&output.stderr));
        };
        good &= total > 0 && right * 100 >= total * AGREED;
    }
    Ok(good)
}

/// The `.sse` files of a folder, sorted by name. A folder without any is an error.
fn recordings(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot open `{}`", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "sse"));
    if paths.is_empty() {
        bail!("`{}` contains no recordings", folder.display());
    }
    paths.sort();
    Ok(paths)
}

/// Runs `work` on every item, a few at a time. The results are in the order of the items.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = work(item);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Reads one recording in all the ways that must agree.
fn read(project: &Project, binary: &Path, wire: &Wire, recording: &Path) -> Result<()> {
    let reknit = |args: &[&str]| -> Result<Output> {
        let mut command = project.command(binary);
        command.args(["read", "--from", "auto"]).args(args).arg(recording);
        command.output().with_context(|| format!("cannot start `{}`", binary.display()))
    };
    let whole = reknit(&["--json"])?;
    let message = String::from_utf8(whole.stdout.clone()).context("the output is not UTF-8")?;
    let recorded = String::from_utf8_lossy(&fs::read(recording)?).into_owned();
    check_message(wire, &recorded, &message, &whole)?;

    let changes = reknit(&["--ndjson"])?;
    if changes.status.code() != whole.status.code() {
        bail!("`--ndjson` exits with {} but `--json` with {}", changes.status, whole.status);
    }
    if changes.stdout.is_empty() {
        bail!("`--ndjson` prints nothing");
    }
    for (form, uncut) in [("--json", &whole), ("--ndjson", &changes)] {
        let recut = reknit(&[form, "--recut", "7"])?;
        if recut.stdout != uncut.stdout || recut.status.code() != uncut.status.code() {
            bail!("`{form}` differs when the input is cut\nhint: compare with `--recut 7`");
        }
    }
    Ok(())
}

/// Checks that the exit code, the status and the recording agree, and that no diagnostic reports a loss.
fn check_message(wire: &Wire, recorded: &str, message: &str, output: &Output) -> Result<()> {
    let Some(status) = json::member(message, "status") else {
        bail!(
            "no message, {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("nothing on stderr")
        );
    };
    let is_complete = wire.end_marks.iter().any(|mark| recorded.contains(mark));
    let has_cut_call = message.contains(r#""kind":"cut-arguments""#);
    match (output.status.code(), status) {
        (Some(0), "\"stopped\"") if !has_cut_call => {}
        (Some(1), "\"stopped\"") if has_cut_call => {}
        // A stream that broke or reported an error is read as exactly that.
        (Some(1), "\"failed\"" | "\"cut\"") if !is_complete => {}
        _ => bail!("{} with status {status}", output.status),
    }
    let diagnostics = json::member(message, "diagnostics").map(json::elements).unwrap_or_default();
    for diagnostic in diagnostics {
        let kind = json::member(diagnostic, "kind").unwrap_or_default().trim_matches('"');
        if LOSS.contains(&kind) {
            bail!("part of the stream is lost: {diagnostic}");
        }
    }
    Ok(())
}
