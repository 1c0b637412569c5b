//! What is timed: the engine with a look after every delta, what it cannot beat, and its peer.

use jiter::{JsonValue, JsonValueScratch, PartialMode};
use reknit::frame::{Decoder, Framing};
use reknit::json::{Change as JsonChange, PartialJson};
use reknit::message::{Args, Body, Change, Input, ToolCall};
use reknit::{Dialect, Limits, Message, Reply};

use crate::input::{Stream, pieces};

/// Reads a tool argument and looks after each piece.
pub(crate) fn partial_json(argument: &str, piece: usize) -> usize {
    let mut json = PartialJson::new();
    let mut seen = 0;
    for piece in pieces(argument, piece) {
        json.push(piece).expect("the argument is JSON");
        seen += look_at_json(&json);
    }
    json.check().expect("the argument is whole");
    seen
}

/// Reads a reply, event by event as a server sends it, and looks at every change and at what it changed.
///
/// `deltas` come `times` times.
pub(crate) fn reply(start: &Stream, deltas: &Stream, times: usize) -> usize {
    let mut reply = Reply::new(Dialect::Anthropic);
    let mut seen = 0;
    for event in start.events().chain((0..times).flat_map(|_| deltas.events())) {
        let mut changes = reply.push(event);
        while let Some((change, message)) = changes.next() {
            seen += look_at_message(&change, message);
        }
    }
    seen
}

/// Cuts a stream into frames, which arrives in `reads`.
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

/// Reads a whole JSON text once, without a look before its end.
pub(crate) fn serde_json_once(text: &str) -> usize {
    let value: serde_json::Value = serde_json::from_str(text).expect("the text is JSON");
    value.as_object().map_or(1, serde_json::Map::len)
}

/// Reads the data of every event, and forgets it. All of it comes `times` times.
pub(crate) fn serde_json_each(data: &[&[u8]], times: usize) -> usize {
    let read = |data: &&[u8]| {
        let value: serde_json::Value = serde_json::from_slice(data).expect("the data is JSON");
        value["index"].as_u64().map_or(0, |index| index as usize + 1)
    };
    (0..times).flat_map(|_| data.iter().map(read)).sum()
}

/// Reads all that has come of a tool argument anew with each piece.
pub(crate) fn jiter_each(argument: &str, piece: usize) -> usize {
    let mut scratch = JsonValueScratch::new();
    let (mut seen, mut end) = (0, 0);
    for piece in pieces(argument, piece) {
        end += piece.len();
        let so_far = &argument.as_bytes()[..end];
        let value = scratch.parse(so_far, false, PartialMode::TrailingStrings);
        seen += usize::from(matches!(value, Ok(JsonValue::Object(_))));
    }
    seen
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
            Body::ToolCall(_) | Body::ToolResult { .. } | Body::Other { .. } => 0,
        }
}
