//! Replies of the corpus on their way back: what a provider wants back of its own is there, byte for byte, and
//! every provider takes the rest.

use std::collections::{BTreeMap, BTreeSet};

use reknit::agent::{AgentEvent, Body, Bridge, Content, EndReason, ToolResult};
use reknit::event::{End, Runner};
use reknit::json::{Object, Value};
use reknit::message::{self, Args, Change};
use reknit::reply::Changes;
use reknit::{Dialect, Message, Reply};

use super::promises::{self, DIALECTS, log, request};
use super::{left_out, parsed};
use crate::corpus::{self, WireCase};

/// A reply as agent events, and what of it has to go back.
#[derive(Default)]
struct Read {
    bridge: Bridge,
    events: Vec<AgentEvent>,
    /// That of the message which is being read.
    newest: Own,
    own: Own,
}

/// What a provider wants back of its own.
#[derive(Clone, Debug, Default, PartialEq)]
struct Own {
    /// Signatures and encrypted contents.
    seals: Vec<String>,
    /// The id, the name and the arguments of calls.
    calls: Vec<[String; 3]>,
}

impl Read {
    fn new(dialect: Dialect, input: &[u8]) -> Self {
        let (mut reply, mut read) = (Reply::new(dialect), Self::default());
        read.follow(reply.push(input));
        read.follow(reply.finish());
        read.events.extend(read.bridge.finish());
        read.keep();
        read
    }

    fn follow(&mut self, mut changes: Changes<'_>) {
        while let Some((change, message)) = changes.next() {
            if let Change::Started(_) = change {
                self.keep();
            }
            self.events.extend(self.bridge.follow(&change, message));
            if let Change::Ended { .. } | Change::Cut {} | Change::Failed(_) = change {
                self.newest = Own::of_reply(message);
            }
        }
    }

    fn keep(&mut self) {
        let Own { seals, calls } = std::mem::take(&mut self.newest);
        self.own.seals.extend(seals);
        self.own.calls.extend(calls);
    }

    /// Older models of Gemini sign no call, and need not. The validator is for those that do.
    fn sign_first_call(&mut self) {
        let first = self.events.iter_mut().find_map(|event| match event {
            AgentEvent::ToolCall { tool_call } if !tool_call.provider_executed => Some(tool_call),
            _ => None,
        });
        if let Some(call) = first.filter(|call| call.metadata.is_none()) {
            let metadata: Object = [("thoughtSignature", "Zmlyc3Q=")].into_iter().collect();
            call.metadata = Some(metadata.into());
            self.own.seals.push("Zmlyc3Q=".to_owned());
        }
    }

    /// A session in which this is the answer, and each call of the client has its result.
    fn into_session(self, dialect: Dialect) -> Vec<Body> {
        let results = self.events.iter().filter_map(|event| match event {
            AgentEvent::ToolCall { tool_call } if !tool_call.provider_executed => {
                let (tool_call_id, tool_name) = (tool_call.id.clone(), Some(tool_call.name.clone()));
                let tool_result =
                    ToolResult { tool_call_id, tool_name, result: "done".into(), is_error: None };
                Some(AgentEvent::ToolResult { tool_result })
            }
            _ => None,
        });
        let results: Vec<_> = results.collect();
        let request = Body::Request { dialect: dialect.name().to_owned(), model: "m".to_owned() };
        [Body::UserMessage { content: vec![Content::Text { text: "Go.".to_owned() }] }, request]
            .into_iter()
            .chain(self.events.into_iter().chain(results).map(Body::Agent))
            .chain([Body::End { reason: EndReason::Done }])
            .collect()
    }
}

impl Own {
    /// Out of the blocks of a message.
    fn of_reply(message: &Message) -> Self {
        let mut own = Self::default();
        for block in message.blocks().filter(|block| block.choice() == 0) {
            if block.end() == Some(End::Closed) {
                own.seals.extend(seals(block.extra()));
            }
            match block.body() {
                message::Body::Thinking { signature, redacted, .. } if block.end() == Some(End::Closed) => {
                    own.seals.extend(Some(signature.to_string()).filter(|seal| !seal.is_empty()));
                    own.seals.extend(redacted.clone());
                }
                message::Body::ToolCall(call) if call.runner == Runner::Client => {
                    if let Args::Complete(arguments) = &call.args {
                        own.calls.push([call.id.to_string(), call.name.clone(), arguments.to_string()]);
                    }
                }
                _ => {}
            }
        }
        own
    }

    /// Out of the messages of a request.
    fn of_request(dialect: Dialect, messages: &[Value]) -> Self {
        let mut own = Self::default();
        for message in messages {
            match dialect {
                Dialect::Anthropic => {
                    let content = objects(message, "content");
                    for block in content {
                        match &*word(block, "type") {
                            "thinking" => own.seals.push(word(block, "signature")),
                            "redacted_thinking" => own.seals.push(word(block, "data")),
                            "tool_use" => own.call(block, "id", "name", "input"),
                            _ => own.seals.extend(seals(block)),
                        }
                    }
                }
                Dialect::OpenAiChat => {
                    for detail in objects(message, "reasoning_details") {
                        own.seals.extend(["signature", "data"].map(|key| word(detail, key)));
                    }
                    for call in objects(message, "tool_calls") {
                        own.seals.extend(seals(call));
                        let kind = word(call, "type");
                        let function = call.get(&kind).and_then(Value::as_object).expect("it was checked");
                        let arguments = if kind == "custom" {
                            Value::from(word(function, "input"))
                        } else {
                            parsed(&word(function, "arguments"))
                        };
                        own.calls.push([word(call, "id"), word(function, "name"), arguments.to_string()]);
                    }
                }
                Dialect::BedrockConverse => {
                    for block in objects(message, "content") {
                        let inner = |key| block.get(key).and_then(Value::as_object);
                        if let Some(content) = inner("reasoningContent") {
                            own.seals.push(word(content, "redactedContent"));
                            let text = content.get("reasoningText").and_then(Value::as_object);
                            own.seals.extend(text.map(|text| word(text, "signature")));
                        }
                        if let Some(call) = inner("toolUse") {
                            own.call(call, "toolUseId", "name", "input");
                        }
                    }
                }
                Dialect::Cohere => {
                    for call in objects(message, "tool_calls") {
                        let function =
                            call.get("function").and_then(Value::as_object).expect("it was checked");
                        let arguments = parsed(&word(function, "arguments")).to_string();
                        own.calls.push([word(call, "id"), word(function, "name"), arguments]);
                    }
                }
                Dialect::Ollama => {
                    for call in objects(message, "tool_calls") {
                        let function =
                            call.get("function").and_then(Value::as_object).expect("it was checked");
                        let arguments = function.get("arguments").expect("it was checked").to_string();
                        own.calls.push([word(call, "id"), word(function, "name"), arguments]);
                    }
                }
                Dialect::OpenAiResponses => {
                    let item = message.as_object().expect("it was checked");
                    own.seals.extend(seals(item));
                    match &*word(item, "type") {
                        "function_call" => {
                            let arguments = parsed(&word(item, "arguments")).to_string();
                            own.calls.push([word(item, "call_id"), word(item, "name"), arguments]);
                        }
                        "custom_tool_call" => own.call(item, "call_id", "name", "input"),
                        "computer_call" => own.special_call(item, "computer", &["action", "actions"]),
                        "local_shell_call" => own.special_call(item, "local_shell", &["action"]),
                        "shell_call" if !item.get("environment").is_some_and(is_container) => {
                            own.special_call(item, "shell", &["action"]);
                        }
                        "apply_patch_call" => own.special_call(item, "apply_patch", &["operation"]),
                        "tool_search_call" if word(item, "execution") == "client" => {
                            own.special_call(item, "tool_search", &["arguments"]);
                        }
                        _ => {}
                    }
                }
                _ => {
                    for part in objects(message, "parts") {
                        own.seals.extend(seals(part));
                        if let Some(call) = part.get("functionCall").and_then(Value::as_object) {
                            own.call(call, "id", "name", "args");
                        }
                    }
                }
            }
        }
        own.seals.retain(|seal| !seal.is_empty());
        own
    }

    fn call(&mut self, call: &Object, id: &str, name: &str, arguments: &str) {
        let arguments = call.get(arguments).map_or_else(String::new, ToString::to_string);
        self.calls.push([word(call, id), word(call, name), arguments]);
    }

    /// A call that is an item of its own kind, with its arguments in one of these members.
    fn special_call(&mut self, item: &Object, name: &str, members: &[&str]) {
        let member = members.iter().find(|member| item.get(member).is_some()).expect("it was checked");
        let arguments = item.get(member).expect("it was found");
        let arguments = match *member {
            "actions" => Value::from([(*member, arguments.clone())].into_iter().collect::<Object>()),
            _ => arguments.clone(),
        };
        self.calls.push([word(item, "call_id"), name.to_owned(), arguments.to_string()]);
    }

    /// The provider takes these in any order.
    fn sorted(mut self) -> Self {
        self.seals.sort();
        self.calls.sort();
        self
    }
}

fn is_container(environment: &Value) -> bool {
    environment.get("type").and_then(Value::as_str).is_some_and(|kind| kind != "local")
}

/// What seals a block under the same name in a reply and in a request.
fn seals(block: &Object) -> impl Iterator<Item = String> {
    ["thoughtSignature", "encrypted_content", "extra_content"].into_iter().filter_map(|key| {
        let value = block.get(key)?;
        Some(value.as_str().map_or_else(|| value.to_string(), Into::into))
    })
}

fn objects<'v>(message: &'v Value, member: &str) -> impl Iterator<Item = &'v Object> {
    let list = message.get(member).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_object)
}

fn word(object: &Object, member: &str) -> String {
    object.get(member).and_then(Value::as_str).map_or_else(String::new, Into::into)
}

/// The reasoning item before each item of a reply, by their ids. Other dialects have no such items.
fn reasoning_of_items(dialect: Dialect, input: &[u8]) -> BTreeMap<String, String> {
    let mut reply = Reply::new(dialect).with_native();
    reply.push(input);
    reply.finish();
    let mut of_items = BTreeMap::new();
    for response in reply.into_native() {
        let mut reasoning = None;
        for item in objects(&response, "output") {
            match (&*word(item, "type"), &reasoning) {
                ("reasoning", _) => reasoning = Some(word(item, "id")),
                (_, Some(reasoning)) => drop(of_items.insert(word(item, "id"), reasoning.clone())),
                (_, None) => {}
            }
        }
    }
    of_items
}

/// An item with its id is refused without the reasoning that it came after.
fn all_have_their_reasoning(reasoning: &BTreeMap<String, String>, items: &[Value]) -> Result<(), String> {
    let mut sent = BTreeSet::new();
    for item in items {
        let id = item.get("id").and_then(Value::as_str).map_or_else(String::new, Into::into);
        match reasoning.get(&id) {
            Some(needed) if !sent.contains(needed) => return Err(format!("`{id}` without `{needed}`")),
            _ => drop(sent.insert(id)),
        }
    }
    Ok(())
}

#[test]
fn an_item_without_its_reasoning_is_refused() {
    let reasoning = [("ws_1".to_owned(), "rs_1".to_owned())].into_iter().collect();
    let (thought, search) = (parsed(r#"{"type":"reasoning","id":"rs_1"}"#), parsed(r#"{"id":"ws_1"}"#));
    assert_eq!(all_have_their_reasoning(&reasoning, &[thought, search.clone()]), Ok(()));
    assert!(all_have_their_reasoning(&reasoning, &[search]).is_err());
}

#[test]
fn replies_are_sent_back_as_they_came() {
    let (mut seals, mut calls) = (0, 0);
    for WireCase { case, dialect } in corpus::wire_cases().into_iter().chain(corpus::recordings()) {
        let mut read = Read::new(dialect, &case.input);
        if dialect == Dialect::Gemini {
            read.sign_first_call();
        }
        let own = read.own.clone().sorted();
        let entries = log(read.into_session(dialect));
        let reasoning = reasoning_of_items(dialect, &case.input);
        // The log may end anywhere, and any provider may be asked next.
        for cut in 0..=entries.len() {
            for other in DIALECTS {
                let entries = &entries[..cut];
                promises::hold(other, entries)
                    .and_then(|()| left_out::is_reported(other, entries))
                    .and_then(|()| all_have_their_reasoning(&reasoning, &request(other, entries).messages))
                    .unwrap_or_else(|why| panic!("{}, {cut}: {why}", case.name));
            }
        }
        // Recordings may lack what must follow thinking, or encrypt an item again when its response is over.
        if DIALECTS.contains(&dialect) && case.name.starts_with("wire/") {
            let back = Own::of_request(dialect, &request(dialect, &entries).messages);
            assert_eq!(back.sorted(), own, "{}", case.name);
            seals += own.seals.len();
            calls += own.calls.len();
        }
    }
    // The corpus has enough of both to show it.
    assert!(seals > 20 && calls > 60, "{seals} seals and {calls} calls");
}
