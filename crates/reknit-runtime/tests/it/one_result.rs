//! One call, one result: whatever a model writes, whatever a user answers, and whenever a turn is cancelled.

use std::collections::BTreeMap;

use proptest::prelude::*;
use reknit::agent::{AgentEvent, Body};
use reknit::history;
use reknit::json::Value;
use reknit_runtime::question::{Answer, Question};
use reknit_runtime::session::Timeouts;
use reknit_runtime::testing::Reply;
use reknit_validators::{DIALECTS, validate};

use crate::world::World;

/// Where a model writes its calls.
#[derive(Clone, Copy, Debug)]
enum Notation {
    Native,
    Tagged,
}

/// What a model writes in one reply.
#[derive(Clone, Debug)]
struct Written {
    blocks: Vec<Block>,
    end: End,
}

#[derive(Clone, Debug)]
enum Block {
    Text,
    Call(&'static str),
    Malformed(&'static str),
}

#[derive(Clone, Debug)]
enum End {
    Whole,
    Length,
    Break,
    CutCall,
}

/// What a user does when something is asked, or after so many entries.
#[derive(Clone, Debug)]
enum Doing {
    Yes,
    No,
    Words,
    Cancel,
}

fn written() -> impl Strategy<Value = Written> {
    let tool = prop::sample::select(vec!["read", "write", "fail", "panic", "hold", "finish", "nothing"]);
    let block = prop_oneof![
        2 => Just(Block::Text),
        4 => tool.clone().prop_map(Block::Call),
        1 => tool.prop_map(Block::Malformed),
    ];
    let end = prop_oneof![4 => Just(End::Whole), 1 => Just(End::Length), 1 => Just(End::Break), 1 => Just(End::CutCall)];
    (prop::collection::vec(block, 0..5), end).prop_map(|(blocks, end)| Written { blocks, end })
}

fn reply(number: usize, written: &Written, notation: Notation) -> Reply {
    match notation {
        Notation::Native => native(number, written),
        Notation::Tagged => tagged(written),
    }
}

/// The same reply of a model that writes its calls into its text.
fn tagged(written: &Written) -> Reply {
    let mut text = String::new();
    for block in &written.blocks {
        let (tool, arguments) = match block {
            Block::Text => {
                text += "some words\n";
                continue;
            }
            Block::Call(tool) => (tool, r#"{"what": "it"}"#),
            Block::Malformed(tool) => (tool, r#"{"what": it}"#),
        };
        let call = format!(r#"{{"name": "{tool}", "arguments": {arguments}}}"#);
        text += &format!("<tool_call>\n{call}\n</tool_call>\n");
    }
    if matches!(written.end, End::CutCall) {
        text += "<tool_call>\n{\"name\": \"write\", \"arguments\": {\"what\": \"ha";
    }
    let reply = if text.is_empty() { Reply::new() } else { Reply::new().text(&text) };
    match written.end {
        End::Whole => reply,
        End::Length => reply.stop("max_tokens"),
        End::Break | End::CutCall => reply.breaks(),
    }
}

fn native(number: usize, written: &Written) -> Reply {
    let mut reply = Reply::new();
    for (at, block) in written.blocks.iter().enumerate() {
        let id = format!("c{number}-{at}");
        reply = match block {
            Block::Text => reply.text("some words"),
            Block::Call(tool) => reply.call(&id, tool, r#"{"what": "it"}"#),
            Block::Malformed(tool) => reply.call(&id, tool, r#"{"what": it}"#),
        };
    }
    match written.end {
        End::Whole => reply,
        End::Length => reply.stop("max_tokens"),
        End::Break => reply.breaks(),
        End::CutCall => reply.cut_call(&format!("c{number}-cut"), "write", r#"{"what": "ha"#),
    }
}

fn doing() -> impl Strategy<Value = Doing> {
    prop_oneof![3 => Just(Doing::Yes), 1 => Just(Doing::No), 1 => Just(Doing::Words), 1 => Just(Doing::Cancel)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_call_has_exactly_one_result_and_every_request_is_paired(
        replies in prop::collection::vec(written(), 1..5),
        doings in prop::collection::vec(doing(), 1..12),
        cancel_after in prop::option::of(1usize..30),
        notation in prop::sample::select(vec![Notation::Native, Notation::Tagged]),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        // In a task of its own: only tasks take turns, so that what the user does can come between any two steps.
        runtime.block_on(async { tokio::spawn(async move { play(&replies, &doings, cancel_after, notation).await }).await.unwrap() });
    }
}

async fn play(replies: &[Written], doings: &[Doing], cancel_after: Option<usize>, notation: Notation) {
    let replies = replies.iter().enumerate();
    let mut world = World::new(replies.map(|(number, written)| reply(number, written, notation)));
    world.tags = matches!(notation, Notation::Tagged).then_some("hermes");
    let mut timeouts = Timeouts::default();
    // A call that holds until it is cancelled is given up instead.
    timeouts.tool = std::time::Duration::from_secs(5);
    let (session, mut watch) = world.open_with(world.builder().timeouts(timeouts)).await;
    session.say("go").await;
    let (mut count, mut next) = (0, doings.iter().cycle());
    loop {
        let step = watch
            .until(|entry| {
                count += 1;
                match (&entry.body, Question::of(entry)) {
                    (Body::End { .. }, _) => Some(None),
                    (_, Some((id, _))) => Some(Some(id.to_owned())),
                    _ if Some(count) == cancel_after => Some(Some(String::new())),
                    _ => None,
                }
            })
            .await;
        let Some(id) = step else { break };
        match next.next().expect("it repeats") {
            _ if id.is_empty() => session.cancel().await,
            Doing::Yes => session.answer(id, Answer::yes()).await,
            Doing::No => session.answer(id, Answer::no()).await,
            Doing::Words => session.answer(id, Answer::no().with_words("rather not")).await,
            Doing::Cancel => session.cancel().await,
        }
    }

    // Each call that the log has, whole or not, has one result, in the order of the calls.
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for entry in &watch.entries {
        match &entry.body {
            Body::Agent(AgentEvent::ToolInputStart { tool_call_id, .. }) => calls.push(tool_call_id.clone()),
            Body::Agent(AgentEvent::ToolResult { tool_result }) => {
                results.push(tool_result.tool_call_id.clone());
            }
            _ => {}
        }
    }
    assert_eq!(calls, results, "{:#?}", watch.entries);

    // And so does every request, as the provider counts them.
    for request in world.script.requests() {
        paired(&request.messages);
    }
    // The next request could go to any provider.
    for dialect in DIALECTS {
        let next = history::request(dialect, &watch.entries).expect("there are requests");
        let valid = validate(dialect, &next.messages);
        valid.unwrap_or_else(|rule| panic!("{dialect}: {rule}\n{:#?}\n{:#?}", next.messages, watch.entries));
    }
}

/// Each `tool_use` of a reply has its `tool_result` in the next message, and there are no others.
fn paired(messages: &[Value]) {
    let ids = |message: &Value, kind: &str, key: &str| -> BTreeMap<String, usize> {
        let parts = message.get("content").and_then(Value::as_array).into_iter().flatten();
        let mut ids = BTreeMap::new();
        for part in parts.filter(|part| part.get("type").and_then(Value::as_str).as_deref() == Some(kind)) {
            *ids.entry(part.get(key).unwrap().to_string()).or_default() += 1;
        }
        ids
    };
    let mut open = BTreeMap::new();
    for message in messages {
        let results = ids(message, "tool_result", "tool_use_id");
        assert_eq!(open, results, "{messages:#?}");
        open = ids(message, "tool_use", "id");
        assert!(open.values().all(|count| *count == 1), "{messages:#?}");
    }
    assert!(open.is_empty(), "{messages:#?}");
}
