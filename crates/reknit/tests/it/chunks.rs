//! From agent events to chunks: the cases in `corpus/chunks` and `corpus/system-events`, and events in any
//! order.

use reknit::Diagnostic;
use reknit::agent::AgentEvent;
use reknit::transcript::{Chunk, Chunks, Routed, SystemEvent, SystemKind, append, apply_system_event};
use serde::{Deserialize, Serialize};

use crate::corpus::{self, Case, Verdict};

mod any_events;
mod misfits;
mod naive;
mod promises;

pub(crate) use any_events::{any_event, value as any_value};

/// The content of `chunks.json`.
#[derive(Serialize)]
struct Shown<'a> {
    chunks: &'a [Chunk],
    diagnostics: &'a [Diagnostic],
}

#[test]
fn chunks_cases_give_the_expected_files() {
    let mut verdict = Verdict::new();
    for case in corpus::cases("chunks") {
        let mut chunks = Chunks::default();
        let mut changes = String::new();
        for event in &events(&case) {
            let change = append(&mut chunks, event);
            changes += &(serde_json::to_string(&change).expect("it is JSON") + "\n");
        }
        let shown = Shown { chunks: chunks.list(), diagnostics: chunks.diagnostics() };
        verdict.expect(&case, "chunks.json", &pretty(&shown));
        verdict.expect(&case, "changes.ndjson", &changes);
    }
    verdict.give();
}

#[test]
fn the_promises_hold_for_every_case() {
    for case in corpus::cases("chunks") {
        promises::hold(&events(&case));
    }
}

#[test]
fn the_promises_hold_for_all_cases_in_a_row() {
    let all: Vec<_> = corpus::cases("chunks").iter().flat_map(events).collect();
    promises::hold(&all);
}

fn events(case: &Case) -> Vec<AgentEvent> {
    let read = |line: &str| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("corpus/{}: {line}: {error}", case.name))
    };
    case.text().lines().map(read).collect()
}

fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("it is JSON") + "\n"
}

/// A case in `corpus/system-events`: messages, what happened, and the id for a new message.
#[derive(Deserialize)]
struct Happening {
    messages: Vec<Message>,
    event: Said,
    id: String,
}

#[derive(Deserialize)]
struct Said {
    kind: SystemKind,
    text: String,
}

#[derive(Clone, Serialize, Deserialize)]
struct Message {
    id: String,
    role: String,
    chunks: Vec<Chunk>,
}

/// The content of `expected.json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Placed {
    message_id: String,
    messages: Vec<Message>,
}

impl Routed for Message {
    type Id = String;

    fn of_system(id: String) -> Self {
        Self { id, role: "system".to_owned(), chunks: Vec::new() }
    }

    fn id(&self) -> String {
        self.id.clone()
    }

    fn is_of_system(&self) -> bool {
        self.role == "system"
    }

    fn push(&mut self, chunk: Chunk) {
        self.chunks.push(chunk);
    }
}

#[test]
fn system_events_cases_give_the_expected_files() {
    let mut verdict = Verdict::new();
    for case in corpus::cases("system-events") {
        let Happening { mut messages, event, id } =
            serde_json::from_str(case.text()).unwrap_or_else(|error| panic!("corpus/{}: {error}", case.name));
        let before = messages.len();
        let mut ids = 0;
        let event = SystemEvent { kind: event.kind, text: event.text };
        let message_id = apply_system_event(&mut messages, event, || {
            ids += 1;
            id
        });
        assert_eq!(
            messages.len() - before,
            ids,
            "corpus/{}: an id is only made for a new message",
            case.name
        );
        verdict.expect(&case, "expected.json", &pretty(&Placed { message_id, messages }));
    }
    verdict.give();
}
