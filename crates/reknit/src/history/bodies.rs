//! [`Bodies`]: what entries would say to make the messages of a request.

use std::collections::{BTreeMap, VecDeque};

use super::message::{ProviderCallId, Thinking};
use crate::agent::{AgentEvent, Body, Content, ToolCall, ToolResult};
use crate::json::{Object, Value};

/// Collects what messages say, in the order of a log.
#[derive(Debug)]
pub(crate) struct Bodies {
    dialect: &'static str,
    model: String,
    list: Vec<Body>,
    /// Whether the model is speaking, so that its next words belong to the same reply.
    in_reply: bool,
    unanswered: Unanswered,
    /// The calls of this reply that the provider ran, by id.
    provider_calls: BTreeMap<String, ProviderCallId>,
    newest_provider_call: Option<String>,
    calls: usize,
}

impl Bodies {
    pub(super) fn new(dialect: &'static str, model: &str) -> Self {
        Self {
            dialect,
            model: model.to_owned(),
            list: Vec::new(),
            in_reply: false,
            unanswered: Unanswered::default(),
            provider_calls: BTreeMap::new(),
            newest_provider_call: None,
            calls: 0,
        }
    }

    pub(super) fn into_list(self) -> Vec<Body> {
        self.list
    }

    pub(crate) fn user(&mut self, content: Vec<Content>) {
        if !content.is_empty() {
            self.end_reply();
            self.list.push(Body::UserMessage { content });
        }
    }

    pub(crate) fn text(&mut self, text: String) {
        if !text.is_empty() {
            self.event(AgentEvent::TextDelta { delta: text });
        }
    }

    /// The provider's own fields of the text before.
    pub(crate) fn text_fields(&mut self, fields: Object) {
        self.event(AgentEvent::ProviderBlock { kind: "text".to_owned(), block: fields });
    }

    pub(crate) fn thinking(&mut self, thinking: Thinking) {
        let metadata = thinking.metadata();
        self.event(AgentEvent::ReasoningDelta { delta: thinking.text });
        self.event(AgentEvent::ReasoningEnd { metadata });
    }

    pub(crate) fn call(&mut self, tool_call: ToolCall) {
        let (id, name) = (tool_call.id.clone(), tool_call.name.clone());
        let is_the_providers = tool_call.provider_executed;
        let fields = tool_call.metadata.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
        self.calls += 1;
        self.event(AgentEvent::ToolCall { tool_call });
        if is_the_providers {
            self.newest_provider_call = Some(id.clone());
            self.provider_calls.insert(id.clone(), ProviderCallId { id, name, fields });
        } else {
            self.unanswered.push(id, name);
        }
    }

    /// The id of a call that came without one.
    pub(crate) fn invented_id(&self) -> String {
        format!("call_{}", self.calls)
    }

    /// The same for a call that the provider ran. No id has a blank in it, so that it is none of the client's.
    pub(crate) fn invented_provider_id(&self) -> String {
        format!("call {}", self.calls)
    }

    /// A call of this reply that the provider ran and that has no result yet.
    pub(crate) fn provider_call(&self, id: &str) -> Option<&ProviderCallId> {
        self.provider_calls.get(id)
    }

    /// The newest call that the provider ran, for a result that names none.
    pub(crate) fn newest_provider_call(&self) -> Option<String> {
        self.newest_provider_call.clone().filter(|id| self.provider_calls.contains_key(id))
    }

    /// The result of a call that the provider ran, which is a part of the reply.
    pub(crate) fn provider_result(&mut self, id: String, result: Value) {
        let call = self.provider_calls.remove(&id);
        let tool_name = call.map(|call| call.name);
        let tool_result = ToolResult { tool_call_id: id, tool_name, result, is_error: None };
        self.event(AgentEvent::ToolResult { tool_result });
    }

    pub(crate) fn block(&mut self, kind: String, block: Object) {
        self.event(AgentEvent::ProviderBlock { kind, block });
    }

    pub(crate) fn result(&mut self, id: String, result: Value, is_error: bool) {
        self.end_reply();
        let tool_name = self.unanswered.answer(&id);
        let is_error = is_error.then_some(true);
        let tool_result = ToolResult { tool_call_id: id, tool_name, result, is_error };
        self.list.push(Body::Agent(AgentEvent::ToolResult { tool_result }));
    }

    /// The oldest call of a tool that has no result, for results that name none.
    pub(crate) fn oldest_call_of(&mut self, name: &str) -> Option<String> {
        self.unanswered.oldest_of(name)
    }

    /// Somebody else speaks: what the provider ran has its results behind it, or none.
    fn end_reply(&mut self) {
        self.in_reply = false;
        self.provider_calls.clear();
    }

    fn event(&mut self, event: AgentEvent) {
        if !self.in_reply {
            self.in_reply = true;
            self.unanswered = Unanswered::default();
            let (dialect, model) = (self.dialect.to_owned(), self.model.clone());
            self.list.push(Body::Request { dialect, model });
        }
        self.list.push(Body::Agent(event));
    }
}

/// The client's calls that have no result yet, the oldest first.
#[derive(Debug, Default)]
struct Unanswered {
    /// Their tools, by id.
    names: BTreeMap<String, VecDeque<String>>,
    /// Their ids, by tool. Some may have their result by now.
    ids: BTreeMap<String, VecDeque<String>>,
}

impl Unanswered {
    fn push(&mut self, id: String, name: String) {
        self.names.entry(id.clone()).or_default().push_back(name.clone());
        self.ids.entry(name).or_default().push_back(id);
    }

    /// Takes out the oldest call with this id, and says which tool it is of.
    fn answer(&mut self, id: &str) -> Option<String> {
        let names = self.names.get_mut(id)?;
        let name = names.pop_front();
        if names.is_empty() {
            self.names.remove(id);
        }
        name
    }

    fn oldest_of(&mut self, name: &str) -> Option<String> {
        let ids = self.ids.get_mut(name)?;
        while !self.names.contains_key(ids.front()?) {
            ids.pop_front();
        }
        ids.front().cloned()
    }
}
