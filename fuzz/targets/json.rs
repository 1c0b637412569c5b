//! A JSON value in pieces: `serde_json` is the judge of what is JSON and of what it means.
#![no_main]

use fuzz::Input;
use libfuzzer_sys::fuzz_target;
use reknit::json::{Change, Error, PartialJson, Value};

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::new(data) else { return };
    let Ok(text) = std::str::from_utf8(input.bytes) else { return };
    let outcome = input.same_for_every_cut(run);
    let theirs = serde_json::from_str::<serde_json::Value>(text);
    match (outcome.end, theirs) {
        (Ok(ours), Ok(theirs)) => {
            assert_eq!(text.parse::<Value>().as_ref(), Ok(&ours));
            assert_eq!(serde_json::Value::from(ours.clone()), theirs);
            let written = ours.to_string();
            assert_eq!(written.parse::<Value>().as_ref(), Ok(&ours), "{written}");
            assert_eq!(serde_json::to_string(&ours).expect("a value is JSON"), written);
        }
        (Err(_), Err(_)) => assert!(text.parse::<Value>().is_err()),
        (ours, theirs) => panic!("{text:?}: ours {ours:?}, theirs {theirs:?}"),
    }
});

#[derive(Debug, PartialEq)]
struct Outcome {
    value: Option<Value>,
    duplicates: Option<(usize, usize)>,
    /// What changed, with the growth of one string joined.
    changes: Vec<(String, String)>,
    end: Result<Value, Error>,
}

fn run(pieces: &[&[u8]]) -> Outcome {
    let mut json = PartialJson::new();
    let mut changes: Vec<(String, String)> = Vec::new();
    let mut held = Vec::new();
    for piece in pieces {
        // A character that is cut goes on with the next piece.
        held.extend_from_slice(piece);
        let whole = std::str::from_utf8(&held).map_or_else(|error| error.valid_up_to(), str::len);
        let _ = json.push(std::str::from_utf8(&held[..whole]).expect("it was checked"));
        held.drain(..whole);
        for change in json.changes() {
            note(change, &mut changes);
        }
    }
    Outcome { value: json.value().cloned(), duplicates: json.duplicate_keys(), changes, end: json.finish() }
}

fn note(change: Change<'_>, changes: &mut Vec<(String, String)>) {
    let path = change.path();
    let (what, text) = match change {
        Change::Opened { .. } => (format!("opened {path}"), ""),
        Change::Scalar { .. } => (format!("scalar {path}"), ""),
        Change::Closed { .. } => (format!("closed {path}"), ""),
        Change::StringGrew { text, .. } => (format!("grew {path}"), text),
    };
    match changes.last_mut() {
        Some((last, grown)) if !text.is_empty() && *last == what => grown.push_str(text),
        _ => changes.push((what, text.to_owned())),
    }
}
