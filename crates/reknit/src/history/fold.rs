//! Folds entries into neutral messages.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use super::close::{Closing, Origin, is_blank};
use super::reply::Reply;
use crate::agent::{AgentEvent, Body, Content, Entry, ToolCall, ToolResult};
use crate::wire::Dialect;
use crate::wire::request::{Answer, Form, Ids, Message, Repair, RepairKind, Repairs, ReplyPart, UserPart};

/// The user message before a reply that has none.
const NO_BEGINNING: &str = "The beginning of this conversation is not available.";

/// The user message after a reply that has none: some providers require the last message to be the user's.
const GO_ON: &str = "Go on.";

pub(super) fn fold(dialect: Dialect, form: &Form, entries: &[Entry]) -> (Vec<Message>, Vec<Repair>) {
    let mut fold = Fold::new(dialect, form);
    let mut summary = entries.iter().enumerate().rev().find_map(|(at, entry)| match &entry.body {
        Body::Condensation { up_to, summary } => Some((at, *up_to, summary)),
        _ => None,
    });
    for (at, entry) in entries.iter().enumerate() {
        fold.seq = entry.seq;
        if let Some((condensation, _, text)) =
            summary.take_if(|(condensation, up_to, _)| at >= *condensation || entry.seq > *up_to)
        {
            fold.condense(text, entries[condensation].seq);
        }
        fold.take(&entry.body);
    }
    fold.finish()
}

/// Whether the provider of this dialect continues a reply that it has paused. With others, the next reply is
/// another one.
fn continues_paused(dialect: &str) -> bool {
    dialect.parse().ok().and_then(Dialect::form).is_some_and(|form| form.continues_paused)
}

/// The state of a reply.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// More of it may come.
    Open,
    /// More of it comes once it is sent back to the provider.
    Paused,
    /// What the model says next is another reply.
    Over,
}

struct Fold<'a> {
    dialect: Dialect,
    form: &'a Form,
    /// The entry that is being read.
    seq: u64,
    /// The dialect of the last request, and so of the replies that follow.
    asked: Option<&'a str>,
    reply: Reply<'a>,
    phase: Phase,
    /// What the user said since the reply began, by entry.
    said: Vec<(u64, Vec<UserPart>)>,
    /// The calls that approval requests are about, by the id of the request.
    approvals: BTreeMap<&'a str, &'a str>,
    /// The provider's calls that were sent and still wait for their results, which come in a later reply.
    pending: BTreeMap<&'a str, &'a ToolCall>,
    /// Ids of calls that have a result, their own or an added one.
    answered: BTreeSet<&'a str>,
    ids: Ids,
    /// The ids of the provider's items that were sent.
    items: BTreeSet<String>,
    messages: Vec<Message>,
    /// Whether the last message contains a user message of the log.
    last_is_said: bool,
    repairs: Repairs,
}

impl<'a> Fold<'a> {
    fn new(dialect: Dialect, form: &'a Form) -> Self {
        Self {
            dialect,
            form,
            seq: 0,
            asked: None,
            reply: Reply::default(),
            phase: Phase::Open,
            said: Vec::new(),
            approvals: BTreeMap::new(),
            pending: BTreeMap::new(),
            answered: BTreeSet::new(),
            ids: Ids::default(),
            items: BTreeSet::new(),
            messages: Vec::new(),
            last_is_said: false,
            repairs: Repairs::default(),
        }
    }

    /// Replaces everything so far with a summary. The current reply continues, but open thinking loses its
    /// start.
    fn condense(&mut self, summary: &str, seq: u64) {
        let rest = self.reply.cut_off(self.seq);
        *self = Self { seq: self.seq, asked: self.asked, reply: rest, ..Self::new(self.dialect, self.form) };
        if is_blank(summary) {
            return self.repairs.push(RepairKind::TextBlank, seq, "a blank summary was left out");
        }
        self.push_user(Vec::new(), vec![UserPart::Text(summary.to_owned())]);
    }

    fn take(&mut self, body: &'a Body) {
        match body {
            Body::UserMessage { content } => self.say(content),
            Body::Request { dialect, .. } => {
                if self.is_paused() && self.asked == Some(dialect) && continues_paused(dialect) {
                    return;
                }
                self.phase = Phase::Over;
                self.settle();
                self.ask();
                self.asked = Some(dialect);
            }
            Body::Decision { tool_call_id, decision, reason, .. } => {
                self.reply.decide(tool_call_id, *decision, reason.as_deref());
            }
            Body::ToolStarted { tool_call_id } => self.reply.start(tool_call_id),
            Body::End { reason } => {
                self.reply.end(*reason);
                self.phase = Phase::Over;
            }
            Body::Agent(event) => self.take_event(event),
            // The summary is inserted where the entries that it covers end.
            Body::Condensation { .. } => {}
            Body::Mode { .. } | Body::Todos { .. } | Body::Child { .. } => {}
        }
    }

    fn take_event(&mut self, event: &'a AgentEvent) {
        let seq = self.seq;
        match event {
            AgentEvent::TextDelta { delta } => self.reply().text(seq, delta),
            AgentEvent::ReasoningDelta { delta } => self.reply().think(seq, delta),
            AgentEvent::ReasoningEnd { metadata } => self.reply().end_thinking(seq, metadata.as_ref()),
            AgentEvent::ToolInputStart { tool_call_id, tool_name } => {
                self.reply().begin_call(seq, tool_call_id, tool_name);
            }
            AgentEvent::ToolInputError { tool_call_id, error } => self.reply.break_call(tool_call_id, error),
            AgentEvent::ToolCall { tool_call } => self.reply().call(seq, tool_call),
            AgentEvent::ProviderBlock { kind, block } => self.reply().block(seq, kind, block),
            AgentEvent::ToolResult { tool_result } => self.answer(tool_result),
            AgentEvent::ApprovalRequest { approval_id, tool_call_id, .. } => {
                self.approvals.insert(approval_id, tool_call_id);
            }
            AgentEvent::ApprovalResponse { approval_id, decision, reason } => {
                // A provider may ask about a call of its own, with a block that has the id.
                let id = self.approvals.get(&**approval_id).copied().unwrap_or(approval_id);
                self.reply.decide(id, *decision, reason.as_deref());
            }
            AgentEvent::TurnStart { .. } => self.phase = Phase::Over,
            AgentEvent::TurnPaused {} => self.phase = Phase::Paused,
            // People see these, models do not.
            AgentEvent::ToolInputDelta { .. }
            | AgentEvent::ShellOutput { .. }
            | AgentEvent::Lifecycle(_)
            | AgentEvent::EditPreview { .. }
            | AgentEvent::Error { .. }
            | AgentEvent::Notice { .. }
            | AgentEvent::ModelChanged { .. }
            | AgentEvent::ConfigReload {}
            | AgentEvent::TurnSealed { .. }
            | AgentEvent::Done {}
            | AgentEvent::Usage { .. }
            | AgentEvent::Unknown(_) => {}
        }
    }

    /// The reply that the model's next words belong to.
    ///
    /// A call may get its result, and the user may say something, while the reply still arrives: it ends with
    /// the next request. If the log has no requests, a result or a user message ends it.
    fn reply(&mut self) -> &mut Reply<'a> {
        let is_followed = self.reply.is_answered() || !self.said.is_empty();
        if self.phase == Phase::Over || self.asked.is_none() && is_followed {
            self.settle();
        }
        self.phase = Phase::Open;
        &mut self.reply
    }

    fn say(&mut self, content: &'a [Content]) {
        let mut parts = Vec::new();
        for piece in content {
            match piece {
                Content::Text { text } if is_blank(text) => {
                    self.repairs.push(RepairKind::TextBlank, self.seq, "a blank text was left out");
                }
                Content::Text { text } => parts.push(UserPart::Text(text.clone())),
                Content::Image { media_type, data } => match UserPart::image(media_type, data) {
                    Some(image) => parts.push(image),
                    None => {
                        let message = match data.trim() {
                            "" => "an image without data was left out".to_owned(),
                            _ => format!("an image of the type `{media_type}` was left out"),
                        };
                        self.repairs.push(RepairKind::ContentUnknown, self.seq, message);
                    }
                },
                Content::Other(object) => {
                    let kind = object.get("type").map_or_else(String::new, ToString::to_string);
                    let message = format!("content of the type {kind} was left out");
                    self.repairs.push(RepairKind::ContentUnknown, self.seq, message);
                }
            }
        }
        if !parts.is_empty() {
            self.said.push((self.seq, parts));
        }
    }

    fn answer(&mut self, result: &'a ToolResult) {
        let id = &*result.tool_call_id;
        if self.reply.answer(self.seq, result) {
            self.answered.insert(id);
        } else if let Some(call) = self.pending.get(id).copied() {
            let seq = self.seq;
            self.reply().answer_pending(seq, call, result);
        } else if self.answered.contains(id) {
            let message = format!("a second result of the call `{id}` was left out");
            self.repairs.push(RepairKind::SecondResult, self.seq, message);
        } else {
            let message = format!("a result was left out: there is no call `{id}`");
            self.repairs.push(RepairKind::ResultWithoutCall, self.seq, message);
        }
    }

    /// Whether the next request to its provider continues the reply.
    ///
    /// A provider pauses while it runs its own calls. After a call of the client or a user message, the reply
    /// is not continued.
    fn is_paused(&self) -> bool {
        let is_followed = !self.said.is_empty() || !self.reply.has_only_provider_calls();
        self.phase == Phase::Paused && !is_followed
    }

    /// Whether the request continues the reply, which is then its last message.
    fn continues(&self) -> bool {
        self.is_paused() && self.form.continues_paused && self.origin() == Origin::Own
    }

    fn origin(&self) -> Origin {
        match self.asked {
            None => Origin::Unknown,
            Some(asked) if asked == self.dialect.name() => Origin::Own,
            Some(_) => Origin::Another,
        }
    }

    /// Ends the reply: adds what is sent back of it, the results of its calls, and what the user said since.
    fn settle(&mut self) {
        let (origin, continues) = (self.origin(), self.continues());
        let reply = mem::take(&mut self.reply);
        let said = mem::take(&mut self.said);
        self.phase = Phase::Open;
        self.answered.extend(reply.unanswered_ids());
        let (ids, items, repairs) = (&mut self.ids, &mut self.items, &mut self.repairs);
        let pending = self.pending.keys().map(|id| (*id).to_owned()).collect();
        let (is_followed, pending) = (!said.is_empty(), &pending);
        let mut closing =
            Closing { origin, continues, is_followed, pending, items, form: self.form, ids, repairs };
        let closed = closing.close(&reply);
        for id in closed.late_results() {
            self.pending.remove(id);
        }
        let waiting = closed.waiting();
        self.pending.extend(reply.provider_calls().filter(|(id, _)| waiting.contains(id)));
        if !closed.parts.is_empty() {
            self.push_reply(closed.parts);
        }
        self.push_user(closed.results, closed.results_as_text);
        for (seq, parts) in said {
            if self.last_is_said {
                self.repairs.push(RepairKind::UsersJoined, seq, "two user messages are sent as one");
            }
            self.push_user(Vec::new(), parts);
            self.last_is_said = true;
        }
    }

    fn ask(&mut self) {
        if let Some(Message::Model { .. }) = self.messages.last() {
            let message = format!("the history ended with the model; `{GO_ON}` was added after it");
            self.repairs.push(RepairKind::NoQuestion, self.seq, message);
            self.push_user(Vec::new(), vec![UserPart::Text(GO_ON.to_owned())]);
        }
    }

    fn push_reply(&mut self, parts: Vec<ReplyPart>) {
        if self.messages.is_empty() {
            let message = "the history begins with the model; a user message was added before it";
            self.repairs.push(RepairKind::NoBeginning, parts[0].seq(), message);
            self.push_user(Vec::new(), vec![UserPart::Text(NO_BEGINNING.to_owned())]);
        }
        self.ask();
        self.messages.push(Message::Model { parts });
        self.last_is_said = false;
    }

    fn push_user(&mut self, new_results: Vec<Answer>, new_content: Vec<UserPart>) {
        match self.messages.last_mut() {
            Some(Message::User { results, content }) => {
                results.extend(new_results);
                content.extend(new_content);
            }
            _ if new_results.is_empty() && new_content.is_empty() => {}
            Some(Message::Model { .. }) | None => {
                self.messages.push(Message::User { results: new_results, content: new_content });
            }
        }
    }

    fn finish(mut self) -> (Vec<Message>, Vec<Repair>) {
        let continues = self.continues();
        self.settle();
        if !continues {
            self.ask();
        }
        (self.messages, self.repairs.into_list())
    }
}
