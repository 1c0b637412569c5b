//! The examples fit on a screen, run, and print what their comments say.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use expect_test::{Expect, expect};

const LINES: usize = 25;

fn check(name: &str, expect: &Expect) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = fs::read_to_string(folder.join(format!("examples/{name}.rs"))).unwrap();
    assert!(source.lines().count() <= LINES, "{name} has more than {LINES} lines");
    // The examples are built with the tests, into the folder beside theirs.
    let tests = env::current_exe().unwrap();
    let program = tests.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(program.exists(), "`{}` is not built: run `cargo test` without `--test`", program.display());
    let output = Command::new(program).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    expect.assert_eq(&String::from_utf8(output.stdout).unwrap());
}

#[test]
fn items() {
    check(
        "items",
        &expect![[r#"
        The test fails because `parse` trims the line before it looks for the comment. I need to see the function first, then change one line.The parser drops the indentation before it looks for a comment. I will keep the line as it is and trim only the part that is compared.
        run edit_file (toolu_example)
        Stopped, Usage { input: Some(412), output: Some(121), cache_read: None, cache_write: None, reasoning: None }
    "#]],
    );
}

#[test]
fn runnable_calls() {
    check(
        "runnable_calls",
        &expect![[r#"
        Stopped: 1 call(s) may be run
        of 1 that are complete
        Cut: 0 call(s) may be run
        of 1 that are complete
    "#]],
    );
}

#[test]
fn parse_call() {
    check(
        "parse_call",
        &expect![[r#"
        src/parse.rs: 50 bytes become 39
    "#]],
    );
}

#[test]
fn agent_events() {
    check(
        "agent_events",
        &expect![[r#"
        3 chunks of 27 events
    "#]],
    );
}

#[test]
fn change_stream() {
    check(
        "change_stream",
        &expect![[r#"
        Some(Block { slot: Slot { number: 0, below: 0 }, choice: 0, end: Some(Closed), body: Thinking { text: "The test fails because `parse` trims the line before it looks for the comment. I need to see the function first, then change one line.", signature: "RXhhbXBsZVNpZ25hdHVyZQ==", redacted: None }, extra: Extra { fields: {} } })
        Some(Block { slot: Slot { number: 1, below: 0 }, choice: 0, end: Some(Closed), body: Text { text: "The parser drops the indentation before it looks for a comment. I will keep the line as it is and trim only the part that is compared.\n", refusal: false }, extra: Extra { fields: {} } })
        Some(Block { slot: Slot { number: 2, below: 0 }, choice: 0, end: Some(Closed), body: ToolCall(ToolCall { id: Given("toolu_example"), name: "edit_file", runner: Client, args: Complete(Object({"path": String("src/parse.rs"), "old_string": String("let line = line.trim();\nif line.starts_with('#') {"), "new_string": String("if line.trim_start().starts_with('#') {")})), origin: Native, raw: None }), extra: Extra { fields: {} } })
    "#]],
    );
}
