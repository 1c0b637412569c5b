//! Reading agent events and entries from any JSON, and writing them again.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use reknit::Hint;
use reknit::agent::{AgentEvent, Entry, Misread};
use reknit::json::{Object, Value};
use reknit::transcript::Chunk;

use crate::chunks::{any_event, any_value};

/// A body of each type that is not an agent event.
const BODIES: [&str; 9] = [
    r#"{"type":"user-message","content":[{"type":"text","text":"hi"},{"type":"image","mediaType":"image/png","data":"AA=="},{"type":"sound","hz":44100.0}]}"#,
    r#"{"type":"request","dialect":"anthropic","model":"m"}"#,
    r#"{"type":"decision","toolCallId":"c1","decision":"allow","hash":"00","reason":"read only"}"#,
    r#"{"type":"tool-started","toolCallId":"c1"}"#,
    r#"{"type":"mode","mode":"plan"}"#,
    r#"{"type":"todos","todos":[{"text":"read","done":1.0},null]}"#,
    r#"{"type":"condensation","upTo":7,"summary":"so far"}"#,
    r#"{"type":"child","sessionId":"s2","toolCallId":"c1"}"#,
    r#"{"type":"end","reason":"cancelled"}"#,
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    /// What is not an event is refused with a message. What is one can be written and read back.
    #[test]
    fn any_json_is_read_or_refused(value in any_json()) {
        check_read(AgentEvent::read(value.clone()).map(|(event, _)| event))?;
        check_read(Entry::try_from(value.clone()))?;
        let chunk = serde_json::from_str::<Chunk>(&value.to_string());
        if let Ok(chunk) = chunk {
            check_written(&chunk)?;
        }
    }

    #[test]
    fn an_entry_is_written_with_every_member_it_had(
        event in any_event(),
        body in proptest::option::of(select(&BODIES)),
        turn in proptest::option::of(select(&["t1", ""])),
        extra in vec(any_value(), 4),
    ) {
        let is_known = body.is_some() || !matches!(event, AgentEvent::Unknown(_));
        let mut body: Value = match body {
            Some(body) => body.parse().unwrap(),
            None => serde_json::to_string(&event).unwrap().parse().unwrap(),
        };
        let mut entry: Object =
            [("v", 1_u64), ("seq", 7), ("at", 1_763_280_000_000)].into_iter().collect();
        if is_known {
            add_everywhere(&mut body, &extra[0]);
        }
        entry.insert("early", extra[1].clone());
        if let Some(turn) = turn {
            entry.insert("turn", turn);
        }
        entry.insert("body", body);
        entry.insert("late", extra[2].clone());
        let line = Value::from(entry).to_string();

        let read: Entry = serde_json::from_str(&line).unwrap();
        let written = serde_json::to_string(&read).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Entry>(&written).unwrap(), &read);
        prop_assert_eq!(sorted(&written.parse().unwrap()), sorted(&line.parse().unwrap()));
    }
}

fn check_read<T>(read: Result<T, Misread>) -> Result<(), TestCaseError>
where
    T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    match read {
        Ok(read) => check_written(&read)?,
        Err(misread) => prop_assert!(!misread.to_string().is_empty() && !misread.hint().is_empty()),
    }
    Ok(())
}

fn check_written<T>(read: &T) -> Result<(), TestCaseError>
where
    T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let written = serde_json::to_string(read).unwrap();
    prop_assert_eq!(&serde_json::from_str::<T>(&written).unwrap(), read, "{}", written);
    Ok(())
}

/// JSON that is often almost an event, an entry or a chunk.
fn any_json() -> impl Strategy<Value = Value> {
    let kinds: Vec<_> = include_str!("../../src/agent/read.rs").split('"').skip(1).step_by(2).collect();
    let words =
        prop_oneof![select(kinds.clone()), select(&["text", "thinking", "tool-batch", "system", "notice"])];
    let leaf = prop_oneof![
        any_value(),
        words.clone().prop_map(Value::from),
        select(&[1_u64, 7]).prop_map(Value::from)
    ];
    let names = select(
        kinds
            .into_iter()
            .chain(["type", "v", "seq", "at", "turn", "body", "calls", "text"])
            .collect::<Vec<_>>(),
    );
    let tagged = |members: Object, kind: &str| {
        let mut object: Object = [("type", kind)].into_iter().collect();
        members.into_iter().for_each(|(name, value)| drop(object.insert(name, value)));
        Value::from(object)
    };
    leaf.prop_recursive(3, 24, 6, move |inner| {
        let members = vec((names.clone(), inner.clone()), 0..6)
            .prop_map(|members| members.into_iter().collect::<Object>());
        prop_oneof![
            1 => vec(inner, 0..3).prop_map(Value::from),
            1 => members.clone().prop_map(Value::from),
            3 => (members, words.clone()).prop_map(move |(members, kind)| tagged(members, kind)),
        ]
    })
}

/// Adds a member to each object in a body of a known type.
fn add_everywhere(body: &mut Value, extra: &Value) {
    let inner = ["toolCall", "toolResult", "usage"];
    let Some(object) = body.as_object_mut() else { return };
    for member in inner {
        if let Some(inner) = object.get_mut(member).and_then(Value::as_object_mut) {
            inner.insert("unheardOf", extra.clone());
        }
    }
    if let Some(Value::Array(content)) = object.get_mut("content") {
        for piece in content.iter_mut().filter_map(Value::as_object_mut) {
            piece.insert("unheardOf", extra.clone());
        }
    }
    object.insert("unheardOf", extra.clone());
}

/// The text of a value, with the members of its objects sorted by name and all digits of its numbers.
fn sorted(value: &Value) -> String {
    match value {
        Value::Array(elements) => format!("{:?}", elements.iter().map(sorted).collect::<Vec<_>>()),
        Value::Object(object) => {
            let mut members: Vec<_> = object.iter().map(|(name, value)| (name, sorted(value))).collect();
            members.sort();
            format!("{members:?}")
        }
        leaf => leaf.to_string(),
    }
}

#[test]
fn unknown_members_are_written_back() {
    let line = concat!(
        r#"{"v":1,"seq":1,"at":2,"body":{"type":"user-message","content":["#,
        r#"{"type":"text","text":"hi","cache":true},{"type":"text","text":"there"}]},"by":1.10}"#,
    );
    let entry: Entry = serde_json::from_str(line).unwrap();
    assert_eq!(serde_json::to_string(&entry).unwrap(), line);
}

/// An event that changes nothing is not refused because of its members.
#[test]
fn a_member_that_does_not_matter_may_have_any_type() {
    for body in [
        r#"{"type":"status","status":{"state":"idle"}}"#,
        r#"{"type":"turn-start","turnId":7}"#,
        r#"{"type":"usage","usage":7}"#,
        r#"{"type":"usage","usage":{"inputTokens":"12"}}"#,
        r#"{"type":"usage","usage":{"outputTokens":3,"inputTokens":1.5}}"#,
    ] {
        let line = format!(r#"{{"v":1,"seq":1,"at":2,"body":{body}}}"#);
        let entry: Entry = serde_json::from_str(&line).unwrap();
        assert_eq!(serde_json::to_string(&entry).unwrap(), line);
    }
}

#[test]
fn errors_say_what_is_wrong_with_an_event() {
    let error = |json: &str| AgentEvent::read(json.parse().unwrap()).unwrap_err().to_string();
    assert_eq!(error("[]"), "an event must be an object, but it is a list");
    assert_eq!(error("{}"), "an event has no `type`");
    assert_eq!(error(r#"{"type":7}"#), "`type` of an event must be a string, but it is a number");
    assert_eq!(error(r#"{"type":"text-delta"}"#), "`text-delta` has no `delta`");
    assert_eq!(
        error(r#"{"type":"tool-call","toolCall":{"id":"c1","name":"ls"}}"#),
        "`toolCall` of `tool-call` has no `arguments`"
    );
    assert_eq!(
        error(r#"{"type":"shell-output","data":"x","stream":"stdin"}"#),
        "`stream` of `shell-output` must be one of `stdout`, `stderr`, but it is `stdin`"
    );
    let future = r#"{"v":2,"seq":1,"at":2,"body":{"type":"done"}}"#;
    let misread = Entry::try_from(future.parse::<Value>().unwrap()).unwrap_err();
    assert_eq!(misread.to_string(), "an entry has version 2, but only version 1 can be read");
}
