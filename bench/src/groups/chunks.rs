//! Events of a session to chunks, with a look after each.

use std::iter;

use anyhow::Result;
use reknit::agent::{AgentEvent, ToolCall, ToolResult};
use reknit::json::{Object, Value};
use reknit::transcript::{Call, Chunk, Chunks, Input};
use serde_json::json;

use super::growth::{self, Series};
use super::{Bench, Group, Scale};
use crate::input::{DELTA, KB, pieces, words};
use crate::measure::{Measured, Row, Runner, alternating, timed};
use crate::ours::chunks;
use crate::report::{self, Target};

const FINISHED_CALLS: usize = 100;
const TEXT_DELTAS: usize = 2_000;

/// Of the events that double in number, one of so many is a call, and one a result.
const EVENTS_PER_CALL: usize = 100;

const AI: &str = "ai";

pub(crate) fn run(bench: &Bench) -> Result<Group> {
    let rows = vec![beside_ai(bench)?];
    let largest = if bench.scale == Scale::Full { 100_000 } else { 25_000 };
    let series: Vec<_> = ORDERS.iter().map(|order| growth(bench, order, largest)).collect::<Result<_>>()?;
    let mut table = report::table("events to chunks, with a look at each change", &rows);
    table += &growth::table("\ngrowth: time of ours when the events double", &series);
    let targets = targets(&rows).into_iter().chain(series.iter().map(Series::target)).collect();
    Ok(Group { table, targets, rows })
}

fn targets(rows: &[Measured]) -> Vec<Target> {
    let ratio = rows.iter().find_map(|row| row.ratio(AI));
    vec![Target::at_least(format!("events to chunks: times as fast as {AI}"), 50.0, ratio)]
}

/// Finished calls, then text: whoever copies what is finished pays for it with each delta.
fn beside_ai(bench: &Bench) -> Result<Measured> {
    let text = words(TEXT_DELTAS * DELTA);
    let content = words(KB);
    let mut events = Vec::new();
    let mut steps = vec![json!({"type": "start"})];
    for number in 0..FINISHED_CALLS {
        let id = format!("call_{number}");
        let (input, output) = (json!({"content": content}), json!(content));
        steps.push(json!({
            "type": "tool-input-available", "toolCallId": id, "toolName": "write", "input": input,
        }));
        steps.push(json!({"type": "tool-output-available", "toolCallId": id, "output": output}));
        events.extend([call(&id, &content), result(&id, &content)]);
    }
    steps.push(json!({"type": "text-start", "id": "text"}));
    for delta in pieces(&text, DELTA) {
        steps.push(json!({"type": "text-delta", "id": "text", "delta": delta}));
        events.push(AgentEvent::TextDelta { delta: delta.to_owned() });
    }
    steps.extend([json!({"type": "text-end", "id": "text"}), json!({"type": "finish"})]);

    let events = &events;
    let mut runners =
        vec![Runner::new("reknit", timed(move || chunks(events), |chunks| fingerprint(&chunks)))];
    if let Some(node) = &bench.node {
        let lines: Vec<_> = steps.iter().map(ToString::to_string).collect();
        let input = node.input(&lines.join("\n"))?;
        runners.push(Runner::new(AI, node.work("ai, messages", input, &json!({}))));
    }
    let name = "100 finished calls, 2,000 text deltas".to_owned();
    let size = FINISHED_CALLS * 2 * KB + text.len();
    alternating(Row { name, size, steps: events.len(), runners }, bench.effort)
}

/// How many calls and texts there are, and how long what they hold is.
fn fingerprint(chunks: &Chunks) -> usize {
    let of_call = |call: &Call| {
        let content = match &call.input {
            Input::Whole { arguments } => arguments.get("content"),
            Input::Broken { .. } | Input::Streaming { .. } => None,
        };
        let texts = [content, call.result.as_ref()].into_iter().flatten().filter_map(Value::as_text);
        1 + texts.map(reknit::Text::len).sum::<usize>()
    };
    let of_chunk = |chunk: &Chunk| match chunk {
        Chunk::Text { text } => 1 + text.len(),
        Chunk::ToolBatch { calls } => calls.iter().map(of_call).sum(),
        _ => 0,
    };
    chunks.iter().map(of_chunk).sum()
}

/// How the results come, by their number and how many there are.
struct Order {
    name: &'static str,
    call: fn(usize, usize) -> usize,
}

const ORDERS: [Order; 3] = [
    Order { name: "results in the order of their calls", call: |number, _| number },
    Order { name: "results against the order of their calls", call: |number, all| all - 1 - number },
    Order { name: "results in any order", call: scattered },
];

/// Every number below `all` once, far from its neighbours: the step has no divisor with the numbers of calls.
fn scattered(number: usize, all: usize) -> usize {
    number * 7_919 % all
}

fn growth(bench: &Bench, order: &Order, largest: usize) -> Result<Series> {
    let sessions: Vec<_> = growth::doublings(largest).map(|count| session(count, order)).collect();
    let inputs = sessions.iter().map(|events| {
        let size = events.iter().map(|event| json!(event).to_string().len()).sum();
        (size, timed(move || chunks(events), |chunks| chunks.len()))
    });
    Series::measure(bench.effort, format!("chunks, {}", order.name), inputs)
}

/// A session of so many events: calls with text between them, then their results with text between.
fn session(count: usize, order: &Order) -> Vec<AgentEvent> {
    let all = count / EVENTS_PER_CALL;
    let deltas = || {
        let text = iter::repeat_with(|| AgentEvent::TextDelta { delta: words(DELTA) });
        text.take(EVENTS_PER_CALL / 2 - 1)
    };
    let calls =
        (0..all).flat_map(|number| iter::once(call(&format!("call_{number}"), "a.rs")).chain(deltas()));
    let results = (0..all).flat_map(|number| {
        let id = format!("call_{}", (order.call)(number, all));
        iter::once(result(&id, "done")).chain(deltas())
    });
    calls.chain(results).collect()
}

fn call(id: &str, content: &str) -> AgentEvent {
    let arguments: Object = [("content", content)].into_iter().collect();
    let (id, name) = (id.to_owned(), "write".to_owned());
    let tool_call = ToolCall {
        id,
        name,
        arguments: arguments.into(),
        raw: None,
        provider_executed: false,
        metadata: None,
    };
    AgentEvent::ToolCall { tool_call }
}

fn result(id: &str, content: &str) -> AgentEvent {
    let (tool_call_id, tool_name) = (id.to_owned(), Some("write".to_owned()));
    let tool_result = ToolResult { tool_call_id, tool_name, result: content.into(), is_error: Some(false) };
    AgentEvent::ToolResult { tool_result }
}
