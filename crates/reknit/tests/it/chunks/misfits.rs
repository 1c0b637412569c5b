//! Changes that do not fit the chunks that they are applied to.

use reknit::Hint;
use reknit::agent::AgentEvent;
use reknit::transcript::{Change, Chunk, Chunks, append};

/// A chunk of each kind that the changes below refer to.
const LIST: &str = r#"[
    {"type": "text", "text": "So:"},
    {"type": "thinking", "text": "Hm.", "metadata": null},
    {"type": "tool-batch", "calls": [
        {"id": "c1", "name": "write", "arguments": {}},
        {"id": "c2", "name": "write", "inputText": "{"}
    ]},
    {"type": "system", "kind": "cancelled", "text": "Stopped"}
]"#;

fn chunks() -> Chunks {
    let list: Vec<Chunk> = serde_json::from_str(LIST).unwrap();
    list.into()
}

#[track_caller]
fn refused(change: &str, expected: &str) {
    let mut chunks = chunks();
    let change: Change<'_> = serde_json::from_str(change).unwrap();
    let misfit = chunks.follow(&change).unwrap_err();
    assert_eq!(misfit.to_string(), expected);
    assert_eq!(chunks, self::chunks(), "a change that does not fit changes nothing");
    assert!(!misfit.hint().is_empty());
}

fn wrong(chunk: usize) -> String {
    format!("chunk {chunk} is not what the change expects, or has no such call")
}

fn gap(chunk: usize, has: usize, at: usize) -> String {
    format!("chunk {chunk} has {has} bytes, but the change continues at byte {at}")
}

#[test]
fn a_chunk_is_opened_at_the_end() {
    let opened = |chunk| format!(r#"{{"opened":{{"chunk":{chunk},"value":{{"type":"text","text":""}}}}}}"#);
    refused(&opened(0), "the change names chunk 0, but there are 4 chunks");
    refused(&opened(5), "the change names chunk 5, but there are 4 chunks");
}

#[test]
fn a_text_continues_where_it_ends() {
    let grew = |chunk, at| format!(r#"{{"grew":{{"chunk":{chunk},"at":{at},"text":"x"}}}}"#);
    refused(&grew(0, 2), &gap(0, 3, 2));
    refused(&grew(0, 4), &gap(0, 3, 4));
    refused(&grew(1, 3), &wrong(1));
    refused(&grew(2, 0), &wrong(2));
    refused(&grew(4, 0), "the change names chunk 4, but there are 4 chunks");
}

#[test]
fn thinking_is_sealed_once() {
    refused(r#"{"sealed":{"chunk":1,"metadata":{}}}"#, &wrong(1));
    refused(r#"{"sealed":{"chunk":0,"metadata":{}}}"#, &wrong(0));
}

#[test]
fn a_call_is_in_its_batch() {
    let call = r#"{"id":"c3","name":"ls","arguments":{}}"#;
    let called =
        |chunk, number| format!(r#"{{"called":{{"chunk":{chunk},"call":{number},"value":{call}}}}}"#);
    refused(&called(2, 1), &wrong(2));
    refused(&called(2, 3), &wrong(2));
    refused(&called(0, 0), &wrong(0));
    refused(r#"{"answered":{"chunk":2,"call":2,"result":""}}"#, &wrong(2));
    refused(r#"{"approval":{"chunk":3,"call":0,"approval":{"id":"p1"}}}"#, &wrong(3));
}

#[test]
fn arguments_are_completed_once() {
    let grew = |call, at| format!(r#"{{"input_grew":{{"chunk":2,"call":{call},"at":{at},"text":"x"}}}}"#);
    refused(&grew(0, 0), &wrong(2));
    refused(&grew(1, 0), &gap(2, 1, 0));
    let whole = r#"{"input_whole":{"chunk":2,"call":0,"name":"ls","arguments":{}}}"#;
    refused(whole, &wrong(2));
    refused(r#"{"input_broken":{"chunk":2,"call":0,"error":"cut"}}"#, &wrong(2));
}

#[test]
fn output_and_previews_continue_where_they_end() {
    let wrote = r#"{"wrote":{"chunk":2,"call":0,"stream":"stderr","at":1,"text":"x"}}"#;
    refused(wrote, &gap(2, 0, 1));
    let previewed = r#"{"previewed":{"chunk":2,"call":0,"path":"a.rs","at":1,"text":"x"}}"#;
    refused(previewed, &gap(2, 0, 1));
}

#[test]
fn a_batch_without_a_call_takes_no_output() {
    let list: Vec<Chunk> = serde_json::from_str(r#"[{"type":"tool-batch","calls":[]}]"#).unwrap();
    let mut chunks = Chunks::from(list);
    let event: AgentEvent =
        serde_json::from_str(r#"{"type":"shell-output","data":"x","stream":"stdout"}"#).unwrap();
    assert!(matches!(append(&mut chunks, &event), Change::Dropped(_)));
}
