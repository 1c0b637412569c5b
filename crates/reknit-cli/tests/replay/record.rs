//! `reknit read --record`, and `reknit read` of what it wrote.

use std::fs;

use reknit::Limits;
use reknit::recording::{Header, Read, Reader};

use crate::program::{CHAT, file, new_path, recording, run, run_with, str, streams};

fn parse(recording: &[u8]) -> (Header, Vec<Read>) {
    let mut reader = Reader::new(&Limits::default());
    reader.push(recording);
    reader.finish();
    let reads = std::iter::from_fn(|| reader.next_read().expect("it is a recording")).collect();
    (reader.header().expect("it has a header").clone(), reads)
}

#[test]
fn a_recording_reads_as_the_stream_itself() {
    for (name, bytes) in streams() {
        let raw = file("raw", &bytes);
        let cuts = [1, 13, bytes.len().max(1)].map(|length| file("cuts.rec", recording(&bytes, length)));
        for form in [&["--json", "--all"][..], &["--ndjson"], &["--as", "native", "--json"]] {
            let expected = run(&[&["read", str(&raw)], form].concat());
            for cut in &cuts {
                let found = run(&[&["read", str(cut)], form].concat());
                assert_eq!(found, expected, "{name} {form:?}");
            }
        }
        let expected = run(&["read", "--json", str(&raw)]);
        let recut = run(&["read", "--json", "--recut", "7", str(&cuts[1])]);
        assert_eq!(recut, expected, "{name}");
        let piped = run_with(recording(&bytes, 13).as_bytes(), &["read", "--json"]);
        assert_eq!(piped, expected, "{name}");
    }
}

#[test]
fn what_is_read_is_recorded() {
    for (name, bytes) in streams() {
        let path = new_path("new.rec");
        let plain = run_with(&bytes, &["read", "--json"]);
        let recorded = run_with(&bytes, &["read", "--json", "--record", str(&path)]);
        assert_eq!(recorded, plain, "{name}");
        let (header, reads) = parse(&fs::read(&path).expect("it was written"));
        assert_eq!(header.dialect, None);
        let at = header.at.expect("it has a time");
        assert!(at.starts_with("20") && at.ends_with('Z') && at.len() == 20, "{at}");
        assert_eq!(reads.iter().flat_map(|read| read.bytes.clone()).collect::<Vec<_>>(), bytes, "{name}");
        assert!(reads.is_sorted_by_key(|read| read.at_ms), "{name}");
    }
}

#[test]
fn a_recording_keeps_cuts_and_the_name_of_the_dialect() {
    let first = file("first.rec", recording(CHAT.as_bytes(), 50));
    let second = new_path("second.rec");
    let output = run(&["read", "--from", "openai-chat", "--json", "--record", str(&second), str(&first)]);
    assert_eq!(output.status.code(), Some(0));
    let (header, reads) = parse(&fs::read(second).expect("it was written"));
    assert_eq!(header.dialect.as_deref(), Some("openai-chat"));
    let cuts = reads.iter().map(|read| &read.bytes[..]);
    assert!(cuts.eq(CHAT.as_bytes().chunks(50)));
}

#[test]
fn what_cannot_be_read_is_recorded_to_its_end() {
    let path = new_path("odd.rec");
    let odd = "data: {\"morse\":1}\n\n".repeat(5000);
    let output = run_with(odd.as_bytes(), &["read", "--record", str(&path)]);
    assert_eq!(output.status.code(), Some(2));
    let (_, reads) = parse(&fs::read(path).expect("it was written"));
    assert_eq!(reads.iter().map(|read| read.bytes.len()).sum::<usize>(), odd.len());
}

#[test]
fn an_existing_file_is_not_overwritten() {
    let path = file("precious", "precious");
    let output = run_with(CHAT.as_bytes(), &["read", "--record", str(&path)]);
    assert_eq!(output.status.code(), Some(2));
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("already exists\nhint: use another file name"), "{words}");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "precious");
}

#[test]
fn a_recording_that_ends_inside_a_line_is_read_and_reported() {
    let whole = recording(CHAT.as_bytes(), 1000);
    let more = whole.clone() + "{\"t\":99,\"te";
    let output = run_with(more.as_bytes(), &["read", "--json"]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        words,
        "error: line 3: the recording ended inside the line: 11 bytes dropped\n\
                       hint: the recording was interrupted; everything before the last line is complete\n\
                       see: `reknit explain cut-recording`\n"
    );
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, run_with(whole.as_bytes(), &["read", "--json"]).stdout);
}

#[test]
fn a_broken_recording_shows_what_came_before_at_any_cut() {
    let broken = recording(&CHAT.as_bytes()[..300], 100) + "{\"t\":oops}\n{\"t\":1,\"text\":\"\"}\n";
    let expected = run_with(broken.as_bytes(), &["read", "--ndjson"]);
    assert_eq!(expected.status.code(), Some(2));
    let words = String::from_utf8_lossy(&expected.stderr).into_owned();
    assert!(words.contains("error: standard input: line 5: not JSON"), "{words}");
    assert!(String::from_utf8_lossy(&expected.stdout).contains("weather"));
    for recut in ["bytes", "1", "2"] {
        assert_eq!(run_with(broken.as_bytes(), &["read", "--ndjson", "--recut", recut]), expected);
    }
}
