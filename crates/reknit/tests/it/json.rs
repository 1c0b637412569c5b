//! JSON that arrives in pieces: the cases of `corpus/json`, and every argument of a call in `corpus/wire`.

use std::fmt::Write;

use reknit::json::{Change, PartialJson, State, Value};
use reknit::message::{Args, ToolCall};
use reknit::{Message, Reply};

use crate::corpus::{self, Verdict};
use crate::cuts::same_for_every_cut;

#[test]
fn json_cases_give_what_they_must() {
    let mut verdict = Verdict::new();
    for case in corpus::cases("json") {
        let lines = same_for_every_cut(case.text().as_bytes(), outcome);
        verdict.expect(&case, "expected.txt", &lines);
    }
    verdict.give();
}

/// `serde_json` is the judge of what is JSON and of what it means.
#[test]
fn json_cases_end_as_with_serde_json() {
    for case in corpus::cases("json") {
        let ours = read(&[&case.input]).finish();
        let theirs = serde_json::from_str::<serde_json::Value>(case.text());
        assert_eq!(ours.is_ok(), theirs.is_ok(), "corpus/{}: {ours:?}, {theirs:?}", case.name);
        if let (Ok(ours), Ok(theirs)) = (ours, theirs) {
            assert_eq!(serde_json::Value::from(ours), theirs, "corpus/{}", case.name);
        }
    }
}

#[test]
fn arguments_of_every_call_are_the_same_for_every_cut() {
    let mut count = 0;
    for wire in corpus::wire_cases() {
        let mut reply = Reply::new(wire.dialect);
        reply.push(&wire.case.input);
        reply.finish();
        for call in reply.messages().flat_map(Message::tool_calls) {
            same_for_every_cut(arguments(call).as_bytes(), outcome);
            count += 1;
        }
    }
    assert!(count > 50, "the corpus has only {count} calls");
}

fn arguments(call: &ToolCall) -> String {
    match &call.args {
        Args::Streaming(input) | Args::Cut(input) => input.raw().to_string(),
        Args::Complete(value) => value.to_string(),
        Args::Malformed { raw, .. } => raw.to_string(),
    }
}

/// Text in pieces of bytes: a character that is cut goes on with the next piece.
fn feed(pieces: &[&[u8]], mut push: impl FnMut(&str)) {
    let mut held = Vec::new();
    for piece in pieces {
        held.extend_from_slice(piece);
        let whole = match std::str::from_utf8(&held) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        push(std::str::from_utf8(&held[..whole]).expect("it was checked"));
        held.drain(..whole);
    }
    assert!(held.is_empty(), "a JSON case is UTF-8");
}

fn read(pieces: &[&[u8]]) -> PartialJson {
    let mut json = PartialJson::new();
    feed(pieces, |piece| {
        let _ = json.push(piece);
    });
    json
}

/// What is known at the end of the text, then all that changed on the way, with growth joined.
fn outcome(pieces: &[&[u8]]) -> String {
    let mut json = PartialJson::new();
    let mut changes: Vec<(String, String)> = Vec::new();
    feed(pieces, |piece| {
        let _ = json.push(piece);
        for change in json.changes() {
            let path = quoted(&change.path().to_string());
            match (change, changes.last_mut()) {
                (Change::Opened { .. }, _) => changes.push((format!("opened {path}"), String::new())),
                (Change::Scalar { .. }, _) => changes.push((format!("scalar {path}"), String::new())),
                (Change::Closed { .. }, _) => changes.push((format!("closed {path}"), String::new())),
                (Change::StringGrew { text, .. }, Some((last, grown))) if *last == format!("grew {path}") => {
                    grown.push_str(text);
                }
                (Change::StringGrew { text, .. }, _) => {
                    changes.push((format!("grew {path}"), text.to_owned()));
                }
            }
        }
    });
    let mut lines = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| writeln!(lines, "{words}").expect("a string takes all");
    match json.value() {
        Some(value) => line(format_args!("value {value}")),
        None => line(format_args!("no value")),
    }
    if let Some(value) = json.value() {
        for pointer in pointers(value) {
            let state = match json.state(&pointer) {
                State::Missing => "missing",
                State::Partial => "partial",
                State::Complete => "complete",
            };
            line(format_args!("{state} {}", quoted(&pointer)));
        }
    }
    if let Some((count, first_at)) = json.duplicate_keys() {
        line(format_args!("duplicate keys {count}, the first at byte {first_at}"));
    }
    for (change, text) in changes {
        match change.starts_with("grew") {
            true => line(format_args!("{change} by {}", quoted(&text))),
            false => line(format_args!("{change}")),
        }
    }
    match json.finish() {
        Ok(value) => line(format_args!("whole {value}")),
        Err(error) => line(format_args!("not whole: {error}")),
    }
    lines
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

/// The pointers to a value and all that is inside it, in order.
fn pointers(value: &Value) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut below = |step: &str, child: &Value| {
        let step = step.replace('~', "~0").replace('/', "~1");
        found.extend(pointers(child).into_iter().map(|rest| format!("/{step}{rest}")));
    };
    match value {
        Value::Array(elements) => {
            elements.iter().enumerate().for_each(|(at, child)| below(&at.to_string(), child));
        }
        Value::Object(members) => members.iter().for_each(|(key, child)| below(key, child)),
        _ => {}
    }
    found
}
