//! A resumed session: the provider's messages that the server kept, as they were originally shown.

use std::borrow::Cow;
use std::collections::BTreeMap;

use reknit::json::{Object, Value};

use super::content::{is, normalized, normalized_blocks, plain_text};
use super::{Ids, delegation};
use crate::realtime::book::THINK;
use crate::realtime::call::{CompletedCall, ToolCall, ToolResult};
use crate::realtime::happening::Happening;
use crate::realtime::message::{EnhancedMessage, MessageKind};
use crate::realtime::sessions::{IS_SUB_SESSION, Session};
use crate::realtime::{Profile, Time};

/// A provider's messages while they are added to a session.
pub(super) struct Resume<'a> {
    pub(super) profile: Profile,
    pub(super) ids: &'a mut Ids,
    pub(super) at: Time,
    /// Where the messages go.
    pub(super) session: Session,
    /// Calls that are waiting for a message.
    pub(super) pending: Vec<CompletedCall>,
    /// Sub-sessions that started and ended between the messages.
    pub(super) happenings: Vec<Happening>,
}

impl Resume<'_> {
    /// Adds all messages.
    pub(super) fn load(&mut self, messages: &[&Object]) {
        if self.profile == Profile::Documented {
            let results = results(messages);
            return messages.iter().for_each(|message| self.documented(message, &results));
        }
        let mut rest = messages;
        while let [message, following @ ..] = rest {
            let skipped = self.agent_c(message, following.first().copied());
            rest = following.get(skipped..).unwrap_or_default();
        }
    }

    /// Adds a message. Its blocks keep their order, and results may be anywhere.
    fn documented(&mut self, message: &Object, results: &BTreeMap<String, &Object>) {
        let role = role(message);
        let Some(Value::Array(blocks)) = message.get("content") else {
            let content = normalized(message.get("content").unwrap_or(&Value::Null), self.profile);
            return self.push(EnhancedMessage::new(&role, content, self.at));
        };
        let (mut shown, mut calls) = (Vec::new(), Vec::new());
        for block in blocks {
            let call = (role == "assistant" && is(block, "tool_use")).then(|| tool_call(block)).flatten();
            match call {
                Some(call) if call.name() == THINK => {
                    self.show(&role, &mut shown);
                    self.think(&call);
                }
                Some(call) => {
                    let result = results.get(call.id()).copied();
                    match delegation::agent_type(call.name()) {
                        Some(agent) => {
                            self.show(&role, &mut shown);
                            self.delegate(&call, agent, result);
                        }
                        None => {
                            let result = result.cloned().and_then(ToolResult::new);
                            calls.push(CompletedCall { call, result });
                        }
                    }
                }
                None if is(block, "tool_result") => {}
                None => shown.push(block),
            }
        }
        self.show(&role, &mut shown);
        self.attach(calls);
    }

    /// Adds a message as Agent C's client does, and returns how many of the following ones are skipped.
    fn agent_c(&mut self, message: &Object, next: Option<&Object>) -> usize {
        let role = role(message);
        let blocks = message.get("content").and_then(Value::as_array);
        let Some(blocks) = blocks.filter(|_| role == "assistant") else {
            let has_result = blocks.is_some_and(|blocks| blocks.iter().any(|block| is(block, "tool_result")));
            if role != "user" || !has_result {
                let content = normalized(message.get("content").unwrap_or(&Value::Null), self.profile);
                self.push(EnhancedMessage::new(&role, content, self.at));
            }
            return 0;
        };
        let mut skipped = 0;
        let results = results(next.as_slice());
        for call in blocks.iter().filter(|block| is(block, "tool_use")).filter_map(tool_call) {
            if call.name() == THINK {
                self.think(&call);
                skipped = 1;
            } else if let Some(agent) = delegation::agent_type(call.name()) {
                // The first result, whichever call it is for.
                let first = next.into_iter().flat_map(result_blocks).next();
                self.delegate(&call, agent, first);
                skipped = 1;
            } else {
                let result = results.get(call.id()).copied();
                skipped = skipped.max(usize::from(result.is_some()));
                let result = result.cloned().and_then(ToolResult::new);
                self.attach(vec![CompletedCall { call, result }]);
            }
        }
        let mut texts: Vec<_> = blocks.iter().filter(|block| plain_text(block).is_some()).collect();
        self.show(&role, &mut texts);
        skipped
    }

    /// A call of the think tool becomes the thought that it contains.
    fn think(&mut self, call: &ToolCall) {
        let thought =
            call.input().and_then(|input| input.get("thought")).cloned().unwrap_or_else(|| "".into());
        let is_documented = self.profile == Profile::Documented;
        self.push(EnhancedMessage {
            kind: if is_documented { MessageKind::Thought } else { MessageKind::Message },
            format: Some("markdown".to_owned()),
            is_collapsed: is_documented.then_some(true),
            ..EnhancedMessage::new(
                if is_documented { "assistant" } else { "assistant (thought)" },
                thought,
                self.at,
            )
        });
    }

    /// A call of another agent becomes what the agent was asked and what it said.
    fn delegate(&mut self, call: &ToolCall, agent: &str, result: Option<&Object>) {
        let input = call.input().unwrap_or(&Value::Null);
        let subsession = delegation::subsession(call.name(), agent, input);
        self.happenings.push(Happening::SubsessionStarted(subsession));
        self.push_aside("user", delegation::request(input));
        let answer = delegation::answer(&result_text(result), self.profile);
        if !answer.is_empty() {
            self.push_aside("assistant", answer);
        }
        self.happenings.push(Happening::SubsessionEnded { session_id: None });
    }

    fn push_aside(&mut self, role: &str, content: String) {
        let mut message = EnhancedMessage::new(role, content, self.at);
        if self.profile == Profile::Documented {
            message.others.insert(IS_SUB_SESSION, true);
            message.id = Some(self.ids.stamp(self.at).id);
            return self.session.load(message);
        }
        self.push(message);
    }

    /// Makes a message of the collected blocks, if there are any.
    fn show(&mut self, role: &str, shown: &mut Vec<&Value>) {
        if !shown.is_empty() {
            let content = normalized_blocks(std::mem::take(shown).into_iter(), self.profile);
            self.push(EnhancedMessage::new(role, content, self.at));
        }
    }

    fn push(&mut self, mut message: EnhancedMessage) {
        if self.profile == Profile::Documented {
            message.id = Some(self.ids.stamp(self.at).id);
        }
        if message.is_reply() && !self.pending.is_empty() {
            message.attach(&std::mem::take(&mut self.pending));
        }
        self.session.load(message);
    }

    /// Attaches calls to the message before them; without one, they wait for the next.
    fn attach(&mut self, calls: Vec<CompletedCall>) {
        if !calls.is_empty() && self.session.attach(&calls).is_none() {
            self.pending.extend(calls);
        }
    }
}

fn role(message: &Object) -> String {
    message.get("role").and_then(Value::as_str).map_or_else(|| "assistant".to_owned(), Cow::into_owned)
}

fn tool_call(block: &Value) -> Option<ToolCall> {
    ToolCall::new(block.as_object()?.clone())
}

fn result_blocks(message: &Object) -> impl Iterator<Item = &Object> {
    let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
    blocks.filter(|block| is(block, "tool_result")).filter_map(Value::as_object)
}

/// The results in some messages, by the ids of their calls; the first if a call has several.
fn results<'a>(messages: &[&'a Object]) -> BTreeMap<String, &'a Object> {
    let mut results = BTreeMap::new();
    for result in messages.iter().flat_map(|message| result_blocks(message)) {
        if let Some(id) = result.get("tool_use_id").and_then(Value::as_str) {
            results.entry(id.into_owned()).or_insert(result);
        }
    }
    results
}

/// The text of a result, which is a string or a list with a text block.
fn result_text(result: Option<&Object>) -> String {
    match result.and_then(|result| result.get("content")) {
        Some(Value::String(text)) => text.to_string(),
        Some(Value::Array(blocks)) => blocks.iter().filter_map(plain_text).map(ToString::to_string).collect(),
        _ => String::new(),
    }
}
