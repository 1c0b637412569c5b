//! `reknit read --events`, and `reknit chunks` of them and of a whole session.

use std::fs;
use std::path::PathBuf;

use expect_test::expect;
use reknit::agent::AgentEvent;
use reknit::json::Value;
use reknit::transcript::{Change, Chunks, append};

use crate::command::{Run, run};
use crate::corpus::{self, cases};

const REPLY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/edit.sse");
pub(crate) const SESSION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/session.ndjson");

fn events(name: &str) -> String {
    run(&["read", "--events", &corpus::input(name)], "").stdout
}

#[test]
fn a_reply_is_printed_as_events() {
    expect![[r#"
        {"type":"reasoning-delta","delta":"Is it "}
        {"type":"reasoning-delta","delta":"even?"}
        {"type":"reasoning-end","metadata":{"signature":"c2lnbmF0dXJl+/=="}}
        {"type":"text-delta","delta":"Yes."}
        {"type":"usage","usage":{"inputTokens":12,"outputTokens":9,"reasoningTokens":4}}
    "#]]
    .assert_eq(&events("anthropic/thinking-with-signature"));
    expect![[r#"
        {"type":"tool-input-start","toolCallId":"srvtoolu_1","toolName":"web_search"}
        {"type":"tool-input-delta","toolCallId":"srvtoolu_1","delta":"{\"query\":\"heron"}
        {"type":"tool-input-delta","toolCallId":"srvtoolu_1","delta":" diet\"}"}
        {"type":"tool-call","toolCall":{"id":"srvtoolu_1","name":"web_search","arguments":{"query":"heron diet"},"providerExecuted":true}}
        {"type":"tool-result","toolResult":{"toolCallId":"srvtoolu_1","result":{"content":[{"type":"web_search_result","title":"Herons","url":"https://example.org/heron","encrypted_content":"ZmlzaA==","page_age":null}]}}}
        {"type":"text-delta","delta":"Fish."}
        {"type":"usage","usage":{"inputTokens":12,"outputTokens":20}}
    "#]].assert_eq(&events("anthropic/server-tool-with-whole-result"));
    expect![[r#"
        {"type":"tool-input-start","toolCallId":"toolu_01","toolName":"write_file"}
        {"type":"tool-input-delta","toolCallId":"toolu_01","delta":"{\"path\": \"a.txt\", "}
        {"type":"tool-input-delta","toolCallId":"toolu_01","delta":"lines: 3}"}
        {"type":"tool-input-error","toolCallId":"toolu_01","error":"the arguments are malformed: expected a key, found 'l' at byte 18"}
        {"type":"usage","usage":{"inputTokens":12,"outputTokens":9}}
    "#]].assert_eq(&events("anthropic/malformed-arguments"));
    expect![[r#"
        {"type":"tool-input-start","toolCallId":"call_a","toolName":"get_weather"}
        {"type":"tool-input-delta","toolCallId":"call_a","delta":"{\"city\":"}
        {"type":"tool-input-delta","toolCallId":"call_a","delta":"\"Oslo\"}"}
        {"type":"tool-call","toolCall":{"id":"call_a","name":"get_weather","arguments":{"city":"Oslo"}}}
    "#]]
    .assert_eq(&events("openai-chat/tool-call-late-id"));
    expect![[r#"
        {"type":"text-delta","delta":"As I was say"}
        {"type":"error","error":"overloaded_error: Overloaded"}
        {"type":"usage","usage":{"inputTokens":12,"outputTokens":1}}
    "#]]
    .assert_eq(&events("anthropic/error-mid-stream"));
    expect![[r#"
        {"type":"reasoning-delta","delta":""}
        {"type":"reasoning-end","metadata":{"redactedData":"ZW5jcnlwdGVkIHRob3VnaHQ="}}
        {"type":"text-delta","delta":"Done."}
        {"type":"usage","usage":{"inputTokens":12,"outputTokens":9}}
    "#]]
    .assert_eq(&events("anthropic/thinking-redacted"));
}

#[test]
fn calls_in_the_text_are_printed_as_calls() {
    let reply = "data: {\"choices\":[{\"delta\":{\"content\":\"Look: <read_file><path>a\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\".rs</path></read_file>\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let printed = run(&["read", "--events", "--tools", "cline"], reply);
    assert_eq!((printed.code, printed.stderr.as_str()), (Some(0), ""));
    expect![[r#"
        {"type":"text-delta","delta":"Look:"}
        {"type":"tool-input-start","toolCallId":"call_0_1","toolName":"read_file"}
        {"type":"tool-input-delta","toolCallId":"call_0_1","delta":"{\"path\":\"a"}
        {"type":"tool-input-delta","toolCallId":"call_0_1","delta":".rs\"}"}
        {"type":"tool-call","toolCall":{"id":"call_0_1","name":"read_file","arguments":{"path":"a.rs"},"raw":"<read_file><path>a.rs</path></read_file>"}}
    "#]].assert_eq(&printed.stdout);
}

#[test]
fn events_are_the_same_however_the_input_is_cut() {
    for case in cases().iter().step_by(7) {
        for tools in [&[][..], &["--tools", "hermes"]] {
            let arguments = [&["read", "--events", &case.input], tools].concat();
            let whole = run(&arguments, "");
            let message = run(&["read", "--json", &case.input], "");
            assert_eq!(whole.code, message.code, "{}", case.input);
            for cut in ["bytes", "5"] {
                let recut = run(&[&arguments[..], &["--recut", cut]].concat(), "");
                assert_eq!(recut, whole, "{} --recut {cut}", case.input);
            }
        }
    }
}

#[test]
fn events_are_neither_json_nor_native() {
    for other in ["--json", "--ndjson", "--all"] {
        let refused = run(&["read", "--events", other, REPLY], "");
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{other}");
    }
    let native = run(&["read", "--events", "--as", "native", REPLY], "");
    assert_eq!((native.code, native.stdout.as_str()), (Some(2), ""));
    expect![[r#"
        error: `--events` prints events, which the provider's own form does not have
        hint: use `--as native --json`, or `--events` alone
        see: `reknit explain wrong-use`
    "#]]
    .assert_eq(&native.stderr);
}

#[test]
fn the_events_of_a_reply_become_its_chunks() {
    let printed = run(&["read", "--events", REPLY], "");
    let chunks = run(&["chunks", "--json"], &printed.stdout);
    assert_eq!((chunks.code, chunks.stderr.as_str()), (Some(0), ""));
    expect![[r#"
        {
          "chunks": [
            {
              "type": "thinking",
              "text": "The test fails because `parse` trims the line before it looks for the comment. I need to see the function first, then change one line.",
              "metadata": {
                "signature": "RXhhbXBsZVNpZ25hdHVyZQ=="
              }
            },
            {
              "type": "text",
              "text": "The parser drops the indentation before it looks for a comment. I will keep the line as it is and trim only the part that is compared.\n"
            },
            {
              "type": "tool-batch",
              "calls": [
                {
                  "id": "toolu_example",
                  "name": "edit_file",
                  "arguments": {
                    "path": "src/parse.rs",
                    "old_string": "let line = line.trim();\nif line.starts_with('#') {",
                    "new_string": "if line.trim_start().starts_with('#') {"
                  }
                }
              ]
            }
          ],
          "diagnostics": []
        }
    "#]].assert_eq(&pretty(&chunks.stdout));
    let seen = run(&["chunks"], &printed.stdout);
    assert_eq!((seen.code, seen.stderr.as_str()), (Some(0), ""));
    expect![[r#"
        [thinking, not shown]

        The parser drops the indentation before it looks for a comment. I will keep the line as it is and trim only the part that is compared.

        [call edit_file] {"path":"src/parse.rs","old_string":"let line = line.trim();\nif line.starts_with('#') {","new_string":"if line.trim_start().starts_with('#') {"}
    "#]].assert_eq(&seen.stdout);
}

#[test]
fn people_see_a_session() {
    let seen = run(&["chunks", SESSION], "");
    assert_eq!((seen.code, seen.stderr.as_str()), (Some(0), ""));
    expect![[r#"
        [thinking, not shown]

        I will run the tests.

        [call run_command] {"command":"cargo test"}

        [run_command: waits for approval]

        [run_command: allowed]

        running 2 tests
        warning: unused variable
        test result: ok. 2 passed

        [result of run_command] exit code 0

        [Switched to example-model-2 (work)]

        Both tests **pass**.

        [error 529] the provider is overloaded
    "#]]
    .assert_eq(&seen.stdout);
}

#[test]
fn a_session_is_one_object_or_a_line_for_each_event() {
    let session = fs::read_to_string(SESSION).expect("the example is there");
    let mut chunks = Chunks::default();
    for line in session.lines() {
        let event: AgentEvent = serde_json::from_str(line).expect("a line of the example is an event");
        append(&mut chunks, &event);
    }
    let list = serde_json::to_string(&chunks[..]).expect("chunks are JSON");
    let json = run(&["chunks", "--json", SESSION], "");
    assert_eq!(json.stdout, format!("{{\"chunks\":{list},\"diagnostics\":[]}}\n"));

    let lines = run(&["chunks", "--ndjson", SESSION], "");
    let mut followed = Chunks::default();
    for line in lines.stdout.lines() {
        let change: Change<'_> = serde_json::from_str(line).expect("a line is a change");
        followed.follow(&change).expect("changes fit in order");
    }
    assert_eq!(followed, chunks);
    assert_eq!(lines.stdout.lines().count(), session.lines().count());
    for form in [&[][..], &["--json"], &["--ndjson"]] {
        let arguments = [&["chunks", SESSION], form].concat();
        for cut in ["bytes", "1", "2"] {
            let recut = run(&[&arguments[..], &["--recut", cut]].concat(), "");
            assert_eq!(recut, run(&arguments, ""), "{form:?} --recut {cut}");
        }
    }
}

const BAD_LINES: &[u8] = b"\xef\xbb\xbf{\"type\":\"text-delta\",\"delta\":\"one\"}\r\n\r\n   \n\
    {\"type\":\"text-delta\",\"delta\":\n\
    [1]\n\
    {\"type\":\"text-delta\",\"delta\":\"\xff\"}\n\
    {\"type\":\"tool-result\",\"toolResult\":{\"toolCallId\":\"c\",\"result\":1}}\n\
    {\"type\":\"shell-output\",\"data\":\"x\",\"stream\":\"stdin\"}\n\
    {\"type\":\"news\"}\n\
    {\"type\":\"text-delta\",\"delta\":\", two\"}";

#[test]
fn bad_lines_are_reported_and_skipped() {
    let printed = run(&["chunks", "--json"], BAD_LINES);
    assert_eq!(printed.code, Some(1));
    expect![[r#"
        {
          "chunks": [
            {
              "type": "text",
              "text": "one, two"
            }
          ],
          "diagnostics": [
            {
              "kind": "malformed-event",
              "line": 4,
              "at": 75,
              "message": "the line is not JSON: the value is cut",
              "hint": "write each event as one JSON object"
            },
            {
              "kind": "malformed-event",
              "line": 5,
              "at": 76,
              "message": "an event must be an object, but it is a list",
              "hint": "write each event as one JSON object"
            },
            {
              "kind": "malformed-event",
              "line": 6,
              "at": 110,
              "message": "the line is not UTF-8",
              "hint": "write the events as UTF-8"
            },
            {
              "kind": "orphan-agent-event",
              "event": 1,
              "line": 7,
              "at": 114,
              "message": "`tool-result` was dropped: there is no call `c`",
              "hint": "check that the first events are not missing, and that each result names the id of its call"
            },
            {
              "kind": "malformed-event",
              "line": 8,
              "at": 180,
              "message": "`stream` of `shell-output` must be one of `stdout`, `stderr`, but it is `stdin`",
              "hint": "check what writes the events; `docs/json.md` lists the members of every event"
            },
            {
              "kind": "unknown-agent-event",
              "event": 2,
              "line": 9,
              "at": 232,
              "message": "an event of the unknown type \"news\" was ignored",
              "hint": "the event was written by a newer version or another program; it is kept as it is"
            }
          ]
        }
    "#]].assert_eq(&pretty(&printed.stdout));
    expect![[r#"
        error: line 4, byte 75: the line is not JSON: the value is cut
        hint: write each event as one JSON object
        error: line 5, byte 76: an event must be an object, but it is a list
        error: line 6, byte 110: the line is not UTF-8
        hint: write the events as UTF-8
        error: line 8, byte 180: `stream` of `shell-output` must be one of `stdout`, `stderr`, but it is `stdin`
        hint: check what writes the events; `docs/json.md` lists the members of every event
        see: `reknit explain malformed-event`
    "#]].assert_eq(&printed.stderr);
    // Dropped events are reported where they are not in the output.
    let seen = run(&["chunks"], BAD_LINES);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), "one, two\n"));
    expect![[r#"
        error: line 4, byte 75: the line is not JSON: the value is cut
        hint: write each event as one JSON object
        error: line 5, byte 76: an event must be an object, but it is a list
        error: line 6, byte 110: the line is not UTF-8
        hint: write the events as UTF-8
        warning: line 7, byte 114: `tool-result` was dropped: there is no call `c`
        hint: check that the first events are not missing, and that each result names the id of its call
        error: line 8, byte 180: `stream` of `shell-output` must be one of `stdout`, `stderr`, but it is `stdin`
        hint: check what writes the events; `docs/json.md` lists the members of every event
        warning: line 9, byte 232: an event of the unknown type "news" was ignored
        hint: the event was written by a newer version or another program; it is kept as it is
        see: `reknit explain malformed-event orphan-agent-event unknown-agent-event`
    "#]].assert_eq(&seen.stderr);
    for cut in ["bytes", "3"] {
        assert_eq!(run(&["chunks", "--json", "--recut", cut], BAD_LINES), printed);
    }
}

#[test]
fn strict_stops_at_the_first_bad_line() {
    let Run { code, stdout, stderr } = run(&["chunks", "--json", "--strict"], BAD_LINES);
    assert_eq!(code, Some(1));
    expect![[r#"
        {"chunks":[{"type":"text","text":"one"}],"diagnostics":[{"kind":"malformed-event","line":4,"at":75,"message":"the line is not JSON: the value is cut","hint":"write each event as one JSON object"}]}
        error: line 4, byte 75: the line is not JSON: the value is cut
        hint: write each event as one JSON object
        see: `reknit explain malformed-event`
    "#]].assert_eq(&(stdout + &stderr));
    let whole = run(&["chunks", "--json", "--strict", SESSION], "");
    assert_eq!((whole.code, whole.stderr.as_str()), (Some(0), ""));
}

#[test]
fn no_events_are_no_chunks() {
    let nothing = run(&["chunks", "--json"], "");
    assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(0), "{\"chunks\":[],\"diagnostics\":[]}\n"));
    assert_eq!(run(&["chunks"], "\n\n").stdout, "");
}

#[test]
fn only_the_first_bad_lines_are_reported() {
    let printed = run(&["chunks", "--json"], "no\n".repeat(1_200));
    assert_eq!(printed.stderr.matches("error: ").count(), 10);
    assert!(printed.stderr.contains("and 990 more; the output has them all\n"), "{}", printed.stderr);
    assert!(printed.stdout.ends_with("],\"diagnostics_omitted\":200}\n"), "{}", printed.stdout.len());
    let printed = run(&["chunks"], "no\n".repeat(12));
    assert!(printed.stderr.contains("and 2 more; `--json` prints them all\n"), "{}", printed.stderr);
}

#[test]
fn realtime_events_print_their_happenings() {
    let mut count = 0;
    for folder in realtime_cases() {
        let read = |file: &str| fs::read_to_string(folder.join(file));
        let input = read("input.ndjson").expect("every case has it");
        // The command line has no way to give a pause, nor an end that more events follow.
        if input.contains("\"flush\"") || input.contains("\"end\":true") {
            continue;
        }
        let profile = read("profile").map_or_else(|_| "documented".to_owned(), |name| name.trim().to_owned());
        let option = format!("--realtime={profile}");
        let printed = run(&["chunks", &option, "--ndjson"], &input).stdout;
        let recut = run(&["chunks", &option, "--ndjson", "--recut", "bytes"], &input).stdout;
        assert_eq!(printed, recut, "{}", folder.display());
        let expected = read("happenings.ndjson").expect("every case has it");
        let unnumbered = |line: &str| line.split_once(',').map(|(_, rest)| format!("{{{rest}\n"));
        let expected: String = expected.lines().filter_map(unnumbered).collect();
        // Text that is held back is printed at the end.
        assert!(printed.starts_with(&expected), "{}\n{printed}\n{expected}", folder.display());
        count += 1;
    }
    assert!(count > 50, "only {count} cases");
}

fn realtime_cases() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/realtime");
    let cases = fs::read_dir(folder).expect("the corpus is there");
    cases.map(|case| case.expect("it is listed").path()).collect()
}

#[test]
fn people_see_realtime_sessions() {
    let lines = concat!(
        r#"{"type":"thought_delta","session_id":"s1","content":"Hm."}"#,
        "\n",
        r#"{"type":"text_delta","session_id":"s1","content":"Hel"}"#,
        "\n",
        r#"{"type":"text_delta","session_id":"s1","content":"lo"}"#,
        "\n",
        r#"{"type":"text_delta","session_id":"s2","content":"Beside"}"#,
        "\nno event\n",
        r#"{"type":"completion","session_id":"s1","running":false}"#,
        "\n",
    );
    let Run { stdout, stderr, code } = run(&["chunks", "--realtime"], lines);
    expect![[r#"
        [thinking, not shown]

        Hello

        [s2] Beside
    "#]]
    .assert_eq(&stdout);
    expect![[r#"
        error: line 5, byte 230: the line is not JSON: expected `null`, found 'o'
        hint: write each event as one JSON object
        warning: line 6, byte 238: message `msg_0_000000002` was not finished
        hint: show the message as cut; the server did not say that it is complete
        see: `reknit explain malformed-event interrupted-message`
    "#]]
    .assert_eq(&stderr);
    assert_eq!(code, Some(1));
}

#[test]
fn an_incomplete_event_of_a_server_is_a_bad_line() {
    let lines = "{\"type\":\"text_delta\"}\n{\"type\":\"text_delta\",\"content\":\"Hi\"}\n";
    let Run { stdout, stderr, code } = run(&["chunks", "--realtime"], lines);
    assert_eq!((stdout.as_str(), code), ("Hi\n", Some(1)));
    expect![[r#"
        error: line 1, byte 0: the event has no string `content` and changed nothing
        hint: check that the server speaks this protocol
        warning: line 2, byte 22: message `msg_0_000000000` was not finished
        hint: show the message as cut; the server did not say that it is complete
        see: `reknit explain malformed-event interrupted-message`
    "#]]
    .assert_eq(&stderr);
    assert_eq!(run(&["chunks", "--realtime", "--strict"], lines).stdout, "");
}

#[test]
fn a_message_that_is_open_at_the_end_is_in_its_session() {
    let line = r#"{"type":"text_delta","session_id":"s1","content":"Knit two"}"#;
    let Run { stdout, code, .. } = run(&["chunks", "--realtime", "--json"], format!("{line}\n"));
    let printed: Value = stdout.parse().expect("it is JSON");
    let message = printed.pointer("/sessions/s1/messages/0").expect("it was kept");
    let shown = ["content", "status"].map(|key| message.get(key).and_then(Value::as_str).map(Into::into));
    assert_eq!(shown, [Some("Knit two".to_owned()), Some("error".to_owned())]);
    let kind = printed.pointer("/diagnostics/0/kind").and_then(Value::as_str);
    assert_eq!((kind.as_deref(), code), (Some("interrupted-message"), Some(0)));
}

#[test]
fn arguments_near_the_depth_limit_can_be_read_back() {
    for depth in [100, 120, 125, 126, 127] {
        let arguments = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let start = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"n","input":{}}}"#;
        let delta = format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":"{arguments}"}}}}"#
        );
        let end = r#"{"type":"content_block_stop","index":0}"#;
        let stream = format!("data: {start}\n\ndata: {delta}\n\ndata: {end}\n\n");
        let events = run(&["read", "--from", "anthropic", "--events"], &stream).stdout;
        let Run { stdout, stderr, code } = run(&["chunks", "--json"], &events);
        assert_eq!((stderr.as_str(), code), ("", Some(0)), "{depth}");
        assert!(stdout.contains(&arguments), "{depth}: {stdout}");
    }
}

#[test]
fn input_of_another_kind_has_a_hint() {
    let hint = |arguments: &[&str], line: &str| {
        let stderr = run(arguments, line).stderr;
        stderr.lines().find_map(|line| line.strip_prefix("hint: ")).map(str::to_owned)
    };
    assert_eq!(
        hint(&["chunks"], "event: message_start\n").as_deref(),
        Some("for a provider's stream, use the output of `reknit read --events`")
    );
    assert_eq!(
        hint(&["chunks"], r#"{"type":"text_delta","session_id":"s1","content":"Hi"}"#).as_deref(),
        Some("read the events of an Agent C server with `--realtime`")
    );
    assert_eq!(
        hint(&["chunks", "--realtime"], r#"{"type":"text-delta","delta":"Hi"}"#).as_deref(),
        Some("read the events of a session without `--realtime`")
    );
}

#[test]
fn a_long_message_of_a_server_is_shown_whole() {
    let line = r#"{"type":"text_delta","session_id":"s1","content":"knit purl "}"#;
    let printed = run(&["chunks", "--realtime"], format!("{line}\n").repeat(5_000));
    assert_eq!(printed.stdout, "knit purl ".repeat(5_000) + "\n");
}

fn pretty(json: &str) -> String {
    let value: Value = json.parse().expect("it is JSON");
    serde_json::to_string_pretty(&value).expect("a value is JSON") + "\n"
}

#[test]
fn the_rules_of_a_server_can_be_named_without_an_equals_sign() {
    let line = "{\"type\":\"text_delta\",\"session_id\":\"s\",\"content\":\"Hi\"}\n";
    let joined = run(&["chunks", "--realtime=agent-c", "--json"], line);
    assert_eq!(joined.code, Some(0), "{}", joined.stderr);
    assert_eq!(run(&["chunks", "--realtime", "agent-c", "--json"], line), joined);
    // Any other word is the file.
    let file = run(&["chunks", "--realtime", "missing.ndjson"], "");
    assert!(file.stderr.starts_with("error: cannot open `missing.ndjson`"), "{}", file.stderr);
}

#[test]
fn fed_a_providers_stream_it_gives_its_hint_once() {
    let chunks = run(&["chunks"], crate::corpus::bytes("anthropic/text"));
    assert_eq!(chunks.code, Some(1));
    let hint = "hint: for a provider's stream, use the output of `reknit read --events`";
    assert_eq!(chunks.stderr.matches(hint).count(), 1, "{}", chunks.stderr);
}
