//! `reknit read` on a terminal: what is on the screen.

use std::fs;
use std::io::Write;

use expect_test::{Expect, expect};
use tempfile::NamedTempFile;

use crate::chunks::SESSION;
use crate::corpus::{self, cases};
use crate::pty::{Left, Terminal};

const RECORDING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/write.rec");
const STREAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/edit.sse");
const TEXT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tools.txt");

fn read(columns: u16, environment: &[(&str, &str)], arguments: &[&str]) -> Left {
    Terminal::start(columns, environment, &[&["read"], arguments].concat()).end()
}

#[expect(clippy::needless_pass_by_value, reason = "so that callers can write `expect![..]`")]
fn check(left: &Left, code: i32, expected: Expect) {
    expected.assert_eq(&left.screen());
    assert_eq!(left.code, Some(code));
}

#[test]
fn a_reply_is_shown_with_all_its_parts() {
    let left = read(80, &[], &[RECORDING]);
    expect![[r#"
        ⟨d⟩┊ ⟨di⟩The lines must stay in order, so sorting them is out. A set of those that were
        ⟨d⟩┊ ⟨di⟩seen is enough, and one pass.

        ⟨b5⟩## Why the order is lost

        ⟨d⟩`⟨6⟩unique⟨d⟩`⟨⟩ sorts, because⟨d⟩ `⟨6⟩dedup⟨d⟩`⟨⟩ only sees⟨d⟩ **⟨b⟩neighbours⟨d⟩**⟨⟩. Two ways out:

        ⟨6⟩1.⟨⟩ number the lines before and sort them back after
        ⟨6⟩2.⟨⟩ keep a⟨d⟩ **⟨b⟩set of what was seen⟨d⟩**⟨⟩, and sort nothing

        ⟨d⟩```rust
        ⟨6⟩lines.retain(|line| seen.insert(line.clone()));
        ⟨d⟩```

        ⟨⟩I will write the new file, with a test.

        ⟨b3⟩▸ write_file
        ⟨d⟩  path:⟨⟩ src/unique.rs
        ⟨d⟩  content:
          │ ⟨⟩//! Lines without those that came before.
        ⟨d⟩  │
          │ ⟨⟩use std::collections::HashSet;
        ⟨d⟩  │
          │ ⟨⟩/// Removes every line that is equal to an earlier one.
        ⟨d⟩  │ ⟨⟩///
        ⟨d⟩  │ ⟨⟩/// The others stay where they are: nothing is sorted.
        ⟨d⟩  │ ⟨⟩pub fn unique(lines: &mut Vec<String>) {
        ⟨d⟩  │ … 1.0 KB, 42 lines
          overwrite:⟨6⟩ true

        ⟨2⟩✓ waits for its calls⟨d⟩ · example-model · tokens: 873 in, 534 out ·
        first piece after 0.53 s · 129 tokens/s · 4.66 s
    "#]].assert_eq(&left.styled());
    assert_eq!(left.code, Some(0));
}

#[test]
fn a_count_that_is_not_final_gives_no_speed() {
    let whole = fs::read_to_string(RECORDING).expect("it is there");
    let lines: Vec<_> = whole.split_inclusive('\n').collect();
    // The provider counts one token when it begins, and all of them only when it ends.
    let cut = lines[..lines.len() / 2].concat();
    let file = NamedTempFile::with_suffix(".rec").expect("there is room for a file");
    fs::write(&file, cut).expect("it can be written");

    let screen = read(80, &[], &[file.path().to_str().expect("it is text")]).screen();
    assert!(screen.contains("tokens: 873 in, 1 out"), "{screen}");
    assert!(!screen.contains("tokens/s"), "{screen}");
}

#[test]
fn a_narrow_terminal_shows_the_same() {
    check(
        &read(20, &[], &[STREAM]),
        0,
        expect![[r#"
            ┊ The test fails
            ┊ because `parse`
            ┊ trims the line
            ┊ before it looks
            ┊ for the comment. I
            ┊ need to see the
            ┊ function first,
            ┊ then change one
            ┊ line.

            The parser drops the
            indentation before
            it looks for a
            comment. I will keep
            the line as it is
            and trim only the
            part that is
            compared.

            ▸ edit_file
              path: src/parse.rs
              old_string:
              │ let line = line.
              │ trim();
              │ if line.starts_w
              │ ith('#') {
              new_string:
              │ if line.trim_sta
              │ rt().starts_with
              │ ('#') {

            ✓ waits for its
            calls ·
            example-model ·
            tokens: 412 in, 121
            out
        "#]],
    );
    // Every width: the program neither fails nor hangs.
    for columns in [1, 2, 3, 7, 200] {
        assert_eq!(read(columns, &[], &[RECORDING]).code, Some(0));
    }
}

#[test]
fn without_colours_there_are_none() {
    let left = read(80, &[("NO_COLOR", "1")], &[RECORDING]);
    assert!(!left.bytes.split('\x1b').skip(1).any(is_style), "{:?}", left.bytes);
    assert_eq!(left.screen(), read(80, &[], &[RECORDING]).screen());
    // As the convention has it, an empty value says nothing.
    assert!(read(80, &[("NO_COLOR", "")], &[RECORDING]).bytes.contains("\x1b[0;1m"));
}

#[test]
fn a_dumb_terminal_gets_no_commands() {
    let left = read(80, &[("TERM", "dumb")], &[RECORDING]);
    assert!(!left.bytes.contains(['\x1b', '\x0b']), "{:?}", left.bytes);
    assert_eq!(left.screen(), read(80, &[], &[RECORDING]).screen());
}

#[test]
fn a_message_that_is_not_whole_says_so() {
    check(
        &read(60, &[], &[&corpus::input("openai-chat/length-inside-arguments")]),
        1,
        expect![[r#"
            ▸ write_file
              path: a.txt
              content: half of
              ✗ cut

            ! stopped at the length limit · gpt-test-1
            error: byte 656: arguments of `write_file`: the call was clo
            sed before their JSON was complete
            hint: do not run the call; request the reply again with a hi
            gher limit on its length
            see: `reknit explain cut-arguments`
        "#]],
    );
    check(
        &read(60, &[], &[&corpus::input("openai-chat/cut-without-finish-reason")]),
        1,
        expect![[r#"
            Hi there

            ✗ cut · gpt-test-1
            error: the stream ended before the message did: it is cut
            hint: ask for the reply again
            see: `reknit explain cut`
        "#]],
    );
    check(
        &read(60, &[], &[&corpus::input("anthropic/error-mid-stream")]),
        1,
        expect![[r#"
            As I was say

            ✗ failed · claude-test-1 · tokens: 12 in
            error: the provider reported: overloaded_error: Overloaded
            see: `reknit explain failed`
        "#]],
    );
    check(
        &read(60, &[], &[&corpus::input("anthropic/malformed-arguments")]),
        0,
        expect![[r#"
            ▸ write_file
              path: a.txt
              input: {"path": "a.txt", lines: 3}
              ✗ malformed: expected a key, found 'l' at byte 18

            ✓ waits for its calls · claude-test-1 · tokens: 12 in, 9 out
            warning: byte 685: arguments of `write_file`: expected a key
            , found 'l' at byte 18
            hint: do not run the call; tell the model what is wrong with
             its arguments
            see: `reknit explain malformed-arguments`
        "#]],
    );
}

#[test]
fn calls_that_come_at_once_are_shown_one_by_one() {
    check(
        &read(60, &[], &[&corpus::input("openai-chat/tool-calls-interleaved")]),
        0,
        expect![[r#"
        ▸ get_time
          zone: CET

        ▸ get_weather
          city: Oslo

        ✓ waits for its calls · gpt-test-1
    "#]],
    );
    check(
        &read(60, &[], &[&corpus::input("openai-chat/tool-call-then-text")]),
        0,
        expect![[r#"
        Let me

        ▸ get_time

        see.

        ✓ waits for its calls · gpt-test-1
    "#]],
    );
    check(
        &read(60, &[], &[&corpus::input("anthropic/cut-behind-call-without-arguments")]),
        1,
        expect![[r#"
            ▸ list
              ✗ cut

            ✗ cut · m1 · tokens: 5 in
            error: the stream ended before the message did: it is cut
            hint: ask for the reply again
            see: `reknit explain cut`
        "#]],
    );
    check(
        &read(60, &[], &[&corpus::input("openai-chat/choices-interleaved")]),
        0,
        expect![[r#"
        Hello

        [choice 1]

        Guten Tag

        ✓ done · gpt-test-1
    "#]],
    );
    check(
        &read(60, &[], &[&corpus::input("gemini/args-by-path-other-part-follows")]),
        1,
        expect![[r#"
            ▸ stow
              deck: fore
              ✗ cut

            Never mind.

            ✓ waits for its calls · gemini-x
            error: byte 391: arguments of `stow`: incomplete when the ca
            ll ended
            hint: do not run the call; request the reply again with a hi
            gher limit on its length
            see: `reknit explain cut-arguments`
        "#]],
    );
    check(
        &read(60, &[], &[&corpus::input("openai-chat/refusal")]),
        0,
        expect![[r#"
        [refusal]

        I cannot do that.

        ✓ done · gpt-test-1
    "#]],
    );
}

#[test]
fn every_case_looks_the_same_however_it_is_cut() {
    for case in cases().iter().step_by(5) {
        let whole = read(50, &[], &[&case.input]);
        for cut in ["bytes", "1", "2"] {
            let recut = read(50, &[], &[&case.input, "--recut", cut]);
            assert_eq!(recut.styled(), whole.styled(), "{} --recut {cut}", case.input);
            assert_eq!(recut.code, whole.code);
        }
        only_own_commands(&whole.bytes);
    }
}

/// The screen without the summary, which contains times.
fn without_summary(screen: &str) -> &str {
    screen.rsplit_once("\n\n").expect("there is a summary").0
}

/// Runs it on a stream that comes in pieces of this length.
fn feed(columns: u16, stream: &[u8], length: usize) -> Left {
    let (terminal, mut stdin) = Terminal::start_fed(columns, &[], &["read"]);
    stream.chunks(length).for_each(|piece| stdin.write_all(piece).expect("it reads"));
    drop(stdin);
    terminal.end()
}

#[test]
fn pieces_that_come_one_by_one_leave_no_trace_of_the_status_line() {
    let wide = "data: {\"choices\":[{\"delta\":{\"content\":\"日本語の文字は広い🙂🚀。 Wide and narrow, é too.\"}}]}\n\n";
    let edit = std::fs::read(STREAM).expect("it is there");
    for (columns, stream) in [(40, edit.as_slice()), (12, wide.repeat(3).as_bytes()), (13, wide.as_bytes())] {
        let whole = feed(columns, stream, usize::MAX);
        for length in [1, 7, 100] {
            let left = feed(columns, stream, length);
            assert_eq!(without_summary(&left.styled()), without_summary(&whole.styled()), "{length}");
            only_own_commands(&left.bytes);
        }
    }
    expect![[r#"
        日本語の文字
        は広い🙂🚀。
        Wide and
        narrow, é
        too."#]]
    .assert_eq(without_summary(&feed(12, wide.as_bytes(), 1).screen()));
}

#[test]
fn the_status_line_is_below_and_never_wraps() {
    for columns in [80, 20] {
        let (mut terminal, mut stdin) = Terminal::start_fed(columns, &[], &["read"]);
        stdin.write_all(&corpus::bytes("openai-chat/cut-without-finish-reason")).expect("it reads");
        terminal.wait_for("writing");
        let (screen, cursor) = terminal.look();
        let [first, status] = screen.lines().collect::<Vec<_>>()[..] else { panic!("{screen}") };
        assert_eq!(first, "Hi there");
        assert!(status.starts_with("● writing") && status.chars().count() < columns.into(), "{status}");
        // The last word may not fit the row yet: it is drawn, not written.
        assert_eq!(cursor, (0, 2));
        drop(stdin);
        assert!(!terminal.end().screen().contains('●'));
    }
}

#[test]
fn a_window_can_be_resized_meanwhile() {
    let stream = std::fs::read(STREAM).expect("it is there");
    let half = stream.windows(5).position(|five| five == b"parse").expect("it is there") + 500;
    let (mut terminal, mut stdin) = Terminal::start_fed(60, &[], &["read"]);
    stdin.write_all(&stream[..half]).expect("it reads");
    terminal.wait_for("● thinking · example-model");
    terminal.resize(30);
    stdin.write_all(&stream[half..]).expect("it reads");
    drop(stdin);
    let left = terminal.end();
    assert_eq!(left.code, Some(0));
    let screen = left.screen();
    assert!(!screen.contains('●'), "{screen}");
    let text = "
The parser drops the
indentation before it looks
for a comment. I will keep the
line as it is and trim only
the part that is compared.
";
    assert!(screen.contains(text), "{screen}");
}

#[test]
fn an_interrupt_keeps_what_came() {
    let (mut terminal, mut stdin) = Terminal::start_fed(60, &[], &["read"]);
    stdin.write_all(&corpus::bytes("openai-chat/cut-without-finish-reason")).expect("it reads");
    terminal.wait_for("writing");
    terminal.press(b"\x03");
    let left = terminal.end();
    drop(stdin);
    assert_eq!(left.code, Some(130));
    let screen = left.screen();
    assert!(screen.starts_with("Hi^C there\n"), "{screen}");
    assert!(screen.contains("\n✗ interrupted · "), "{screen}");
    assert!(screen.ends_with("\nerror: interrupted before the message ended: it is cut\n"), "{screen}");
    assert!(!screen.contains('●'), "{screen}");
    only_own_commands(&left.bytes);

    let (mut terminal, mut stdin) = Terminal::start_fed(200, &[], &["read", "--ndjson"]);
    stdin.write_all(&corpus::bytes("openai-chat/cut-without-finish-reason")).expect("it reads");
    terminal.wait_for("there");
    terminal.press(b"\x03");
    let left = terminal.end();
    drop(stdin);
    assert_eq!(left.code, Some(130));
    assert!(left.screen().contains("{\"cut\":{}}\n"), "{}", left.screen());
}

/// A stream with commands for a terminal wherever a provider can put words.
fn hostile() -> String {
    let evil = r"\u001b[2J\u001b]0;title\u0007\u009b31m\u202e\r\b\u007f\u200b";
    let frames = [
        format!(
            r#"{{"type":"message_start","message":{{"id":"m","model":"mo{evil}del","role":"assistant","usage":{{"input_tokens":1}}}}}}"#
        ),
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#
            .to_owned(),
        format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"thinking_delta","thinking":"thought{evil}"}}}}"#
        ),
        r#"{"type":"content_block_stop","index":0}"#.to_owned(),
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#.to_owned(),
        format!(
            r#"{{"type":"content_block_delta","index":1,"delta":{{"type":"text_delta","text":"text{evil}\n```{evil}\n{evil}\n"}}}}"#
        ),
        r#"{"type":"content_block_stop","index":1}"#.to_owned(),
        format!(
            r#"{{"type":"content_block_start","index":2,"content_block":{{"type":"tool_use","id":"t","name":"to{evil}ol","input":{{}}}}}}"#
        ),
        format!(
            r#"{{"type":"content_block_delta","index":2,"delta":{{"type":"input_json_delta","partial_json":"{{\"k{e}ey\":\"v{e}alue\",\"b\":\"two\\nlines{e}\"}}"}}}}"#,
            e = evil.replace('\\', r"\\")
        ),
        r#"{"type":"content_block_stop","index":2}"#.to_owned(),
        format!(r#"{{"type":"content_block_start","index":3,"content_block":{{"type":"strange{evil}"}}}}"#),
        format!(r#"{{"type":"error","error":{{"type":"over{evil}loaded","message":"wait{evil}"}}}}"#),
    ];
    frames.map(|frame| format!("data: {frame}\n\n")).concat()
}

/// Whether an escape followed by this sets a style.
fn is_style(rest: &str) -> bool {
    rest.strip_prefix('[').is_some_and(|rest| {
        rest.trim_start_matches(|char: char| ";0123456789".contains(char)).starts_with('m')
    })
}

/// Whether the bytes hold nothing that a terminal obeys but what the view itself has to say.
#[track_caller]
fn only_own_commands(bytes: &str) {
    let mut rest = bytes;
    while let Some((_, after)) = rest.split_once('\x1b') {
        let is_own = ["7", "8", "[J", "[A", "[B"].iter().any(|own| after.starts_with(own));
        assert!(is_own || is_style(after), "a foreign command: {after:?}");
        rest = after;
    }
    let is_foreign =
        |char: char| char.is_control() && !"\r\n\x0b\x1b".contains(char) || "\u{202e}\u{200b}".contains(char);
    assert!(!bytes.contains(is_foreign), "{bytes:?}");
}

#[test]
fn a_model_cannot_command_the_terminal() {
    let file = std::env::temp_dir().join(format!("reknit-hostile-{}.sse", std::process::id()));
    std::fs::write(&file, hostile()).expect("there is room");
    let path = file.to_str().expect("it is UTF-8");
    for arguments in
        [&[path][..], &[path, "--json"], &[path, "--ndjson"], &[path, "--as", "native"], &[path, "--all"]]
    {
        let left = read(60, &[], arguments);
        only_own_commands(&left.bytes);
        assert_eq!(left.code, Some(1), "{arguments:?}");
    }
    check(
        &read(100, &[], &[path]),
        1,
        expect![[r#"
            ┊ thought␛[2J␛]0;title␇\u{9b}31m\u{202e}␍␈␡\u{200b}

            text␛[2J␛]0;title␇\u{9b}31m\u{202e}␍␈␡\u{200b}
            ```␛[2J␛]0;title␇\u{9b}31m\u{202e}␍␈␡\u{200b}
            ␛[2J␛]0;title␇\u{9b}31m\u{202e}␍␈␡\u{200b}

            ▸ to␛[2J␛]0;title␇\u{9b}31m\u{202e}␍␈␡\u{200b}ol
              k␛[2J␛]0;title␇\u{9b}31m\u{202e}␍␈␡\u{200b}ey: v␛[2J␛]0;title␇\u{9b}31m\u{202e}␍␈␡\u{200b}alue
              b:
              │ two
              │ lines␛[2J␛]0;title␇\u{9b}31m\u{202e}␍␈␡\u{200b}

            [strange␛[2J␛]0;title␇\u{9b}31m\u{202e}␍␈␡\u{200b}]

            ✗ failed · mo␛[2J␛]0;title␇\u{9b}31m\u{202e}␍␈␡\u{200b}del · tokens: 1 in
            error: the provider reported: over␛[2J␛]0;title␇\u{9b}31m\u{202e}␍␈␡\u{200b}loaded: wait␛[2J␛]0;titl
            e␇\u{9b}31m\u{202e}␍␈␡\u{200b}
            see: `reknit explain failed`
        "#]],
    );
    // JSON says the same, in escapes of its own.
    let json = read(60, &[], &[path, "--json"]).bytes;
    let piped = crate::command::run(&["read", "--json", path], "").stdout;
    let value = |text: &str| text.lines().next().and_then(|line| line.parse::<reknit::json::Value>().ok());
    assert_eq!(value(&json).expect("it is JSON"), value(&piped).expect("it is JSON"));
    std::fs::remove_file(&file).expect("it was there");
}

#[test]
fn calls_in_a_text_are_shown_with_all_their_parts() {
    let left = Terminal::start(60, &[], &["tools", "--profile", "cline", TEXT]).end();
    expect![[r#"
        I will write the page, then list the folder.

        ⟨b3⟩▸ write_to_file
        ⟨d⟩  path:⟨⟩ site/index.html
        ⟨d⟩  content:
          │ ⟨⟩<!doctype html>
        ⟨d⟩  │ ⟨⟩<p>A closing tag such as </content> may occur in a file.
        ⟨d⟩  │ ⟨⟩</p>

        Mentioning⟨d⟩ `⟨6⟩<read_file>⟨d⟩`⟨⟩ in code is not a call.

        ⟨b3⟩▸ execute_command
        ⟨d⟩  command:⟨⟩ cd site && ls -la
        ⟨d⟩  requires_approval:⟨⟩ false

        ⟨2⟩✓ 2 calls⟨d⟩ · cline
    "#]]
    .assert_eq(&left.styled());
    assert_eq!(left.code, Some(0));
}

#[test]
fn calls_in_the_text_of_a_reply_are_shown_as_calls() {
    let reply = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Look: <read_file><path>a.rs</path></read_file>\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("tagged.sse");
    std::fs::write(&file, reply).expect("the folder for tests can be written");
    let left = Terminal::start(60, &[], &["read", "--tools", "cline", file.to_str().unwrap()]).end();
    expect![[r#"
        Look:

        ▸ read_file
          path: a.rs

        ✓ done
    "#]]
    .assert_eq(&left.screen());
    assert_eq!(left.code, Some(0));
    let cut = reply.replace("</path></read_file>", "").replace("stop", "length");
    std::fs::write(&file, cut).expect("the folder for tests can be written");
    let left = Terminal::start(60, &[], &["read", "--tools", "cline", file.to_str().unwrap()]).end();
    expect![[r#"
        Look:

        ▸ read_file
          path: a.rs
          ✗ cut

        ! stopped at the length limit
        error: the call to `read_file` is cut: the text ended before
         the call did
        hint: do not run the call; ask for the answer again
        see: `reknit explain cut-arguments`
    "#]]
    .assert_eq(&left.screen());
    assert_eq!(left.code, Some(1));
}

#[test]
fn a_session_is_shown_with_its_calls_and_what_came_of_them() {
    let left = Terminal::start(60, &[], &["chunks", SESSION]).end();
    expect![[r#"
        ⟨d⟩┊ ⟨di⟩The tests tell more than the code. Run them first.

        ⟨⟩I will run the tests.

        ⟨b3⟩▸ run_command
        ⟨d⟩  command:⟨⟩ cargo test

        ⟨d⟩[run_command: waits for approval]
        [run_command: allowed]

        ◂ run_command
          stdout:
          │ ⟨⟩running 2 tests
        ⟨d⟩  stderr:
          │ ⟨⟩warning: unused variable
        ⟨d⟩  stdout:
          │ ⟨⟩test result: ok. 2 passed
        ⟨d⟩  result:⟨⟩ exit code 0

        ⟨d⟩[Switched to example-model-2 (work)]

        ⟨⟩Both tests⟨d⟩ **⟨b⟩pass⟨d⟩**⟨⟩.

        ⟨b1⟩✗ 529 the provider is overloaded

        ⟨2⟩✓ 21 events
    "#]]
    .assert_eq(&left.styled());
    assert_eq!(left.code, Some(0));
    let bytes = Terminal::start(60, &[], &["chunks", "--recut", "bytes", SESSION]).end();
    assert_eq!(bytes.screen(), left.screen());
}

#[test]
fn a_call_of_a_session_is_shown_while_it_is_written() {
    let (mut terminal, mut stdin) = Terminal::start_fed(60, &[], &["chunks"]);
    let lines = [
        r#"{"type":"tool-input-start","toolCallId":"c1","toolName":"write"}"#,
        r#"{"type":"tool-input-delta","toolCallId":"c1","delta":"{\"path\":\"a.rs\",\"content\":\"fn ma"}"#,
    ];
    stdin.write_all((lines.join("\n") + "\n").as_bytes()).expect("it reads");
    terminal.wait_for("fn ma");
    stdin
        .write_all(b"{\"type\":\"tool-input-error\",\"toolCallId\":\"c1\",\"error\":\"cut\"}\nno event\n")
        .expect("it reads");
    drop(stdin);
    let left = terminal.end();
    // After it comes how long it took.
    let screen = left.screen();
    let (shown, _) = screen.split_once(" · first piece after ").expect("times are shown");
    expect![[r#"
        ▸ write
          path: a.rs
          content: fn ma
          ✗ cut

        ✗ 3 events, 1 bad line"#]]
    .assert_eq(shown);
    assert_eq!(left.code, Some(1));
}

#[test]
fn a_call_of_a_session_waits_for_the_one_that_is_being_written() {
    let lines = [
        r#"{"type":"tool-input-start","toolCallId":"c1","toolName":"write"}"#,
        r#"{"type":"tool-input-delta","toolCallId":"c1","delta":"{\"path\":"}"#,
        r#"{"type":"tool-call","toolCall":{"id":"c2","name":"list","arguments":{"folder":"src"}}}"#,
        r#"{"type":"tool-input-delta","toolCallId":"c1","delta":"\"a.rs\"}"}"#,
        r#"{"type":"tool-call","toolCall":{"id":"c1","name":"write","arguments":{"path":"a.rs"}}}"#,
    ];
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("waiting.ndjson");
    std::fs::write(&file, lines.join("\n")).expect("the folder for tests can be written");
    let left = Terminal::start(60, &[], &["chunks", file.to_str().unwrap()]).end();
    check(
        &left,
        0,
        expect![[r#"
            ▸ write
              path: a.rs

            ▸ list
              folder: src

            ✓ 5 events
        "#]],
    );
}

#[test]
fn the_sessions_of_a_server_are_shown_as_they_arrive() {
    let (mut terminal, mut stdin) = Terminal::start_fed(60, &[], &["chunks", "--realtime"]);
    let lines = [
        r#"{"type":"user_message","session_id":"s1","message":{"role":"user","content":"Knit *socks*."}}"#,
        r#"{"type":"thought_delta","session_id":"s1","content":"They want"}"#,
        r#"{"type":"thought_delta","session_id":"s1","content":" socks."}"#,
        r#"{"type":"tool_select_delta","session_id":"s1","tool_calls":[{"id":"c1","name":"count"}]}"#,
        r#"{"type":"text_delta","session_id":"s1","content":"Four\u001b[2J nee"}"#,
    ];
    stdin.write_all((lines.join("\n") + "\n").as_bytes()).expect("it reads");
    terminal.wait_for("nee");
    let lines = [
        r#"{"type":"text_delta","session_id":"s1","content":"dles."}"#,
        r#"{"type":"text_delta","session_id":"s2","content":"Beside."}"#,
        r#"{"type":"error","message":"out of yarn"}"#,
        r#"{"type":"completion","session_id":"s1","running":false}"#,
        r#"{"type":"text_delta","session_id":"s1","content":"And a fifth."}"#,
        r#"{"type":"completion"}"#,
    ];
    stdin.write_all((lines.join("\n") + "\n").as_bytes()).expect("it reads");
    drop(stdin);
    let left = terminal.end();
    // After it comes how long it took.
    let screen = left.screen();
    let (shown, _) = screen.split_once(" · first piece after ").expect("times are shown");
    expect![[r#"
        [user]

        Knit *socks*.

        ┊ They want socks.

        [count: preparing]

        Four␛[2J needles.

        [s2]

        Beside.

        ✗ out of yarn

        [s1]

        And a fifth.

        ✓ 11 events"#]]
    .assert_eq(shown);
    assert_eq!(left.code, Some(0));
}
