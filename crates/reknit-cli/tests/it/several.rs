//! `reknit read` of several files at once.

use std::fs;
use std::path::PathBuf;

use expect_test::expect;

use crate::command::{Run, run};
use crate::corpus::{self, cases};
use crate::folder::Folder;
use crate::pty::Terminal;

/// A folder with a reply of each kind.
fn folder() -> Folder {
    let folder = Folder::new(&[]);
    let whole = corpus::bytes("anthropic/text");
    folder.write("a.sse", &whole);
    folder.write("b/cut.sse", &whole[..whole.len() / 2]);
    folder.write("b/failed.sse", corpus::bytes("anthropic/error-mid-stream"));
    folder.write("c.sse", "<html><title>502 Bad Gateway</title></html>");
    folder.write("d.rec", &whole);
    folder.write("notes.txt", "not a recording");
    folder
}

fn read(folder: &Folder, arguments: &[&str]) -> Run {
    folder.run(&[&["read"], arguments].concat(), "")
}

#[test]
fn each_file_has_a_line_and_all_a_summary() {
    let folder = folder();
    let expected = "stopped     a.sse\ncut         b/cut.sse\nfailed      b/failed.sse\n\
                    unreadable  c.sse\nstopped     d.rec\nunreadable  missing.sse\n";
    for jobs in ["1", "2", "7"] {
        let read = read(&folder, &["a.sse", "b", "c.sse", "d.rec", "missing.sse", "--jobs", jobs]);
        assert_eq!(read.stdout, expected);
        assert_eq!(read.code, Some(2));
        expect![[r#"
            error: b/cut.sse: the stream ended before the message did: it is cut
            hint: ask for the reply again
            error: b/failed.sse: the provider reported: overloaded_error: Overloaded
            error: c.sse: the input is an HTML page and not a stream: `502 Bad Gateway`
            hint: a proxy or the wrong server has answered: check the URL, and the status with `curl -i`
            error: missing.sse: cannot open `missing.sse`: No such file or directory (os error 2)
            see: `reknit explain cut failed unknown-dialect input-output`
            6 files: 2 stopped, 1 cut, 1 failed, 2 unreadable
        "#]]
        .assert_eq(&read.stderr);
    }
    let lines = read(&folder, &["--ndjson", "c.sse", "a.sse"]).stdout;
    assert!(lines.contains("\n{\"path\":\"c.sse\",\"error\":{\"kind\":\"unknown-dialect\","), "{lines}");
    // The worst of them decides.
    assert_eq!(read(&folder, &["a.sse", "b"]).code, Some(1));
    assert_eq!(read(&folder, &["a.sse", "d.rec"]).code, Some(0));
    let quiet = read(&folder, &["a.sse", "d.rec", "-q"]);
    assert_eq!((quiet.stdout.lines().count(), quiet.stderr.as_str()), (2, ""));
    // The files of a folder, and of the folders in it.
    let all = read(&folder, &["."]);
    assert_eq!(all.stdout.lines().count(), 5, "{}", all.stdout);
}

#[test]
fn a_line_has_the_path_and_what_the_file_alone_would_print() {
    let cases = cases();
    let files: Vec<_> = cases.iter().step_by(7).map(|case| case.input.as_str()).collect();
    for options in [&["--json"][..], &["--json", "--all"], &["--ndjson"], &["--json", "--recut", "3"]] {
        let together = run(&[&["read", "--jobs", "3"], options, &files[..]].concat(), "");
        let mut lines = together.stdout.lines();
        for file in &files {
            let alone = run(&[&["read"], options, &[file]].concat(), "");
            let key = if options.contains(&"--ndjson") {
                "change"
            } else if options.contains(&"--all") {
                "messages"
            } else {
                "message"
            };
            for value in alone.stdout.lines() {
                let path = serde_json::to_string(file).expect("a path is text");
                assert_eq!(lines.next(), Some(&*format!("{{\"path\":{path},\"{key}\":{value}}}")), "{file}");
            }
            if alone.code == Some(2) {
                let line = lines.next().expect("a file that cannot be read has a line");
                assert!(line.contains("\"error\":{\"kind\":\""), "{line}");
            }
        }
        assert_eq!(lines.next(), None);
    }
}

#[test]
fn texts_follow_each_other_and_nothing_else_is_printed() {
    let folder = folder();
    let alone = |file: &str| read(&folder, &["--text", file]).stdout;
    let together = read(&folder, &["--text", "d.rec", "c.sse", "a.sse", "-j", "2"]);
    assert_eq!(together.stdout, alone("d.rec") + &alone("a.sse"));
    assert!(!alone("a.sse").is_empty());
}

#[test]
fn text_alone_is_the_text_alone() {
    let edit = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/edit.sse");
    let text = "The parser drops the indentation before it looks for a comment. I will keep the line as it is and \
                trim only the part that is compared.\n";
    assert_eq!(run(&["read", "--text", edit], "").stdout, text);
    for case in cases() {
        let read = run(&["read", "--text", &case.input], "");
        for note in ["[thinking, not shown]", "[call ", "[choice "] {
            assert!(!read.stdout.contains(note), "{}: {}", case.input, read.stdout);
        }
    }
}

#[test]
fn options_for_one_stream_are_refused() {
    let folder = folder();
    for options in [&["--events"][..], &["--record", "new.rec"]] {
        let refused = read(&folder, &[options, &["a.sse", "d.rec"]].concat());
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains("is for one stream, and there are 2"), "{}", refused.stderr);
    }
    let stdin = read(&folder, &["a.sse", "-"]);
    assert!(stdin.stderr.contains("standard input cannot be one of several files"), "{}", stdin.stderr);
}

#[test]
fn many_outputs_that_are_long_keep_their_order() {
    let folder = Folder::new(&[]);
    let text = |number: usize| format!("{number} ").repeat(if number.is_multiple_of(5) { 60_000 } else { 3 });
    for number in 0..40 {
        let data = format!(
            "{{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}},\"finish_reason\":\"stop\"}}]}}",
            text(number)
        );
        folder.write(&format!("{number:02}.sse"), format!("data: {data}\n\ndata: [DONE]\n\n"));
    }
    let expected: String = (0..40).map(|number| text(number) + "\n").collect();
    let read = read(&folder, &["--text", ".", "-j", "4"]);
    assert_eq!((read.code, read.stdout == expected), (Some(0), true), "{}", read.stderr);
}

#[test]
fn a_terminal_shows_how_far_it_is() {
    let folder = folder();
    let root = folder.root();
    let mut paths: Vec<PathBuf> = Vec::new();
    for number in 0..30 {
        let path = root.join(format!("many/{number}.sse"));
        fs::create_dir_all(path.parent().expect("it is below the root")).expect("it can be made");
        fs::copy(root.join("a.sse"), &path).expect("it can be copied");
        paths.push(path);
    }
    let many = root.join("many");
    let left = Terminal::start(80, &[], &["read", many.to_str().expect("it is UTF-8")]).end();
    assert_eq!(left.code, Some(0));
    assert!(left.bytes.contains("] 0 of 30 files"), "{:?}", left.bytes);
    let screen = left.screen();
    assert!(screen.ends_with("30 files: 30 stopped\n") && !screen.contains("of 30 files"), "{screen}");
    let quiet = Terminal::start(80, &[], &["read", "-q", many.to_str().expect("it is UTF-8")]).end();
    assert!(!quiet.bytes.contains("30 files"), "{:?}", quiet.bytes);
}
