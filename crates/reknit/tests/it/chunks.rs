//! From agent events to chunks: the cases in `corpus/chunks`, and events in any order.

use reknit::Diagnostic;
use reknit::agent::AgentEvent;
use reknit::transcript::{Chunk, Chunks, append};
use serde::Serialize;

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
        let shown = Shown { chunks: &chunks, diagnostics: chunks.diagnostics() };
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
