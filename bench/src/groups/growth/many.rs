//! Inputs that have many of something, judged at each doubling: members of an object, blocks in any order,
//! fragments of a call, sessions, diagnostics.

use std::iter;

use anyhow::Result;
use reknit::{Dialect, Reply};
use reknit_compat::realtime::{Processor, Profile, ServerEvent, Time};

use super::{Series, doublings};
use crate::groups::{Bench, Scale};
use crate::measure::timed;

pub(super) fn run(bench: &Bench) -> Result<Vec<Series>> {
    let largest = if bench.scale == Scale::Full { 64_000 } else { 16_000 };
    let mut series = Vec::new();
    for (dialect, place, start, end) in FRAMES {
        let frame = |count| format!("{start}{}{end}\n\n", members(count));
        series.push(replies(bench, format!("{dialect}, keys in {place}"), dialect, largest, frame)?);
    }
    // At most 16,384 blocks are read.
    for (order, blocks) in [("falling", falling as fn(usize) -> String), ("shuffled", shuffled)] {
        series.push(replies(bench, format!("{order} blocks"), Dialect::Anthropic, 16_000, blocks)?);
    }
    series.push(replies(bench, "held fragments".to_owned(), Dialect::OpenAiChat, largest, fragments)?);
    series.push(replies(bench, "diagnostics".to_owned(), Dialect::Anthropic, largest, malformed)?);
    series.push(sessions(bench, largest)?);
    Ok(series)
}

/// Where a provider's frame may have many members: the dialect, the place, and what is before and after them.
const FRAMES: [(Dialect, &str, &str, &str); 11] = [
    (
        Dialect::Anthropic,
        "`message_start`",
        r#"data: {"type":"message_start","message":{"id":"m","role":"assistant","content":[],"#,
        "}}",
    ),
    (Dialect::Anthropic, "`usage`", r#"data: {"type":"message_delta","delta":{},"usage":{"#, "}}"),
    (
        Dialect::OpenAiChat,
        "a chunk",
        r#"data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}}],"#,
        "}",
    ),
    (
        Dialect::OpenAiChat,
        "`delta`",
        r#"data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a","#,
        "}}]}",
    ),
    (
        Dialect::OpenAiChat,
        "`usage`",
        r#"data: {"object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":1,"#,
        "}}",
    ),
    (
        Dialect::OpenAiResponses,
        "`response.created`",
        r#"data: {"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","output":[],"#,
        "}}",
    ),
    (
        Dialect::Gemini,
        "a chunk",
        r#"data: {"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"index":0}],"#,
        "}",
    ),
    (
        Dialect::Ollama,
        "a line",
        r#"{"model":"m","created_at":"t","message":{"role":"assistant","content":"a"},"done":false,"#,
        "}",
    ),
    (
        Dialect::BedrockConverse,
        "`metadata`",
        r#"data: {"metadata":{"usage":{"inputTokens":1,"outputTokens":1},"#,
        "}}",
    ),
    (
        Dialect::Cohere,
        "`message-start`",
        r#"data: {"type":"message-start","id":"m","delta":{"message":{"role":"assistant","content":[],"#,
        "}}}",
    ),
    (
        Dialect::GeminiInteractions,
        "`interaction.created`",
        r#"data: {"event_type":"interaction.created","interaction":{"id":"i","status":"in_progress","#,
        "}}",
    ),
];

fn members(count: usize) -> String {
    let members: Vec<_> = (0..count).map(|number| format!(r#""key{number}":{number}"#)).collect();
    members.join(",")
}

fn blocks(indexes: impl Iterator<Item = usize>) -> String {
    let start = r#"data: {"type":"message_start","message":{"id":"m","role":"assistant","content":[]}}"#;
    let block = |index| {
        format!(
            "data: {{\"type\":\"content_block_start\",\"index\":{index},\
             \"content_block\":{{\"type\":\"text\",\"text\":\"a\"}}}}\n\n\
             data: {{\"type\":\"content_block_stop\",\"index\":{index}}}\n\n"
        )
    };
    iter::once(format!("{start}\n\n")).chain(indexes.map(block)).collect()
}

fn falling(count: usize) -> String {
    blocks((0..count).rev())
}

fn shuffled(count: usize) -> String {
    // Every index once, because the step has no divisor in common with any of the counts.
    blocks((0..count).map(|number| number * 7919 % count))
}

/// Parts of calls that have no name yet, and so cannot be shown.
fn fragments(count: usize) -> String {
    let fragment = |number| {
        format!(
            "data: {{\"object\":\"chat.completion.chunk\",\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":\
             [{{\"index\":0,\"key{number}\":{number},\"function\":{{\"arguments\":\"1\"}}}}]}}}}]}}\n\n"
        )
    };
    (0..count).map(fragment).collect()
}

fn malformed(count: usize) -> String {
    (0..count)
        .map(|number| format!("data: {{\"type\":\"content_block_stop\",\"index\":{number}}}\n\n"))
        .collect()
}

/// A reply in neutral form, and in native form if its dialect has one.
fn replies(
    bench: &Bench,
    name: String,
    dialect: Dialect,
    largest: usize,
    stream: impl Fn(usize) -> String,
) -> Result<Series> {
    let streams: Vec<_> = doublings(largest).map(|count| (count, stream(count))).collect();
    let inputs = streams.iter().map(|(_, stream)| {
        let read = move || {
            let reply = Reply::new(dialect);
            let mut reply = if dialect.has_native() { reply.with_native() } else { reply };
            for piece in stream.as_bytes().chunks(16_384) {
                let mut changes = reply.push(piece);
                while changes.next().is_some() {}
            }
            while reply.finish().next().is_some() {}
            reply.into_native().len()
        };
        (stream.len(), timed(read, |messages| messages))
    });
    Series::measure(bench.effort, name, inputs)
}

/// A message is open in each of many sessions, and held text is asked for after each event.
fn sessions(bench: &Bench, largest: usize) -> Result<Series> {
    let event = |number: usize| -> ServerEvent {
        let session = number / 2;
        let event = format!(r#"{{"type":"text_delta","session_id":"s{session}","content":"words"}}"#);
        event.parse().expect("it is an event")
    };
    let inputs = doublings(largest).map(|count| {
        let events: Vec<_> = (0..2 * count).map(event).collect();
        let read = move || {
            let mut processor = Processor::new(Profile::Documented);
            let shown = |event| processor.process(event, Time(0)).len() + processor.flush(Time(0)).len();
            events.iter().map(shown).sum::<usize>()
        };
        (2 * count, timed(read, |happenings| happenings))
    });
    Series::measure(bench.effort, "realtime sessions".to_owned(), inputs)
}
