//! What holds of the messages of any entries. The tests and the fuzzer try it.

use reknit::Dialect;
use reknit::agent::{AgentEvent, Body, Entry};
use reknit::history::{self, Repair, Request};
use reknit::json::{Object, Value};
pub(crate) use reknit_validators::{DIALECTS, validate};

/// All of it, in a dialect: its provider takes the messages, and they come back as they were.
pub(crate) fn hold(dialect: Dialect, entries: &[Entry]) -> Result<(), String> {
    let messages = request(dialect, entries).messages;
    validate(dialect, &messages).map_err(|rule| format!("{dialect}: {rule}\n{}", shown(&messages)))?;
    let mut bodies =
        history::bodies(dialect, "", &messages).map_err(|error| format!("{error}\n{}", shown(&messages)))?;
    // No message says that a reply is paused: it follows from being the last.
    if messages.last().is_some_and(is_the_models) {
        bodies.push(Body::Agent(AgentEvent::TurnPaused {}));
    }
    let again = request(dialect, &log(bodies));
    if again.messages != messages {
        let (messages, again) = (shown(&messages), shown(&again.messages));
        return Err(format!("{dialect}: the messages do not come back\n{messages}became\n{again}"));
    }
    match again.repairs.first() {
        Some(Repair { message, .. }) => {
            Err(format!("{dialect}: repaired again: {message}\n{}", shown(&messages)))
        }
        None => Ok(()),
    }
}

pub(crate) fn request(dialect: Dialect, entries: &[Entry]) -> Request {
    history::request(dialect, entries).expect("its requests are known")
}

/// A log that says this, after a trip through JSON.
pub(crate) fn log(bodies: Vec<Body>) -> Vec<Entry> {
    let entries = bodies.into_iter().zip(1..).map(|(body, seq)| {
        let entry = Entry { seq, at: 0, turn: None, body, extra: Object::new() };
        let line = serde_json::to_string(&entry).expect("entries are JSON");
        serde_json::from_str(&line).expect("entries read what they write")
    });
    entries.collect()
}

fn is_the_models(message: &Value) -> bool {
    message.get("role").and_then(Value::as_str).as_deref() == Some("assistant")
}

fn shown(messages: &[Value]) -> String {
    messages.iter().map(|message| format!("{message}\n")).collect()
}
