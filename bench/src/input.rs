//! What is read: tool arguments, and streams that bring them.

use std::fmt::Write as _;
use std::ops::Range;

use serde_json::{Value, json};

pub(crate) const KB: usize = 1 << 10;
pub(crate) const MB: usize = 1 << 20;

/// As models send them: a token has three to four letters, and a delta a few tokens.
pub(crate) const DELTA: usize = 16;
pub(crate) const LONG_DELTA: usize = 40;

/// Shapes of a tool argument.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    /// One long string without an escape.
    Plain,
    /// A source file in one string, with its line ends, quotes and tabs as escapes.
    File,
    /// An array of small objects.
    Rows,
}

impl Shape {
    pub(crate) const ALL: [Self; 3] = [Self::Plain, Self::File, Self::Rows];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "one plain string",
            Self::File => "an escaped source file",
            Self::Rows => "rows of small objects",
        }
    }

    /// An argument of this shape, as JSON of about `size` bytes.
    pub(crate) fn argument(self, size: usize) -> String {
        let argument = match self {
            Self::Plain => json!({"path": "notes.txt", "content": words(size)}),
            // An escape takes a byte more in JSON than in the file, and of those there are a tenth.
            Self::File => json!({"path": "src/lib.rs", "content": source(size * 10 / 11)}),
            Self::Rows => rows(size),
        };
        argument.to_string()
    }
}

/// Plain text.
pub(crate) fn words(size: usize) -> String {
    "The quick brown fox jumps over the lazy dog, and nobody is surprised. "
        .chars()
        .cycle()
        .take(size)
        .collect()
}

/// A source file: functions of seven lines and a blank one after each.
pub(crate) fn source(size: usize) -> String {
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= size {
            break;
        }
        let _ = write!(
            text,
            "/// Number {number}.\npub fn number_{number}(name: &str) -> String {{\n\tif name == \"{number}\" {{\n\
             \t\treturn format!(\"{{name}}\\n\");\n\t}}\n\tname.to_owned()\n}}\n\n"
        );
    }
    text
}

fn rows(size: usize) -> Value {
    let (mut rows, mut length) = (Vec::new(), 0);
    while length < size {
        let id = rows.len();
        let row =
            json!({"id": id, "name": format!("item {id}"), "price": 1.25, "tags": ["a", "b"], "new": true});
        length += row.to_string().len() + 1;
        rows.push(row);
    }
    json!({ "rows": rows })
}

/// A block that text comes to.
pub(crate) fn text_block() -> Value {
    json!({"type": "text", "text": ""})
}

/// A block that an argument comes to.
pub(crate) fn call_block() -> Value {
    json!({"type": "tool_use", "id": "toolu_1", "name": "write", "input": {}})
}

/// A stream of server-sent events, and where each ends.
pub(crate) struct Stream {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Stream {
    /// The start of an Anthropic message and of its first block.
    pub(crate) fn start(block: &Value) -> Self {
        let mut stream = Self { bytes: Vec::new(), ends: Vec::new() };
        let message = json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
            "stop_reason": null, "usage": {"input_tokens": 9, "output_tokens": 1},
        });
        stream.event("message_start", &format!(r#""message":{message}"#));
        stream.event("content_block_start", &format!(r#""index":0,"content_block":{block}"#));
        stream
    }

    /// The deltas that bring `text` to the first block, `size` bytes each.
    pub(crate) fn deltas(kind: &str, field: &str, text: &str, size: usize) -> Self {
        let mut stream = Self { bytes: Vec::new(), ends: Vec::new() };
        for piece in pieces(text, size) {
            let piece = Value::from(piece);
            stream.event(
                "content_block_delta",
                &format!(r#""index":0,"delta":{{"type":"{kind}","{field}":{piece}}}"#),
            );
        }
        stream
    }

    /// The end of the first block and of the message.
    pub(crate) fn end(reason: &str) -> Self {
        let mut stream = Self { bytes: Vec::new(), ends: Vec::new() };
        stream.event("content_block_stop", r#""index":0"#);
        let delta = json!({"stop_reason": reason, "stop_sequence": null});
        stream.event("message_delta", &format!(r#""delta":{delta},"usage":{{"output_tokens":9}}"#));
        stream.event("message_stop", r#""sequence":1"#);
        stream
    }

    /// A text as OpenAI's Chat Completions send it, in deltas of `size` bytes, with all that each repeats.
    pub(crate) fn chat(text: &str, size: usize) -> Self {
        let mut stream = Self { bytes: Vec::new(), ends: Vec::new() };
        stream.chunk(&json!({"role": "assistant", "content": ""}), &Value::Null);
        for piece in pieces(text, size) {
            stream.chunk(&json!({"content": piece}), &Value::Null);
        }
        stream.chunk(&json!({}), &json!("stop"));
        stream.data("[DONE]");
        stream
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of each event.
    pub(crate) fn events(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.ends.len()).map(|at| {
            let start = if at == 0 { 0 } else { self.ends[at - 1] };
            &self.bytes[start..self.ends[at]]
        })
    }

    fn event(&mut self, kind: &str, members: &str) {
        self.bytes.extend_from_slice(format!("event: {kind}\n").as_bytes());
        self.data(&format!("{{\"type\":\"{kind}\",{members}}}"));
    }

    fn chunk(&mut self, delta: &Value, finish_reason: &Value) {
        // Padding of another length each time, as the provider sends it.
        let padding = &"q7Rt0ZbW2kXv"[..3 + self.ends.len() % 8];
        self.data(&format!(
            "{{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\
             \"model\":\"m\",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_1\",\
             \"choices\":[{{\"index\":0,\"delta\":{delta},\"logprobs\":null,\"finish_reason\":{finish_reason}}}],\
             \"usage\":null,\"obfuscation\":\"{padding}\"}}",
        ));
    }

    fn data(&mut self, data: &str) {
        self.bytes.extend_from_slice(format!("data: {data}\n\n").as_bytes());
        self.ends.push(self.bytes.len());
    }
}

/// Server-sent events as Anthropic sends a text, in deltas of some tokens.
pub(crate) fn text_events(size: usize) -> Stream {
    Stream::deltas("text_delta", "text", &words(size), LONG_DELTA)
}

/// `text` in pieces of `size` bytes, or as many as whole characters take.
pub(crate) fn pieces(text: &str, size: usize) -> impl Iterator<Item = &str> {
    let mut rest = 0..text.len();
    std::iter::from_fn(move || {
        let Range { start, end } = rest;
        let cut = (start + size..end).find(|at| text.is_char_boundary(*at)).unwrap_or(end);
        rest.start = cut;
        (start < end).then(|| &text[start..cut])
    })
}
