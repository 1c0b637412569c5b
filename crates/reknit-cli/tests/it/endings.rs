//! Exit codes: 0 done, 1 some of it could not be done, 2 wrong usage or another error.

use expect_test::{Expect, expect};

use crate::command::{Run, run};
use crate::corpus;

/// The exit code, then both streams.
#[expect(clippy::needless_pass_by_value, reason = "so that callers can write `expect![..]`")]
fn check(arguments: &[&str], input: impl AsRef<[u8]> + Send, expected: Expect) {
    let Run { code, stdout, stderr } = run(arguments, input);
    let code = code.expect("it was not killed");
    expected.assert_eq(&format!("exit {code}\n--- stdout\n{stdout}--- stderr\n{stderr}"));
}

#[test]
fn a_whole_message_is_0() {
    check(
        &["read"],
        corpus::bytes("anthropic/text"),
        expect![[r#"
            exit 0
            --- stdout
            Good morning, Zoë
            --- stderr
        "#]],
    );
}

#[test]
fn a_cut_message_is_1_and_what_there_is_is_printed() {
    check(
        &["read"],
        corpus::bytes("anthropic/cut-inside-arguments"),
        expect![[r#"
            exit 1
            --- stdout
            [call write_file] {"path": "a.txt", "content": "rm -rf tmp [cut]
            --- stderr
            error: the stream ended before the message did: it is cut
            hint: ask for the reply again
            see: `reknit explain cut`
        "#]],
    );
    check(
        &["read"],
        corpus::bytes("openai-chat/cut-without-finish-reason"),
        expect![[r#"
            exit 1
            --- stdout
            Hi there
            --- stderr
            error: the stream ended before the message did: it is cut
            hint: ask for the reply again
            see: `reknit explain cut`
        "#]],
    );
    check(
        &["read", "--json"],
        corpus::bytes("anthropic/cut-behind-start"),
        expect![[r#"
            exit 1
            --- stdout
            {"id":"msg_01","model":"claude-test-1","role":"assistant","status":"cut","usage":{"input":12,"output":1},"blocks":[],"extra":{"usage":{"input_tokens":12,"output_tokens":1}},"diagnostics":[]}
            --- stderr
            error: the stream ended before the message did: it is cut
            hint: ask for the reply again
            see: `reknit explain cut`
        "#]],
    );
    check(
        &["read"],
        "",
        expect![[r#"
            exit 2
            --- stdout
            --- stderr
            error: the input is empty
            hint: nothing arrived: `curl -i` shows the status of the response and its headers
            see: `reknit explain unknown-dialect`
        "#]],
    );
}

#[test]
fn a_failed_message_is_1_and_what_there_is_is_printed() {
    check(
        &["read"],
        corpus::bytes("anthropic/error-mid-stream"),
        expect![[r#"
            exit 1
            --- stdout
            As I was say
            --- stderr
            error: the provider reported: overloaded_error: Overloaded
            see: `reknit explain failed`
        "#]],
    );
    check(
        &["read"],
        corpus::bytes("openai-chat/error-as-whole-body-pretty"),
        expect![[r#"
            exit 1
            --- stdout
            --- stderr
            error: the provider reported: invalid_request_error: Invalid key
            see: `reknit explain failed`
        "#]],
    );
}

#[test]
fn one_of_several_messages_cut_is_1() {
    check(
        &["read"],
        corpus::bytes("anthropic/spliced-start-other-id"),
        expect![[r#"
            exit 1
            --- stdout
            Lost in

            Again: hello
            --- stderr
            error: the stream ended before the message did: it is cut
            hint: ask for the reply again
            see: `reknit explain cut`
        "#]],
    );
}

#[test]
fn input_that_is_not_a_stream_is_2() {
    check(
        &["read"],
        "<html>502 Bad Gateway</html>\n",
        expect![[r#"
            exit 2
            --- stdout
            --- stderr
            error: the input is an HTML page and not a stream
            hint: a proxy or the wrong server has answered: check the URL, and the status with `curl -i`
            see: `reknit explain unknown-dialect`
        "#]],
    );
    check(
        &["read"],
        "{\"hello\": \"world\"}\n",
        expect![[r#"
            exit 2
            --- stdout
            --- stderr
            error: byte 0: the input is not a stream of a known dialect; it begins with `{"hello": "world"}`
            hint: the input must be the body of a streamed response, in one of anthropic, openai-responses, gemini, gemini-interactions, bedrock-converse, cohere, ollama, agent-c, openai-chat
            see: `reknit explain unknown-dialect`
        "#]],
    );
    check(
        &["read", "--json"],
        [0u8, 159, 146, 150],
        expect![[r#"
            exit 2
            --- stdout
            --- stderr
            error: the input is not text
            hint: if it is the body of a response, it may be compressed: let curl decompress it with `--compressed`
            see: `reknit explain unknown-dialect`
        "#]],
    );
    check(
        &["read", "--from", "anthropic", "--json"],
        corpus::bytes("openai-chat/text"),
        expect![[r#"
            exit 2
            --- stdout
            --- stderr
            error: byte 0: the input is not `anthropic`, but looks like `openai-chat`
            hint: name `openai-chat` instead, or let the dialect be detected
            see: `reknit explain wrong-dialect`
        "#]],
    );
}

#[test]
fn wrong_usage_is_2() {
    check(
        &["read", "--from", "gopher"],
        "",
        expect![[r#"
            exit 2
            --- stdout
            --- stderr
            error: invalid value 'gopher' for '--from <DIALECT>'
              [possible values: auto, anthropic, openai-responses, gemini, gemini-interactions, bedrock-converse, cohere, ollama, agent-c, openai-chat]

              tip: a similar value exists: 'cohere'

            For more information, try '--help'.
        "#]],
    );
    check(
        &["read", "--recut", "often"],
        "",
        expect![[r#"
            exit 2
            --- stdout
            --- stderr
            error: invalid value 'often' for '--recut <SEED>': `often` is neither a number nor `bytes`

            For more information, try '--help'.
        "#]],
    );
    check(
        &["read", "--ndjson", "--as", "native"],
        "",
        expect![[r#"
            exit 2
            --- stdout
            --- stderr
            error: `--ndjson` prints changes, which the provider's own form does not have
            hint: use `--as native --json`, or `--ndjson` alone
            see: `reknit explain wrong-use`
        "#]],
    );
    check(
        &["read", "--json", "--ndjson"],
        "",
        expect![[r#"
            exit 2
            --- stdout
            --- stderr
            error: the argument '--json' cannot be used with '--ndjson'

            Usage: reknit read --json [FILE]...

            For more information, try '--help'.
        "#]],
    );
    assert_eq!(run(&[], "").code, Some(2));
    assert_eq!(run(&["frobnicate"], "").code, Some(2));
}

#[test]
fn an_error_of_the_input_is_2() {
    let missing = run(&["read", "no-such-file.sse"], "");
    assert_eq!((missing.code, missing.stdout.as_str()), (Some(2), ""));
    assert!(missing.stderr.starts_with("error: cannot open `no-such-file.sse`: "), "{}", missing.stderr);
    let folder = run(&["read", concat!(env!("CARGO_MANIFEST_DIR"), "/src")], "");
    assert_eq!((folder.code, folder.stdout.as_str()), (Some(2), ""));
    assert!(folder.stderr.contains("/src` contains no recordings\nhint: "), "{}", folder.stderr);
}
