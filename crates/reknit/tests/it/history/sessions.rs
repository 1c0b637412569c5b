//! Sessions that proptest makes up: sensible ones, and any entries at all.

use proptest::prelude::*;
use proptest::sample::select;
use reknit::agent::{AgentEvent, Body, Content, Decision, EndReason, ToolCall, ToolResult};
use reknit::json::{Object, Value};

use super::parsed;

const DIALECTS: [&str; 7] =
    ["anthropic", "openai-chat", "openai-responses", "gemini", "bedrock-converse", "cohere", "ollama"];

/// Several turns, each with replies and what became of their calls. Most replies come from one provider, so
/// that what it refuses twice is there twice.
pub(super) fn session() -> impl Strategy<Value = Vec<Body>> {
    select(&DIALECTS[..]).prop_flat_map(session_with)
}

fn session_with(dialect: &'static str) -> impl Strategy<Value = Vec<Body>> {
    let turns = prop::collection::vec(turn(dialect), 1..4);
    (turns, prop::option::weighted(0.3, (0u64..30, text()))).prop_map(|(turns, condensation)| {
        let mut bodies = turns.concat();
        if let Some((up_to, summary)) = condensation {
            let at = bodies.len().min(2 * up_to as usize);
            bodies.insert(at, Body::Condensation { up_to, summary });
        }
        bodies
    })
}

/// Entries in any order.
pub(super) fn any_entries() -> impl Strategy<Value = Vec<Body>> {
    let anything = prop_oneof![
        3 => user_message(),
        3 => request(),
        2 => end(),
        1 => (0u64..40, text()).prop_map(|(up_to, summary)| Body::Condensation { up_to, summary }),
        6 => part().prop_map(Part::into_one),
        4 => outcome(id()),
        1 => Just(agent(r#"{"type":"turn-start"}"#)),
        1 => Just(agent(r#"{"type":"turn-paused"}"#)),
        1 => id().prop_map(|tool_call_id| {
            Body::Agent(AgentEvent::ToolInputError { tool_call_id, error: "cut".to_owned() })
        }),
    ];
    prop::collection::vec(anything, 0..60)
}

fn turn(dialect: &'static str) -> impl Strategy<Value = Vec<Body>> {
    let replies = prop::collection::vec(reply(dialect), 1..4);
    (user_message(), replies, prop::option::of(end()))
        .prop_map(|(user, replies, end)| [user].into_iter().chain(replies.concat()).chain(end).collect())
}

/// A request, the reply to it, and what became of each of its calls.
fn reply(dialect: &'static str) -> impl Strategy<Value = Vec<Body>> {
    (prop_oneof![3 => Just(request_to(dialect)), 1 => request()], prop::collection::vec(part(), 0..6))
        .prop_flat_map(|(request, parts)| {
            let parts: Vec<Body> = parts.into_iter().flat_map(|part| part.0).collect();
            let ids: Vec<_> = parts.iter().filter_map(call_id).collect();
            let outcomes = ids.into_iter().map(|id| prop::collection::vec(outcome(Just(id)), 0..3));
            (Just(request), Just(parts), outcomes.collect::<Vec<_>>())
                .prop_map(|(request, parts, outcomes)| {
                    [request].into_iter().chain(parts).chain(outcomes.concat()).collect()
                })
                .boxed()
        })
}

fn call_id(body: &Body) -> Option<String> {
    match body {
        Body::Agent(AgentEvent::ToolCall { tool_call }) => Some(tool_call.id.clone()),
        _ => None,
    }
}

/// The entries of one part of a reply.
#[derive(Clone, Debug)]
struct Part(Vec<Body>);

impl Part {
    /// One of them, as if the others were lost.
    fn into_one(mut self) -> Body {
        let at = self.0.len() / 2;
        self.0.swap_remove(at)
    }
}

fn part() -> impl Strategy<Value = Part> {
    let delta = |delta| Body::Agent(AgentEvent::TextDelta { delta });
    prop_oneof![
        3 => text().prop_map(move |text| Part(vec![delta(text)])),
        3 => thinking(),
        4 => call(),
        2 => special_call(),
        1 => (id(), text()).prop_map(|(tool_call_id, error)| {
            let tool_name = "write".to_owned();
            let start = AgentEvent::ToolInputStart { tool_call_id: tool_call_id.clone(), tool_name };
            Part(vec![Body::Agent(start), Body::Agent(AgentEvent::ToolInputError { tool_call_id, error })])
        }),
        1 => select(&[
            r#"{"type":"provider-block","kind":"web_search_tool_result","block":{"tool_use_id":"c1","content":[]}}"#,
            r#"{"type":"provider-block","kind":"compaction","block":{"id":"cmp_1","encrypted_content":"gA=="}}"#,
            r#"{"type":"provider-block","kind":"text","block":{"thoughtSignature":"c2ln"}}"#,
            r#"{"type":"provider-block","kind":"text","block":{"thoughtSignature":"","citations":[{"url":"https://example.org"}]}}"#,
            r#"{"type":"provider-block","kind":"codeExecutionResult","block":{"outcome":"OUTCOME_OK"}}"#,
            r#"{"type":"error","error":"overloaded"}"#,
            r#"{"type":"turn-paused"}"#,
            r#"{"type":"provider-block","kind":"text","block":{"phase":"final_answer"}}"#,
            r#"{"type":"provider-block","kind":"mcp_list_tools","block":{"id":5,"tools":[]}}"#,
            r#"{"type":"provider-block","kind":"mcp_approval_request","block":{"id":"mcpr_1","server_label":"w","name":"r","arguments":"{}"}}"#,
            r#"{"type":"approval-response","approvalId":"mcpr_1","decision":"allow"}"#,
            r#"{"type":"provider-block","kind":"tool_search_output","block":{"id":"tso_1","execution":"server","tools":[]}}"#,
            r#"{"type":"provider-block","kind":"thought","block":{"a":1}}"#,
            r#"{"type":"provider-block","kind":"inlineData","block":{"partMetadata":{},"inlineData":{}}}"#,
            r#"{"type":"shell-output","data":"x","stream":"stdout"}"#,
        ][..]).prop_map(|block| Part(vec![agent(block)])),
    ]
}

fn thinking() -> impl Strategy<Value = Part> {
    let metadata = select(
        &[
            r#"{"signature":"c2lnbmF0dXJl"}"#,
            r#"{"redactedData":"Z2VoZWlt"}"#,
            r#"{"redactedData":"gAAA","id":"rs_1"}"#,
            r#"{"id":"rs_1"}"#,
            r#"{"signature":"c2ln","format":"anthropic-claude-v1"}"#,
            r#"{"signature":""}"#,
            "null",
            "\"sealed\"",
        ][..],
    );
    (text(), prop::option::of(metadata)).prop_map(|(delta, metadata)| {
        let end = AgentEvent::ReasoningEnd { metadata: metadata.map(parsed) };
        Part(vec![Body::Agent(AgentEvent::ReasoningDelta { delta }), Body::Agent(end)])
    })
}

fn call() -> impl Strategy<Value = Part> {
    let name = select(&["read", "run_sql", "mcp.read file", "", "code_execution"][..]);
    let arguments = select(&[r#"{"path":"a.rs"}"#, "{}", "null", r#""SELECT 1""#, "[1]"][..]);
    let raw = prop::option::weighted(0.2, Just("<read><path>a.rs</path></read>".to_owned()));
    (id(), name, arguments, raw, prop::bool::weighted(0.1)).prop_map(
        |(id, name, arguments, raw, provider)| {
            // Where calls are signed the first of a reply is, so that each has a signature here.
            let metadata = Some(parsed(r#"{"thoughtSignature":"c2ln","id":"fc_1"}"#));
            let (name, arguments) = (name.to_owned(), parsed(arguments));
            let tool_call = ToolCall { id, name, arguments, raw, provider_executed: provider, metadata };
            Part(vec![Body::Agent(AgentEvent::ToolCall { tool_call })])
        },
    )
}

/// A call that its provider has a word of its own for.
fn special_call() -> impl Strategy<Value = Part> {
    let metadata = select(
        &[
            r#"{"type":"computer_call","id":"cu_1","pending_safety_checks":[]}"#,
            r#"{"type":"local_shell_call","id":"lsh_1"}"#,
            r#"{"type":"shell_call","id":"sh_1"}"#,
            r#"{"type":"apply_patch_call","id":"apc_1"}"#,
            r#"{"type":"tool_search_call","id":"tsc_1","execution":"client"}"#,
            r#"{"type":"web_search_call"}"#,
            r#"{"type":"code_interpreter_call","container_id":"cntr_1"}"#,
            r#"{"type":"mcp_call","server_label":"wiki"}"#,
            r#"{"type":"program","id":"prog_1","fingerprint":"f"}"#,
            r#"{"caller":{"type":"program","caller_id":"c1"}}"#,
            r#"{"caller":{"type":"code_execution_20260120","tool_id":"c1"}}"#,
            r#"{"server_name":"wiki"}"#,
        ][..],
    );
    (id(), metadata, any::<bool>()).prop_map(|(id, metadata, provider_executed)| {
        let mut metadata = parsed(metadata);
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.insert("thoughtSignature", "c2ln");
        }
        let arguments = parsed(r#"{"commands":["ls"],"command":["ls"],"type":"search","query":"piers"}"#);
        let (name, metadata) = ("special".to_owned(), Some(metadata));
        let tool_call = ToolCall { id, name, arguments, raw: None, provider_executed, metadata };
        Part(vec![Body::Agent(AgentEvent::ToolCall { tool_call })])
    })
}

/// Something that became of a call.
fn outcome(id: impl Strategy<Value = String>) -> impl Strategy<Value = Body> {
    let result = select(
        &[
            r#""done""#,
            r#""""#,
            r#"{"rows":[1.10]}"#,
            "null",
            r#"[{"type":"text","text":"shot"},{"type":"image","mediaType":"image/png","data":"iVBO"}]"#,
            r#"[{"type":"text","text":" "}]"#,
            r#"[{"type":"image","mediaType":"text/html","data":"PGI+"}]"#,
        ][..],
    );
    (id, 0..8, result, prop::option::of(any::<bool>())).prop_map(|(id, kind, result, is_error)| match kind {
        0..4 => {
            let result = parsed(result);
            let tool_result = ToolResult { tool_call_id: id, tool_name: None, result, is_error };
            Body::Agent(AgentEvent::ToolResult { tool_result })
        }
        4 | 5 => Body::ToolStarted { tool_call_id: id },
        _ => Body::Decision {
            tool_call_id: id,
            decision: if kind == 6 { Decision::Deny } else { Decision::Allow },
            hash: "sha256:0".to_owned(),
            reason: is_error.map(|_| "not here".to_owned()),
        },
    })
}

fn user_message() -> impl Strategy<Value = Body> {
    let image = Content::Image { media_type: "image/png".to_owned(), data: "iVBORw0=".to_owned() };
    let unknown: Object = [("type", Value::from("audio"))].into_iter().collect();
    let piece = prop_oneof![
        6 => text().prop_map(|text| Content::Text { text }),
        1 => Just(image),
        1 => select(&["image/", "text/html", "image/png;base64,x", "image/svg+xml"][..]).prop_map(|media_type| {
            Content::Image { media_type: media_type.to_owned(), data: "PHN2Zz4=".to_owned() }
        }),
        1 => Just(Content::Other(unknown)),
    ];
    prop::collection::vec(piece, 0..3).prop_map(|content| Body::UserMessage { content })
}

fn request() -> impl Strategy<Value = Body> {
    select(&DIALECTS[..]).prop_map(request_to)
}

fn request_to(dialect: &str) -> Body {
    Body::Request { dialect: dialect.to_owned(), model: "m".to_owned() }
}

fn end() -> impl Strategy<Value = Body> {
    let reasons = [EndReason::Done, EndReason::Failed, EndReason::Cancelled, EndReason::Interrupted];
    select(reasons.to_vec()).prop_map(|reason| Body::End { reason })
}

fn text() -> impl Strategy<Value = String> {
    select(&["Hello.", "Fine, thanks ", "", " \n", "I look at `a.rs`.\n\nThen I go on.", "é\u{1F600}"][..])
        .prop_map(str::to_owned)
}

fn id() -> impl Strategy<Value = String> {
    let long = "x".repeat(80);
    let ids = ["c1", "c2", "c3", "call_0", "functions.read:0", "", "toolu_01A", &long];
    select(ids.map(str::to_owned).to_vec())
}

fn agent(event: &str) -> Body {
    Body::Agent(serde_json::from_str(event).expect("it is an event"))
}
