//! `reknit run` and `reknit sessions`: the demo from its first line to its undo.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use expect_test::expect;
use serde_json::Value;

use crate::command::Run;
use crate::pty::Terminal;

/// A folder for what the binary keeps, and for the copy of the sample project.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("there is a temporary folder"))
    }

    fn path(&self) -> &str {
        self.0.path().to_str().expect("it is Unicode")
    }

    fn environment(&self) -> [(&'static str, &str); 2] {
        [("XDG_STATE_HOME", self.path()), ("TMPDIR", self.path())]
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reknit"));
        command.args(arguments).envs(self.environment()).env("XDG_CONFIG_HOME", self.path());
        for variable in crate::command::MODEL_VARIABLES {
            command.env_remove(variable);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the binary to its end, with these lines on its standard input.
    fn run(&self, arguments: &[&str], lines: &str) -> Run {
        let mut child = self.command(arguments).spawn().expect("the binary was built for this test");
        let mut stdin = child.stdin.take().expect("it is on a pipe");
        // A program that asks nothing does not read them.
        let _ = stdin.write_all(lines.as_bytes());
        drop(stdin);
        child.wait_with_output().expect("it can be waited for").into()
    }

    /// The copy of the sample project that the last run has made.
    fn project(&self) -> PathBuf {
        let entries =
            fs::read_dir(self.0.path()).expect("it is there").map(|entry| entry.expect("it is there").path());
        let name = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("reknit-demo-"))
        };
        entries
            .filter(name)
            .max_by_key(|path| fs::metadata(path).and_then(|data| data.created()).ok())
            .expect("a demo was played")
    }

    fn total(&self) -> String {
        fs::read_to_string(self.project().join("total.sh")).expect("it is there")
    }

    /// The id of the only session.
    fn session(&self) -> String {
        let list = self.run(&["sessions", "--json"], "");
        let list: Value = serde_json::from_str(&list.stdout).expect("it is JSON");
        list["sessions"][0]["id"].as_str().expect("there is one").to_owned()
    }

    /// A text without what differs from run to run.
    fn stable(&self, text: &str) -> String {
        let project = self.project().canonicalize().expect("it is there");
        let mut text = text.replace(&project.display().to_string(), "PROJECT").replace(&self.session(), "ID");
        while let Some(at) = text.find("Took: ") {
            let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
            let start = text[..at].rfind('\n').map_or(0, |start| start + 1);
            text.replace_range(start..end, "");
        }
        text
    }
}

const ORIGINAL: &str = include_str!("../../demo/project/total.sh");

#[test]
fn the_demo_fails_a_test_edits_a_file_and_passes_it() {
    let home = Home::new();
    let demo = home.run(&["run", "--demo"], "y\ny\n");
    expect![[r#"
        ┊ The total is wrong. Before I change anything I want to see the files, the script, and where the count is used.

        I will look at the project first.

        [list_files for '.']
          README.md
          test.sh
          total.sh

        [read_file for 'total.sh']
          File: total.sh
          Lines 1-7 of 7:
             1 | #!/bin/sh
             2 | # Prints what a shopping list costs: lines of `name price count`.
             3 | total=0
             4 | while read -r name price count; do
          … 3 more lines

        [search_files for 'count']
          Found 3 results.
          # README.md
               2 | 
          >    3 | `total.sh` reads lines of `name price count` and prints what all of it costs.
               4 | `sh test.sh` checks it.
          # total.sh
          … 5 more lines

        [read_file for 'tests/total.sh']
          `tests/total.sh`: no such file. Similar files: `total.sh`.

        The count is read but never used, which would explain it. There is no `tests/total.sh`; the test is `test.sh`. Let me see it fail.

        [execute_command for 'sh test.sh']
        $ sh test.sh
        Run this? [y/n, or what to say to the model] y
        FAILED: three apples and a bread cost 6, expected 10
          Exit code: 1

        ┊ It fails as expected: three apples are counted as one. The price has to be multiplied by the count.

        Three apples cost as much as one. I multiply the price by the count.

        editing total.sh
        +    # An item costs its price as often as it is bought.
        +    total=$((total + price * count))

        [apply_diff for 'total.sh']
        --- a/total.sh
        +++ b/total.sh
        @@ -2,6 +2,7 @@
         # Prints what a shopping list costs: lines of `name price count`.
         total=0
         while read -r name price count; do
        -    total=$((total + price))
        +    # An item costs its price as often as it is bought.
        +    total=$((total + price * count))
         done
         echo "$total"
        Write this? [y/n, or what to say to the model] y
          Changed `total.sh` (+2 -1 lines).

        Now the same test should pass.

        [execute_command for 'sh test.sh']
        ok: three apples and a bread cost 10
          Exit code: 0

        `total.sh` now multiplies each price by its count, and the test passes.
    "#]].assert_eq(&home.stable(&demo.stdout));
    expect![[r#"
        task: The total of the shopping list is wrong. Please fix it.
        in PROJECT


        the files are in   PROJECT
        undo the edit:     reknit undo --root PROJECT
        see it again:      reknit sessions show ID
    "#]]
    .assert_eq(&home.stable(&demo.stderr));
    assert_eq!(demo.code, Some(0));
    assert!(home.total().contains("price * count"), "{}", home.total());

    // What the session has written is undone like any other write.
    let project = home.project();
    let undo = home.run(&["undo", "--yes", "--root", project.to_str().expect("it is Unicode")], "");
    assert_eq!(undo.code, Some(0), "{}", undo.stderr);
    assert_eq!(home.total(), ORIGINAL);
}

#[test]
fn a_denied_edit_ends_the_demo_in_another_way() {
    let home = Home::new();
    let demo = home.run(&["run"], "y\nrather not\n");
    assert_eq!(demo.code, Some(0));
    let (_, end) = demo.stdout.split_once("Write this?").expect("it asks");
    expect![[r#"
         [y/n, or what to say to the model] rather not
          The user denied this operation and responded with the message:
          rather not

        All right, I leave `total.sh` as it is. The mistake is in its fifth line: the price is never multiplied by the count, so three apples cost as much as one.
    "#]].assert_eq(end);
    expect![[r#"
        task: The total of the shopping list is wrong. Please fix it.
        in PROJECT


        the files are in   PROJECT
        see it again:      reknit sessions show ID
    "#]]
    .assert_eq(&home.stable(&demo.stderr));
    assert_eq!(home.total(), ORIGINAL);
}

#[test]
fn nobody_to_ask_means_denied_and_yes_covers_edits_only() {
    let home = Home::new();
    let demo = home.run(&["run", "--demo"], "");
    assert_eq!(demo.code, Some(0));
    assert!(demo.stdout.contains("Nobody can be asked in this session."), "{}", demo.stdout);
    assert_eq!(home.total(), ORIGINAL);

    let home = Home::new();
    let demo = home.run(&["run", "--demo", "--yes"], "");
    assert_eq!(demo.code, Some(0));
    assert!(demo.stdout.contains("Run this?") && !demo.stdout.contains("Write this?"), "{}", demo.stdout);
    assert!(demo.stdout.ends_with("The test was not run, so I have not seen it pass.\n"), "{}", demo.stdout);
    assert!(home.total().contains("price * count"), "{}", home.total());
}

#[test]
fn ndjson_prints_the_entries_as_the_log_has_them() {
    let home = Home::new();
    let demo = home.run(&["run", "--demo", "--ndjson"], "y\ny\n");
    assert_eq!((demo.code, demo.stderr.as_str()), (Some(0), ""));
    let entries: Vec<Value> =
        demo.stdout.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    for (index, entry) in entries.iter().enumerate() {
        assert_eq!(entry["seq"], index + 1);
    }
    let kinds: Vec<_> = entries.iter().filter_map(|entry| entry["body"]["type"].as_str()).collect();
    for kind in [
        "user-message",
        "request",
        "edit-preview",
        "tool-call",
        "approval-request",
        "decision",
        "tool-started",
        "shell-output",
        "tool-result",
        "end",
    ] {
        assert!(kinds.contains(&kind), "{kind} is not in {kinds:?}");
    }
    let shown = home.run(&["sessions", "show", &home.session(), "--ndjson"], "");
    assert_eq!(shown.stdout, demo.stdout);
}

#[test]
fn a_task_needs_a_model() {
    let home = Home::new();
    let run = home.run(&["run", "Fix it"], "");
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    for word in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "Ollama", "`reknit run --demo`"] {
        assert!(run.stderr.contains(word), "{word} is not in {}", run.stderr);
    }
}

#[test]
fn the_number_of_requests_is_limited() {
    let home = Home::new();
    let run = home.run(&["run", "--demo", "--max-turns", "1"], "");
    assert_eq!(run.code, Some(1));
    assert!(
        run.stdout.ends_with("note: stopped after 1 request; say something to go on\n"),
        "{}",
        run.stdout
    );
    assert!(run.stderr.contains("reknit run --resume"), "{}", run.stderr);
    let none = home.run(&["run", "--demo", "--max-turns", "0"], "");
    assert_eq!(none.code, Some(2), "{}", none.stderr);
}

#[test]
fn sessions_are_listed_shown_and_deleted() {
    let home = Home::new();
    let none = home.run(&["sessions"], "");
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), ""));
    assert_eq!(none.stderr, "there are no sessions yet; `reknit run` starts one\n");
    assert_eq!(home.run(&["sessions", "show", "x"], "").code, Some(2));
    assert_eq!(fs::read_dir(home.path()).expect("it is there").count(), 0, "looking makes no store");

    let demo = home.run(&["run", "--demo"], "y\ny\n");
    let id = home.session();
    let list = home.run(&["sessions"], "");
    assert!(list.stdout.starts_with(&format!("{id}  2")), "{}", list.stdout);
    assert!(
        list.stdout.ends_with("  The total of the shopping list is wrong. Please fix it.\n"),
        "{}",
        list.stdout
    );

    // What was on the screen, without the answers and without what grew.
    let shown = home.run(&["sessions", "show", &id], "");
    assert_eq!(shown.code, Some(0));
    assert!(shown.stdout.starts_with("task: The total of the shopping list is wrong."), "{}", shown.stdout);
    let end = "`total.sh` now multiplies each price by its count, and the test passes.\n";
    assert!(shown.stdout.ends_with(end) && demo.stdout.ends_with(end), "{}", shown.stdout);

    assert_eq!(home.run(&["sessions", "delete", &id], "").code, Some(0));
    assert_eq!(home.run(&["sessions"], "").stdout, "");
    let gone = home.run(&["sessions", "show", &id], "");
    assert_eq!(gone.code, Some(2));
    assert!(
        gone.stderr.starts_with(&format!("error: there is no session `{id}`\nhint: ")),
        "{}",
        gone.stderr
    );
    // The files are the user's.
    assert!(home.total().contains("price * count"));
}

#[test]
fn a_killed_session_is_resumed_with_its_question() {
    let home = Home::new();
    let mut child = home.command(&["run", "--demo"]).spawn().expect("the binary was built for this test");
    let mut keyboard = child.stdin.take().expect("it is on a pipe");
    keyboard.write_all(b"y\n").expect("it is read");
    let mut out = child.stdout.take().expect("it is on a pipe");
    let mut shown = Vec::new();
    while !shown.ends_with(b"Write this?") {
        let mut byte = [0];
        out.read_exact(&mut byte).expect("it asks");
        shown.push(byte[0]);
    }
    child.kill().and_then(|()| child.wait()).expect("it runs");
    assert_eq!(home.total(), ORIGINAL);

    let id = home.session();
    let resumed = home.run(&["run", "--resume", &id], "y\ny\n");
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert!(resumed.stderr.starts_with(&format!("session {id} goes on\nin ")), "{}", resumed.stderr);
    // The question is asked again, and what was done before is not done again.
    expect![[r#"
        --- a/total.sh
        +++ b/total.sh
        @@ -2,6 +2,7 @@
         # Prints what a shopping list costs: lines of `name price count`.
         total=0
         while read -r name price count; do
        -    total=$((total + price))
        +    # An item costs its price as often as it is bought.
        +    total=$((total + price * count))
         done
         echo "$total"
        Write this? [y/n, or what to say to the model] y
          Changed `total.sh` (+2 -1 lines).

        Now the same test should pass.

        [execute_command for 'sh test.sh']
        $ sh test.sh
        Run this? [y/n, or what to say to the model] y
        ok: three apples and a bread cost 10
          Exit code: 0

        `total.sh` now multiplies each price by its count, and the test passes.
    "#]]
    .assert_eq(&home.stable(&resumed.stdout));
    assert!(home.total().contains("price * count"), "{}", home.total());

    let over = home.run(&["run", "--resume", &id], "");
    assert_eq!(over.code, Some(2));
    assert!(over.stderr.starts_with(&format!("error: session `{id}` is done\n")), "{}", over.stderr);
    let more = home.run(&["run", "--resume", &id, "Thanks"], "");
    assert_eq!(more.code, Some(1));
    assert!(more.stdout.contains("error: the recorded conversation ends here"), "{}", more.stdout);
}

/// Starts the demo on pipes, waits for its question about a command, and sends a signal instead of an answer.
fn interrupted(signal: &str) -> (Home, Run) {
    let home = Home::new();
    let mut child = home.command(&["run", "--demo"]).spawn().expect("the binary was built for this test");
    let keyboard = child.stdin.take();
    let mut lines = BufReader::new(child.stdout.take().expect("it is on a pipe")).lines();
    while !lines.next().expect("it asks").expect("it is UTF-8").starts_with("$ sh test.sh") {}
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.expect("there is `kill`").success());
    let rest: Vec<String> = lines.map(|line| line.expect("it is UTF-8")).collect();
    let output = child.wait_with_output().expect("it can be waited for");
    drop(keyboard);
    let mut run = Run::from(output);
    run.stdout = rest.join("\n");
    (home, run)
}

#[test]
fn signals_cancel_the_turn_and_say_how_to_go_on() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let (home, run) = interrupted(signal);
        assert_eq!(run.code, Some(code), "{}", run.stderr);
        assert!(run.stdout.contains("was cancelled by the user"), "{}", run.stdout);
        let id = home.session();
        assert!(run.stderr.contains(&format!("reknit run --resume {id}\n")), "{}", run.stderr);
        // The command was not denied, so the model goes on as if it had run.
        let resumed = home.run(&["run", "--resume", &id], "y\ny\n");
        assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
        assert!(home.total().contains("price * count"), "{}", home.total());
    }
}

#[test]
fn the_demo_on_a_terminal_takes_two_keys() {
    let home = Home::new();
    let mut terminal = Terminal::start_typing(100, &home.environment(), &["run", "--demo"]);
    // What is typed before anything is asked answers nothing.
    terminal.wait_for("I will look at the project first.");
    terminal.press(b"n\n");
    terminal.wait_for("Run this?");
    terminal.press(b"y\n");
    terminal.wait_for("FAILED: three apples and a bread cost 6, expected 10");
    // The edit is on the screen while it is written, and before it is asked about.
    terminal.wait_for("+    # An item costs");
    assert!(!terminal.look().0.contains("Write this?"));
    terminal.wait_for("Write this?");
    terminal.press(b"y\n");
    terminal.wait_for("ok: three apples and a bread cost 10");
    let left = terminal.end();
    assert_eq!(left.code, Some(0));
    expect![[r#"

        The count is read but never used, which would explain it. There is no `tests/total.sh`; the test is
        `test.sh`. Let me see it fail.

        [execute_command for 'sh test.sh']
        $ sh test.sh
        Run this? [y/n, or what to say to the model] y
        FAILED: three apples and a bread cost 6, expected 10
          Exit code: 1

        ┊ It fails as expected: three apples are counted as one. The price has to be multiplied by the
        ┊ count.

        Three apples cost as much as one. I multiply the price by the count.

        editing total.sh
        +    # An item costs its price as often as it is bought.
        +    total=$((total + price * count))

        [apply_diff for 'total.sh']
        --- a/total.sh
        +++ b/total.sh
        @@ -2,6 +2,7 @@
         # Prints what a shopping list costs: lines of `name price count`.
         total=0
         while read -r name price count; do
        -    total=$((total + price))
        +    # An item costs its price as often as it is bought.
        +    total=$((total + price * count))
         done
         echo "$total"
        Write this? [y/n, or what to say to the model] y
          Changed `total.sh` (+2 -1 lines).

        Now the same test should pass.

        [execute_command for 'sh test.sh']
        ok: three apples and a bread cost 10
          Exit code: 0

        `total.sh` now multiplies each price by its count, and the test passes.

        the files are in   PROJECT
        undo the edit:     reknit undo --root PROJECT
        see it again:      reknit sessions show ID
    "#]]
    .assert_eq(&home.stable(&left.screen()));
    assert!(home.total().contains("price * count"), "{}", home.total());
}

#[test]
fn ctrl_c_on_a_terminal_cancels_the_turn() {
    let home = Home::new();
    let mut terminal = Terminal::start_typing(100, &home.environment(), &["run", "--demo"]);
    terminal.wait_for("Run this?");
    terminal.press(b"\x03");
    let left = terminal.end();
    assert_eq!(left.code, Some(130));
    assert!(left.screen().contains("reknit run --resume"), "{}", left.screen());
    assert_eq!(home.total(), ORIGINAL);
}
