//! Entries to the messages of the next request: the cases of `corpus/history`, and what must hold of any log.

use std::fmt::Write;

use reknit::Dialect;
use reknit::Hint;
use reknit::agent::{AgentEvent, Body, Entry, ToolResult};
use reknit::history::{self, Repair};
use reknit::json::Value;
use reknit::transcript::{Chunks, append};

use crate::corpus::{self, Case, Verdict};

mod promises;
mod left_out;
mod sessions;
mod properties;
mod refusals;
mod replies;

use promises::{DIALECTS, request};

#[test]
fn history_cases_give_the_expected_messages() {
    let mut verdict = Verdict::new();
    for case in corpus::cases("history") {
        let entries = entries(&case);
        let requests = DIALECTS.map(|dialect| request(dialect, &entries));
        for (dialect, request) in DIALECTS.iter().zip(&requests) {
            let pretty = serde_json::to_string_pretty(&request.messages).expect("values are JSON");
            verdict.expect(&case, &format!("{dialect}.json"), &format!("{pretty}\n"));
        }
        verdict.expect(&case, "repairs.txt", &listed(&requests.map(|request| request.repairs)));
    }
    verdict.give();
}

#[test]
fn history_cases_cut_anywhere_are_accepted_and_come_back() {
    for case in corpus::cases("history") {
        let entries = entries(&case);
        for cut in 0..=entries.len() {
            for dialect in DIALECTS {
                promises::hold(dialect, &entries[..cut])
                    .unwrap_or_else(|why| panic!("{}, {cut}: {why}", case.name));
            }
        }
    }
}

#[test]
fn a_dialect_without_requests_says_so() {
    let error = history::request(Dialect::AgentC, &[]).unwrap_err();
    assert_eq!(error.to_string(), "requests in `agent-c` are not supported");
    assert_eq!(history::bodies(Dialect::AgentC, "", &[]), Err(error));
}

#[test]
fn a_message_of_another_dialect_says_where() {
    let messages: Vec<Value> =
        [r#"{"role":"user","content":"Hi"}"#, r#"{"role":"model","parts":[]}"#].map(parsed).into();
    let error = history::bodies(Dialect::Anthropic, "claude", &messages).unwrap_err();
    assert_eq!(
        error.to_string(),
        "message 1: `role` of a message must be one of `user`, `assistant`, but it is `model`"
    );
    assert!(!error.hint().is_empty());
}

#[test]
fn the_output_of_a_local_shell_names_its_call_in_either_way() {
    let call = r#"{"type":"local_shell_call","id":"lsh_1","call_id":"call_1","action":{"type":"exec","command":["ls"],"env":{}},"status":"completed"}"#;
    for key in ["call_id", "id"] {
        let output = format!(r#"{{"type":"local_shell_call_output","{key}":"call_1","output":"a.rs"}}"#);
        let bodies = history::bodies(Dialect::OpenAiResponses, "m", &[parsed(call), parsed(&output)]);
        let result = Body::Agent(AgentEvent::ToolResult {
            tool_result: ToolResult {
                tool_call_id: "call_1".to_owned(),
                tool_name: Some("local_shell".to_owned()),
                result: "a.rs".into(),
                is_error: None,
            },
        });
        assert_eq!(bodies.unwrap().last(), Some(&result), "{key}");
    }
}

#[test]
fn a_history_from_elsewhere_can_be_shown() {
    let messages = [
        r#"{"role":"user","content":"Which berth is free?"}"#,
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"list_berths","input":{"pier":"north"}}]}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"full","is_error":true}]}"#,
    ];
    let bodies = history::bodies(Dialect::Anthropic, "claude", &messages.map(parsed)).unwrap();
    let mut chunks = Chunks::default();
    for body in &bodies {
        if let Body::Agent(event) = body {
            append(&mut chunks, event);
        }
    }
    assert_eq!(**chunks.diagnostics(), []);
    assert_eq!(
        serde_json::to_string(&chunks[..]).unwrap(),
        concat!(
            r#"[{"type":"thinking","text":"Hm.","metadata":{"signature":"c2ln"}},"#,
            r#"{"type":"text","text":"I look."},"#,
            r#"{"type":"tool-batch","calls":[{"id":"t1","name":"list_berths","#,
            r#""arguments":{"pier":"north"},"result":"full","isError":true}]}]"#,
        )
    );
}

fn parsed(text: &str) -> Value {
    text.parse().expect("it is JSON")
}

fn entries(case: &Case) -> Vec<Entry> {
    let lines = case.text().lines();
    let entries = lines.map(|line| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{}: {error}: {line}", case.name))
    });
    entries.collect()
}

/// A line for each repair, with the dialects that it was made for.
fn listed(repairs: &[Vec<Repair>; DIALECTS.len()]) -> String {
    let mut distinct: Vec<&Repair> = Vec::new();
    for repair in repairs.iter().flatten() {
        if !distinct.contains(&repair) {
            distinct.push(repair);
        }
    }
    distinct.sort_by_key(|repair| repair.seq);
    let mut lines = String::new();
    for repair in distinct {
        let made: Vec<_> = DIALECTS.iter().zip(repairs).filter(|(_, made)| made.contains(repair)).collect();
        let names: Vec<_> = made.iter().map(|(dialect, _)| dialect.name()).collect();
        let whose = if names.len() == DIALECTS.len() { "all".to_owned() } else { names.join(", ") };
        write!(lines, "{} {} in {whose}: {}", repair.seq, repair.kind.name(), repair.message).unwrap();
        let times = made[0].1.iter().filter(|made| *made == repair).count();
        lines.push_str(&if times > 1 { format!(", {times} times\n") } else { "\n".to_owned() });
    }
    if lines.is_empty() { "none\n".to_owned() } else { lines }
}
