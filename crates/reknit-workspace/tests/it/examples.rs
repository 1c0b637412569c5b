//! Runs the example programs.

use std::env;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::fixture::{Fixture, tree};

/// Runs an example with the project's folder as its argument; returns what it prints, and whether it succeeds.
fn run(name: &str, fixture: &Fixture, input: &str) -> (String, bool) {
    let tests = env::current_exe().unwrap();
    let program = tests.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(program.exists(), "`{}` is not built: run `cargo build --examples`", program.display());
    let mut child = Command::new(program)
        .arg(fixture.root.path())
        .env("XDG_STATE_HOME", fixture.folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.success())
}

#[test]
fn apply_answer_applies_all_of_an_answer_or_nothing() {
    let fixture = Fixture::new(&[("a.txt", "one\ntwo\n"), ("b.txt", "three\n")]);
    let a = "a.txt\n```\n<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE\n```\n";
    let b = "b.txt\n```\n<<<<<<< SEARCH\nfour\n=======\n4\n>>>>>>> REPLACE\n```\n";
    let (printed, succeeded) = run("apply_answer", &fixture, &format!("{a}{b}"));
    assert!(printed.starts_with("edit 2 of `b.txt`: search text not found\nhint: "), "{printed}");
    assert!(!succeeded);
    assert_eq!(fixture.tree(), tree(&[("a.txt", "one\ntwo\n"), ("b.txt", "three\n")]));

    assert_eq!(run("apply_answer", &fixture, a), ("written; `reknit undo 1` takes it back\n".into(), true));
    assert_eq!(fixture.tree(), tree(&[("a.txt", "one\n2\n"), ("b.txt", "three\n")]));
}
