//! `reknit explain`, and that what it shows is what happens.

use std::fs;
use std::path::Path;
use std::process::Command;

use expect_test::expect;

use crate::command::run;

#[test]
fn an_entry_is_printed_as_on_the_page() {
    let explained = run(&["explain", "missing-id"], "");
    assert_eq!((explained.code, explained.stderr.as_str()), (Some(0), ""));
    expect![[r#"
        missing-id

        A tool call arrived without an id, or with that of another call, and was given one.

        **Why.** The server leaves out ids.
        The result of a call has to refer to one, so one is made up, such as `call_0`.

        **What to do.** Nothing.

        ```console
        $ cat reply.sse
        data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"find","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}

        $ reknit read reply.sse
        warning: byte 0: call to `find` has no id, and was given `call_0`
        hint: no action needed; the server leaves out ids
        ```
    "#]]
    .assert_eq(&explained.stdout);
    let two = run(&["explain", "missing-id", "cut"], "");
    assert!(two.stdout.starts_with(&(explained.stdout + "\ncut\n\n")), "{}", two.stdout);
}

#[test]
fn without_a_name_all_are_listed() {
    let list = run(&["explain"], "");
    assert_eq!(list.code, Some(0));
    let line = "cut-arguments         The arguments of a tool call are incomplete.";
    assert!(list.stdout.lines().any(|listed| listed == line), "{}", list.stdout);
}

#[test]
fn an_unknown_name_is_wrong_usage() {
    let unknown = run(&["explain", "weather"], "");
    assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(2), ""));
    expect![[r#"
        error: there is no explanation for `weather`
        hint: `reknit explain` lists what can be explained
    "#]]
    .assert_eq(&unknown.stderr);
}

/// Runs what follows `$` on the page, and compares what is written to standard error.
#[cfg(unix)]
#[test]
fn every_example_is_real() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md"));
    let page = page.expect("the page is there");
    let parent = Path::new(env!("CARGO_TARGET_TMPDIR")).join("explain");
    let _ = fs::remove_dir_all(&parent);
    for section in page.split("\n### ").skip(1) {
        let (name, text) = section.split_once('\n').expect("a heading is a line");
        let (_, example) = text.split_once("```console\n$ ").expect("an entry has an example");
        let (example, _) = example.split_once("\n```").expect("an example ends");
        let folder = parent.join(name);
        fs::create_dir_all(&folder).expect("the folder for tests can be written");
        let mut steps = example.split("\n$ ").peekable();
        while let Some((file, content)) =
            steps.peek().and_then(|step| step.strip_prefix("cat ")?.split_once('\n'))
        {
            // What is shown of a file that lacks its last line end cannot show that.
            let end = if name == "cut-recording" { "" } else { "\n" };
            fs::write(folder.join(file), content.to_owned() + end).expect("the folder can be written");
            steps.next();
        }
        let (command, expected) = steps.next().and_then(|step| step.split_once('\n')).expect("a command");
        let (printed, kinds) = shell(command, &folder);
        assert_eq!(printed, expected, "{name}: {command}");
        // The error about a recording that cannot be read does not name its kind.
        let silent = ["broken-recording", "not-a-recording", "unknown-version"].contains(&name);
        assert_eq!(kinds.split(' ').any(|kind| kind == name), !silent, "{name}: see {kinds:?}");
    }
}

/// What a command prints, and the kinds that it points to.
fn shell(command: &str, folder: &Path) -> (String, String) {
    let binary = Path::new(env!("CARGO_BIN_EXE_reknit"));
    let beside = binary.parent().expect("it lies in a folder").display();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env("PATH", format!("{beside}:{path}"));
    // The examples are about a user who has no keys.
    for variable in crate::command::MODEL_VARIABLES {
        shell.env_remove(variable);
    }
    let output = shell.output().expect("there is a shell");
    let words = String::from_utf8(output.stderr).expect("all that is printed is UTF-8");
    let (see, printed): (Vec<_>, Vec<_>) = words.lines().partition(|line| line.starts_with("see: "));
    let kinds = see.iter().filter_map(|line| line.strip_prefix("see: `reknit explain ")?.strip_suffix('`'));
    (printed.join("\n"), kinds.collect::<Vec<_>>().join(" "))
}
