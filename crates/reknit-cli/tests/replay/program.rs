//! The binary and the files that the tests give it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use reknit::recording::{Header, Read};

pub(crate) fn reknit() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reknit"));
    command.stdin(Stdio::null());
    command
}

pub(crate) fn run(args: &[&str]) -> Output {
    reknit().args(args).output().expect("the binary starts")
}

/// The same with this on standard input.
pub(crate) fn run_with(input: &[u8], args: &[&str]) -> Output {
    let mut command = reknit();
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    std::thread::scope(|scope| {
        // It need not read all of its input.
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output().expect("it can be waited for")
    })
}

/// A name for a file that no other test uses.
pub(crate) fn new_path(name: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("replay-{number}-{name}"));
    // From an earlier run.
    let _ = fs::remove_file(&path);
    path
}

pub(crate) fn file(name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = new_path(name);
    fs::write(&path, content).expect("the target folder can be written to");
    path
}

pub(crate) fn str(path: &Path) -> &str {
    path.to_str().expect("the checkout has a readable path")
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A recording of these bytes, cut at every multiple of a length, ten milliseconds apart.
pub(crate) fn recording(bytes: &[u8], length: usize) -> String {
    let reads = bytes.chunks(length).zip(0..).map(|(bytes, number)| Read::new(number * 10, bytes).to_line());
    Header::default().to_line() + &reads.collect::<String>()
}

/// The streams to test with: those of the corpus, and a few more.
pub(crate) fn streams() -> Vec<(String, Vec<u8>)> {
    let mut streams = vec![
        ("chat".to_owned(), CHAT.as_bytes().to_vec()),
        ("cut".to_owned(), CHAT.as_bytes()[..CHAT.len() - 60].to_vec()),
        ("not UTF-8".to_owned(), [&CHAT.as_bytes()[..90], b"\xFF\xC3", &CHAT.as_bytes()[90..]].concat()),
    ];
    for dialect in folders(&repository().join("corpus/wire")) {
        for case in folders(&dialect) {
            for file in entries(&case) {
                if file.file_stem().is_some_and(|stem| stem == "input") {
                    streams.push((file.display().to_string(), fs::read(&file).expect("it can be read")));
                }
            }
        }
    }
    streams
}

pub(crate) const CHAT: &str = concat!(
    "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Zürich ☂\"}}]}\n\n",
    ": ping\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"t1\",",
    "\"function\":{\"name\":\"weather\",\"arguments\":\"{\\\"city\\\":\\\"Bern\\\"}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
);

/// The folders in a folder, in order. Empty if it does not exist.
pub(crate) fn folders(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_dir()).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.sort();
    paths
}
