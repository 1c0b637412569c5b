//! `reknit replay` to standard output.

use crate::program::{CHAT, file, recording, repository, run, run_with, str, streams};

fn play(recording: &[u8], options: &[&str]) -> Vec<u8> {
    let output = run_with(recording, &[&["replay", "--speed", "max"], options].concat());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    output.stdout
}

fn check_error(input: &[u8], options: &[&str], expected: &str) {
    let output = run_with(input, &[&["replay", "--speed", "max"], options].concat());
    assert_eq!(String::from_utf8_lossy(&output.stderr), expected);
    assert_eq!((output.status.code(), output.stdout), (Some(2), Vec::new()));
}

#[test]
fn the_bytes_come_out_as_they_went_in() {
    for (name, bytes) in streams() {
        let recording = recording(&bytes, 17);
        for options in [&[][..], &["--recut", "3"], &["--recut", "bytes"], &["--stall", "1@5"]] {
            assert_eq!(play(recording.as_bytes(), options), bytes, "{name} {options:?}");
        }
        assert_eq!(play(&bytes, &[]), bytes, "{name}");
    }
}

#[test]
fn a_recording_is_played_at_its_original_speed() {
    let path = repository().join("tests/sdk/recordings/anthropic.rec");
    let slow = run(&["replay", "--speed", "20", str(&path)]);
    assert_eq!(slow.stdout, run(&["replay", "--speed", "max", str(&path)]).stdout);
}

#[test]
fn a_cut_ends_it_after_that_byte() {
    let recording = recording(CHAT.as_bytes(), 17);
    for at in [0, 1, 17, 100, CHAT.len()] {
        let options = ["--cut", &at.to_string(), "--recut", "5"];
        assert_eq!(play(recording.as_bytes(), &options), &CHAT.as_bytes()[..at]);
    }
    let cut = play(recording.as_bytes(), &["--cut", "250"]);
    assert_eq!(run_with(&cut, &["read"]).status.code(), Some(1));
}

#[test]
fn a_fault_after_the_end_is_a_usage_error() {
    let recording = recording(b"data: 1\n\n", 4);
    check_error(
        recording.as_bytes(),
        &["--cut", "10"],
        "error: `--cut` at byte 10 is never reached: 9 bytes are played\nhint: give a byte from 0 to 9\n",
    );
    for wrong in [&["--speed", "0"][..], &["--stall", "5"], &["--recut", "x"], &["--requests", "1"]] {
        let output = run(&[&["replay"], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn a_bad_file_is_a_clear_error() {
    let hint = "hint: play what `reknit read --record FILE` wrote, or the body of a streamed response\n";
    let nothing = "neither a recording nor a stream: no server-sent events or JSON in";
    check_error(b"", &[], &format!("error: standard input: {nothing} 0 bytes\n{hint}"));
    check_error(b"\x89PNG\r\n", &[], &format!("error: standard input: {nothing} 6 bytes\n{hint}"));
    check_error(
        b"{\"reknit\":\"recording\",\"version\":99}\n",
        &[],
        "error: standard input: line 1: the recording has version 99, but only version 1 can be read\n\
         hint: read it with the version of reknit that wrote it\n",
    );
    let broken = recording(b"data: 1\n\n", 4).replacen("{\"t\":10", "{\"t\":\"10\"", 1);
    check_error(
        broken.as_bytes(),
        &[],
        "error: standard input: line 3: not a read: `t` is not a whole number of milliseconds\n\
         hint: a read is `{\"t\":MILLISECONDS,\"text\":\"…\"}`, or has base64 `bytes`\n",
    );
    let missing = run(&["replay", "no-such.rec"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).starts_with("error: cannot open `no-such.rec`"));
}

#[test]
fn a_cut_recording_is_played_and_reported() {
    let path = file("cut.rec", recording(CHAT.as_bytes(), 17) + "{\"t\":1,");
    let output = run(&["replay", "--speed", "max", str(&path)]);
    assert_eq!((output.status.code(), output.stdout), (Some(1), CHAT.as_bytes().to_vec()));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the recording ended inside the line"));
}
