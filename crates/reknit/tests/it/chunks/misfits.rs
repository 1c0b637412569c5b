//! Changes that do not fit the chunks they are given to.

use reknit::Limits;
use reknit::agent::AgentEvent;
use reknit::transcript::{Change, Chunk, Chunks, Misfit, append};

/// Chunks of each kind, in the order of the names below.
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
    Chunks::from_list(serde_json::from_str(LIST).unwrap(), &Limits::default())
}

#[track_caller]
fn refused(change: &str, expected: Misfit) {
    let mut chunks = chunks();
    let change: Change<'_> = serde_json::from_str(change).unwrap();
    assert_eq!(chunks.follow(&change), Err(expected));
    assert_eq!(chunks, self::chunks(), "a change that does not fit changes nothing");
    assert!(!expected.hint().is_empty());
}

#[test]
fn a_chunk_is_opened_behind_the_others() {
    let opened = |chunk| format!(r#"{{"opened":{{"chunk":{chunk},"value":{{"type":"text","text":""}}}}}}"#);
    refused(&opened(0), Misfit::NoChunk { chunk: 0, has: 4 });
    refused(&opened(5), Misfit::NoChunk { chunk: 5, has: 4 });
}

#[test]
fn a_text_goes_on_where_it_ends() {
    let grew = |chunk, at| format!(r#"{{"grew":{{"chunk":{chunk},"at":{at},"text":"x"}}}}"#);
    refused(&grew(0, 2), Misfit::Gap { chunk: 0, has: 3, at: 2 });
    refused(&grew(0, 4), Misfit::Gap { chunk: 0, has: 3, at: 4 });
    refused(&grew(1, 3), Misfit::WrongChunk { chunk: 1 });
    refused(&grew(2, 0), Misfit::WrongChunk { chunk: 2 });
    refused(&grew(4, 0), Misfit::NoChunk { chunk: 4, has: 4 });
}

#[test]
fn thinking_is_sealed_once() {
    refused(r#"{"sealed":{"chunk":1,"metadata":{}}}"#, Misfit::WrongChunk { chunk: 1 });
    refused(r#"{"sealed":{"chunk":0,"metadata":{}}}"#, Misfit::WrongChunk { chunk: 0 });
}

#[test]
fn a_call_stands_in_its_batch() {
    let call = r#"{"id":"c3","name":"ls","arguments":{}}"#;
    let called =
        |chunk, number| format!(r#"{{"called":{{"chunk":{chunk},"call":{number},"value":{call}}}}}"#);
    refused(&called(2, 1), Misfit::WrongChunk { chunk: 2 });
    refused(&called(2, 3), Misfit::WrongChunk { chunk: 2 });
    refused(&called(0, 0), Misfit::WrongChunk { chunk: 0 });
    refused(r#"{"answered":{"chunk":2,"call":2,"result":""}}"#, Misfit::WrongChunk { chunk: 2 });
    refused(r#"{"approval":{"chunk":3,"call":0,"approval":{"id":"p1"}}}"#, Misfit::WrongChunk { chunk: 3 });
}

#[test]
fn arguments_are_whole_once() {
    let grew = |call, at| format!(r#"{{"input_grew":{{"chunk":2,"call":{call},"at":{at},"text":"x"}}}}"#);
    refused(&grew(0, 0), Misfit::WrongChunk { chunk: 2 });
    refused(&grew(1, 0), Misfit::Gap { chunk: 2, has: 1, at: 0 });
    let whole = r#"{"input_whole":{"chunk":2,"call":0,"name":"ls","arguments":{}}}"#;
    refused(whole, Misfit::WrongChunk { chunk: 2 });
    refused(r#"{"input_broken":{"chunk":2,"call":0,"error":"cut"}}"#, Misfit::WrongChunk { chunk: 2 });
}

#[test]
fn output_and_previews_go_on_where_they_end() {
    let wrote = r#"{"wrote":{"chunk":2,"call":0,"stream":"stderr","at":1,"text":"x"}}"#;
    refused(wrote, Misfit::Gap { chunk: 2, has: 0, at: 1 });
    let previewed = r#"{"previewed":{"chunk":2,"call":0,"path":"a.rs","at":1,"text":"x"}}"#;
    refused(previewed, Misfit::Gap { chunk: 2, has: 0, at: 1 });
}

#[test]
fn a_batch_without_a_call_takes_no_output() {
    let list: Vec<Chunk> = serde_json::from_str(r#"[{"type":"tool-batch","calls":[]}]"#).unwrap();
    let mut chunks = Chunks::from_list(list, &Limits::default());
    let event: AgentEvent =
        serde_json::from_str(r#"{"type":"shell-output","data":"x","stream":"stdout"}"#).unwrap();
    assert!(matches!(append(&mut chunks, &event), Change::Dropped(_)));
}
