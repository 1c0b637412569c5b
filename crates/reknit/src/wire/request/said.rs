//! [`Conversation`]: what the messages of a request say, in order.

use std::collections::{BTreeMap, VecDeque};

use super::content::Content;
use super::message::{Approval, ProviderCallId, Thinking};
use crate::json::{Object, Value};

/// One thing that was said in a conversation.
#[derive(Debug)]
pub(crate) enum Said {
    /// By the user.
    User(Vec<Content>),
    /// The start of a reply of the model, which goes on until the user says something.
    ReplyStarted,
    Text(String),
    /// The provider's own fields of the preceding text.
    TextFields(Object),
    Thinking(Thinking),
    Call(Called),
    /// The result of a call of the client or of the provider.
    Result {
        id: String,
        name: Option<String>,
        result: Value,
        is_error: Option<bool>,
    },
    /// Whether the provider may run a call that it asked about.
    Decision {
        id: String,
        approval: Approval,
    },
    /// A block of the provider that must be sent back unchanged.
    Block {
        kind: String,
        block: Object,
    },
}

/// A call that the model made.
#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Value,
    pub(crate) provider_executed: bool,
    /// The provider's own fields of it that must be sent back.
    pub(crate) metadata: Option<Value>,
}

#[derive(Debug, Default)]
pub(crate) struct Conversation {
    said: Vec<Said>,
    /// Whether the model is speaking, so that what it says next belongs to the same reply.
    in_reply: bool,
    unanswered: Unanswered,
    /// The calls of this reply that the provider ran, by id.
    provider_calls: BTreeMap<String, ProviderCallId>,
    newest_provider_call: Option<String>,
    calls: usize,
}

impl Conversation {
    pub(crate) fn into_said(self) -> Vec<Said> {
        self.said
    }

    pub(crate) fn user(&mut self, content: Vec<Content>) {
        if !content.is_empty() {
            self.end_reply();
            self.said.push(Said::User(content));
        }
    }

    pub(crate) fn text(&mut self, text: String) {
        if !text.is_empty() {
            self.reply(Said::Text(text));
        }
    }

    pub(crate) fn text_fields(&mut self, fields: Object) {
        self.reply(Said::TextFields(fields));
    }

    pub(crate) fn thinking(&mut self, thinking: Thinking) {
        self.reply(Said::Thinking(thinking));
    }

    pub(crate) fn call(&mut self, call: Called) {
        let (id, name) = (call.id.clone(), call.name.clone());
        let is_the_providers = call.provider_executed;
        let fields = call.metadata.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
        self.calls += 1;
        self.reply(Said::Call(call));
        if is_the_providers {
            self.newest_provider_call = Some(id.clone());
            self.provider_calls.insert(id.clone(), ProviderCallId { id, name, fields });
        } else {
            self.unanswered.push(id, name);
        }
    }

    /// An id for a call that came without one.
    pub(crate) fn invented_id(&self) -> String {
        format!("call_{}", self.calls)
    }

    /// The same for a call that the provider ran. No id of the client's contains a space.
    pub(crate) fn invented_provider_id(&self) -> String {
        format!("call {}", self.calls)
    }

    /// A call of this reply that the provider ran and that has no result yet.
    pub(crate) fn provider_call(&self, id: &str) -> Option<&ProviderCallId> {
        self.provider_calls.get(id)
    }

    /// The newest call that the provider ran, for a result that does not name its call.
    pub(crate) fn newest_provider_call(&self) -> Option<String> {
        self.newest_provider_call.clone().filter(|id| self.provider_calls.contains_key(id))
    }

    /// Adds the result of a call that the provider ran, which is part of the reply.
    pub(crate) fn provider_result(&mut self, id: String, result: Value) {
        let name = self.provider_calls.remove(&id).map(|call| call.name);
        self.reply(Said::Result { id, name, result, is_error: None });
    }

    pub(crate) fn block(&mut self, kind: String, block: Object) {
        self.reply(Said::Block { kind, block });
    }

    pub(crate) fn result(&mut self, id: String, result: Value, is_error: bool) {
        self.end_reply();
        let name = self.unanswered.answer(&id);
        self.said.push(Said::Result { id, name, result, is_error: is_error.then_some(true) });
    }

    /// Adds the answer to a provider that asked whether it may run a call.
    pub(crate) fn decide(&mut self, id: String, approval: Approval) {
        self.end_reply();
        self.said.push(Said::Decision { id, approval });
    }

    /// The oldest call of a tool that has no result, for a result that does not name its call.
    pub(crate) fn oldest_call_of(&mut self, name: &str) -> Option<String> {
        self.unanswered.oldest_of(name)
    }

    /// Ends the reply: calls that the provider ran get no more results.
    fn end_reply(&mut self) {
        self.in_reply = false;
        self.provider_calls.clear();
    }

    /// Adds to the reply; starts it if necessary.
    fn reply(&mut self, said: Said) {
        if !self.in_reply {
            self.in_reply = true;
            self.unanswered = Unanswered::default();
            self.said.push(Said::ReplyStarted);
        }
        self.said.push(said);
    }
}

/// The client's calls that have no result yet, oldest first.
#[derive(Debug, Default)]
struct Unanswered {
    /// Their tools, by id.
    names: BTreeMap<String, VecDeque<String>>,
    /// Their ids, by tool. Some may have a result by now.
    ids: BTreeMap<String, VecDeque<String>>,
}

impl Unanswered {
    fn push(&mut self, id: String, name: String) {
        self.names.entry(id.clone()).or_default().push_back(name.clone());
        self.ids.entry(name).or_default().push_back(id);
    }

    /// Removes the oldest call with this id and returns its tool.
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
