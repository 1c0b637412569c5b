//! The rules of the protocol, one test each.

use std::sync::mpsc::{Receiver, channel};

use expect_test::{Expect, expect};

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

/// What the observer is told when these events come.
fn check(events: &[&str], expected: &Expect) {
    let (mut reconstructor, seen) = observed();
    feed(&mut reconstructor, events);
    expected.assert_eq(&seen.try_iter().map(|line| line + "\n").collect::<String>());
}

/// The message after these events.
fn message(events: &[&str]) -> String {
    let mut reconstructor = Reconstructor::default();
    feed(&mut reconstructor, events);
    reconstructor.state().message.as_ref().expect("a message was started").to_string()
}

#[test]
fn a_message_is_assembled_from_its_events_in_order() {
    check(
        &[START, TEXT, &text("Hel"), &text("lo"), STOP_BLOCK, STOP],
        &expect![[r#"
            update {"message":{"id":"m","role":"assistant","content":[]},"buffers":{},"parsedJson":{}}
            update {"message":{"id":"m","role":"assistant","content":[{"type":"text","text":""}]},"buffers":{},"parsedJson":{}}
            update {"message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Hel"}]},"buffers":{},"parsedJson":{}}
            update {"message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Hello"}]},"buffers":{},"parsedJson":{}}
            update {"message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Hello","stop_timestamp":"late"}]},"buffers":{},"parsedJson":{}}
            update {"message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Hello","stop_timestamp":"late"}],"status":"completed"},"buffers":{},"parsedJson":{}}
            complete {"id":"m","role":"assistant","content":[{"type":"text","text":"Hello","stop_timestamp":"late"}],"status":"completed"}
        "#]],
    );
}

#[test]
fn json_of_a_tool_is_shown_while_it_comes_and_read_when_it_is_over() {
    check(
        &[START, TOOL, &json("{\"path\": \"a"), &json(".rs\"}"), STOP_BLOCK],
        &expect![[r#"
            update {"message":{"id":"m","role":"assistant","content":[]},"buffers":{},"parsedJson":{}}
            update {"message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},"buffers":{"0":""},"parsedJson":{}}
            update {"message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},"buffers":{"0":"{\"path\": \"a"},"parsedJson":{"0":{"path":"a"}}}
            update {"message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},"buffers":{"0":"{\"path\": \"a.rs\"}"},"parsedJson":{"0":{"path":"a.rs"}}}
            update {"message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"path":"a.rs"},"stop_timestamp":"late"}]},"buffers":{},"parsedJson":{}}
        "#]],
    );
}

#[test]
fn the_next_state_is_a_function_of_the_state_and_the_event() {
    let event: ServerEvent = text("more").parse().unwrap();
    let mut reconstructor = Reconstructor::default();
    feed(&mut reconstructor, &[START, TEXT, &text("some ")]);
    let before = reconstructor.state().clone();
    let once = next_state(before.clone(), &event, 1);
    assert_eq!(next_state(before.clone(), &event, 1), once);
    assert_eq!(before.message.unwrap().to_string(), message(&[START, TEXT, &text("some ")]));
    assert_eq!(once.message.unwrap().to_string(), message(&[START, TEXT, &text("some "), &text("more")]));
}

#[test]
fn each_reconstructor_has_a_state_of_its_own() {
    let (mut one, other) = (Reconstructor::default(), Reconstructor::default());
    feed(&mut one, &[START, TEXT]);
    assert!(one.state().message.is_some());
    assert_eq!(other.state(), &State::default());
}

#[test]
fn events_before_message_start_are_ignored_and_counted() {
    let (mut reconstructor, seen) = observed();
    feed(&mut reconstructor, &[PING, TEXT, &text("lost"), STOP_BLOCK, STOP]);
    assert_eq!((seen.try_iter().count(), reconstructor.ignored()), (0, 5));
    assert!(!reconstructor.is_processing());
    feed(&mut reconstructor, &[START]);
    assert_eq!((seen.try_iter().count(), reconstructor.ignored()), (1, 5));
}

#[test]
fn a_ping_changes_nothing_and_nobody_is_told() {
    let (mut reconstructor, seen) = observed();
    feed(&mut reconstructor, &[START, TEXT]);
    let before = reconstructor.state().clone();
    seen.try_iter().for_each(drop);
    feed(&mut reconstructor, &[PING]);
    assert_eq!((seen.try_iter().count(), reconstructor.state()), (0, &before));
}

#[test]
fn processing_begins_with_message_start_and_falls_on_stop_error_close_and_a_broken_event() {
    let connection = Error::Connection { message: "reset by peer".to_owned() };
    let falls: [fn(&mut Reconstructor, &Error); 6] = [
        |reconstructor, _| feed(reconstructor, &[STOP]),
        |reconstructor, error| reconstructor.fail(error),
        |reconstructor, _| assert_eq!(reconstructor.close(), Close::Early),
        |reconstructor, _| feed(reconstructor, &["{"]),
        |reconstructor, _| reconstructor.reset(),
        |reconstructor, _| reconstructor.open(),
    ];
    for fall in falls {
        let mut reconstructor = Reconstructor::default();
        assert!(!reconstructor.is_processing());
        feed(&mut reconstructor, &[START, TEXT]);
        assert!(reconstructor.is_processing());
        fall(&mut reconstructor, &connection);
        assert!(!reconstructor.is_processing());
    }
}

#[test]
fn an_event_that_cannot_be_processed_goes_to_the_observer_and_loses_nothing() {
    let (mut reconstructor, seen) = observed();
    feed(&mut reconstructor, &[START, TEXT, &text("kept")]);
    let before = reconstructor.state().clone();
    seen.try_iter().for_each(drop);
    feed(
        &mut reconstructor,
        &["{\"type\":", "{}", r#"{"type":"content_block_stop"}"#, r#"{"type":"message_start"}"#],
    );
    expect![[r#"
        error the event is not JSON: the value is cut at byte 8
        error the event `event` has no string `type`
        error the event `content_block_stop` has no number `index`
        error the event `message_start` has no object `message`
    "#]]
    .assert_eq(&seen.try_iter().map(|line| line + "\n").collect::<String>());
    assert_eq!(reconstructor.state(), &before);
}

#[test]
fn opening_a_connection_resets_silently() {
    let (mut reconstructor, seen) = observed();
    feed(&mut reconstructor, &[START, TOOL, &json("{")]);
    seen.try_iter().for_each(drop);
    reconstructor.open();
    assert_eq!((seen.try_iter().count(), reconstructor.state()), (0, &State::default()));
}

#[test]
fn a_reset_tells_the_observer_of_the_empty_state() {
    let (mut reconstructor, seen) = observed();
    feed(&mut reconstructor, &[START, TOOL, &json("{")]);
    seen.try_iter().for_each(drop);
    reconstructor.reset();
    let told: Vec<_> = seen.try_iter().collect();
    assert_eq!(told, [r#"update {"message":null,"buffers":{},"parsedJson":{}}"#]);
}

#[test]
fn an_error_of_the_connection_goes_to_the_observer() {
    let (mut reconstructor, seen) = observed();
    reconstructor.fail(&Error::Connection { message: "refused".to_owned() });
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), ["error the connection failed: refused"]);
}

#[test]
fn closing_while_a_message_is_processed_is_early_and_the_message_is_cut() {
    let mut reconstructor = Reconstructor::default();
    assert_eq!(reconstructor.close(), Close::Whole);
    feed(&mut reconstructor, &[START, TEXT, &text("half")]);
    assert_eq!(reconstructor.close(), Close::Early);
    let message = reconstructor.state().message.as_ref().unwrap();
    assert_eq!(message.status(), Some(&"cut".into()));
    feed(&mut reconstructor, &[START, STOP]);
    assert_eq!(reconstructor.close(), Close::Whole);
}

#[test]
fn a_broken_event_does_not_make_a_message_whole() {
    let mut reconstructor = Reconstructor::default();
    feed(&mut reconstructor, &[START, TEXT, &text("half"), "garbage", &text(" more")]);
    assert_eq!(reconstructor.close(), Close::Early);
    assert_eq!(reconstructor.state().message.as_ref().unwrap().status(), Some(&"cut".into()));
}

#[test]
fn what_comes_behind_message_stop_is_ignored_and_counted() {
    let (mut reconstructor, seen) = observed();
    feed(&mut reconstructor, &[START, TEXT, STOP]);
    let before = reconstructor.state().clone();
    seen.try_iter().for_each(drop);
    feed(&mut reconstructor, &[STOP, &text("late"), TOOL]);
    assert_eq!((seen.try_iter().count(), reconstructor.ignored()), (0, 3));
    assert_eq!(reconstructor.state(), &before);
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
fn message_start_begins_anew() {
    let (mut reconstructor, _seen) = observed();
    feed(&mut reconstructor, &[START, TOOL, &json("{"), START]);
    let state = reconstructor.state();
    assert_eq!(state.message.as_ref().unwrap().content().count(), 0);
    assert!(state.buffers.is_empty() && state.parsed_json.is_empty());
}

#[test]
fn a_block_start_makes_a_buffer_for_tools_only() {
    for (start, buffers) in [(TEXT, 0), (TOOL, 1), (RESULT, 1)] {
        let mut reconstructor = Reconstructor::default();
        feed(&mut reconstructor, &[START, start]);
        assert_eq!(reconstructor.state().buffers.len(), buffers, "{start}");
    }
}

#[test]
fn blocks_are_addressed_by_index_however_they_interleave() {
    let at = |event: &str, index: u32| event.replace("\"index\":0", &format!("\"index\":{index}"));
    let built = message(&[
        START,
        &at(TOOL, 2),
        &at(TEXT, 1),
        &at(&json("{\"a\":"), 2),
        &at(&text("between"), 1),
        &at(&json("1}"), 2),
        &at(STOP_BLOCK, 2),
    ]);
    expect![[r#"{"id":"m","role":"assistant","content":[{"type":"text","text":"between"},{"type":"tool_use","id":"t","name":"f","input":{"a":1},"stop_timestamp":"late"}]}"#]]
        .assert_eq(&built);
}

#[test]
fn a_delta_that_does_not_fit_its_block_changes_nothing() {
    let before = message(&[START, TEXT]);
    assert_eq!(message(&[START, TEXT, &json("{}")]), before);
    assert_eq!(message(&[START, TEXT, &text("x").replace("\"index\":0", "\"index\":9")]), before);
    let unknown = r#"{"type":"content_block_delta","index":0,"delta":{"type":"new_delta","x":1}}"#;
    assert_eq!(message(&[START, TEXT, unknown, r#"{"type":"new_event"}"#]), before);
}

#[test]
fn the_last_preview_stays_when_the_json_breaks() {
    let mut reconstructor = Reconstructor::default();
    feed(&mut reconstructor, &[START, TOOL, &json("{\"a\": 1, "), &json("oops")]);
    let parsed = &reconstructor.state().parsed_json[&0];
    assert_eq!(parsed.value().unwrap().to_string(), r#"{"a":1}"#);
}

#[test]
fn the_input_of_a_call_is_an_object_whatever_came() {
    for (pieces, input) in [
        (vec![], r#"{"input":{}}"#),
        (vec![""], r#"{"input":{}}"#),
        (vec![" "], r#"{"input":{}}"#),
        (vec!["{\"a\":", "1.50}"], r#"{"input":{"a":1.50}}"#),
        (vec!["[1]"], r#"{"input":[1]}"#),
        (vec!["5"], r#"{"input":{},"input_error":"the input is no object","raw_input":"5"}"#),
        (vec!["null"], r#"{"input":{},"input_error":"the input is no object","raw_input":"null"}"#),
        (vec!["[1,"], r#"{"input":{},"input_error":"the value is cut at byte 3","raw_input":"[1,"}"#),
    ] {
        let deltas: Vec<_> = pieces.iter().map(|piece| json(piece)).collect();
        let mut events = vec![START, TOOL];
        events.extend(deltas.iter().map(String::as_str));
        events.push(STOP_BLOCK);
        let mut reconstructor = Reconstructor::default();
        feed(&mut reconstructor, &events);
        let state = reconstructor.state();
        let mut block = state.message.as_ref().unwrap().content().next().unwrap().1.clone();
        ["type", "id", "name", "stop_timestamp"].iter().for_each(|field| drop(block.remove(field)));
        assert_eq!(reknit::json::Value::from(block).to_string(), input, "{pieces:?}");
        assert!(state.buffers.is_empty() && state.parsed_json.is_empty(), "{pieces:?}");
    }
}

#[test]
fn a_tool_result_gets_its_content_or_the_error_and_the_raw_text() {
    let good = message(&[START, RESULT, &json("{\"ok\": true}"), STOP_BLOCK]);
    expect![[r#"{"id":"m","role":"assistant","content":[{"type":"tool_result","tool_use_id":"t","content":{"ok":true},"is_error":false,"stop_timestamp":"late"}]}"#]]
        .assert_eq(&good);
    let bad = message(&[START, RESULT, &json("{\"ok\": tru"), STOP_BLOCK]);
    expect![[r#"{"id":"m","role":"assistant","content":[{"type":"tool_result","tool_use_id":"t","content":"JSON Parse Error: the value is cut at byte 10. Raw: {\"ok\": tru","is_error":true,"stop_timestamp":"late"}]}"#]]
        .assert_eq(&bad);
}

#[test]
fn a_block_stop_without_a_time_gets_the_callers() {
    let stop = r#"{"type":"content_block_stop","index":0}"#;
    assert!(message(&[START, TEXT, stop]).contains(r#""stop_timestamp":7"#));
}

#[test]
fn thinking_signature_and_citations_are_kept_in_their_blocks() {
    let thinking =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#;
    let delta = |delta: &str| format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#);
    let built = message(&[
        START,
        thinking,
        &delta(r#"{"type":"thinking_delta","thinking":"hm"}"#),
        &delta(r#"{"type":"signature_delta","signature":"c2ln"}"#),
    ]);
    assert!(built.contains(r#"{"type":"thinking","thinking":"hm","signature":"c2ln"}"#), "{built}");
    let cited = message(&[START, TEXT, &delta(r#"{"type":"citations_delta","citation":{"page":3}}"#)]);
    assert!(cited.contains(r#""citations":[{"page":3}]"#), "{cited}");
}

#[test]
fn message_delta_gives_the_finish_reason_and_an_error_fails_the_message() {
    let delta = |reason| format!(r#"{{"type":"message_delta","delta":{{"stop_reason":{reason}}}}}"#);
    assert!(message(&[START, &delta("\"end_turn\"")]).ends_with(r#""finishReason":"end_turn"}"#));
    assert!(message(&[START, &delta("\"error\"")]).ends_with(r#""finishReason":"error","status":"failed"}"#));
    assert_eq!(message(&[START, &delta("null")]), message(&[START]));
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
        STOP,
        PING,
        r#"{"type":"x","y":1.0}"#,
    ];
    for event in events {
        assert_eq!(event.parse::<ServerEvent>().unwrap().to_string(), event);
    }
}

/// What is told of a message under limits, and the message as it is then.
fn limited(limits: &Limits, events: &[&str]) -> (Vec<String>, String, u64) {
    let (reconstructor, seen) = observed();
    let mut reconstructor = reconstructor.with_limits(limits);
    feed(&mut reconstructor, events);
    let told = seen.try_iter().filter(|line| !line.starts_with("update ")).collect();
    let message = reconstructor.state().message.as_ref().expect("a message was started").to_string();
    (told, message, reconstructor.ignored())
}

#[test]
fn the_rest_of_a_message_is_refused_behind_a_limit() {
    let before = START.len() + TEXT.len();
    let bytes = Limits { reply_bytes: before as u64, ..Limits::default() };
    let events = [START, TEXT, &text("one "), &text(&"long ".repeat(40)), &text("lost"), STOP];
    let (told, shown, ignored) = limited(&bytes, &events);
    assert_eq!(told, [format!("error more than {before} bytes in a message")]);
    assert_eq!((shown, ignored), (message(&events[..3]), 2));

    let events = [START, TEXT, &TEXT.replace(":0", ":1"), STOP];
    let (told, shown, ignored) = limited(&Limits { blocks: 1, ..Limits::default() }, &events);
    assert_eq!(told, ["error more than 1 blocks in a message"]);
    assert_eq!((shown, ignored), (message(&events[..2]), 1));
}

#[test]
fn the_next_message_is_read_behind_one_that_was_too_large() {
    let limits = Limits { blocks: 1, ..Limits::default() };
    let (mut reconstructor, seen) = observed();
    reconstructor = reconstructor.with_limits(&limits);
    feed(&mut reconstructor, &[START, TEXT, TEXT, STOP, START, TEXT, STOP]);
    let told: Vec<_> = seen.try_iter().filter(|line| !line.starts_with("update ")).collect();
    assert_eq!(told[0], "error more than 1 blocks in a message");
    assert!(told[1].starts_with("complete ") && told.len() == 2, "{told:?}");
}

#[test]
fn events_and_arguments_have_their_limits() {
    let long = text(&"long ".repeat(40));
    let (told, shown, _) = limited(&Limits { frame_bytes: 150, ..Limits::default() }, &[START, TEXT, &long]);
    assert_eq!(told, ["error more than 150 bytes in an event"]);
    assert_eq!(shown, message(&[START, TEXT]));

    let deep = Limits { json_depth: 4, ..Limits::default() };
    let (_, shown, _) = limited(&deep, &[START, TOOL, &json("[[[1]]]"), STOP_BLOCK]);
    assert!(shown.contains(r#""input":[[[1]]]"#), "{shown}");
    // Of a second message too.
    let (_, shown, _) = limited(&deep, &[START, STOP, START, TOOL, &json("[[[[1]]]]"), STOP_BLOCK]);
    assert!(shown.contains(r#""input_error":"nested 4 deep at byte 3""#), "{shown}");
}
