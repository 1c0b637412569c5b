//! `--color`, the variables about it, and `--quiet`.

use std::process::{Command, Stdio};

use expect_test::expect;

use crate::command::Run;
use crate::pty::Terminal;

const EDIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/edit.sse");

/// Runs the binary on pipes, with these variables and no others about colours.
fn run(environment: &[(&str, &str)], arguments: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reknit"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.args(arguments).envs(environment.iter().copied()).stdin(Stdio::null());
    command.output().expect("the binary was built for this test").into()
}

#[test]
fn errors_have_the_colours_of_claps() {
    let ours = run(&[], &["read", "--color", "always", "missing.sse"]);
    assert!(
        ours.stderr.starts_with("\x1b[0;1;31merror:\x1b[0m cannot open `missing.sse`: "),
        "{:?}",
        ours.stderr
    );
    assert!(
        ours.stderr.contains("\n\x1b[0;2msee:\x1b[0m `reknit explain input-output`\n"),
        "{:?}",
        ours.stderr
    );
    let of_clap = run(&[], &["read", "--color=always", "--wrong"]);
    assert!(of_clap.stderr.starts_with("\x1b[1m\x1b[31merror:\x1b[0m "), "{:?}", of_clap.stderr);
}

#[test]
fn the_flag_goes_before_the_variables_and_they_before_the_terminal() {
    let has_colours = |environment: &[(&str, &str)], flags: &[&str]| {
        let arguments = [&["read", "missing.sse"], flags].concat();
        let piped = run(environment, &arguments).stderr.contains('\x1b');
        let shown = Terminal::start(80, environment, &arguments).end().bytes.contains('\x1b');
        (piped, shown)
    };
    let always = &["--color", "always"][..];
    let never = &["--color", "never"][..];
    assert_eq!(has_colours(&[], &[]), (false, true));
    assert_eq!(has_colours(&[], always), (true, true));
    assert_eq!(has_colours(&[], never), (false, false));
    assert_eq!(has_colours(&[("CLICOLOR_FORCE", "1")], &[]), (true, true));
    assert_eq!(has_colours(&[("CLICOLOR_FORCE", "0")], &[]), (false, true));
    assert_eq!(has_colours(&[("CLICOLOR_FORCE", "1")], never), (false, false));
    assert_eq!(has_colours(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], &[]), (false, false));
    assert_eq!(has_colours(&[("NO_COLOR", "1")], always), (true, true));
    assert_eq!(has_colours(&[("CLICOLOR", "0")], &[]), (false, false));
    assert_eq!(has_colours(&[("TERM", "dumb")], &[]), (false, false));
}

#[test]
fn colours_on_a_pipe_change_no_text() {
    let plain = run(&[], &["read", EDIT]);
    let painted = run(&[], &["read", EDIT, "--color", "always"]);
    assert!(painted.stdout.contains("\x1b[0;1;33m[call edit_file]\x1b[0m {"), "{:?}", painted.stdout);
    let mut text = String::new();
    for (number, part) in painted.stdout.split('\x1b').enumerate() {
        text.push_str(if number == 0 { part } else { part.split_once('m').expect("it is a style").1 });
    }
    assert_eq!(text, plain.stdout);
    assert_eq!(
        run(&[("CLICOLOR_FORCE", "1")], &["read", "--text", EDIT]).stdout,
        run(&[], &["read", "--text", EDIT]).stdout
    );
}

#[test]
fn quiet_leaves_errors() {
    let odd = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n";
    let loud = crate::command::run(&["read"], odd);
    assert!(loud.stderr.starts_with("warning: "), "{}", loud.stderr);
    assert_eq!(crate::command::run(&["read", "-q"], odd).stderr, "");
    let failed = crate::command::run(&["-q", "read", "missing.sse"], "");
    assert!(failed.stderr.starts_with("error: cannot open `missing.sse`"), "{}", failed.stderr);
    assert_eq!(failed.stderr.lines().count(), 1);
}

#[test]
fn an_explanation_on_a_terminal_is_styled_and_wraps_words() {
    let left = Terminal::start(60, &[], &["explain", "missing-id"]).end();
    expect![[r#"
        ⟨b5⟩# missing-id

        ⟨⟩A tool call arrived without an id, or with that of another
        call, and was given one.

        ⟨d⟩**⟨b⟩Why.⟨d⟩**⟨⟩ The server leaves out ids.
        The result of a call has to refer to one, so one is made up,
        such as⟨d⟩ `⟨6⟩call_0⟨d⟩`⟨⟩.

        ⟨d⟩**⟨b⟩What to do.⟨d⟩**⟨⟩ Nothing.

        ⟨d⟩```console
        ⟨6⟩$ cat reply.sse
        data: {"choices":[{"delta":{"tool_calls":[{"index":0,"functi
        on":{"name":"find","arguments":"{}"}}]},"finish_reason":"too
        l_calls"}]}

        $ reknit read reply.sse
        warning: byte 0: call to `find` has no id, and was given `ca
        ll_0`
        hint: no action needed; the server leaves out ids
        ⟨d⟩```
    "#]]
    .assert_eq(&left.styled());
}

#[test]
fn text_alone_cannot_control_a_terminal() {
    let reply =
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\\u001b[31mb\"},\"finish_reason\":\"stop\"}]}\n\n";
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("control.sse");
    std::fs::write(&path, reply).expect("the folder for tests can be written");
    let left = Terminal::start(60, &[], &["read", "--text", path.to_str().expect("it is UTF-8")]).end();
    assert!(left.bytes.contains("a␛[31mb") && !left.bytes.contains("\x1b[31m"), "{:?}", left.bytes);
}
