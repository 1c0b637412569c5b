//! Bytes to the message, with a listener.

use anyhow::Result;
use reknit::message::{Args, Body, ToolCall};
use reknit::{Dialect, Message, Reply};
use serde_json::{Value, json};

use super::look::fingerprint;
use super::{Bench, Group};
use crate::input::{DELTA, KB, Shape, Stream, call_block, text_block, words};
use crate::measure::{Measured, Row, Runner, alternating, timed};
use crate::ours::reply;
use crate::report::{self, Target};

/// How much comes at once: what a packet holds.
const READ: usize = 1_400;

const TEXT_DELTAS: usize = 20_000;
/// Rows are shorter: with 100 KB of them one run of the SDK takes half a minute.
const ARGUMENTS: [(Shape, &str, usize); 3] =
    [(Shape::Plain, "100 KB", 100 * KB), (Shape::File, "100 KB", 100 * KB), (Shape::Rows, "10 KB", 10 * KB)];

const SDK: &str = "@anthropic-ai/sdk";

pub(crate) fn run(bench: &Bench) -> Result<Group> {
    let text = words(TEXT_DELTAS * DELTA);
    let chat = whole(&[Stream::chat(&text, DELTA)]);
    let text = [
        Stream::start(&text_block()),
        Stream::deltas("text_delta", "text", &text, DELTA),
        Stream::end("end_turn"),
    ];
    let text = whole(&text);
    let mut streams = vec![("20,000 text deltas".to_owned(), "text", text.clone())];
    for (shape, words, size) in ARGUMENTS {
        let argument = shape.argument(size);
        let call = [
            Stream::start(&call_block()),
            Stream::deltas("input_json_delta", "partial_json", &argument, DELTA),
            Stream::end("tool_use"),
        ];
        streams.push((format!("{}, {words}", shape.name()), "inputJson", whole(&call)));
    }
    let mut rows = Vec::new();
    for (name, listen, (bytes, events)) in &streams {
        rows.push(alternating(row(bench, name, listen, bytes, *events)?, bench.effort)?);
    }
    let alone = [
        ("20,000 text deltas at once", Dialect::Anthropic, text.0.len(), &text),
        ("20,000 text deltas of Chat Completions", Dialect::OpenAiChat, READ, &chat),
    ];
    for (name, dialect, read, (bytes, events)) in alone {
        let runners = vec![ours(dialect, bytes, read)];
        let row = Row { name: name.to_owned(), size: bytes.len(), steps: *events, runners };
        rows.push(alternating(row, bench.effort)?);
    }
    let title = "bytes to message, in reads of 1,400 bytes, with a listener";
    Ok(Group { table: report::table(title, &rows), targets: targets(&rows), rows })
}

/// The bytes of parts of a stream, and how many events they are.
fn whole(parts: &[Stream]) -> (Vec<u8>, usize) {
    let bytes = parts.iter().flat_map(Stream::bytes).copied().collect();
    (bytes, parts.iter().map(|part| part.events().len()).sum())
}

fn row<'a>(bench: &'a Bench, name: &str, listen: &str, bytes: &'a [u8], events: usize) -> Result<Row<'a>> {
    let mut runners = vec![ours(Dialect::Anthropic, bytes, READ)];
    if let Some(node) = &bench.node {
        let input = node.input(str::from_utf8(bytes)?)?;
        let options = json!({"read": READ, "listen": listen});
        runners.push(Runner::new(SDK, node.work(SDK, input, &options)));
    }
    Ok(Row { name: name.to_owned(), size: bytes.len(), steps: events, runners })
}

fn ours(dialect: Dialect, bytes: &[u8], read: usize) -> Runner<'_> {
    let work = timed(
        move || reply(dialect, bytes.chunks(read)),
        |(reply, grew): (Reply, usize)| grew + fingerprint(&first_block(reply.message())),
    );
    Runner::new("reknit", work)
}

fn first_block(message: &Message) -> Value {
    match message.blocks()[0].body() {
        Body::ToolCall(ToolCall { args: Args::Complete(value), .. }) => value.clone().into(),
        _ => message.text().into(),
    }
}

fn targets(rows: &[Measured]) -> Vec<Target> {
    let least = rows.iter().filter_map(|row| row.ratio(SDK)).min_by(f64::total_cmp);
    vec![Target::at_least(format!("bytes to message: times as fast as {SDK}"), 8.0, least)]
}
