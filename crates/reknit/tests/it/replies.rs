//! From bytes to messages: every input in `corpus/wire` through [`Reply`], compared with the files next to
//! it.

use reknit::json::Value;
use reknit::message::{Change, Status};
use reknit::reply::{Changes, Error};
use reknit::{Dialect, Message, Reply};
use serde::Serialize;

use crate::corpus::{self, Verdict};
use crate::cuts::same_for_every_cut;

/// A test for each dialect, so that they run in parallel.
macro_rules! cases_give_what_they_must {
    ($($name:ident: $dialect:ident),+ $(,)?) => {
        $(#[test]
        fn $name() {
            check_cases(Dialect::$dialect);
        })+

        #[test]
        fn every_dialect_has_its_test() {
            let tested = [$(Dialect::$dialect),+];
            assert!(Dialect::ALL.iter().all(|dialect| tested.contains(dialect)), "{tested:?}");
        }
    };
}

cases_give_what_they_must! {
    anthropic: Anthropic,
    openai_chat: OpenAiChat,
    openai_responses: OpenAiResponses,
    gemini: Gemini,
    gemini_interactions: GeminiInteractions,
    bedrock_converse: BedrockConverse,
    cohere: Cohere,
    ollama: Ollama,
    agent_c: AgentC,
}

fn check_cases(dialect: Dialect) {
    let mut verdict = Verdict::new();
    for case in corpus::cases(&format!("wire/{dialect}")) {
        let outcome = same_for_every_cut(&case.input, |pieces| outcome(Reply::new(dialect), pieces));
        assert_eq!(outcome.error, None, "corpus/{}", case.name);
        verdict.expect(&case, "message.json", &pretty(&outcome.messages));
        if dialect.has_native() {
            verdict.expect(&case, "native.json", &pretty(&outcome.native));
        }
        assert!(dialect.has_native() || outcome.native.is_empty(), "corpus/{}", case.name);
        let lines = outcome.changes.iter();
        let lines = lines.map(|change| serde_json::to_string(change).expect("it is JSON") + "\n");
        verdict.expect(&case, "changes.ndjson", &lines.collect::<String>());
    }
    verdict.give();
}

fn pretty(list: &impl Serialize) -> String {
    serde_json::to_string_pretty(list).expect("it is JSON") + "\n"
}

/// The dialect is detected from the frames. Only an error in the form of another dialect may be taken for
/// that one.
#[test]
fn the_dialect_of_every_case_is_detected() {
    for wire in corpus::wire_cases() {
        let mut reply = Reply::detect();
        reply.push(&wire.case.input);
        reply.finish();
        let found = reply.dialect();
        let failed_at_once =
            reply.message().status() == Status::Failed && reply.message().blocks().len() == 0;
        // A body that is one frame, and cut, does not show its dialect.
        let cut_at_once = reply.message().status() == Status::Cut && reply.message().blocks().len() == 0;
        if found.is_none() && cut_at_once {
            continue;
        }
        if reply.message().status() != Status::Waiting && reply.error().is_none() && !failed_at_once {
            assert_eq!(found, Some(wire.dialect), "corpus/{}", wire.case.name);
        }
    }
}

#[test]
fn changes_that_are_not_looked_at_are_applied() {
    for wire in corpus::wire_cases() {
        let mut reply = Reply::new(wire.dialect);
        for piece in wire.case.input.chunks(7) {
            // Only one change is looked at.
            reply.push(piece).next();
        }
        reply.finish();
        let looked_at = read(wire.dialect, &[&wire.case.input]);
        assert!(reply.messages().eq(looked_at.messages()), "corpus/{}", wire.case.name);
    }
}

/// Everything that a reply returns.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) messages: Vec<Message>,
    pub(crate) native: Vec<Value>,
    pub(crate) changes: Vec<Change<'static>>,
    pub(crate) error: Option<Error>,
}

/// The outcome of reading these pieces.
pub(crate) fn outcome(reply: Reply, pieces: &[&[u8]]) -> Outcome {
    let mut reply = reply.with_native();
    let mut changes = Vec::new();
    let mut look = |mut given: Changes<'_>| {
        while let Some((change, _)) = given.next() {
            changes.push(change.into_owned());
        }
    };
    pieces.iter().for_each(|piece| look(reply.push(piece)));
    look(reply.finish());
    let messages = reply.messages().cloned().collect();
    Outcome { messages, error: reply.error().cloned(), native: reply.into_native(), changes }
}

/// A reply that has read all pieces.
pub(crate) fn read(dialect: Dialect, pieces: &[&[u8]]) -> Reply {
    let mut reply = Reply::new(dialect);
    for piece in pieces {
        reply.push(piece);
    }
    reply.finish();
    reply
}

/// The asynchronous adapter gives the same changes, and cuts the message if its stream fails.
#[cfg(feature = "stream")]
#[test]
fn a_stream_of_pieces_gives_the_changes_of_the_reply() {
    use futures_executor::block_on;
    use futures_util::{StreamExt, stream};
    use reknit::reply::ChangeStream;

    for wire in corpus::wire_cases() {
        let pieces = stream::iter(wire.case.input.chunks(50).map(Ok::<_, ()>));
        let stream = ChangeStream::new(Reply::new(wire.dialect), pieces);
        let changes: Vec<_> = block_on(stream.map(|change| change.expect("no piece fails")).collect());
        let expected = outcome(Reply::new(wire.dialect), &[&wire.case.input]);
        assert_eq!(changes, expected.changes, "corpus/{}", wire.case.name);

        let half = &wire.case.input[..wire.case.input.len() / 2];
        let mut stream =
            ChangeStream::new(Reply::new(wire.dialect), stream::iter([Ok(half), Err("connection reset")]));
        let changes: Vec<_> = block_on(stream.by_ref().collect());
        assert_eq!(changes.iter().filter(|change| change.is_err()).count(), 1, "corpus/{}", wire.case.name);
        assert!(stream.reply().message().is_over(), "corpus/{}", wire.case.name);
    }
}
