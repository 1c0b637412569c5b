//! How much memory an edit of a large file takes: the file once, and little more.

use std::fs;
use std::io::{Read, Write as _};

use crate::folder::{Folder, block_of};

/// What may come on top of the file and the edits.
const SLACK: u64 = 64 * 1024 * 1024;

/// Runs the binary and gives the most memory that it ever had, seen while it still writes its output.
fn peak(folder: &Folder, arguments: &[&str]) -> (u64, u64) {
    let mut child = folder.command(env!("CARGO_BIN_EXE_reknit"), arguments).spawn().expect("it was built");
    let mut stdout = child.stdout.take().expect("it is on a pipe");
    drop(child.stdin.take());
    // Whatever is read, the output is longer than what fits the pipe: the program cannot be over.
    let mut first = [0; 1024];
    stdout.read_exact(&mut first).expect("it prints the content");
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it still runs");
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix(" kB"));
    let most: u64 = most.expect("the system counts it").trim().parse().expect("it is a number");
    let rest = std::io::copy(&mut stdout, &mut std::io::sink()).expect("it prints all of it");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    (most * 1024, rest + 1024)
}

#[test]
fn a_large_file_is_held_once() {
    let line = |number: usize| format!("line {number} of a file that is long enough to matter\n");
    let content: String = (0..2_000_000).map(line).collect();
    let size = content.len() as u64;
    assert!(size > 100_000_000);
    let folder = Folder::new(&[("large.txt", &content)]);
    drop(content);
    let answer = block_of("large.txt", &line(1_000_000), "another line\n")
        + &block_of("large.txt", &format!("  {}", line(1_900_000)), "  and one more\n");
    folder.write("answer.md", &answer);

    let (most, printed) = peak(&folder, &["apply", "--original", "large.txt", "answer.md"]);
    assert!(printed < size && printed > size - 100, "{printed} of {size}");
    assert!(most <= size + answer.len() as u64 + SLACK, "{most} for {size}");

    // The report is printed after the write, so that all of that is counted.
    let (most, printed) = peak(&folder, &["apply", "--yes", "--json", "answer.md"]);
    assert!(printed > size, "{printed} of {size}");
    assert!(most <= size + answer.len() as u64 + SLACK, "{most} for {size}");
}

#[test]
fn a_file_that_is_only_moved_is_not_held() {
    let folder = Folder::new(&[]);
    let large = fs::File::create(folder.root().join("large.txt")).expect("it can be made");
    large.set_len(256 << 20).expect("it can grow");
    // With less memory than the file, in kilobytes.
    let script = format!("ulimit -v 150000 && exec {} apply --yes", env!("CARGO_BIN_EXE_reknit"));
    let mut child = folder.command("sh", &["-c", &script]).spawn().expect("there is a shell");
    let answer = "*** Begin Patch\n*** Update File: large.txt\n*** Move to: d/moved.txt\n*** End Patch\n";
    child.stdin.take().expect("it is on a pipe").write_all(answer.as_bytes()).expect("it fits the pipe");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.has("d/moved.txt") && !folder.has("large.txt"));
}
