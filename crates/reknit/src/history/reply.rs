//! [`Reply`]: one reply of the model, and what became of its calls.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::unanswered::Unanswered;
use crate::agent::{self, Decision, EndReason, ToolResult};
use crate::json::{Object, Value};
use crate::wire::request::Approval;

#[derive(Debug, Default)]
pub(super) struct Reply<'a> {
    pub(super) parts: Vec<Open<'a>>,
    /// Calls without a result by id, the oldest first.
    waiting: BTreeMap<&'a str, VecDeque<usize>>,
    /// Calls whose arguments are incomplete, by id.
    writing: BTreeMap<&'a str, usize>,
    /// By the index of the call among the parts.
    pub(super) results: BTreeMap<usize, &'a ToolResult>,
    decisions: BTreeMap<&'a str, (Decision, Option<&'a str>)>,
    started: BTreeSet<&'a str>,
    end: Option<EndReason>,
    newest_thinking: Option<usize>,
}

/// A part of a reply, with the entry that it began with.
#[derive(Debug)]
pub(super) struct Open<'a> {
    pub(super) seq: u64,
    pub(super) body: OpenBody<'a>,
}

#[derive(Debug)]
pub(super) enum OpenBody<'a> {
    Text(String),
    /// The provider's own fields of the preceding text.
    TextFields(&'a Object),
    Thinking {
        text: String,
        seal: Seal<'a>,
    },
    Call {
        id: &'a str,
        name: &'a str,
        state: CallState<'a>,
    },
    /// The result of a call that the provider ran.
    ProviderResult {
        call: &'a agent::ToolCall,
        result: &'a Value,
    },
    Block {
        kind: &'a str,
        block: &'a Object,
    },
}

/// The state of thinking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Seal<'a> {
    /// More of it may come.
    Open,
    /// It is over, and the provider wants nothing back with it.
    Over,
    Sealed(&'a Value),
    /// Its start is missing, so no signature fits it.
    Torn,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum CallState<'a> {
    Writing,
    Broken(&'a str),
    Whole(&'a agent::ToolCall),
}

impl Open<'_> {
    /// Whether it belongs to the text, as calls in tags do.
    pub(super) fn is_written(&self) -> bool {
        match &self.body {
            OpenBody::Text(_) | OpenBody::TextFields(_) => true,
            OpenBody::Call { state: CallState::Whole(call), .. } => call.raw.is_some(),
            OpenBody::Call { .. }
            | OpenBody::Thinking { .. }
            | OpenBody::ProviderResult { .. }
            | OpenBody::Block { .. } => false,
        }
    }
}

impl<'a> Reply<'a> {
    /// Whether any call of the client has a result.
    pub(super) fn is_answered(&self) -> bool {
        !self.results.is_empty()
    }

    /// Whether there are calls, and the provider runs all of them.
    pub(super) fn has_only_provider_calls(&self) -> bool {
        let is_call = |part: &&Open<'_>| matches!(part.body, OpenBody::Call { .. });
        let (all, by_provider) = (self.parts.iter().filter(is_call).count(), self.provider_calls().count());
        all > 0 && all == by_provider
    }

    /// The calls that the provider runs, by id.
    pub(super) fn provider_calls(&self) -> impl Iterator<Item = (&'a str, &'a agent::ToolCall)> {
        self.parts.iter().filter_map(|part| match &part.body {
            OpenBody::Call { id, state: CallState::Whole(call), .. } if call.provider_executed => {
                Some((*id, *call))
            }
            _ => None,
        })
    }

    /// Adds the result of a call that the provider made in an earlier reply.
    pub(super) fn answer_pending(&mut self, seq: u64, call: &'a agent::ToolCall, result: &'a ToolResult) {
        self.push(seq, OpenBody::ProviderResult { call, result: &result.result });
    }

    pub(super) fn text(&mut self, seq: u64, delta: &str) {
        match self.parts.last_mut() {
            Some(Open { body: OpenBody::Text(text), .. }) => text.push_str(delta),
            _ => self.push(seq, OpenBody::Text(delta.to_owned())),
        }
    }

    pub(super) fn think(&mut self, seq: u64, delta: &str) {
        match self.parts.last_mut() {
            Some(Open { body: OpenBody::Thinking { text, seal: Seal::Open }, .. }) => text.push_str(delta),
            Some(Open { body: OpenBody::Thinking { seal: Seal::Torn, .. }, .. }) => {}
            _ => self.push_thinking(seq, delta, Seal::Open),
        }
    }

    /// Ends the newest thinking. What the provider wants back belongs to it even if text came in between.
    pub(super) fn end_thinking(&mut self, seq: u64, metadata: Option<&'a Value>) {
        let newest = self.newest_thinking.and_then(|at| match &mut self.parts[at].body {
            OpenBody::Thinking { seal, .. } => Some(seal),
            _ => None,
        });
        match (newest, metadata) {
            (Some(seal @ Seal::Open), None) => *seal = Seal::Over,
            (Some(seal @ (Seal::Open | Seal::Over)), Some(metadata)) => *seal = Seal::Sealed(metadata),
            (Some(Seal::Torn), _) => self.newest_thinking = None,
            // Hidden thinking may come without any text.
            (None | Some(Seal::Sealed(_)), Some(metadata)) => {
                self.push_thinking(seq, "", Seal::Sealed(metadata));
            }
            (_, None) => {}
        }
    }

    pub(super) fn begin_call(&mut self, seq: u64, id: &'a str, name: &'a str) {
        self.writing.insert(id, self.parts.len());
        self.push_call(seq, id, name, CallState::Writing);
    }

    pub(super) fn break_call(&mut self, id: &str, error: &'a str) {
        if let Some(at) = self.writing.remove(id)
            && let OpenBody::Call { state, .. } = &mut self.parts[at].body
        {
            *state = CallState::Broken(error);
        }
    }

    pub(super) fn call(&mut self, seq: u64, call: &'a agent::ToolCall) {
        let whole = CallState::Whole(call);
        match self.writing.remove(&*call.id) {
            Some(at) => {
                if let OpenBody::Call { name, state, .. } = &mut self.parts[at].body {
                    (*name, *state) = (&call.name, whole);
                }
            }
            None => self.push_call(seq, &call.id, &call.name, whole),
        }
    }

    pub(super) fn block(&mut self, seq: u64, kind: &'a str, block: &'a Object) {
        let body = if kind == "text" { OpenBody::TextFields(block) } else { OpenBody::Block { kind, block } };
        self.push(seq, body);
    }

    /// Gives a result to the oldest call of its id without one, and returns whether there is such a call.
    ///
    /// The result of a call that the provider ran is part of the reply.
    pub(super) fn answer(&mut self, seq: u64, result: &'a ToolResult) -> bool {
        let waiting = self.waiting.get_mut(&*result.tool_call_id);
        let Some(at) = waiting.and_then(VecDeque::pop_front) else { return false };
        match self.parts[at].body {
            OpenBody::Call { state: CallState::Whole(call), .. } if call.provider_executed => {
                self.push(seq, OpenBody::ProviderResult { call, result: &result.result });
            }
            _ => {
                self.results.insert(at, result);
            }
        }
        true
    }

    pub(super) fn decide(&mut self, id: &'a str, decision: Decision, reason: Option<&'a str>) {
        self.decisions.insert(id, (decision, reason));
    }

    /// The answer to a block of the provider that asks whether it may run a call.
    pub(super) fn approval(&self, block: &Object) -> Option<Approval> {
        let (decision, reason) = self.decisions.get(&*block.get("id")?.as_str()?)?;
        Some(Approval { is_allowed: *decision == Decision::Allow, reason: reason.map(str::to_owned) })
    }

    pub(super) fn start(&mut self, id: &'a str) {
        self.started.insert(id);
    }

    pub(super) fn end(&mut self, reason: EndReason) {
        self.end = Some(reason);
    }

    /// Why a call has no result.
    pub(super) fn unanswered(&self, id: &str) -> Unanswered<'a> {
        let is_cancelled = self.end == Some(EndReason::Cancelled);
        match (self.decisions.get(id), self.started.contains(id)) {
            (Some((Decision::Deny, reason)), _) => Unanswered::Denied(*reason),
            (_, true) if is_cancelled => Unanswered::CancelledWhile,
            (_, true) => Unanswered::Interrupted,
            (_, false) if is_cancelled => Unanswered::CancelledBefore,
            (_, false) => Unanswered::NotRun,
        }
    }

    pub(super) fn unanswered_ids(&self) -> impl Iterator<Item = &'a str> {
        self.waiting.keys().copied()
    }

    /// The rest of the reply, without what came before.
    pub(super) fn cut_off(&self, seq: u64) -> Self {
        let mut rest = Self::default();
        let newest = self.newest_thinking.map(|at| &self.parts[at].body);
        if let Some(OpenBody::Thinking { seal: Seal::Open | Seal::Over | Seal::Torn, .. }) = newest {
            rest.push_thinking(seq, "", Seal::Torn);
        }
        rest
    }

    fn push(&mut self, seq: u64, body: OpenBody<'a>) {
        self.parts.push(Open { seq, body });
    }

    fn push_thinking(&mut self, seq: u64, text: &str, seal: Seal<'a>) {
        self.newest_thinking = Some(self.parts.len());
        self.push(seq, OpenBody::Thinking { text: text.to_owned(), seal });
    }

    fn push_call(&mut self, seq: u64, id: &'a str, name: &'a str, state: CallState<'a>) {
        self.waiting.entry(id).or_default().push_back(self.parts.len());
        self.push(seq, OpenBody::Call { id, name, state });
    }
}
