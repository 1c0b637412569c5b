//! Once warm, a delta allocates nothing on its way from bytes to the message.
//!
//! A test binary of its own, because counting replaces the allocator.
//!
//! What is kept must grow: a text doubles its room when it is full. So that none is full while allocations
//! are counted, every stream begins with [`LONG`] deltas of 1 KiB and then [`WARM`] short ones: the texts
//! have just doubled by then and have room for 60 KiB more, which the [`MEASURED`] deltas do not fill.
//! Between the first and the last of these not a single allocation is allowed.

use reknit::agent::{AgentEvent, Stream};
use reknit::frame::{Decoder, Framing};
use reknit::json::{self, PartialJson};
use reknit::message::{Args, Body, Change, Input, ToolCall};
use reknit::tags::{Parser, Tagger, profile};
use reknit::transcript::{self, Chunks, append};
use reknit::{Dialect, Limits, Message, Reply, Text};

const LONG: usize = 64;
const WARM: usize = 600;
const MEASURED: usize = 900;

/// Sizes of the pieces of a stream: a byte, less than a frame, and more than a frame.
const CUTS: [usize; 4] = [1, 7, 61, 1_400];

const PLAIN: &str = " plain words";
const ESCAPED: &str = r#"a \"b\"\n\té\u00e9\ud83d\ude00"#;

const ANTHROPIC_START: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}}

"#;

/// An Anthropic stream up to the start of a block, which the deltas go to.
fn anthropic_start(block: &str) -> String {
    format!(
        "{ANTHROPIC_START}event: content_block_start\n\
         data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{block}}}\n\n"
    )
}

fn anthropic_delta(delta: &str) -> String {
    format!(
        "event: content_block_delta\n\
         data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{delta}}}\n\n"
    )
}

/// A chunk as OpenAI sends it, with all that it repeats every time.
fn chat_chunk(delta: &str) -> String {
    format!(
        "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\
         \"model\":\"m\",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_1\",\
         \"choices\":[{{\"index\":0,\"delta\":{delta},\"logprobs\":null,\"finish_reason\":null}}],\
         \"usage\":null,\"obfuscation\":\"x7\"}}\n\n"
    )
}

#[test]
fn anthropic_text_allocates_nothing() {
    let start = anthropic_start(r#"{"type":"text","text":""}"#);
    let delta = |text: &str| anthropic_delta(&format!(r#"{{"type":"text_delta","text":"{text}"}}"#));
    check(Dialect::Anthropic, &start, &delta, &[PLAIN, ESCAPED]);
}

#[test]
fn anthropic_thinking_allocates_nothing() {
    let start = anthropic_start(r#"{"type":"thinking","thinking":"","signature":""}"#);
    let delta = |text: &str| anthropic_delta(&format!(r#"{{"type":"thinking_delta","thinking":"{text}"}}"#));
    check(Dialect::Anthropic, &start, &delta, &[PLAIN, ESCAPED]);
}

#[test]
fn anthropic_arguments_allocate_nothing_while_a_string_grows() {
    let start = anthropic_start(r#"{"type":"tool_use","id":"toolu_1","name":"write","input":{}}"#);
    let delta =
        |text: &str| anthropic_delta(&format!(r#"{{"type":"input_json_delta","partial_json":"{text}"}}"#));
    let start = start + &delta(r#"{\"content\":\""#);
    check(Dialect::Anthropic, &start, &delta, &[PLAIN, r#"fn a() {}\\n\\\"b\\t\\u00e9"#]);
}

#[test]
fn chat_content_allocates_nothing() {
    let start = chat_chunk(r#"{"role":"assistant","content":"","refusal":null}"#);
    let delta = |text: &str| chat_chunk(&format!(r#"{{"content":"{text}"}}"#));
    check(Dialect::OpenAiChat, &start, &delta, &[PLAIN, ESCAPED]);
}

#[test]
fn chat_reasoning_allocates_nothing() {
    let start = chat_chunk(r#"{"role":"assistant","content":null}"#);
    let delta = |text: &str| chat_chunk(&format!(r#"{{"content":null,"reasoning_content":"{text}"}}"#));
    check(Dialect::OpenAiChat, &start, &delta, &[PLAIN, ESCAPED]);
}

#[test]
fn chat_arguments_allocate_nothing_while_a_string_grows() {
    let start = chat_chunk(
        r#"{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"write","arguments":""}}]}"#,
    );
    let delta = |text: &str| {
        chat_chunk(&format!(r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":"{text}"}}}}]}}"#))
    };
    let start = start + &delta(r#"{\"content\":\""#);
    check(Dialect::OpenAiChat, &start, &delta, &[PLAIN, r#"fn a() {}\\n\\\"b\\t\\u00e9"#]);
}

#[test]
fn frames_allocate_nothing() {
    let sse = |text: &str| anthropic_delta(&format!(r#"{{"type":"text_delta","text":"{text}"}}"#));
    let all = |text: &str| format!(": hello\nid: 7\nretry: 9\nevent: é\r\ndata: a\rdata: {text}\n\n");
    let line = |text: &str| format!("{{\"message\":{{\"content\":\"{text}\"}}}}\n");
    let element = |text: &str| format!("{{\"message\":{{\"content\":\"{text}\"}}}},");
    let framings: [(Framing, &str, Delta<'_>); 4] = [
        (Framing::Sse, "", &sse),
        (Framing::Sse, "", &all),
        (Framing::Lines, "", &line),
        (Framing::JsonArray, "[", &element),
    ];
    for (framing, start, frame) in framings {
        for cut in CUTS {
            let mut decoder = Decoder::new(framing, &Limits::default());
            let count = allocations(start, frame, ESCAPED, cut, |piece, seen| {
                decoder.push(piece);
                while let Some(frame) = decoder.next_frame().unwrap() {
                    seen.deltas += 1;
                    seen.bytes += frame.data.len();
                }
                assert!(decoder.next_diagnostic().is_none());
            });
            assert_eq!(count, 0, "{framing:?} in pieces of {cut}");
        }
    }
}

#[test]
fn a_growing_string_allocates_nothing() {
    for pieces in [[PLAIN, PLAIN], [ESCAPED, ESCAPED], [r"half\u00", "e9, and more"]] {
        let mut json = PartialJson::new();
        json.push(r#"{"content":""#).unwrap();
        let long = "x".repeat(1024);
        let _: usize = (0..LONG).map(|_| push_and_look(&mut json, &long)).sum();
        let mut grow = |times| (0..times).map(|at| push_and_look(&mut json, pieces[at % 2])).sum();
        let _: usize = grow(WARM);
        let mut grown = 0;
        let info = allocation_counter::measure(|| grown = grow(MEASURED));
        assert!(grown >= 4 * MEASURED, "{grown} bytes of {pieces:?}");
        assert_eq!(info.count_total, 0, "{pieces:?}");
    }
}

#[test]
fn a_tagger_allocates_nothing_while_text_and_values_grow() {
    let starts = [
        ("cline", "Text: "),
        ("cline", "<write_to_file><path>a</path><content>"),
        ("hermes", r#"<tool_call>{\"name\":\"write\",\"arguments\":{\"content\":\""#),
    ];
    let delta = |text: &str| chat_chunk(&format!(r#"{{"content":"{text}"}}"#));
    for (grammar, start) in starts {
        let grammar = profile(grammar).expect("it is a profile");
        for cut in CUTS {
            let tagger = Tagger::new(grammar, None, "").unwrap();
            let mut reply = Reply::new(Dialect::OpenAiChat).with_tags(tagger);
            let count = allocations(&delta(start), &delta, PLAIN, cut, |piece, seen| {
                let mut changes = reply.push(piece);
                while let Some((change, message)) = changes.next() {
                    let Change::Grew { block, text, .. } = change else { continue };
                    assert!(message.block(block).is_some());
                    seen.deltas += 1;
                    seen.bytes += text.len();
                }
            });
            assert_eq!(count, 0, "{} in pieces of {cut}, after {start}", grammar.name);
        }
    }
}

/// The value by reference, the changed path and the new text.
fn push_and_look(json: &mut PartialJson, piece: &str) -> usize {
    json.push(piece).unwrap();
    assert!(json.value().is_some());
    json.changes()
        .map(|change| match change {
            json::Change::StringGrew { path, text } => {
                assert_eq!(path, "/content");
                assert!(json.at(path).and_then(json::Value::as_text).is_some());
                text.len()
            }
            json::Change::Opened { .. } | json::Change::Scalar { .. } | json::Change::Closed { .. } => 0,
        })
        .sum()
}

/// The frame that brings a text.
type Delta<'a> = &'a dyn Fn(&str) -> String;

/// What was looked at, to know that something was.
#[derive(Debug, Default)]
struct Seen {
    deltas: usize,
    bytes: usize,
}

/// Reads a stream of deltas of the same text, for each of `texts` and cut in all ways, and expects that
/// they allocate nothing.
fn check(dialect: Dialect, start: &str, delta: Delta<'_>, texts: &[&str]) {
    for text in texts {
        for cut in CUTS {
            let mut reply = Reply::new(dialect);
            let count = allocations(start, delta, text, cut, |piece, seen| {
                let mut changes = reply.push(piece);
                while let Some((change, message)) = changes.next() {
                    look(&change, message, seen);
                }
            });
            assert_eq!(count, 0, "{dialect} in pieces of {cut}: {text}");
            assert!(reply.message().diagnostics().is_empty(), "{:?}", reply.message().diagnostics());
        }
    }
}

/// How many allocations the measured part of a stream takes.
fn allocations(
    start: &str,
    delta: Delta<'_>,
    text: &str,
    cut: usize,
    mut read: impl FnMut(&[u8], &mut Seen),
) -> u64 {
    let long = delta(&"x".repeat(1024)).repeat(LONG);
    let warm = format!("{start}{long}{}", delta(text).repeat(WARM));
    let measured = delta(text).repeat(MEASURED);
    warm.as_bytes().chunks(cut).for_each(|piece| read(piece, &mut Seen::default()));
    let mut seen = Seen::default();
    let info = allocation_counter::measure(|| {
        measured.as_bytes().chunks(cut).for_each(|piece| read(piece, &mut seen));
    });
    assert!(seen.deltas >= MEASURED && seen.bytes >= 4 * MEASURED, "{seen:?}: the deltas were not there");
    info.count_total
}

/// Looks at a change as a reader who follows along does.
fn look(change: &Change<'_>, message: &Message, seen: &mut Seen) {
    let Change::Grew { block, at, text } = change else { return };
    let block = message.block(*block).expect("a block that grew is there");
    let length = match block.body() {
        Body::Text { text, .. } | Body::Thinking { text, .. } => last(text),
        Body::ToolCall(ToolCall { args: Args::Streaming(Input::Json(json)), .. }) => {
            assert!(json.value().is_some());
            assert!(json.changes().all(|change| change.path() == "/content" || change.path() == ""));
            last(json.raw())
        }
        body => panic!("{body:?} has no text"),
    };
    assert_eq!(length, at + text.len());
    seen.deltas += 1;
    seen.bytes += text.len();
}

/// The length, found by way of the last piece.
fn last(text: &Text) -> usize {
    assert!(text.segments().last().is_some());
    text.len()
}

/// Text, thinking, and the value of a parameter; what is shown of them is a range, also of a cut piece.
#[test]
fn text_and_values_of_tags_allocate_nothing() {
    for (name, start) in [
        ("cline", "So: "),
        ("cline", "<write_to_file><path>a</path><content>"),
        ("roo", "<write_to_file><path>a</path><content>\n"),
        ("qwen3-coder", "<tool_call><function=f><parameter=a>\n"),
        ("hermes", "<think>"),
    ] {
        let mut parser = Parser::new(profile(name).unwrap(), None).unwrap();
        parser.push(start).unwrap();
        let mut feed = |piece: &str, count: usize| {
            for _ in 0..count {
                parser.push(piece).unwrap();
                assert_ne!(parser.blocks().len(), 0);
            }
        };
        feed(&"long ".repeat(205), LONG);
        feed(PLAIN, WARM);
        let counted = allocation_counter::measure(|| feed(PLAIN, MEASURED));
        assert_eq!(counted.count_total, 0, "{name} after {start:?}");
    }
}

/// Deltas of a session: text, thinking, a call's arguments, what its command writes, and a file in an edit.
#[test]
fn deltas_of_chunks_allocate_nothing() {
    let id = || "c1".to_owned();
    let delta = |kind: &str, text: &str| {
        let (tool_call_id, delta) = (id(), text.to_owned());
        match kind {
            "text" => AgentEvent::TextDelta { delta },
            "thinking" => AgentEvent::ReasoningDelta { delta },
            "input" => AgentEvent::ToolInputDelta { tool_call_id, delta },
            "output" => AgentEvent::ShellOutput { data: delta, stream: Stream::Stdout, tool_call_id: None },
            "named output" => AgentEvent::ShellOutput {
                data: delta,
                stream: Stream::Stderr,
                tool_call_id: Some(tool_call_id),
            },
            _ => AgentEvent::EditPreview { tool_call_id, path: "a.rs".to_owned(), delta, restarted: false },
        }
    };
    for kind in ["text", "thinking", "input", "output", "named output", "preview"] {
        let mut chunks = Chunks::default();
        append(&mut chunks, &AgentEvent::ToolInputStart { tool_call_id: id(), tool_name: "run".to_owned() });
        let mut feed = |event: &AgentEvent, count: usize| {
            for _ in 0..count {
                let change = append(&mut chunks, event);
                assert!(!matches!(change, transcript::Change::Dropped(_) | transcript::Change::Nothing {}));
            }
        };
        feed(&delta(kind, &"x".repeat(1024)), LONG);
        let event = delta(kind, PLAIN);
        feed(&event, WARM);
        let counted = allocation_counter::measure(|| feed(&event, MEASURED));
        assert_eq!(counted.count_total, 0, "{kind}");
    }
}

/// Values that are nearly all structure are the worst case: a digit and a comma become a value of 16 bytes, and
/// the list of these needs more than twice its size while it is moved.
#[test]
fn arguments_take_at_most_24_bytes_for_each_of_theirs() {
    let element = |shape: &str, number: usize| match shape {
        "keys" => format!(r#""{number}":0"#),
        element => element.to_owned(),
    };
    for shape in ["1", "[]", "{}", r#""""#, "keys"] {
        let (open, close) = if shape == "keys" { ('{', '}') } else { ('[', ']') };
        // Of these sizes, some are right after a list has grown.
        for size in [300_000, 400_000, 500_000, 600_000] {
            let mut reply = Reply::new(Dialect::Anthropic);
            let mut push = |stream: &str| {
                let mut changes = reply.push(stream.as_bytes());
                while changes.next().is_some() {}
            };
            push(&anthropic_start(r#"{"type":"tool_use","id":"toolu_1","name":"write","input":{}}"#));
            let (mut written, mut number) = (0, 0);
            let info = allocation_counter::measure(|| {
                while written < size {
                    let mut arguments = if number == 0 { open.to_string() } else { String::new() };
                    while arguments.len() < 4096 {
                        arguments +=
                            &format!("{}{}", if number == 0 { "" } else { "," }, element(shape, number));
                        number += 1;
                    }
                    written += arguments.len();
                    if written >= size {
                        arguments.push(close);
                    }
                    let delta = serde_json::json!({"type": "input_json_delta", "partial_json": arguments});
                    push(&anthropic_delta(&delta.to_string()));
                }
            });
            push("data: {\"type\":\"content_block_stop\",\"index\":0}\n\n");
            assert!(reply.message().tool_calls().all(|call| matches!(call.args, Args::Complete(_))));
            let each = info.bytes_max as f64 / written as f64;
            assert!(each <= 24.0, "{shape}: {each:.1} bytes for each of {written}");
        }
    }
}
