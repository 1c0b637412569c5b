//! Realtime sessions: the cases of `corpus/realtime*`, each a rule of the protocol.

use std::fmt::Write;

use reknit::Limits;
use reknit::json::{Object, Value};
use reknit_compat::realtime::{
    CompletedCall, Happening, MessageBuilder, MessageMetadata, MessageType, Placing, Processor, Profile,
    ServerEvent, Session, SessionIndex, Sessions, Stamp, Time, ToolCall, ToolCallBook, ToolResult,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::corpus::{self, Case, Verdict};

#[test]
fn realtime_cases_give_what_they_must() {
    let mut verdict = Verdict::default();
    for case in corpus::cases("realtime") {
        let mut processor = Processor::new(profile(&case));
        let happenings = run(&case, &mut processor, |_| {});
        verdict.expect(&case, "happenings.ndjson", &happenings);
        verdict.expect(&case, "sessions.json", &state(&processor));
    }
    verdict.give();
}

/// The result does not depend on where a stream is interrupted: a processor that is saved as JSON after every
/// event and resumed is the same as one that was never interrupted.
#[test]
fn a_processor_that_is_saved_goes_on_as_if_it_was_not() {
    for case in corpus::cases("realtime") {
        let mut whole = Processor::new(profile(&case));
        let expected = run(&case, &mut whole, |_| {});
        let mut saved = Processor::new(profile(&case));
        let happenings = run(&case, &mut saved, |processor| {
            let json = serde_json::to_string(processor).unwrap();
            let back: Processor =
                serde_json::from_str(&json).unwrap_or_else(|error| panic!("{json}: {error}"));
            assert_eq!(back, *processor, "{}", case.name);
            *processor = back;
        });
        assert_eq!(happenings, expected, "{}", case.name);
        assert_eq!(saved, whole, "{}", case.name);
    }
}

/// The last streaming report of a message has its whole text, however few reports there are.
#[test]
fn no_last_text_is_lost() {
    for case in corpus::cases("realtime") {
        let mut processor = Processor::new(profile(&case));
        let mut streamed = std::collections::BTreeMap::new();
        for line in lines(&case) {
            for happening in step(&mut processor, &line) {
                match happening {
                    Happening::MessageStreaming { message, .. } => {
                        streamed.insert(message.id.unwrap(), message.content);
                    }
                    Happening::MessageComplete { message, .. } => {
                        let last = streamed.remove(message.id.as_ref().unwrap());
                        assert_eq!(last, Some(message.content), "{}", case.name);
                    }
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn a_text_that_is_too_long_is_taken_up_to_the_limit() {
    let mut limits = Limits::default();
    limits.text_bytes = 6;
    let mut processor = Processor::new(Profile::Documented).with_limits(&limits);
    let mut reported = Vec::new();
    for content in ["knit", "é😀", "é", ""] {
        let event = format!(r#"{{"type":"text_delta","session_id":"s1","content":"{content}"}}"#);
        let happenings = processor.process(&event.parse().unwrap(), Time(0));
        reported.push(happenings.iter().filter(|odd| matches!(odd, Happening::Diagnostic(_))).count());
    }
    assert_eq!(processor.open_message("s1").unwrap().content, "knité".into());
    assert_eq!(reported, [0, 1, 0, 0]);
}

#[test]
fn sessions_without_times_go_in_their_order_and_are_reported() {
    let mut processor = Processor::new(Profile::Documented);
    let mut removed = Vec::new();
    for number in (0..150).rev() {
        let event = format!(
            r#"{{"type":"chat_session_changed","chat_session":{{"session_id":"s{number:03}","messages":[]}}}}"#
        );
        let happenings = processor.process(&event.parse().unwrap(), Time(0));
        removed.extend(happenings.into_iter().filter_map(|happening| match happening {
            Happening::Diagnostic(diagnostic) => Some(diagnostic.kind.message()),
            _ => None,
        }));
    }
    let expected = (100..150).rev();
    let expected: Vec<_> =
        expected.map(|number| format!("session `s{number}` was removed to make room for another")).collect();
    assert_eq!(removed, expected);
    assert_eq!(processor.sessions().len(), 100);
}

#[test]
fn builder_cases_give_what_they_must() {
    steps("realtime-builder", MessageBuilder::new, build);
}

#[test]
fn tool_cases_give_what_they_must() {
    steps("realtime-tools", |_| ToolCallBook::default(), keep_book);
}

#[test]
fn session_cases_give_what_they_must() {
    steps("realtime-sessions", |_| Sessions::with_at_most(3), manage);
}

/// Runs every case of a kind: each line of the input is a step, and the same line of the output its result.
fn steps<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
    kind: &str,
    new: impl Fn(Profile) -> T,
    run: impl Fn(&mut T, &Line) -> Object,
) {
    let mut verdict = Verdict::default();
    for case in corpus::cases(kind) {
        let mut value = new(profile(&case));
        let mut results = String::new();
        for line in lines(&case) {
            let result = run(&mut value, &line);
            writeln!(results, "{}", Value::from(result)).unwrap();
            let back: T = serde_json::from_str(&serde_json::to_string(&value).unwrap()).unwrap();
            assert_eq!(back, value, "{}", case.name);
        }
        verdict.expect(&case, "expected.ndjson", &results);
    }
    verdict.give();
}

/// One line of an input.
pub(crate) struct Line {
    fields: Value,
    case: String,
}

impl Line {
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.fields.get(key)
    }

    fn string(&self, key: &str) -> String {
        self.get(key).and_then(Value::as_str).map(std::borrow::Cow::into_owned).unwrap_or_default()
    }

    fn read<T: DeserializeOwned>(&self, key: &str) -> T {
        let value = self.get(key).unwrap_or_else(|| panic!("{}: {} has no `{key}`", self.case, self.fields));
        serde_json::from_str(&value.to_string()).unwrap_or_else(|error| panic!("{}: {error}", self.case))
    }

    fn at(&self) -> Time {
        Time(self.get("at").and_then(Value::as_u64).unwrap_or_default())
    }

    fn stamp(&self) -> Stamp {
        Stamp { id: self.string("id"), at: self.at() }
    }
}

pub(crate) fn lines(case: &Case) -> Vec<Line> {
    let read = |line: &str| line.parse().unwrap_or_else(|error| panic!("{}: {line}: {error}", case.name));
    case.input.lines().map(|line| Line { fields: read(line), case: case.name.clone() }).collect()
}

fn profile(case: &Case) -> Profile {
    case.note("profile").map_or_else(Profile::default, |name| name.parse().expect("it is a profile"))
}

fn run(case: &Case, processor: &mut Processor, mut between: impl FnMut(&mut Processor)) -> String {
    let mut lines = String::new();
    for (number, line) in (1..).zip(self::lines(case)) {
        for happening in step(processor, &line) {
            let happening = serde_json::to_string(&happening).unwrap();
            writeln!(lines, "{{\"line\":{number},{}", &happening[1..]).unwrap();
        }
        between(processor);
    }
    lines
}

/// Performs the step in a line of an input: an event, the end of the connection, or a pause of the stream.
fn step(processor: &mut Processor, line: &Line) -> Vec<Happening> {
    match line.get("event") {
        Some(event) => processor.process(&ServerEvent::from(event.clone()), line.at()),
        None if line.get("end").is_some() => processor.finish(line.at()),
        None => processor.flush(line.at()),
    }
}

fn state(processor: &Processor) -> String {
    let sessions = processor.sessions();
    let waiting = sessions.iter().filter(|session| sessions.has_pending(session.id()));
    let pending: Object =
        waiting.map(|session| (session.id(), json(sessions.pending(session.id())))).collect();
    let mut state = Object::new();
    state.insert("current", json(&sessions.current_id()));
    state.insert("sessions", json(&sessions.iter().collect::<Vec<_>>()));
    state.insert("pending", pending);
    state.insert("notifications", json(&processor.tools().active()));
    state.insert("tally", json(&processor.tally()));
    serde_json::to_string_pretty(&state).unwrap() + "\n"
}

fn json<T: Serialize + ?Sized>(value: &T) -> Value {
    serde_json::to_string(value).unwrap().parse().unwrap()
}

fn build(builder: &mut MessageBuilder, line: &Line) -> Object {
    let mut result = Object::new();
    if line.get("start").is_some() {
        if let Some(interrupted) = builder.start_message(line.read::<MessageType>("start"), line.stamp()) {
            result.insert("interrupted", json(&interrupted));
        }
    } else if line.get("append").is_some() {
        builder.append_text(&line.string("append"), || line.stamp());
    } else if line.get("finalize").is_some() {
        match builder.finalize(line.read::<MessageMetadata>("finalize")) {
            Ok(message) => drop(result.insert("message", json(&message))),
            Err(error) => drop(result.insert("error", json(&error.to_string()))),
        }
    } else {
        assert!(line.get("reset").is_some(), "{}: {}", line.case, line.fields);
        builder.reset();
    }
    result.insert("hasCurrentMessage", json(&builder.has_current_message()));
    result.insert("currentMessageType", json(&builder.current_message_type()));
    result.insert("contentLength", json(&builder.content_length()));
    result.insert("isStreaming", json(&builder.is_streaming()));
    result.insert("currentMessage", json(&builder.current_message()));
    result
}

fn keep_book(book: &mut ToolCallBook, line: &Line) -> Object {
    let session = line.string("session");
    let mut result = Object::new();
    if line.get("select").is_some() {
        match book.select(&session, &line.read::<Vec<ToolCall>>("select"), line.at()) {
            Ok(notifications) => drop(result.insert("notifications", json(&notifications))),
            Err(error) => drop(result.insert("error", json(&error.to_string()))),
        }
    } else if line.get("activate").is_some() {
        let notifications = book.activate(&session, &line.read::<Vec<ToolCall>>("activate"), line.at());
        result.insert("notifications", json(&notifications));
    } else if line.get("complete").is_some() {
        let results: Vec<ToolResult> = line.read("results");
        let completed = book.complete(&session, &line.read::<Vec<ToolCall>>("complete"), &results);
        result.insert("completed", json(&completed));
    } else {
        match &*line.string("clear") {
            "session" => drop(result.insert("cleared", json(&book.clear_session(&session)))),
            "active" => book.clear_active(),
            "completed" => book.clear_completed(),
            "everything" => book.reset(),
            other => panic!("{}: nothing is cleared by `{other}`", line.case),
        }
    }
    let active: Vec<_> =
        book.active().iter().map(|call| format!("{}|{}", call.session_id, call.id)).collect();
    result.insert("active", json(&active));
    result.insert("statistics", json(&book.statistics()));
    result
}

fn manage(sessions: &mut Sessions, line: &Line) -> Object {
    let happenings = if line.get("setCurrent").is_some() {
        sessions.set_current(line.read::<Session>("setCurrent"))
    } else if line.get("addUserMessage").is_some() {
        sessions.add_user_message(&line.string("addUserMessage"), line.at()).into_iter().collect()
    } else if line.get("clearSession").is_some() {
        sessions.clear_session(&line.string("clearSession"))
    } else if line.get("setIndex").is_some() || line.get("appendIndex").is_some() {
        let placing = if line.get("setIndex").is_some() { Placing::Replace } else { Placing::Append };
        let key = if line.get("setIndex").is_some() { "setIndex" } else { "appendIndex" };
        vec![sessions.set_index(line.read::<SessionIndex>(key), placing)]
    } else if line.get("requestMore").is_some() {
        sessions.request_more(line.read("requestMore")).into_iter().collect()
    } else if line.get("bufferPending").is_some() {
        sessions.buffer_pending(&line.string("session"), line.read::<Vec<CompletedCall>>("bufferPending"));
        Vec::new()
    } else if line.get("takePending").is_some() {
        drop(sessions.take_pending(&line.string("takePending")));
        Vec::new()
    } else {
        assert!(line.get("reset").is_some(), "{}: {}", line.case, line.fields);
        sessions.reset()
    };
    let tokens = sessions.iter().map(|session| (session.id(), session.token_count()));
    let mut result = Object::new();
    result.insert("happenings", json(&happenings));
    result.insert("current", json(&sessions.current_id()));
    result.insert("tokens", tokens.collect::<Object>());
    result.insert("pending", sessions.pending("s1").len() as u64);
    result.insert("hasMore", sessions.index().has_more());
    result
}
