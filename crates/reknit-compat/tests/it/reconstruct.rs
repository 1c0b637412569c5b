//! Chat messages from events: the cases of `corpus/reconstruct`, each a rule of the protocol.

use std::fmt::Write;
use std::sync::mpsc::{Receiver, channel};

use reknit::json::{Object, Value};
use reknit_compat::reconstruct::{Callbacks, Close, Error, Reconstructor, State, next_state};

use crate::corpus::{self, Case, Verdict};

#[test]
fn reconstruct_cases_give_what_they_must() {
    let mut verdict = Verdict::default();
    for case in corpus::cases("reconstruct") {
        let mut observed = Observed::new();
        let mut lines = String::new();
        for step in steps(&case) {
            let outcome = observed.take(&step);
            writeln!(lines, "{}", Value::from(outcome)).unwrap();
        }
        verdict.expect(&case, "expected.ndjson", &lines);
        verdict.expect(&case, "state.json", &observed.state());
    }
    verdict.give();
}

/// Events are whole, but where a server cuts a text into deltas must not matter.
#[test]
fn deltas_of_single_characters_give_the_same_state() {
    for case in corpus::cases("reconstruct") {
        let (mut whole, mut cut) = (Observed::new(), Observed::new());
        for step in steps(&case) {
            whole.take(&step);
            in_characters(&step).iter().for_each(|step| drop(cut.take(step)));
            assert_eq!(cut.state(), whole.state(), "{}: {step}", case.name);
        }
    }
}

/// A state that was written as JSON and read back goes on as if it had not been.
#[test]
fn a_state_that_is_saved_goes_on_as_if_it_was_not() {
    for case in corpus::cases("reconstruct") {
        let (mut state, mut saved) = (State::default(), State::default());
        for step in steps(&case) {
            let Some(event) = step.get("event").cloned().and_then(|event| event.try_into().ok()) else {
                continue;
            };
            state = next_state(state, &event, 0);
            saved = next_state(saved, &event, 0);
            let json = serde_json::to_string(&saved).unwrap();
            saved = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{json}: {error}"));
            assert_eq!(saved, state, "{}: {step}", case.name);
        }
    }
}

/// A reconstructor and what its callbacks were given.
struct Observed {
    reconstructor: Reconstructor,
    calls: Receiver<(&'static str, Value)>,
}

impl Observed {
    fn new() -> Self {
        let (sender, calls) = channel();
        let (update, complete, error) = (sender.clone(), sender.clone(), sender);
        let say = "the test reads to the end";
        let reconstructor = Reconstructor::new(Callbacks {
            on_update: Some(Box::new(move |state| update.send(("update", json(state))).expect(say))),
            on_complete: Some(Box::new(move |message| {
                complete.send(("complete", message.into())).expect(say);
            })),
            on_error: Some(Box::new(move |problem| {
                error.send(("error", problem.to_string().into())).expect(say);
            })),
        });
        Self { reconstructor, calls }
    }

    /// Does what a line of an input says, and gives what is observed of it.
    fn take(&mut self, step: &Value) -> Object {
        let mut outcome = Object::new();
        let word = |key| step.get(key).and_then(Value::as_str);
        let at = step.get("at").and_then(Value::as_u64).unwrap_or_default();
        if let Some(event) = step.get("event") {
            self.reconstructor.process_json(&event.to_string(), at);
        } else if let Some(text) = word("text") {
            self.reconstructor.process_json(&text, at);
        } else if let Some(message) = word("fail") {
            self.reconstructor.fail(&Error::Connection { message: message.into_owned() });
        } else if step.get("open").is_some() {
            self.reconstructor.open();
        } else if step.get("reset").is_some() {
            self.reconstructor.reset();
        } else {
            assert!(step.get("close").is_some(), "{step} is not a step");
            let close = match self.reconstructor.close() {
                Close::Whole => "whole",
                Close::Early => "early",
            };
            outcome.insert("closed", close);
        }
        let calls = self.calls.try_iter().map(|call| Value::Object([call].into_iter().collect()));
        outcome.insert("calls", calls.collect::<Vec<_>>());
        outcome.insert("processing", self.reconstructor.is_processing());
        outcome.insert("ignored", self.reconstructor.ignored());
        outcome
    }

    fn state(&self) -> String {
        serde_json::to_string_pretty(self.reconstructor.state()).unwrap() + "\n"
    }
}

fn steps(case: &Case) -> Vec<Value> {
    let read = |line: &str| line.parse().unwrap_or_else(|error| panic!("{}: {line}: {error}", case.name));
    case.input.lines().map(read).collect()
}

/// A step as several, with the text of a delta cut into its characters.
fn in_characters(step: &Value) -> Vec<Value> {
    let keys = ["text", "partial_json", "thinking", "signature"];
    let found = keys
        .into_iter()
        .find_map(|key| Some((key, step.pointer(&format!("/event/delta/{key}"))?.as_str()?.into_owned())));
    let Some((key, text)) = found.filter(|(_, text)| !text.is_empty()) else { return vec![step.clone()] };
    let with = |piece: char| {
        let mut step = step.clone();
        let event = step.as_object_mut().and_then(|step| step.get_mut("event"));
        let delta = event.and_then(Value::as_object_mut).and_then(|event| event.get_mut("delta"));
        delta.and_then(Value::as_object_mut).expect("it was found").insert(key, piece.to_string());
        step
    };
    text.chars().map(with).collect()
}

fn json<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_string(value).unwrap().parse().unwrap()
}
