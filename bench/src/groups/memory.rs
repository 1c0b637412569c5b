//! How much memory the arguments of a call take, of their length.

use std::io::Read as _;
use std::{env, fs, process};

use anyhow::{Context as _, Result, bail, ensure};
use reknit::{Dialect, Limits, Reply};

use super::{Bench, Group, Scale, session};
use crate::input::{MB, Stream, call_block};
use crate::report::{self, Target};

/// The most that a byte of arguments may take.
const BOUND: f64 = 24.0;

/// The first argument of a process that only does one thing and reports its memory.
pub(crate) const CHILD: &str = "--peak-memory";

/// What such a process does.
const ARGUMENTS: &str = "arguments";
pub(super) const TURNS: &str = "turns";

/// The name of a shape of arguments, and what makes some of so many bytes.
type Shape = (&'static str, fn(usize) -> String);

/// Arguments that are all values and hardly any text.
const SHAPES: [Shape; 5] = [
    ("[1,1,…]", |_| "1".to_owned()),
    ("[[],[],…]", |_| "[]".to_owned()),
    ("[{},{},…]", |_| "{}".to_owned()),
    (r#"["","",…]"#, |_| r#""""#.to_owned()),
    (r#"{"0":0,"1":0,…}"#, |number| format!(r#""{number}":0"#)),
];

/// How the arguments arrive.
const DELTAS: [(&str, usize); 2] = [("in deltas of 4 KB", 4_096), ("in one delta", usize::MAX)];

pub(crate) fn run(bench: &Bench) -> Result<Group> {
    let size = if bench.scale == Scale::Full { 50 * MB } else { 8 * MB };
    let (mut lines, mut targets) = (Vec::new(), Vec::new());
    for (shape, (name, _)) in SHAPES.iter().enumerate() {
        for (delta, (arrival, _)) in DELTAS.iter().enumerate() {
            let name = format!("{name} {arrival}");
            let peak = peak_of_child(ARGUMENTS, &[shape, delta, size])?;
            let each = peak.map(|peak| peak as f64 / size as f64);
            let cells = match (peak, each) {
                (Some(peak), Some(each)) => {
                    vec![report::size(size), report::size(peak), format!("{each:.1}")]
                }
                _ => vec![report::size(size), "not measured".to_owned(), String::new()],
            };
            targets.push(Target::at_most(format!("memory: {name}, of a byte"), BOUND, each));
            lines.push((name, cells));
        }
    }
    let table = report::lines("memory: arguments of a call", &["arguments", "peak", "of a byte"], &lines);
    Ok(Group { table, targets, rows: Vec::new() })
}

/// The peak of a process of its own, because memory that was once used stays with its process.
pub(super) fn peak_of_child(what: &str, arguments: &[usize]) -> Result<Option<usize>> {
    let mut child = process::Command::new(env::current_exe()?);
    // What `cargo xtask bench` sets would keep freed memory.
    for name in ["MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"] {
        child.env_remove(name);
    }
    child.arg(CHILD).arg(what).args(arguments.iter().map(usize::to_string)).stdout(process::Stdio::piped());
    let mut child = child.spawn().context("cannot start a process")?;
    let mut printed = String::new();
    child.stdout.take().context("no output")?.read_to_string(&mut printed)?;
    ensure!(child.wait()?.success(), "the process that measures memory failed");
    Ok(printed.trim().parse().ok())
}

/// Does what the parent asks for, and prints the peak of this process, if the system knows it.
pub(crate) fn child(mut arguments: impl Iterator<Item = String>) -> Result<()> {
    let what = arguments.next().unwrap_or_default();
    let numbers = arguments.map(|argument| argument.parse()).collect::<Result<Vec<usize>, _>>()?;
    match (what.as_str(), &numbers[..]) {
        (ARGUMENTS, &[shape, delta, size]) => read(SHAPES[shape].1, DELTAS[delta].1, size)?,
        (TURNS, &[turns]) => session::in_database(turns)?,
        _ => bail!("`{what}` with {} numbers is not known", numbers.len()),
    }
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    if let Some(peak) = peak.and_then(|peak| peak.trim().parse::<usize>().ok()) {
        println!("{}", peak * 1024);
    }
    Ok(())
}

/// Feeds a stream that is written as it is read, so that it takes no memory itself.
fn read(element: fn(usize) -> String, delta: usize, size: usize) -> Result<()> {
    // More values, and longer frames, than a reply may have by default.
    let mut limits = Limits::default();
    limits.values = usize::MAX;
    limits.frame_bytes = usize::MAX;
    let mut reply = Reply::new(Dialect::Anthropic).with_limits(&limits);
    let mut push = |bytes: &[u8]| {
        let mut changes = reply.push(bytes);
        while changes.next().is_some() {}
    };
    let (open, close) = if element(0).contains(':') { ('{', '}') } else { ('[', ']') };
    push(Stream::start(&call_block()).bytes());
    let start = r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""#;
    let end = "\"}}\n\n";
    let (mut text, mut in_delta, mut written) = (format!("{start}{open}"), 1, 1);
    for number in 0.. {
        let last = written >= size;
        let element = element(number) + if last { "" } else { "," };
        written += element.len();
        in_delta += element.len();
        text.push_str(&element.replace('"', "\\\""));
        if last {
            break;
        }
        if in_delta >= delta {
            text += end;
            text += start;
            in_delta = 0;
        }
        if text.len() >= 16_384 {
            push(text.as_bytes());
            text.clear();
        }
    }
    text.push(close);
    push((text + end).as_bytes());
    push(b"data: {\"type\":\"content_block_stop\",\"index\":0}\n\n");
    ensure!(reply.message().tool_calls().any(|call| call.input().is_some()), "the arguments are not whole");
    Ok(())
}
