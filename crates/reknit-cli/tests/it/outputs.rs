//! What is printed for the cases of the corpus, whole and cut again.

use expect_test::expect;
use reknit::Dialect;
use reknit::json::Value;

use crate::command::run;
use crate::corpus::{self, cases};

/// A pretty-printed expected file as the binary prints it.
fn compact(pretty: &str) -> String {
    pretty.parse::<Value>().expect("an expected file is JSON").to_string() + "\n"
}

#[test]
fn every_case_prints_its_expected_files() {
    for case in cases() {
        let from = ["read", "--from", &case.dialect, &case.input];
        let with = |options: &[&str]| run(&[&from, options].concat(), "");
        let whole = with(&["--all", "--json"]);
        let message = case.file("message.json");
        assert_eq!(whole.stdout, compact(&message), "{}", case.input);
        let native = with(&["--all", "--json", "--as", "native"]);
        match case.dialect.parse::<Dialect>().expect("it is a dialect").has_native() {
            true => assert_eq!(native.stdout, compact(&case.file("native.json"))),
            false => assert_eq!((native.code, &*native.stdout), (Some(2), ""), "{}", case.input),
        }
        assert_eq!(with(&["--ndjson"]).stdout, case.file("changes.ndjson"), "{}", case.input);
        // The exit code says whether all messages and their calls are whole, and so does stderr.
        let stopped = message.matches("\n    \"status\": \"stopped\"").count();
        let is_whole = stopped == message.matches("\n    \"status\": ").count()
            && !message.contains("\"kind\": \"cut-arguments\"");
        assert_eq!(whole.code, Some(if is_whole { 0 } else { 1 }), "{}", case.input);
        assert_eq!(whole.stderr.is_empty(), is_whole, "{}: {}", case.input, whole.stderr);
    }
}

#[test]
fn recut_changes_nothing() {
    for case in cases().iter().step_by(6) {
        for form in [&["--json"][..], &["--json", "--all"], &["--json", "--as", "native"], &["--ndjson"], &[]]
        {
            let arguments = [&["read", &case.input], form].concat();
            let whole = run(&arguments, "");
            for cut in ["bytes", "1", "2", "3"] {
                let recut = run(&[&arguments[..], &["--recut", cut]].concat(), "");
                assert_eq!(recut, whole, "{} {form:?} --recut {cut}", case.input);
            }
        }
    }
}

#[test]
fn the_last_message_or_all_of_them() {
    let input = corpus::input("anthropic/two-messages-in-a-row");
    let last = run(&["read", "--json", &input], "");
    assert!(last.stdout.starts_with(r#"{"id":"msg_02""#), "{}", last.stdout);
    let all = run(&["read", "--json", "--all", &input], "");
    assert!(all.stdout.starts_with(r#"[{"id":"msg_01""#), "{}", all.stdout);
    assert!(all.stdout.ends_with(&format!(",{}]\n", last.stdout.trim_end())), "{}", all.stdout);
    let native = run(&["read", "--as", "native", &input], "");
    assert!(native.stdout.starts_with(r#"{"id":"msg_02","type":"message""#), "{}", native.stdout);
}

#[test]
fn standard_input_is_read_for_a_dash_and_for_nothing() {
    let name = "openai-chat/tool-calls-parallel";
    let from_file = run(&["read", "--json", &corpus::input(name)], "");
    assert_eq!(from_file.code, Some(0));
    assert_eq!(run(&["read", "--json"], corpus::bytes(name)), from_file);
    assert_eq!(run(&["read", "--json", "-"], corpus::bytes(name)), from_file);
}

#[test]
fn text_is_printed_with_the_other_blocks_between() {
    let show = |name: &str| run(&["read", &corpus::input(name)], "").stdout;
    expect![[r#"
        [thinking, not shown]

        Yes.
    "#]]
    .assert_eq(&show("anthropic/thinking-with-signature"));
    expect![[r#"
        Let me look.

        [call get_weather] {"city":"São Paulo","days":3,"units":["c","mm"]}
    "#]]
    .assert_eq(&show("anthropic/tool-arguments-in-many-deltas"));
    expect![[r#"
        [call web_search, run by the provider] {"query":"heron diet"}

        Fish.
    "#]]
    .assert_eq(&show("anthropic/server-tool-with-whole-result"));
    expect![[r#"
        [call write_file] {"path": "a.txt", lines: 3} [malformed: expected a key, found 'l' at byte 18]
    "#]]
    .assert_eq(&show("anthropic/malformed-arguments"));
    expect![[r#"
        [call write_file] {"path":"a.txt","content":"half of [cut]
    "#]]
    .assert_eq(&show("openai-chat/length-inside-arguments"));
    expect![[r#"
        [call stow] {"deck":"fore [cut]

        Never mind.
    "#]]
    .assert_eq(&show("gemini/args-by-path-other-part-follows"));
    expect![""].assert_eq(&show("openai-chat/empty-reply"));
}

/// Agent C has only a stream of events. That is known before the input is read if the dialect is named.
#[test]
fn a_dialect_without_a_form_of_its_own_says_so() {
    let input = corpus::input("agent-c/text");
    for from in ["agent-c", "auto"] {
        let native = run(&["read", "--from", from, "--json", "--as", "native", &input], "");
        assert_eq!((native.code, &*native.stdout), (Some(2), ""));
        expect![[r#"
            error: `agent-c` has no form for a reply that is not streamed
            hint: omit `--as native`
            see: `reknit explain wrong-use`
        "#]]
        .assert_eq(&native.stderr);
    }
}
