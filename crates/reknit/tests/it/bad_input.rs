//! Input that is not a stream, or not in the dialect that was named: an error or a status, never a panic or a
//! guess.

use expect_test::{Expect, expect};
use reknit::Hint;
use reknit::message::Status;
use reknit::{Dialect, Reply};

use crate::corpus;
use crate::cuts::same_for_every_cut;
use crate::replies::{Outcome, outcome};

const ANTHROPIC: &str =
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"content\":[]}}\n\n";
const CHAT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";

/// The status of the last message, and the error if there is one, for every cut.
#[expect(clippy::needless_pass_by_value, reason = "so that callers can write `expect![..]`")]
fn check(reply: impl Fn() -> Reply, input: impl AsRef<[u8]>, expected: Expect) {
    let Outcome { messages, error, .. } =
        same_for_every_cut(input.as_ref(), |pieces| outcome(reply(), pieces));
    let message = messages.last().expect("there is always one");
    let mut outcome = format!("{:?}\n", message.status());
    if let Some(failure) = message.failure() {
        outcome += &format!("failure: {}\n", failure.message);
    }
    if let Some(error) = error {
        outcome += &format!("error: {error}\nhint: {}\n", error.hint());
    }
    for notice in message.diagnostics() {
        let place = notice.place().expect("it is of the stream");
        outcome += &format!("{:?} at {} in frame {}\n", notice.kind, place.at, place.frame);
        assert!(!notice.hint().is_empty());
    }
    expected.assert_eq(&outcome);
}

#[test]
fn empty_input_is_a_cut_message() {
    check(
        Reply::detect,
        "",
        expect![[r#"
            Cut
        "#]],
    );
    check(
        || Reply::new(Dialect::Anthropic),
        "",
        expect![[r#"
            Cut
        "#]],
    );
}

#[test]
fn whitespace_and_comments_are_not_a_message() {
    check(
        Reply::detect,
        " \n\n\r\n",
        expect![[r#"
            Cut
            error: the input (5 bytes) contains neither a server-sent event nor JSON
            hint: the input must be the body of a streamed response, in one of anthropic, openai-responses, gemini, gemini-interactions, bedrock-converse, cohere, ollama, agent-c, openai-chat
            UnknownDialect at 0 in frame 0
        "#]],
    );
    check(
        Reply::detect,
        ": hello\n\n: still here\n\n",
        expect![[r#"
            Cut
        "#]],
    );
    check(
        || Reply::new(Dialect::OpenAiChat),
        ": OPENROUTER PROCESSING\n\n",
        expect![[r#"
            Cut
        "#]],
    );
}

#[test]
fn binary_is_not_a_stream() {
    let every_byte: Vec<u8> = (0..=255).collect();
    check(
        Reply::detect,
        &every_byte,
        expect![[r#"
            Cut
            error: the input (256 bytes) contains neither a server-sent event nor JSON
            hint: the input must be the body of a streamed response, in one of anthropic, openai-responses, gemini, gemini-interactions, bedrock-converse, cohere, ollama, agent-c, openai-chat
            IgnoredLine at 0 in frame 0
            UnknownDialect at 0 in frame 0
        "#]],
    );
    check(
        || Reply::new(Dialect::Anthropic),
        [0xFF; 40],
        expect![[r#"
            Cut
            error: the input (40 bytes) contains neither a server-sent event nor JSON
            hint: the input must be the body of a streamed response, in one of anthropic, openai-responses, gemini, gemini-interactions, bedrock-converse, cohere, ollama, agent-c, openai-chat
            IgnoredLine at 0 in frame 0
            UnknownDialect at 0 in frame 0
        "#]],
    );
    check(
        Reply::detect,
        [0; 40],
        expect![[r#"
            Cut
            error: the input (40 bytes) contains neither a server-sent event nor JSON
            hint: the input must be the body of a streamed response, in one of anthropic, openai-responses, gemini, gemini-interactions, bedrock-converse, cohere, ollama, agent-c, openai-chat
            IgnoredLine at 0 in frame 0
            UnknownDialect at 0 in frame 0
        "#]],
    );
}

#[test]
fn prose_and_pages_are_not_a_stream() {
    check(
        Reply::detect,
        "<html>\n<body>502 Bad Gateway</body>\n</html>\n",
        expect![[r#"
            Cut
            error: the input (44 bytes) contains neither a server-sent event nor JSON
            hint: the input must be the body of a streamed response, in one of anthropic, openai-responses, gemini, gemini-interactions, bedrock-converse, cohere, ollama, agent-c, openai-chat
            IgnoredLine at 0 in frame 0
            UnknownDialect at 0 in frame 0
        "#]],
    );
    check(
        || Reply::new(Dialect::OpenAiChat),
        "upstream connect error",
        expect![[r#"
            Cut
            error: the input (22 bytes) contains neither a server-sent event nor JSON
            hint: the input must be the body of a streamed response, in one of anthropic, openai-responses, gemini, gemini-interactions, bedrock-converse, cohere, ollama, agent-c, openai-chat
            IgnoredLine at 0 in frame 0
            UnknownDialect at 0 in frame 0
        "#]],
    );
    check(
        Reply::detect,
        "data: upstream connect error\n\n",
        expect![[r#"
            Cut
            error: byte 0: the input is not a stream of a known dialect; it begins with `upstream connect error`
            hint: the input must be the body of a streamed response, in one of anthropic, openai-responses, gemini, gemini-interactions, bedrock-converse, cohere, ollama, agent-c, openai-chat
            UnknownDialect at 0 in frame 0
        "#]],
    );
    check(
        || Reply::new(Dialect::Anthropic),
        "data: upstream connect error\n\n",
        expect![[r#"
            Cut
            MalformedFrame at 0 in frame 0
        "#]],
    );
}

#[test]
fn json_that_no_provider_sends_is_an_unknown_dialect() {
    check(
        Reply::detect,
        "{\"hello\": \"world\"}\n",
        expect![[r#"
            Cut
            error: byte 0: the input is not a stream of a known dialect; it begins with `{"hello": "world"}`
            hint: the input must be the body of a streamed response, in one of anthropic, openai-responses, gemini, gemini-interactions, bedrock-converse, cohere, ollama, agent-c, openai-chat
            UnknownDialect at 0 in frame 0
        "#]],
    );
    check(
        Reply::detect,
        "[1, 2, 3]",
        expect![[r#"
            Cut
            error: byte 1: the input is not a stream of a known dialect; it begins with `1`
            hint: the input must be the body of a streamed response, in one of anthropic, openai-responses, gemini, gemini-interactions, bedrock-converse, cohere, ollama, agent-c, openai-chat
            UnknownDialect at 1 in frame 0
        "#]],
    );
    check(
        Reply::detect,
        "data: {\"candidates\":[]}\n\n".repeat(12),
        expect![[r#"
            Cut
        "#]],
    );
    check(
        || Reply::new(Dialect::OpenAiChat),
        "{\"hello\": \"world\"}\n",
        expect![[r#"
            Cut
            UnknownEvent at 0 in frame 0
        "#]],
    );
}

#[test]
fn the_error_for_a_wrong_dialect_names_the_right_one() {
    check(
        || Reply::new(Dialect::OpenAiChat),
        ANTHROPIC,
        expect![[r#"
            Cut
            error: byte 0: the input is not `openai-chat`, but looks like `anthropic`
            hint: name `anthropic` instead, or let the dialect be detected
            WrongDialect at 0 in frame 0
        "#]],
    );
    check(
        || Reply::new(Dialect::Anthropic),
        CHAT,
        expect![[r#"
            Cut
            error: byte 0: the input is not `anthropic`, but looks like `openai-chat`
            hint: name `openai-chat` instead, or let the dialect be detected
            WrongDialect at 0 in frame 0
        "#]],
    );
    check(
        || Reply::new(Dialect::Anthropic),
        format!(": hello\n\n{CHAT}"),
        expect![[r#"
            Cut
            error: byte 9: the input is not `anthropic`, but looks like `openai-chat`
            hint: name `openai-chat` instead, or let the dialect be detected
            WrongDialect at 9 in frame 1
        "#]],
    );
}

/// The rest of the piece that contains the wrong frame is not read.
#[test]
fn nothing_is_read_after_a_refusal() {
    let input = format!("{CHAT}no field of anyone\n\n{CHAT}data: {{\n\n");
    check(
        || Reply::new(Dialect::Anthropic),
        input,
        expect![[r#"
            Cut
            error: byte 0: the input is not `anthropic`, but looks like `openai-chat`
            hint: name `openai-chat` instead, or let the dialect be detected
            WrongDialect at 0 in frame 0
        "#]],
    );
}

#[test]
fn the_error_for_an_unknown_name_lists_the_dialects() {
    let error = "gopher".parse::<Dialect>().expect_err("there is no such dialect");
    assert_eq!(error.to_string(), "`gopher` is not a dialect");
    for dialect in Dialect::ALL {
        assert!(error.hint().contains(dialect.name()));
        assert_eq!(dialect.name().parse(), Ok(dialect));
    }
}

#[test]
fn an_error_body_is_a_failure_in_every_dialect() {
    let plain = "{\"error\":{\"message\":\"no such model\",\"type\":\"invalid_request_error\"}}";
    let typed = "{\n  \"type\": \"error\",\n  \"error\": {\"type\": \"not_found_error\", \"message\": \"no such model\"}\n}";
    for body in [plain, typed] {
        for reply in [Reply::detect, || Reply::new(Dialect::Anthropic), || Reply::new(Dialect::OpenAiChat)] {
            check(
                reply,
                body,
                expect![[r#"
                    Failed
                    failure: no such model
                "#]],
            );
        }
    }
}

/// Frames that could be in any dialect are kept until one shows the dialect.
#[test]
fn frames_before_the_dialect_is_known_are_not_lost() {
    let input = format!("data: {{\"hello\":1}}\n\n: alive\n\n{CHAT}");
    check(
        Reply::detect,
        input,
        expect![[r#"
            Cut
            UnknownEvent at 0 in frame 0
        "#]],
    );
}

/// Every case read in another dialect is an error, or a message that does not look complete.
#[test]
fn no_case_is_complete_in_another_dialect() {
    for wire in corpus::wire_cases() {
        for other in Dialect::ALL.into_iter().filter(|other| *other != wire.dialect) {
            let outcome = outcome(Reply::new(other), &[&wire.case.input]);
            let stopped = outcome.messages.iter().filter(|message| message.status() == Status::Stopped);
            assert_eq!(stopped.count(), 0, "corpus/{} as {other}", wire.case.name);
        }
    }
}
