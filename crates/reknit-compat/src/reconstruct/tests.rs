//! What the cases of `corpus/reconstruct` cannot say: callbacks, limits, and the types themselves.

use std::sync::mpsc::{Receiver, channel};

use super::*;

/// A reconstructor whose callbacks write a line each.
fn observed() -> (Reconstructor, Receiver<String>) {
    let (lines, seen) = channel();
    let (update, complete, error) = (lines.clone(), lines.clone(), lines);
    let say = "the test reads to the end";
    let callbacks = Callbacks {
        on_update: Some(Box::new(move |state| {
            let state = serde_json::to_string(state).expect("a state is plain data");
            update.send(format!("update {state}")).expect(say);
        })),
        on_complete: Some(Box::new(move |message| complete.send(format!("complete {message}")).expect(say))),
        on_error: Some(Box::new(move |problem| error.send(format!("error {problem}")).expect(say))),
    };
    (Reconstructor::new(callbacks), seen)
}

const START: &str = r#"{"type":"message_start","message":{"id":"m","role":"assistant","content":[]}}"#;
const TEXT: &str = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
const TOOL: &str = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}"#;
const RESULT: &str =
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_result","tool_use_id":"t"}}"#;
const STOP_BLOCK: &str = r#"{"type":"content_block_stop","index":0,"stop_timestamp":"late"}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;
const PING: &str = r#"{"type":"ping"}"#;

fn text(piece: &str) -> String {
    format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{piece}"}}}}"#)
}

fn json(piece: &str) -> String {
    let piece = serde_json::to_string(piece).expect("a string is JSON");
    let delta = format!(r#"{{"type":"input_json_delta","partial_json":{piece}}}"#);
    format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#)
}

fn feed(reconstructor: &mut Reconstructor, events: &[&str]) {
    events.iter().for_each(|event| reconstructor.process_json(event, 7));
}

/// The message after these events.
fn message(events: &[&str]) -> String {
    let mut reconstructor = Reconstructor::default();
    feed(&mut reconstructor, events);
    reconstructor.state().message().expect("a message was started").to_string()
}

#[test]
fn the_next_state_is_a_function_of_the_state_and_the_event() {
    let event: ServerEvent = text("more").parse().unwrap();
    let mut reconstructor = Reconstructor::default();
    feed(&mut reconstructor, &[START, TEXT, &text("some ")]);
    let before = reconstructor.state().clone();
    let once = next_state(before.clone(), &event, 1);
    assert_eq!(next_state(before.clone(), &event, 1), once);
    assert_eq!(before.message().unwrap().to_string(), message(&[START, TEXT, &text("some ")]));
    assert_eq!(once.message().unwrap().to_string(), message(&[START, TEXT, &text("some "), &text("more")]));
}

#[test]
fn each_reconstructor_has_a_state_of_its_own() {
    let (mut one, other) = (Reconstructor::default(), Reconstructor::default());
    feed(&mut one, &[START, TEXT]);
    assert!(one.state().message().is_some());
    assert_eq!(other.state(), &State::default());
}

#[test]
fn callbacks_are_updated_by_merging() {
    let (mut reconstructor, seen) = observed();
    let (lines, newer) = channel();
    let on_update = Box::new(move |_: &State| lines.send("new").unwrap());
    reconstructor.update_callbacks(Callbacks { on_update: Some(on_update), ..Callbacks::default() });
    feed(&mut reconstructor, &[START, STOP]);
    assert_eq!(newer.try_iter().count(), 2);
    assert_eq!(seen.try_iter().count(), 1, "the callback on completion stays");
}

#[test]
fn fields_of_the_message_pass_through_and_come_back() {
    let start = START
        .replace("\"content\":[]", "\"model_id\":5,\"content\":[{\"type\":\"text\",\"text\":\"given\"}]");
    let built = message(&[&start]);
    assert_eq!(
        built,
        r#"{"id":"m","role":"assistant","model_id":5,"content":[{"type":"text","text":"given"}]}"#
    );
    let Ok(reknit::json::Value::Object(fields)) = built.parse() else { panic!("a message is an object") };
    assert_eq!(ChatMessage::from(fields).to_string(), built);
}

#[test]
fn events_are_written_in_the_fields_they_are_read_from() {
    let events = [
        START,
        TEXT,
        TOOL,
        RESULT,
        &text("a"),
        &json("{"),
        STOP_BLOCK,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}"#,
        STOP,
        PING,
        r#"{"type":"x","y":1.0}"#,
    ];
    for event in events {
        assert_eq!(event.parse::<ServerEvent>().unwrap().to_string(), event);
    }
}

/// What is reported under limits, except updates; the message then; and what was ignored.
fn limited(limits: &Limits, events: &[&str]) -> (Vec<String>, String, u64) {
    let (reconstructor, seen) = observed();
    let mut reconstructor = reconstructor.with_limits(limits);
    feed(&mut reconstructor, events);
    let reported = seen.try_iter().filter(|line| !line.starts_with("update ")).collect();
    let message = reconstructor.state().message().expect("a message was started").to_string();
    (reported, message, reconstructor.ignored())
}

#[test]
fn the_rest_of_a_message_is_refused_after_a_limit() {
    let before = START.len() + TEXT.len();
    let mut bytes = Limits::default();
    bytes.reply_bytes = before as u64;
    let events = [START, TEXT, &text("one "), &text(&"long ".repeat(40)), &text("lost"), STOP];
    let (reported, shown, ignored) = limited(&bytes, &events);
    assert_eq!(reported, [format!("error more than {before} bytes in a message")]);
    assert_eq!((shown, ignored), (message(&events[..3]), 2));

    let events = [START, TEXT, &TEXT.replace(":0", ":1"), STOP];
    let mut blocks = Limits::default();
    blocks.blocks = 1;
    let (reported, shown, ignored) = limited(&blocks, &events);
    assert_eq!(reported, ["error more than 1 blocks in a message"]);
    assert_eq!((shown, ignored), (message(&events[..2]), 1));
}

#[test]
fn the_next_message_is_read_after_one_that_was_too_large() {
    let mut limits = Limits::default();
    limits.blocks = 1;
    let (mut reconstructor, seen) = observed();
    reconstructor = reconstructor.with_limits(&limits);
    feed(&mut reconstructor, &[START, TEXT, TEXT, STOP, START, TEXT, STOP]);
    let reported: Vec<_> = seen.try_iter().filter(|line| !line.starts_with("update ")).collect();
    assert_eq!(reported[0], "error more than 1 blocks in a message");
    assert!(reported[1].starts_with("complete ") && reported.len() == 2, "{reported:?}");
}

#[test]
fn events_and_arguments_have_their_limits() {
    let long = text(&"long ".repeat(40));
    let mut short = Limits::default();
    short.frame_bytes = 150;
    let (reported, shown, _) = limited(&short, &[START, TEXT, &long]);
    assert_eq!(reported, ["error more than 150 bytes in an event"]);
    assert_eq!(shown, message(&[START, TEXT]));

    let mut deep = Limits::default();
    deep.json_depth = 4;
    let (_, shown, _) = limited(&deep, &[START, TOOL, &json(r#"{"a":[[1]]}"#), STOP_BLOCK]);
    assert!(shown.contains(r#""input":{"a":[[1]]}"#), "{shown}");
    // Of a second message too.
    let (_, shown, _) = limited(&deep, &[START, STOP, START, TOOL, &json(r#"{"a":[[[1]]]}"#), STOP_BLOCK]);
    assert!(shown.contains(r#""input_error":"nested too deeply (limit 4) at byte 7""#), "{shown}");
}

#[test]
fn a_state_that_is_not_one_is_refused() {
    let read = |json: &str| serde_json::from_str::<State>(json).map_err(|error| error.to_string());
    assert_eq!(read(r#"{"message":null,"buffers":{}}"#), Ok(State::default()));
    for (json, reason) in [
        (r#"{"message":null}"#, "missing field `buffers`"),
        (r#"{"message":[],"buffers":{}}"#, "the message is not an object"),
        (r#"{"message":{"content":[5]},"buffers":{}}"#, "the content of the message is not a list of blocks"),
        (r#"{"message":{"content":[{}]},"buffers":{"0":"{"}}"#, "block 0 has a buffer and is not a tool's"),
        (r#"{"message":null,"buffers":{"0":"{"}}"#, "block 0 has a buffer and is not a tool's"),
        (
            r#"{"message":{"content":[{},{}]},"buffers":{},"indexes":[5,5]}"#,
            "the indexes are not those of the blocks, in ascending order",
        ),
    ] {
        let error = read(json).unwrap_err();
        assert!(error.starts_with(reason), "{json}: {error}");
    }
}

#[test]
fn a_state_that_is_nested_as_deep_as_allowed_is_read_back() {
    let depth = Limits::default().json_depth - 1;
    let deep = json(&format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth)));
    for stop in [PING, STOP_BLOCK] {
        let mut reconstructor = Reconstructor::default();
        feed(&mut reconstructor, &[START, TOOL, &deep, stop]);
        let written = serde_json::to_string(reconstructor.state()).unwrap();
        assert!(!written.contains("input_error"), "{written}");
        assert_eq!(&serde_json::from_str::<State>(&written).unwrap(), reconstructor.state());
    }
}
