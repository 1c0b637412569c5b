//! The engine at work, with a look after every delta.

use std::hint::black_box;

use reknit::agent::AgentEvent;
use reknit::frame::{Decoder, Framing};
use reknit::json::{Change as JsonChange, PartialJson};
use reknit::message::{Args, Body, Change, Input, ToolCall};
use reknit::transcript::{self, Chunk, Chunks, append};
use reknit::{Limits, Message, Reply};

use crate::input::pieces;

/// Reads a tool argument and looks after each piece.
pub(crate) fn partial_json(argument: &str, piece: usize) -> PartialJson {
    let mut json = PartialJson::new();
    for piece in pieces(argument, piece) {
        json.push(piece).expect("the argument is JSON");
        black_box(look_at_json(&json));
    }
    json
}

/// Reads a reply, which arrives in `reads`, and looks at every change and at what it changed.
///
/// Also says how often something grew.
pub(crate) fn reply<'a>(mut reply: Reply, reads: impl Iterator<Item = &'a [u8]>) -> (Reply, usize) {
    let mut grew = 0;
    for read in reads {
        let mut changes = reply.push(read);
        while let Some((change, message)) = changes.next() {
            grew += usize::from(matches!(change, Change::Grew { .. }));
            black_box(look_at_message(&change, message));
        }
    }
    (reply, grew)
}

/// Cuts a stream into frames, which arrives in `reads`; returns how long their data and names are.
pub(crate) fn frames<'a>(reads: impl Iterator<Item = &'a [u8]>) -> usize {
    let mut decoder = Decoder::new(Framing::Sse, &Limits::default());
    let mut seen = 0;
    for read in reads {
        decoder.push(read);
        while let Some(frame) = decoder.next_frame().expect("no frame is too long") {
            seen += frame.data.len() + frame.event.len();
        }
    }
    seen
}

/// Folds events into chunks and looks at every change and at the chunk that it is about.
pub(crate) fn chunks(events: &[AgentEvent]) -> Chunks {
    let mut chunks = Chunks::default();
    for event in events {
        let change = append(&mut chunks, event);
        black_box(look_at_chunks(&change, &chunks));
    }
    chunks
}

/// The value so far by reference, the way to each change and the new text.
fn look_at_json(json: &PartialJson) -> usize {
    let there = usize::from(json.value().is_some());
    let changes = json.changes().map(|change| {
        let text = if let JsonChange::StringGrew { text, .. } = change { text } else { "" };
        change.path().steps().count() + text.len()
    });
    there + changes.sum::<usize>()
}

/// The change, the block that it is about, and the end of what is there now.
fn look_at_message(change: &Change<'_>, message: &Message) -> usize {
    let Change::Grew { block, text, .. } = change else { return 1 };
    let block = message.block(*block).expect("a block that grew is there");
    text.len()
        + match block.body() {
            Body::Text { text, .. } | Body::Thinking { text, .. } => {
                text.len() + text.segments().last().map_or(0, str::len)
            }
            Body::ToolCall(ToolCall { args: Args::Streaming(Input::Json(json)), .. }) => look_at_json(json),
            _ => 0,
        }
}

/// The change, the chunk or call that it is about, and the end of what is there now.
fn look_at_chunks(change: &transcript::Change<'_>, chunks: &Chunks) -> usize {
    use transcript::Change::{Answered, Grew, Wrote};
    match change {
        Grew { chunk, text, .. } => match &chunks[*chunk] {
            Chunk::Text { text: shown } | Chunk::Thinking { text: shown, .. } => {
                text.len() + shown.len() + shown.segments().last().map_or(0, str::len)
            }
            _ => 0,
        },
        Answered { chunk, call, .. } | Wrote { chunk, call, .. } => match &chunks[*chunk] {
            Chunk::ToolBatch { calls } => calls[*call].id.len(),
            _ => 0,
        },
        _ => 1,
    }
}
