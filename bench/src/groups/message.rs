//! Bytes to the message, with a listener.

use anyhow::Result;
use reknit::message::{Args, Body, ToolCall};
use reknit::tags::{Tagger, profile};
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
const AT_ONCE: &str = "in one read";
const TAGGED: &str = "with a tagger";

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
    let (bytes, events) = &text;
    let row = |name: &str, bytes: &[u8], steps, runners| {
        alternating(Row { name: name.to_owned(), size: bytes.len(), steps, runners }, bench.effort)
    };
    let at_once = Runner { name: AT_ONCE, ..ours(Dialect::Anthropic, bytes, bytes.len()) };
    let runners = vec![ours(Dialect::Anthropic, bytes, READ), at_once];
    rows.push(row("the same, also at once", bytes, *events, runners)?);
    let (bytes, events) = &chat;
    let runners = vec![ours(Dialect::OpenAiChat, bytes, READ), tagged(bytes)];
    rows.push(row("20,000 text deltas of Chat Completions", bytes, *events, runners)?);
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
        move || reply(Reply::new(dialect), bytes.chunks(read)),
        |(reply, grew): (Reply, usize)| grew + fingerprint(&first_block(reply.message())),
    );
    Runner::new("reknit", work)
}

/// Looks for calls in the text, of which there are none.
fn tagged(bytes: &[u8]) -> Runner<'_> {
    let grammar = profile("cline").expect("it is a profile");
    let tagger = Tagger::new(grammar, None, "").expect("a profile is a grammar");
    let work = timed(
        move || reply(Reply::new(Dialect::OpenAiChat).with_tags(tagger.clone()), bytes.chunks(READ)),
        |(reply, grew): (Reply, usize)| grew + fingerprint(&first_block(reply.message())),
    );
    Runner::new(TAGGED, work)
}

fn first_block(message: &Message) -> Value {
    match message.blocks().next().expect("there is one").body() {
        Body::ToolCall(ToolCall { args: Args::Complete(value), .. }) => value.clone().into(),
        _ => message.text().into(),
    }
}

fn targets(rows: &[Measured]) -> Vec<Target> {
    let least = rows.iter().filter_map(|row| row.ratio(SDK)).min_by(f64::total_cmp);
    let ratio = |name: &str| rows.iter().find_map(|row| row.ratio(name));
    vec![
        Target::at_least(format!("bytes to message: times as fast as {SDK}"), 8.0, least),
        Target::at_most("bytes to message in one read, of reads of 1,400 bytes", 1.05, ratio(AT_ONCE)),
        Target::at_most("prose with a tagger, of prose without", 1.3, ratio(TAGGED)),
    ]
}
