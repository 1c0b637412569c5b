//! The rules that are easily broken, each on a few events.

use crate::diagnostic::Kind;
use crate::event::StopReason;
use crate::frame::{Decoder, Framing};
use crate::message::{Body, Message, Status};
use crate::{Dialect, Limits, Reply};

const CREATED: &str = r#"{"type":"response.created","response":{"id":"r","model":"m","output":[]}}"#;
const COMPLETED: &str = r#"{"type":"response.completed","response":{"id":"r","output":[]}}"#;
const CALL: &str = r#"{"type":"response.output_item.added","output_index":0,
    "item":{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":""}}"#;

fn reply(events: &[&str]) -> Reply {
    let frames = events.iter().map(|event| format!("data: {}\n\n", event.replace('\n', "")));
    let mut reply = Reply::new(Dialect::OpenAiResponses).with_native();
    reply.push(frames.collect::<String>().as_bytes());
    reply.finish();
    reply
}

/// The message that the events are: status, reason, blocks, and the kinds of diagnostics.
fn check(events: &[&str], expected: &[&str]) {
    let reply = reply(events);
    assert_eq!(outline(reply.message()), expected);
}

fn outline(message: &Message) -> Vec<String> {
    let reason = message.stop().map(|stop| format!(" {:?}", stop.reason)).unwrap_or_default();
    let mut lines = vec![format!("{:?}{reason}", message.status())];
    lines.extend(message.blocks().map(|block| match block.body() {
        Body::Text { text, refusal } => format!("{} {text}", if *refusal { "refusal" } else { "text" }),
        Body::Thinking { text, redacted, .. } => {
            format!("thinking {text}{}", redacted.as_deref().unwrap_or_default())
        }
        Body::ToolCall(call) => {
            let value = serde_json::to_value(message).unwrap();
            let json = value["blocks"].as_array().unwrap().iter().find(|json| json["id"] == *call.id);
            let arguments = json.map(|json| json.get("input").unwrap_or(&json["raw"]).to_string());
            let end = call.end().unwrap();
            format!("{:?} call {} {} {end:?} {}", call.runner, call.id, call.name, arguments.unwrap())
        }
        Body::ToolResult { kind, call_id } => {
            format!("result {kind} of {}", call_id.as_deref().unwrap_or_default())
        }
        Body::Other { kind } => format!("other {kind}"),
    }));
    lines.extend(message.diagnostics().iter().map(|odd| format!("! {:?}", odd.kind)));
    lines
}

fn text_delta(number: u64, output: u64, content: u64, text: &str) -> String {
    format!(
        r#"{{"type":"response.output_text.delta","sequence_number":{number},"output_index":{output},"content_index":{content},"delta":"{text}"}}"#
    )
}

#[test]
fn what_only_a_done_event_has_is_appended() {
    let done = r#"{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"Hi there"}"#;
    let added = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}"#;
    let delta = text_delta(0, 0, 0, "Hi");
    let expected = ["Stopped End", "text Hi there", "! UnclosedBlock"];
    check(&[CREATED, added, &delta, done, COMPLETED], &expected);
}

#[test]
fn arguments_may_come_only_at_the_end() {
    let done = r#"{"type":"response.output_item.done","output_index":0,
        "item":{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":"{\"a\":1}"}}"#;
    check(&[CREATED, CALL, done, COMPLETED], &["Stopped Tool", r#"Client call c f Closed {"a":1}"#]);
}

#[test]
fn a_call_that_ends_with_other_arguments_is_not_closed() {
    let delta = r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"a\":1}"}"#;
    let done = r#"{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{\"a\":2}"}"#;
    let item = r#"{"type":"response.output_item.done","output_index":0,
        "item":{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":"{\"a\":2}"}}"#;
    let events = [CREATED, CALL, delta, done, item, COMPLETED];
    check(
        &events,
        &["Stopped Tool", r#"Client call c f Cut "{\"a\":1}""#, "! DifferentEnd", "! CutArguments"],
    );
    let reply = reply(&events);
    assert_eq!(
        reply.message().blocks().next().unwrap().extra().get("final").unwrap().to_string(),
        r#""{\"a\":2}""#
    );
    let native = reply.into_native();
    assert_eq!(native[0].pointer("/output/0/arguments").unwrap().to_string(), r#""{\"a\":2}""#);
}

#[test]
fn whitespace_and_the_order_of_keys_do_not_matter() {
    let delta = r#"{"type":"response.function_call_arguments.delta","output_index":0,
        "delta":"{\"a\":1,\"b\":2}"}"#;
    let item = r#"{"type":"response.output_item.done","output_index":0,
        "item":{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":"{\"b\": 2, \"a\": 1}"}}"#;
    let expected = ["Stopped Tool", r#"Client call c f Closed {"a":1,"b":2}"#];
    check(&[CREATED, CALL, delta, item, COMPLETED], &expected);
}

#[test]
fn an_incomplete_call_is_cut_even_if_it_can_be_parsed() {
    let item = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call",
        "id":"fc","call_id":"c","name":"f","arguments":"{}","status":"incomplete"}}"#;
    let end = r#"{"type":"response.incomplete","response":{"id":"r",
        "incomplete_details":{"reason":"max_output_tokens"},"output":[]}}"#;
    let expected = ["Stopped Length", r#"Client call c f Cut "{}""#, "! CutArguments"];
    check(&[CREATED, CALL, item, end], &expected);
}

#[test]
fn deltas_do_not_double_a_start_that_is_complete() {
    let added = CALL.replace(r#""arguments":"""#, r#""arguments":"{\"a\":1}""#);
    let delta = r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"a\":1}"}"#;
    let whole = ["Stopped Tool", r#"Client call c f Closed {"a":1}"#, "! UnclosedBlock"];
    check(&[CREATED, &added, delta, COMPLETED], &whole);
    check(&[CREATED, &added, COMPLETED], &whole);
    check(&[CREATED, &added], &["Cut", r#"Client call c f Cut "{\"a\":1}""#]);
    let began = CALL.replace(r#""arguments":"""#, r#""arguments":"{\"a""#);
    let rest = r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"\":1}"}"#;
    check(&[CREATED, &began, rest, COMPLETED], &whole);
}

#[test]
fn items_are_ordered_by_index_even_if_an_earlier_one_grows_later() {
    let (a, b, c) = (text_delta(1, 1, 0, "late"), text_delta(2, 0, 0, "one"), text_delta(3, 0, 1, "two"));
    let events = [CREATED, &a, &b, &c, COMPLETED];
    let texts = ["Stopped End", "text one", "text two", "text late"];
    assert_eq!(outline(reply(&events).message())[..4], texts);
    let native = reply(&events).into_native();
    assert_eq!(native[0].pointer("/output/0/content/1/text").unwrap().to_string(), r#""two""#);
}

#[test]
fn a_part_with_an_absurd_index_is_kept_as_unknown() {
    let far = text_delta(1, 0, 5000, "far");
    let reply = reply(&[CREATED, &far, COMPLETED]);
    assert!(reply.message().extra().get("unknown").unwrap().to_string().contains("far"));
}

#[test]
fn a_repeated_event_is_ignored_in_both_forms() {
    let (a, b) = (text_delta(1, 0, 0, "ha"), text_delta(2, 0, 0, "ha"));
    let events = [CREATED, &a, &b, &a, &b, COMPLETED];
    let reply = reply(&events);
    assert_eq!(reply.message().text(), "haha");
    let odd = reply.message().diagnostics().iter().filter(|odd| odd.kind == Kind::DuplicateEvent);
    assert_eq!(odd.count(), 2);
    let native = reply.into_native();
    assert_eq!(native[0].pointer("/output/0/content/0/text").unwrap().to_string(), r#""haha""#);
}

#[test]
fn an_item_that_only_comes_at_the_end_is_read() {
    let end = r#"{"type":"response.completed","response":{"id":"r","output":[
        {"type":"reasoning","id":"x","summary":[{"type":"summary_text","text":"why"}],"encrypted_content":"e"},
        {"type":"message","id":"y","content":[{"type":"output_text","text":"so"}]}]}}"#;
    check(&[CREATED, end], &["Stopped End", "thinking why", "thinking e", "text so"]);
    let message = r#"{"type":"response.output_item.done","output_index":1,
        "item":{"type":"message","id":"y","content":[{"type":"output_text","text":"so"}]}}"#;
    check(&[CREATED, message, end], &["Stopped End", "thinking why", "thinking e", "text so"]);
}

#[test]
fn strings_inside_arguments_grow_as_json() {
    let added = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"apply_patch_call",
        "id":"p","call_id":"c","operation":{"type":"update_file","diff":"","path":"a"}}}"#;
    let deltas = [r#""-\"x\""#, r#"\n+\ud83d"#, r#"\ude00\n"#].map(|delta| {
        let delta = delta.trim_start_matches('"');
        format!(r#"{{"type":"response.apply_patch_call_operation_diff.delta","output_index":0,"delta":"{delta}"}}"#)
    });
    let done = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"apply_patch_call",
        "id":"p","call_id":"c","operation":{"type":"update_file","diff":"-\"x\"\n+😀\n","path":"a"}}}"#;
    let whole = r#"{"type":"update_file","path":"a","diff":"-\"x\"\n+😀\n"}"#;
    let [a, b, c] = &deltas;
    let mut value: serde_json::Value = serde_json::from_str(whole).unwrap();
    check(
        &[CREATED, added, a, b, c, done, COMPLETED],
        &["Stopped Tool", &format!("Client call c apply_patch Closed {value}")],
    );
    value = serde_json::Value::from(r#"{"type":"update_file","path":"a","diff":"-\"x\""#);
    check(&[CREATED, added, a], &["Cut", &format!("Client call c apply_patch Cut {value}")]);
}

#[test]
fn commands_grow_one_after_the_other() {
    let added = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"shell_call",
        "id":"s","call_id":"c","action":{"commands":[],"timeout_ms":null}}}"#;
    let delta = |index: u64, delta: &str| {
        format!(
            r#"{{"type":"response.shell_call_command.delta","output_index":0,"command_index":{index},"delta":"{delta}"}}"#
        )
    };
    let done = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"shell_call",
        "id":"s","call_id":"c","action":{"timeout_ms":5,"commands":["ls","pwd"]}}}"#;
    let (a, b, c) = (delta(0, "l"), delta(0, "s"), delta(1, "pwd"));
    check(
        &[CREATED, added, &a, &b, &c, done, COMPLETED],
        &["Stopped Tool", r#"Client call c shell Closed {"commands":["ls","pwd"],"timeout_ms":5}"#],
    );
}

#[test]
fn calls_of_the_provider_have_results_and_need_no_answer() {
    let done = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"mcp_call","id":"m",
        "name":"look","arguments":"{}","output":"seen","error":null}}"#;
    let expected = ["Stopped End", "Provider call m look Closed {}", "result mcp_call of m"];
    check(&[CREATED, done, COMPLETED], &expected);
}

#[test]
fn a_response_waits_for_calls_without_a_result() {
    let message = r#"{"type":"message","id":"y","content":[{"type":"output_text","text":"soon"}]}"#;
    let end = |items: &str| {
        format!(r#"{{"type":"response.completed","response":{{"id":"r","output":[{items}]}}}}"#)
    };
    let reason = |items: &str| reply(&[CREATED, &end(items)]).message().stop().unwrap().reason;
    let call = r#"{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}"#;
    assert_eq!(reason(&format!("{call},{message}")), StopReason::Tool);
    let answer = r#"{"type":"function_call_output","call_id":"c","output":"1"}"#;
    assert_eq!(reason(&format!("{call},{answer},{message}")), StopReason::End);
    assert_eq!(reason(r#"{"type":"mcp_approval_request","id":"a","name":"f"}"#), StopReason::Pause);
}

#[test]
fn errors_are_read_in_every_form() {
    let flat = r#"{"type":"error","code":"server_error","message":"no","param":null}"#;
    let nested = r#"{"type":"error","error":{"type":"server_error","message":"no"}}"#;
    let failed = r#"{"type":"response.failed","response":{"id":"r",
        "error":{"code":"server_error","message":"no"},"usage":{"input_tokens":3},"output":[]}}"#;
    for events in
        [&[CREATED, flat][..], &[CREATED, nested], &[CREATED, failed], &[CREATED, flat, failed], &[flat]]
    {
        let reply = reply(events);
        let failure = reply.message().failure().unwrap();
        assert_eq!((failure.kind.as_deref(), &*failure.message), (Some("server_error"), "no"));
        assert_eq!(**reply.message().diagnostics(), []);
    }
    assert_eq!(reply(&[CREATED, flat, failed]).message().usage().input, Some(3));
}

#[test]
fn only_the_end_of_the_response_makes_the_message_whole() {
    assert_eq!(reply(&[CREATED]).message().status(), Status::Cut);
    let cancelled = r#"{"type":"response.cancelled","response":{"id":"r","output":[]}}"#;
    check(&[CREATED, cancelled], &["Stopped Other"]);
    let whole = r#"{"object":"response","id":"r","status":"completed","error":null,"output":[
        {"type":"message","content":[{"type":"refusal","refusal":"no"}]}]}"#;
    check(&[whole], &["Stopped End", "refusal no"]);
    check(&[&whole.replace("completed", "queued")], &["Cut"]);
}

#[test]
fn another_response_is_another_message() {
    let second = CREATED.replace(r#""r""#, r#""s""#);
    let text = text_delta(1, 0, 0, "two");
    let reply = reply(&[CREATED, COMPLETED, CREATED, &second, &text, COMPLETED]);
    let ids: Vec<_> = reply.messages().map(|message| message.id().unwrap().to_owned()).collect();
    assert_eq!(ids, ["r", "s"]);
    assert_eq!(reply.messages().next().unwrap().diagnostics()[0].kind, Kind::DuplicateStart);
    assert_eq!(reply.into_native().len(), 2);
}

#[test]
fn only_frames_of_this_dialect_are_claimed() {
    let claimed = |data: &str| {
        let mut decoder = Decoder::new(Framing::Sse, &Limits::default());
        decoder.push(format!("data: {data}\n\n").as_bytes());
        let frame = decoder.next_frame().unwrap().unwrap();
        Dialect::detect(&frame) == Some(Dialect::OpenAiResponses)
    };
    assert!(claimed(CREATED.replace('\n', "").as_str()));
    assert!(claimed(r#"{"type":"response.something_new"}"#));
    assert!(claimed(r#"{"id":"r","object":"response","status":"failed","error":{"message":"no"}}"#));
    for other in [
        r#"{"type":"error","error":{"type":"overloaded_error","message":"no"}}"#,
        r#"{"type":"message_start","message":{}}"#,
        r#"{"object":"chat.completion.chunk","choices":[]}"#,
        r#"{"type":"content-delta","delta":{"message":{"content":{"text":"a"}}}}"#,
        r#"{"contentBlockDelta":{"delta":{"text":"a"}}}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"responseId":"r"}"#,
        r#"{"response":"a","done":false}"#,
    ] {
        assert!(!claimed(other), "{other}");
    }
}
