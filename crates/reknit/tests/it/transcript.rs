//! Transcripts: the cases in `corpus/transcript`, and what is true for every log.

use proptest::collection::vec;
use proptest::prelude::*;
use reknit::Limits;
use reknit::agent::{AgentEvent, Body, Content, EndReason, Entry, Stream, ToolCall, ToolResult};
use reknit::event::Usage;
use reknit::json::{Object, Value};
use reknit::transcript::{Step, Transcript};

use crate::corpus::{self, Verdict};

#[test]
fn transcript_cases_give_the_expected_files() {
    let mut verdict = Verdict::new();
    for case in corpus::cases("transcript") {
        let entries = entries(case.text());
        let (transcript, steps) = fold(&entries);
        verdict.expect(&case, "transcript.json", &pretty(&transcript));
        verdict.expect(&case, "steps.ndjson", &steps);
        holds(&entries);
    }
    verdict.give();
}

#[test]
fn an_entry_is_added_once_and_in_order() {
    let entries = numbered([text("a"), text("b"), text("c")]);
    let mut transcript = Transcript::default();
    assert!(transcript.append(&entries[0]).unwrap().is_some());
    assert_eq!(transcript.append(&entries[0]), Ok(None));
    let misfit = transcript.append(&entries[2]).unwrap_err();
    assert_eq!(misfit.to_string(), "entry 3 came, but entry 2 is next");
    assert!(transcript.append(&entries[1]).unwrap().is_some());
    assert_eq!(transcript.seq(), 2);
}

/// The caller's limits apply to entries without a message, to those of a message, to a transcript that was
/// read back, and to a copy that only gets the steps.
#[test]
fn diagnostics_beyond_the_limit_are_counted() {
    let orphan = || Body::Agent(AgentEvent::ReasoningEnd { metadata: Some(Value::Null) });
    let entries = numbered([orphan(), orphan(), text("a"), orphan(), orphan(), orphan(), orphan()]);
    let mut limits = Limits::default();
    limits.diagnostics = 1;
    let limited = || Transcript::default().with_limits(&limits);
    let (mut transcript, mut copy) = (limited(), limited());
    for (number, entry) in entries.iter().enumerate() {
        if number == 4 {
            transcript = through_json::<Transcript>(&transcript).with_limits(&limits);
        }
        let step = transcript.append(entry).unwrap().unwrap();
        copy.follow(&step).unwrap();
    }
    let chunks = &transcript.messages()[0].chunks;
    assert_eq!((transcript.diagnostics().len(), transcript.diagnostics().omitted()), (1, 1));
    assert_eq!((chunks.diagnostics().len(), chunks.diagnostics().omitted()), (1, 3));
    assert_eq!(copy, transcript);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_log_holds(bodies in vec(body(), 0..40)) {
        holds(&numbered(bodies));
    }
}

/// The deepest arguments that are read from a stream are in a log, in its transcript and in every change of it.
#[test]
fn arguments_of_any_depth_come_back() {
    for depth in [100, 120, 127] {
        let arguments = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let call =
            format!(r#"{{"type":"tool-call","toolCall":{{"id":"c","name":"n","arguments":{arguments}}}}}"#);
        let result = format!(
            r#"{{"type":"tool-result","toolResult":{{"toolCallId":"c","result":{arguments}}},"new":{arguments}}}"#
        );
        let line = |seq, body| format!(r#"{{"v":1,"seq":{seq},"at":0,"turn":"t1","body":{body}}}"#);
        let lines = [line(1, call), line(2, result)];
        let entries = lines.map(|line| serde_json::from_str(&line).unwrap());
        holds(&entries);
    }
}

/// Checks what has to be true for any log.
fn holds(entries: &[Entry]) {
    let (whole, _) = fold(entries);
    entries_come_back(entries);
    a_copy_follows(entries, &whole);
    a_snapshot_and_the_tail_are_the_whole(entries, &whole);
    joined_deltas_change_nothing(entries, &whole);
    counts_add_up(entries, &whole);
}

fn entries_come_back(entries: &[Entry]) {
    for entry in entries {
        assert_eq!(&through_json::<Entry>(entry), entry);
    }
}

fn a_copy_follows(entries: &[Entry], whole: &Transcript) {
    let (mut transcript, mut copy) = (Transcript::default(), Transcript::default());
    for entry in entries {
        let step = transcript.append(entry).expect("it is the next").expect("it is new");
        let step = serde_json::to_string(&step).expect("it is JSON");
        let step: Step<'_> = serde_json::from_str(&step).expect("it was written");
        copy.follow(&step).expect("it fits");
        assert_eq!(copy, transcript);
    }
    assert_eq!(&transcript, whole);
}

fn a_snapshot_and_the_tail_are_the_whole(entries: &[Entry], whole: &Transcript) {
    for cut in 0..=entries.len() {
        let (head, _) = fold(&entries[..cut]);
        let mut snapshot: Transcript = through_json(&head);
        assert_eq!(snapshot, head);
        // Entries that were added before are ignored.
        for entry in &entries[cut.saturating_sub(2)..] {
            snapshot.append(entry).expect("it is the next, or was taken");
        }
        assert_eq!(&snapshot, whole);
    }
}

fn joined_deltas_change_nothing(entries: &[Entry], whole: &Transcript) {
    let mut joined: Vec<Entry> = Vec::new();
    for entry in entries {
        if let (Some(Entry { body: Body::Agent(last), turn, .. }), Body::Agent(next)) =
            (joined.last_mut(), &entry.body)
            && *turn == entry.turn
            && last.join(next)
        {
            continue;
        }
        joined.push(Entry { seq: joined.len() as u64 + 1, ..entry.clone() });
    }
    let (joined, _) = fold(&joined);
    let shown = |transcript: &Transcript| -> Vec<_> {
        let messages = transcript.messages().iter();
        messages.map(|message| (message.role, message.status, message.chunks.to_vec())).collect()
    };
    assert_eq!(shown(&joined), shown(whole));
}

/// Every event that was dropped is reported once.
fn counts_add_up(entries: &[Entry], whole: &Transcript) {
    let mut transcript = Transcript::default();
    let mut dropped = 0;
    for entry in entries {
        let step = transcript.append(entry).expect("it is the next").expect("it is new");
        dropped += usize::from(serde_json::to_string(&step).expect("it is JSON").contains(r#""dropped":{"#));
    }
    let reported: usize = whole.messages().iter().map(|message| message.chunks.diagnostics().len()).sum();
    assert_eq!(reported + whole.diagnostics().len(), dropped);
}

fn fold(entries: &[Entry]) -> (Transcript, String) {
    let (mut transcript, mut steps) = (Transcript::default(), String::new());
    for entry in entries {
        let step = transcript.append(entry).expect("it is the next").expect("it is new");
        steps += &serde_json::to_string(&step).expect("it is JSON");
        steps.push('\n');
    }
    (transcript, steps)
}

fn entries(text: &str) -> Vec<Entry> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect()
}

fn through_json<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).expect("it is JSON")).expect("it was written")
}

fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).expect("it is JSON") + "\n"
}

fn numbered(bodies: impl IntoIterator<Item = Body>) -> Vec<Entry> {
    let entry = |(number, body)| {
        let seq = number as u64 + 1;
        Entry { seq, at: seq * 10, turn: Some("t".to_owned()), body, extra: Object::new() }
    };
    bodies.into_iter().enumerate().map(entry).collect()
}

fn text(delta: &str) -> Body {
    Body::Agent(AgentEvent::TextDelta { delta: delta.to_owned() })
}

/// Any body, with few different ids, so that they meet.
fn body() -> impl Strategy<Value = Body> {
    let id = || prop::sample::select(vec!["a", "b", "c"]).prop_map(str::to_owned);
    let piece = || prop::sample::select(vec!["", "x", "yz\n", "…"]).prop_map(str::to_owned);
    let user = piece().prop_map(|text| Body::UserMessage { content: vec![Content::Text { text }] });
    let outside = prop_oneof![
        user,
        Just(Body::End { reason: EndReason::Cancelled }),
        Just(Body::End { reason: EndReason::Done }),
        Just(Body::Request { dialect: "anthropic".to_owned(), model: "m".to_owned() }),
        Just(Body::Mode { mode: "plan".to_owned() }),
        id().prop_map(|tool_call_id| Body::ToolStarted { tool_call_id }),
    ];
    let call = (id(), piece()).prop_map(|(id, name)| {
        let arguments: Value = r#"{"n":1.10}"#.parse().expect("it is JSON");
        AgentEvent::ToolCall {
            tool_call: ToolCall { id, name, arguments, raw: None, provider_executed: false, metadata: None },
        }
    });
    let result = (id(), piece()).prop_map(|(tool_call_id, text)| AgentEvent::ToolResult {
        tool_result: ToolResult { tool_call_id, tool_name: None, result: text.into(), is_error: Some(false) },
    });
    let output = (prop::option::of(id()), piece(), any::<bool>()).prop_map(|(tool_call_id, data, errors)| {
        let stream = if errors { Stream::Stderr } else { Stream::Stdout };
        AgentEvent::ShellOutput { data, stream, tool_call_id }
    });
    let preview = (id(), piece(), any::<bool>()).prop_map(|(tool_call_id, delta, restarted)| {
        AgentEvent::EditPreview { tool_call_id, path: "a.rs".to_owned(), delta, restarted }
    });
    let tokens = Usage { input: Some(3), ..Usage::default() };
    let inside = prop_oneof![
        4 => piece().prop_map(|delta| AgentEvent::TextDelta { delta }),
        2 => piece().prop_map(|delta| AgentEvent::ReasoningDelta { delta }),
        1 => prop::option::of(Just(Value::Null)).prop_map(|metadata| AgentEvent::ReasoningEnd { metadata }),
        2 => (id(), piece()).prop_map(|(tool_call_id, tool_name)| {
            AgentEvent::ToolInputStart { tool_call_id, tool_name }
        }),
        2 => (id(), piece()).prop_map(|(tool_call_id, delta)| AgentEvent::ToolInputDelta { tool_call_id, delta }),
        1 => (id(), piece()).prop_map(|(tool_call_id, error)| AgentEvent::ToolInputError { tool_call_id, error }),
        3 => call,
        3 => result,
        2 => output,
        1 => preview,
        1 => (id(), id()).prop_map(|(approval_id, tool_call_id)| {
            AgentEvent::ApprovalRequest { approval_id, tool_call_id, reason: None }
        }),
        1 => id().prop_map(|approval_id| AgentEvent::ApprovalResponse {
            approval_id,
            decision: reknit::agent::Decision::Allow,
            reason: None,
        }),
        1 => piece().prop_map(|error| AgentEvent::Error { error, status_code: None }),
        1 => piece().prop_map(|message| AgentEvent::Notice { message }),
        1 => Just(AgentEvent::TurnStart { turn_id: Some("t".to_owned()) }),
        1 => Just(AgentEvent::TurnSealed { turn_id: None }),
        1 => Just(AgentEvent::Done {}),
        1 => Just(AgentEvent::Usage { usage: tokens }),
        1 => Just(AgentEvent::Unknown([("type", "later")].into_iter().collect())),
    ];
    prop_oneof![1 => outside, 4 => inside.prop_map(Body::Agent)]
}
