//! The binary between two programs: what it prints while its input goes on, and when either end is gone.

use std::io::{Read, Write};
use std::sync::mpsc;
use std::time::Duration;

use crate::command::{Run, start};
use crate::corpus;

/// How long a program that hangs is waited for; one that works is never waited for.
const HANGS: Duration = Duration::from_secs(120);

/// Reads from a pipe until `wanted` was read; fails instead of waiting for ever.
fn read_until(mut pipe: impl Read + Send + 'static, wanted: &str) -> String {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 1024];
        while let Ok(length @ 1..) = pipe.read(&mut buffer) {
            if send.send(buffer[..length].to_vec()).is_err() {
                break;
            }
        }
    });
    let mut read = String::new();
    while !read.contains(wanted) {
        let bytes =
            receive.recv_timeout(HANGS).unwrap_or_else(|_| panic!("only {read:?} came, not {wanted:?}"));
        read.push_str(&String::from_utf8(bytes).expect("the text of this test is ASCII"));
    }
    read
}

#[test]
fn text_is_printed_before_the_input_ends() {
    let input = corpus::bytes("openai-chat/cut-without-finish-reason");
    for (arguments, wanted) in [
        (&["read"][..], "Hi there"),
        (&["read", "--ndjson"], r#""text":" there""#),
        (&["read", "--events"], r#""delta":" there""#),
    ] {
        let mut child = start(arguments);
        let mut stdin = child.stdin.take().expect("it is on a pipe");
        stdin.write_all(&input).expect("it reads");
        // The pipe is still open: what is read now was printed without its end.
        read_until(child.stdout.take().expect("it is on a pipe"), wanted);
        drop(stdin);
        assert_eq!(child.wait().expect("it ends").code(), Some(1), "{arguments:?}");
    }
}

#[test]
fn chunks_are_printed_before_the_events_end() {
    let input = b"{\"type\":\"text-delta\",\"delta\":\"Hi there\"}\n{\"type\":\"text-de";
    for arguments in [&["chunks"][..], &["chunks", "--ndjson"]] {
        let mut child = start(arguments);
        let mut stdin = child.stdin.take().expect("it is on a pipe");
        stdin.write_all(input).expect("it reads");
        read_until(child.stdout.take().expect("it is on a pipe"), "Hi there");
        drop(stdin);
        // The last line is cut.
        assert_eq!(child.wait().expect("it ends").code(), Some(1), "{arguments:?}");
    }
}

/// Ctrl-C while the provider is silent: what came is kept.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_input_and_not_the_output() {
    let input = corpus::bytes("openai-chat/cut-without-finish-reason");
    for (signal, code, arguments, wanted) in [
        ("-INT", 130, &["read"][..], "Hi there\n"),
        ("-INT", 130, &["read", "--json"], r#""status":"cut""#),
        ("-TERM", 143, &["read", "--json"], r#""text":"Hi there""#),
        ("-TERM", 143, &["read", "--ndjson"], "{\"cut\":{}}\n"),
        ("-TERM", 143, &["read", "--text"], "Hi there\n"),
    ] {
        // The record shows when all was read, whatever is printed when.
        let name = format!("reknit-interrupt-{}-{code}-{}.rec", std::process::id(), arguments.concat());
        let record = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&record);
        let mut child = start(&[arguments, &["--record", record.to_str().expect("it is UTF-8")]].concat());
        let mut stdin = child.stdin.take().expect("it is on a pipe");
        stdin.write_all(&input).expect("it reads");
        while !std::fs::read_to_string(&record).is_ok_and(|lines| lines.contains(" there")) {
            std::thread::yield_now();
        }
        let id = child.id().to_string();
        let killed = std::process::Command::new("kill").args([signal, &id]).status();
        assert!(killed.expect("there is a `kill`").success());
        let run = Run::from(child.wait_with_output().expect("it ends"));
        drop(stdin);
        assert_eq!(run.code, Some(code), "{arguments:?}");
        assert!(run.stdout.contains(wanted), "{}", run.stdout);
        assert_eq!(run.stderr, "error: interrupted before the message ended: it is cut\n");
        std::fs::remove_file(&record).expect("it was there");
    }
}

#[test]
fn a_reader_that_leaves_causes_no_panic_and_no_message() {
    let frame = "data: {\"choices\":[{\"delta\":{\"content\":\"0123456789\"}}]}\n\n";
    for arguments in [&["read"][..], &["read", "--ndjson"]] {
        let mut child = start(arguments);
        let mut stdin = child.stdin.take().expect("it is on a pipe");
        drop(child.stdout.take());
        // Far more than a pipe can hold: it has to write without a reader.
        let written = (0..100_000).try_for_each(|_| stdin.write_all(frame.as_bytes()));
        assert!(written.is_err(), "it goes on without a reader");
        drop(stdin);
        let run = Run::from(child.wait_with_output().expect("it ends"));
        assert_eq!(run.stderr, "", "{arguments:?}");
        assert!(run.code.is_some_and(|code| code != 101), "{arguments:?}: {:?}", run.code);
    }
}

/// A frame that never ends is refused at the limit: memory is bounded by it, not by the input.
#[cfg(target_os = "linux")]
#[test]
fn a_line_of_a_gigabyte_is_refused_in_bounded_memory() {
    const FRAME_LIMIT: u64 = 64 << 20;
    let block = vec![b'x'; 1 << 20];
    for arguments in [&["read", "--json"][..], &["read", "--from", "openai-chat", "--json"]] {
        let mut child = start(arguments);
        let status = format!("/proc/{}/status", child.id());
        let mut stdin = child.stdin.take().expect("it is on a pipe");
        stdin.write_all(b"data: ").expect("it reads");
        let mut peak = 0;
        let mut written: u64 = 0;
        while written < 1 << 30 && stdin.write_all(&block).is_ok() {
            written += block.len() as u64;
            peak = peak.max(high_water(&status).unwrap_or(0));
        }
        drop(stdin);
        let run = Run::from(child.wait_with_output().expect("it ends"));
        assert_eq!(run.code, Some(1));
        assert!(
            run.stderr.contains(&format!("byte {FRAME_LIMIT}: the frame is longer than")),
            "{}",
            run.stderr
        );
        assert!(run.stdout.contains(r#""status":"cut""#), "{}", run.stdout);
        assert!(written < FRAME_LIMIT + (8 << 20), "it went on reading: {written} bytes");
        assert!(peak > 1 << 20, "the memory of the program was not seen");
        assert!(peak < 4 * FRAME_LIMIT, "{} MiB were used", peak >> 20);
    }
}

/// The most memory that a process had at once, in bytes.
#[cfg(target_os = "linux")]
fn high_water(status: &str) -> Option<u64> {
    let status = std::fs::read_to_string(status).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}
