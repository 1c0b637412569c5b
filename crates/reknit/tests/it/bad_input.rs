//! Input that is no stream, or not the one that was promised: an error or a state, never a panic or a guess.

use expect_test::{Expect, expect};
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
    let mut told = format!("{:?}\n", message.status());
    if let Some(failure) = message.failure() {
        told += &format!("failure: {}\n", failure.message);
    }
    if let Some(error) = error {
        told += &format!("error: {error}\nhint: {}\n", error.hint());
    }
    for notice in message.diagnostics() {
        told += &format!("{:?} at {} in frame {}\n", notice.kind, notice.at, notice.frame);
        assert!(!notice.hint().is_empty());
    }
    expected.assert_eq(&told);
}

#[test]
fn nothing_is_a_cut_message() {
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
fn blanks_and_comments_alone_are_no_message() {
    check(
        Reply::detect,
        " \n\n\r\n",
        expect![[r#"
            Cut
            error: the input has 5 bytes, and no server-sent event and no JSON in them
            hint: this version reads anthropic, openai-responses, gemini, ollama, agent-c, openai-chat; give it the body of a streamed response
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
fn binary_is_no_stream() {
    let every_byte: Vec<u8> = (0..=255).collect();
    check(
        Reply::detect,
        &every_byte,
        expect![[r#"
            Cut
            error: the input has 256 bytes, and no server-sent event and no JSON in them
            hint: this version reads anthropic, openai-responses, gemini, ollama, agent-c, openai-chat; give it the body of a streamed response
            IgnoredLine at 0 in frame 0
            UnknownDialect at 0 in frame 0
        "#]],
    );
    check(
        || Reply::new(Dialect::Anthropic),
        [0xFF; 40],
        expect![[r#"
            Cut
            error: the input has 40 bytes, and no server-sent event and no JSON in them
            hint: this version reads anthropic, openai-responses, gemini, ollama, agent-c, openai-chat; give it the body of a streamed response
            IgnoredLine at 0 in frame 0
            UnknownDialect at 0 in frame 0
        "#]],
    );
    check(
        Reply::detect,
        [0; 40],
        expect![[r#"
            Cut
            error: the input has 40 bytes, and no server-sent event and no JSON in them
            hint: this version reads anthropic, openai-responses, gemini, ollama, agent-c, openai-chat; give it the body of a streamed response
            IgnoredLine at 0 in frame 0
            UnknownDialect at 0 in frame 0
        "#]],
    );
}

#[test]
fn prose_and_pages_are_no_stream() {
    check(
        Reply::detect,
        "<html>\n<body>502 Bad Gateway</body>\n</html>\n",
        expect![[r#"
            Cut
            error: the input has 44 bytes, and no server-sent event and no JSON in them
            hint: this version reads anthropic, openai-responses, gemini, ollama, agent-c, openai-chat; give it the body of a streamed response
            IgnoredLine at 0 in frame 0
            UnknownDialect at 0 in frame 0
        "#]],
    );
    check(
        || Reply::new(Dialect::OpenAiChat),
        "upstream connect error",
        expect![[r#"
            Cut
            error: the input has 22 bytes, and no server-sent event and no JSON in them
            hint: this version reads anthropic, openai-responses, gemini, ollama, agent-c, openai-chat; give it the body of a streamed response
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
            hint: this version reads anthropic, openai-responses, gemini, ollama, agent-c, openai-chat; give it the body of a streamed response
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
fn json_of_nobody_is_an_unknown_dialect() {
    check(
        Reply::detect,
        "{\"hello\": \"world\"}\n",
        expect![[r#"
            Cut
            error: byte 0: the input is not a stream of a known dialect; it begins with `{"hello": "world"}`
            hint: this version reads anthropic, openai-responses, gemini, ollama, agent-c, openai-chat; give it the body of a streamed response
            UnknownDialect at 0 in frame 0
        "#]],
    );
    check(
        Reply::detect,
        "[1, 2, 3]",
        expect![[r#"
            Cut
            error: byte 1: the input is not a stream of a known dialect; it begins with `1`
            hint: this version reads anthropic, openai-responses, gemini, ollama, agent-c, openai-chat; give it the body of a streamed response
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
fn the_wrong_name_is_told_with_the_right_one() {
    check(
        || Reply::new(Dialect::OpenAiChat),
        ANTHROPIC,
        expect![[r#"
            Cut
            error: byte 0: the input is not `openai-chat`, it looks like `anthropic`
            hint: name `anthropic` instead, or let the dialect be found
            WrongDialect at 0 in frame 0
        "#]],
    );
    check(
        || Reply::new(Dialect::Anthropic),
        CHAT,
        expect![[r#"
            Cut
            error: byte 0: the input is not `anthropic`, it looks like `openai-chat`
            hint: name `openai-chat` instead, or let the dialect be found
            WrongDialect at 0 in frame 0
        "#]],
    );
    check(
        || Reply::new(Dialect::Anthropic),
        format!(": hello\n\n{CHAT}"),
        expect![[r#"
            Cut
            error: byte 9: the input is not `anthropic`, it looks like `openai-chat`
            hint: name `openai-chat` instead, or let the dialect be found
            WrongDialect at 9 in frame 1
        "#]],
    );
}

/// What else is in the piece with the wrong frame is not even looked at.
#[test]
fn nothing_is_read_behind_a_refusal() {
    let input = format!("{CHAT}no field of anyone\n\n{CHAT}data: {{\n\n");
    check(
        || Reply::new(Dialect::Anthropic),
        input,
        expect![[r#"
            Cut
            error: byte 0: the input is not `anthropic`, it looks like `openai-chat`
            hint: name `openai-chat` instead, or let the dialect be found
            WrongDialect at 0 in frame 0
        "#]],
    );
}

#[test]
fn the_name_of_no_dialect_is_told_with_those_there_are() {
    let error = "gopher".parse::<Dialect>().expect_err("there is no such dialect");
    assert_eq!(error.to_string(), "`gopher` is not a dialect");
    for dialect in Dialect::ALL {
        assert!(error.hint().contains(dialect.name()));
        assert_eq!(dialect.name().parse(), Ok(dialect));
    }
}

#[test]
fn an_error_body_is_a_failure_whoever_was_expected() {
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

/// Frames that could be anyone's are kept until one shows the dialect, and then none is lost.
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

/// Every case read as the other dialect: an error, or a message that nobody could take for whole.
#[test]
fn no_case_is_whole_in_a_dialect_that_it_is_not() {
    for wire in corpus::wire_cases() {
        for other in Dialect::ALL.into_iter().filter(|other| *other != wire.dialect) {
            let outcome = outcome(Reply::new(other), &[&wire.case.input]);
            let stopped = outcome.messages.iter().filter(|message| message.status() == Status::Stopped);
            assert_eq!(stopped.count(), 0, "corpus/{} as {other}", wire.case.name);
        }
    }
}
