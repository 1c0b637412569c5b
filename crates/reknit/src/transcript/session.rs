//! [`Transcript`]: the messages of a session, folded from its log.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::change::{Change, Diagnostic, Misfit};
use super::chunk::{Call, Chunk};
use super::chunks::Chunks;
use super::message::{Message, Role, Status};
use super::named::Named;
use super::step::{Effect, OutOfOrder, Step};
use crate::agent::{AgentEvent, Body, Entry, Members, Misread};
use crate::diagnostic::Kind;
use crate::json::{Value, exact};
use crate::limits::Limits;

/// The messages of a session so far.
///
/// A message opens at what a user said, where a turn starts, and with the first content behind one of these.
/// What happens between turns goes into a message of the system. A result finds the message of its call,
/// also if that is over.
///
/// A transcript can be kept as JSON at any entry, read again, and given the rest of the log: it is the one
/// that the whole log gives.
///
/// ```
/// use reknit::agent::Entry;
/// use reknit::transcript::{Role, Status, Transcript};
///
/// let mut transcript = Transcript::default();
/// for line in [
///     r#"{"v":1,"seq":1,"at":10,"body":{"type":"user-message","content":[{"type":"text","text":"Hi"}]}}"#,
///     r#"{"v":1,"seq":2,"at":11,"turn":"t1","body":{"type":"turn-start","turnId":"t1"}}"#,
///     r#"{"v":1,"seq":3,"at":12,"turn":"t1","body":{"type":"text-delta","delta":"Hello"}}"#,
///     r#"{"v":1,"seq":4,"at":13,"turn":"t1","body":{"type":"end","reason":"done"}}"#,
/// ] {
///     let entry: Entry = serde_json::from_str(line)?;
///     transcript.append(&entry)?;
/// }
/// let [user, assistant] = transcript.messages() else { panic!() };
/// assert_eq!((user.role, assistant.role), (Role::User, Role::Assistant));
/// assert_eq!((assistant.status, assistant.ended_at), (Status::Done, Some(13)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// The number of the last entry.
    seq: u64,
    messages: Vec<Message>,
    /// By the id of a call: the newest message that has it.
    calls: BTreeMap<String, usize>,
    /// By the id of a request: the messages with a call that it asks about.
    approvals: Named<usize>,
    diagnostics: Vec<Diagnostic>,
    diagnostics_omitted: u64,
}

/// The version that snapshots are written in.
const VERSION: u64 = 1;

impl Transcript {
    /// The messages, in order.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The number of the last entry; 0 before the first.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// A call, by its id: of several, that of the newest message.
    pub fn call(&self, id: &str) -> Option<&Call> {
        self.messages[*self.calls.get(id)?].chunks.call(id)
    }

    /// Entries that belonged to no message; those of a message are in its chunks.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// How many more diagnostics there were than are kept.
    pub fn diagnostics_omitted(&self) -> u64 {
        self.diagnostics_omitted
    }

    /// Takes the next entry, and says what that changed; nothing for one that was taken before, so that a
    /// log may be given again from any entry on.
    pub fn append<'a>(&mut self, entry: &'a Entry) -> Result<Option<Step<'a>>, OutOfOrder> {
        if entry.seq <= self.seq {
            return Ok(None);
        }
        let step = self.resolve(entry);
        self.follow(&step)?;
        Ok(Some(step))
    }

    /// What an entry means for the messages as they are.
    fn resolve<'a>(&self, entry: &'a Entry) -> Step<'a> {
        let turn = entry.turn.as_ref();
        let mut step = Step {
            seq: entry.seq,
            at: entry.at,
            interrupted: None,
            opened: None,
            effect: Effect::Nothing {},
        };
        match &entry.body {
            Body::UserMessage { content } => {
                step.interrupted = self.open();
                step.opened = Some(Box::new(Message::of_user(content, turn, entry.at)));
            }
            Body::Agent(AgentEvent::TurnStart { turn_id }) => {
                step.interrupted = self.open();
                let turn = turn_id.as_ref().or(turn);
                step.opened = Some(Box::new(Message::new(Role::Assistant, turn, entry.at)));
            }
            Body::Agent(AgentEvent::Done {} | AgentEvent::TurnSealed { .. }) => {
                if let Some(message) = self.open() {
                    let status = match self.messages[message].status {
                        Status::Failed => Status::Failed,
                        _ => Status::Done,
                    };
                    step.effect = Effect::Ended { message, status };
                }
            }
            Body::End { reason } => {
                if let Some(message) = self.open() {
                    step.effect = Effect::Ended { message, status: (*reason).into() };
                }
            }
            Body::Agent(AgentEvent::Usage { usage }) => match self.open() {
                Some(message) => {
                    let before = self.messages[message].usage.unwrap_or_default();
                    step.effect = Effect::Usage { message, usage: before + *usage };
                }
                None => step.effect = orphan(entry, "usage"),
            },
            Body::Agent(AgentEvent::Unknown(event)) => {
                let kind = event.get("type").map(ToString::to_string).unwrap_or_default();
                let message = format!("an entry of the unknown type {kind} shows nothing");
                step.effect = dropped(entry, Kind::UnknownAgentEvent, message);
            }
            Body::Request { model, .. } => {
                if let Some(message) = self.open() {
                    step.effect = Effect::Model { message, model: model.clone() };
                }
            }
            Body::Agent(event) => self.resolve_event(event, entry, &mut step),
            Body::Decision { .. }
            | Body::ToolStarted { .. }
            | Body::Mode { .. }
            | Body::Todos { .. }
            | Body::Condensation { .. }
            | Body::Child { .. } => {}
        }
        step
    }

    /// What an event of the turn shows, and in which message.
    fn resolve_event<'a>(&self, event: &'a AgentEvent, entry: &'a Entry, step: &mut Step<'a>) {
        let next = self.messages.len();
        let (message, opened) = match self.home(event) {
            Home::Nowhere => return,
            Home::Message(message) => (message, None),
            Home::Opens(role) => (next, Some(Message::new(role, entry.turn.as_ref(), entry.at))),
            Home::Orphan(event) => {
                step.effect = orphan(entry, event);
                return;
            }
        };
        let host = opened.as_ref().unwrap_or_else(|| &self.messages[message]);
        let change = host.chunks.resolve(event);
        let status = match (host.is_open(), event, &change) {
            (true, AgentEvent::Error { .. }, _) => Status::Failed,
            (false, ..) | (_, _, Change::Dropped(_) | Change::Nothing {}) => host.status,
            (true, ..) => Status::Streaming,
        };
        step.opened = opened.map(Box::new);
        step.effect = Effect::Chunk { message, change, status };
    }

    /// Where an event belongs.
    fn home(&self, event: &AgentEvent) -> Home {
        let open_or = |otherwise| self.open().map_or(otherwise, Home::Message);
        let of_call = |id: &str, name| {
            self.calls.get(id).map_or_else(|| open_or(Home::Orphan(name)), |message| Home::Message(*message))
        };
        match event {
            AgentEvent::TextDelta { .. }
            | AgentEvent::ReasoningDelta { .. }
            | AgentEvent::ToolInputStart { .. }
            | AgentEvent::ToolCall { .. } => open_or(Home::Opens(Role::Assistant)),
            AgentEvent::ReasoningEnd { .. } => open_or(Home::Orphan("reasoning-end")),
            AgentEvent::ToolInputDelta { tool_call_id, .. } => of_call(tool_call_id, "tool-input-delta"),
            AgentEvent::ToolInputError { tool_call_id, .. } => of_call(tool_call_id, "tool-input-error"),
            AgentEvent::ToolResult { tool_result } => of_call(&tool_result.tool_call_id, "tool-result"),
            AgentEvent::ShellOutput { tool_call_id: Some(id), .. } => of_call(id, "shell-output"),
            AgentEvent::ShellOutput { tool_call_id: None, .. } => open_or(Home::Orphan("shell-output")),
            AgentEvent::ApprovalRequest { tool_call_id, .. } => of_call(tool_call_id, "approval-request"),
            AgentEvent::ApprovalResponse { approval_id, .. } => {
                let newest = self.approvals.last(approval_id);
                newest.map_or_else(|| open_or(Home::Orphan("approval-response")), Home::Message)
            }
            AgentEvent::EditPreview { tool_call_id, .. } => of_call(tool_call_id, "edit-preview"),
            AgentEvent::Error { .. }
            | AgentEvent::Notice { .. }
            | AgentEvent::ModelChanged { .. }
            | AgentEvent::ConfigReload {} => open_or(match self.messages.last() {
                Some(Message { role: Role::System, .. }) => Home::Message(self.messages.len() - 1),
                _ => Home::Opens(Role::System),
            }),
            AgentEvent::Checkpoint { .. }
            | AgentEvent::ProviderBlock { .. }
            | AgentEvent::Status { .. }
            | AgentEvent::TurnStart { .. }
            | AgentEvent::TurnSealed { .. }
            | AgentEvent::TurnPaused {}
            | AgentEvent::Done {}
            | AgentEvent::Usage { .. }
            | AgentEvent::TaskListUpdate { .. }
            | AgentEvent::TabCreated {}
            | AgentEvent::MessageQueued {}
            | AgentEvent::MessageConsumed {}
            | AgentEvent::MessageCancelled {}
            | AgentEvent::CompactionStarted {}
            | AgentEvent::CompactionComplete {}
            | AgentEvent::CompactionError {}
            | AgentEvent::Unknown(_) => Home::Nowhere,
        }
    }

    /// The message that is open: only the newest can be.
    fn open(&self) -> Option<usize> {
        self.messages.last().filter(|last| last.is_open()).map(|_| self.messages.len() - 1)
    }
}

/// Where an event belongs.
enum Home {
    /// Into a message.
    Message(usize),
    /// Into a new message.
    Opens(Role),
    /// Into one that is not there.
    Orphan(&'static str),
    /// It shows nothing.
    Nowhere,
}

/// Following steps, which is the only way in which a transcript becomes another one.
impl Transcript {
    /// Takes a step that the same transcript elsewhere has made.
    pub fn follow(&mut self, step: &Step<'_>) -> Result<(), OutOfOrder> {
        let expected = self.seq + 1;
        if step.seq != expected {
            return Err(OutOfOrder::Gap { expected, found: step.seq });
        }
        let misfit = OutOfOrder::Misfit { seq: step.seq };
        if let Some(message) = step.interrupted {
            let left = self.messages.get_mut(message).ok_or(misfit)?;
            left.end(Status::Interrupted, step.at);
        }
        if let Some(opened) = &step.opened {
            self.messages.push((**opened).clone());
        }
        match &step.effect {
            Effect::Chunk { message, change, status } => {
                let host = self.messages.get_mut(*message).ok_or(misfit)?;
                let replaced = replaced_request(&host.chunks, change);
                host.chunks.follow(change).map_err(|_: Misfit| misfit)?;
                host.status = *status;
                if let Some(replaced) = replaced
                    && host.chunks.asked(&replaced).is_none()
                {
                    self.approvals.remove(&replaced, *message);
                }
                self.enter(*message, change);
            }
            Effect::Ended { message, status } => {
                self.messages.get_mut(*message).ok_or(misfit)?.end(*status, step.at);
            }
            Effect::Usage { message, usage } => {
                self.messages.get_mut(*message).ok_or(misfit)?.usage = Some(*usage);
            }
            Effect::Model { message, model } => {
                self.messages.get_mut(*message).ok_or(misfit)?.model = Some(model.clone());
            }
            Effect::Dropped(diagnostic) if self.diagnostics.len() < Limits::default().diagnostics => {
                self.diagnostics.push(diagnostic.clone());
            }
            Effect::Dropped(_) => self.diagnostics_omitted += 1,
            Effect::Nothing {} => {}
        }
        self.seq = step.seq;
        Ok(())
    }

    /// Remembers in which message something stands that an event may name.
    fn enter(&mut self, message: usize, change: &Change<'_>) {
        match change {
            Change::Opened { value: Chunk::ToolBatch { calls }, .. } => {
                self.calls.extend(calls.iter().map(|call| (call.id.clone(), message)));
            }
            Change::Called { value, .. } => {
                self.calls.insert(value.id.clone(), message);
            }
            Change::Approval { approval, .. } => self.approvals.insert(&approval.id, message),
            _ => {}
        }
    }

    /// Reads a snapshot.
    pub fn read(value: Value) -> Result<Self, Misread> {
        let mut members = Members::new("a transcript", value)?;
        members.version("v", VERSION)?;
        let mut transcript = Self {
            seq: members.count("seq")?,
            diagnostics: members.optional_as("diagnostics", "a list of diagnostics")?.unwrap_or_default(),
            diagnostics_omitted: members.optional_count("diagnosticsOmitted")?.unwrap_or_default(),
            ..Self::default()
        };
        for value in members.list("messages")? {
            let (number, message) = (transcript.messages.len(), Message::read(value)?);
            transcript.calls.extend(message.chunks.calls().map(|call| (call.id.clone(), number)));
            let approvals = message.chunks.calls().filter_map(|call| call.approval.as_ref());
            approvals.for_each(|approval| transcript.approvals.insert(&approval.id, number));
            transcript.messages.push(message);
        }
        Ok(transcript)
    }
}

impl Serialize for Transcript {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("v", &VERSION)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("messages", &self.messages)?;
        if !self.diagnostics.is_empty() {
            map.serialize_entry("diagnostics", &self.diagnostics)?;
        }
        if self.diagnostics_omitted > 0 {
            map.serialize_entry("diagnosticsOmitted", &self.diagnostics_omitted)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Transcript {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(exact::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// The id under which a call was asked about before this change.
fn replaced_request(chunks: &Chunks, change: &Change<'_>) -> Option<String> {
    let Change::Approval { chunk, call, .. } = change else { return None };
    let Some(Chunk::ToolBatch { calls }) = chunks.list().get(*chunk) else { return None };
    Some(calls.get(*call)?.approval.as_ref()?.id.clone())
}

fn orphan<'a>(entry: &Entry, event: &str) -> Effect<'a> {
    dropped(entry, Kind::OrphanAgentEvent, format!("`{event}` was dropped: no message is open"))
}

fn dropped<'a>(entry: &Entry, kind: Kind, message: String) -> Effect<'a> {
    Effect::Dropped(Diagnostic { kind, event: entry.seq, message })
}
