//! The fold of entries to neutral messages.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use super::close::{Closing, Origin, is_blank};
use super::reply::Reply;
use crate::agent::{AgentEvent, Body, Content, Entry, ToolResult};
use crate::wire::Dialect;
use crate::wire::request::{Answer, Form, Ids, Message, Repair, RepairKind, Repairs, ReplyPart, UserPart};

/// What stands before the model's words if nothing does.
const NO_BEGINNING: &str = "The beginning of this conversation is not available.";

/// What stands behind the model's words if nothing does: some providers want the last word to be the user's.
const GO_ON: &str = "Go on.";

/// Folds all entries.
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

/// How far a reply is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// More of it may come.
    Open,
    /// More of it comes when the provider gets it back.
    Paused,
    /// More of the model's words are another one.
    Over,
}

struct Fold<'a> {
    dialect: Dialect,
    form: &'a Form,
    /// The entry that is read.
    seq: u64,
    /// The dialect of the last request: whose words come.
    asked: Option<&'a str>,
    reply: Reply<'a>,
    phase: Phase,
    /// What the user said since the reply began, by entry.
    said: Vec<(u64, Vec<UserPart>)>,
    /// By the id of the request: the call that somebody was asked about.
    approvals: BTreeMap<&'a str, &'a str>,
    /// Ids of calls that have, or were given, a result.
    answered: BTreeSet<&'a str>,
    ids: Ids,
    messages: Vec<Message>,
    /// Whether the last message has what the user said in an entry of its own.
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
            answered: BTreeSet::new(),
            ids: Ids::default(),
            messages: Vec::new(),
            last_is_said: false,
            repairs: Repairs::default(),
        }
    }

    /// Replaces all that was taken by a summary. Who is speaking stays, and a thinking that is open is torn.
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
                if self.is_paused() && self.asked == Some(dialect) {
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
            // The summary is told where the entries that it covers end.
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
                if let Some(id) = self.approvals.get(&**approval_id) {
                    self.reply.decide(id, *decision, reason.as_deref());
                }
            }
            AgentEvent::TurnStart { .. } => self.phase = Phase::Over,
            AgentEvent::TurnPaused {} => self.phase = Phase::Paused,
            // What a person sees, and no model is told.
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
    /// A call may have its result, and the user may say something, while the reply still arrives: only the
    /// next request tells where it ends. Where no request was ever told, those two end it.
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
                    let message = format!("a piece of the type {kind} was left out");
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
        } else if self.answered.contains(id) {
            let message = format!("a second result of the call `{id}` was left out");
            self.repairs.push(RepairKind::SecondResult, self.seq, message);
        } else {
            let message = format!("a result was left out: there is no call `{id}`");
            self.repairs.push(RepairKind::ResultWithoutCall, self.seq, message);
        }
    }

    /// Whether the next request of its provider goes on with the reply.
    ///
    /// A provider pauses while it runs its own calls. A call of the client, or a word of the user, is followed by
    /// something else.
    fn is_paused(&self) -> bool {
        let is_followed = !self.said.is_empty() || !self.reply.has_only_calls_of_the_provider();
        self.phase == Phase::Paused && !is_followed
    }

    /// Whether the request that is made goes on with the reply, which is its last message then.
    fn goes_on(&self) -> bool {
        self.is_paused() && self.form.goes_on_with_paused && self.origin() == Origin::Own
    }

    fn origin(&self) -> Origin {
        match self.asked {
            None => Origin::Unknown,
            Some(asked) if asked == self.dialect.name() => Origin::Own,
            Some(_) => Origin::Another,
        }
    }

    /// Ends the reply: what of it goes back, the results of its calls, and what the user said behind it.
    fn settle(&mut self) {
        let (origin, goes_on) = (self.origin(), self.goes_on());
        let reply = mem::take(&mut self.reply);
        let said = mem::take(&mut self.said);
        self.phase = Phase::Open;
        self.answered.extend(reply.unanswered_ids());
        let (ids, repairs) = (&mut self.ids, &mut self.repairs);
        let mut closing = Closing { origin, goes_on, form: self.form, ids, repairs };
        let closed = closing.close(&reply);
        if !closed.parts.is_empty() {
            self.push_reply(closed.parts);
        }
        self.push_user(closed.results, closed.told);
        for (seq, parts) in said {
            if self.last_is_said {
                self.repairs.push(RepairKind::UsersJoined, seq, "two messages of the user are sent as one");
            }
            self.push_user(Vec::new(), parts);
            self.last_is_said = true;
        }
    }

    /// Sees to it that the last word is the user's.
    fn ask(&mut self) {
        if let Some(Message::Model { .. }) = self.messages.last() {
            let message = format!("the model's words were the last; `{GO_ON}` was put behind them");
            self.repairs.push(RepairKind::NoQuestion, self.seq, message);
            self.push_user(Vec::new(), vec![UserPart::Text(GO_ON.to_owned())]);
        }
    }

    fn push_reply(&mut self, parts: Vec<ReplyPart>) {
        if self.messages.is_empty() {
            let message =
                "the history begins with the model's words; some of the user's were put before them";
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
        let goes_on = self.goes_on();
        self.settle();
        if !goes_on {
            self.ask();
        }
        (self.messages, self.repairs.into_list())
    }
}
