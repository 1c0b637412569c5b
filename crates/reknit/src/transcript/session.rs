//! [`Transcript`]: the messages of a session, built from its log.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::change::Change;
use super::chunk::Chunk;
use super::chunks::{Chunks, read_diagnostics, write_diagnostics};
use super::message::{Message, Role, Status};
use super::named::Named;
use super::step::{Effect, Step};
use crate::agent::{AgentEvent, Body, Entry, Members, Misread};
use crate::diagnostic::{Diagnostic, Diagnostics, Kind};
use crate::json::{Value, exact};
use crate::limits::Limits;
use crate::message::Misfit;

/// The messages of a session so far.
///
/// A message starts with a message of the user, at the start of a turn, and with the first content after
/// either. What happens between turns goes into a message of the system. A result goes to the message of its
/// call, even if that message has ended.
///
/// A transcript can be saved as JSON after any entry, read back, and given the rest of the log. The result is
/// the same as with the whole log.
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
    /// By the id of a call: the last message that has it.
    calls: BTreeMap<String, usize>,
    /// By the id of an approval request: the messages with a call that it is about.
    approvals: Named<usize>,
    diagnostics: Diagnostics,
    limits: Limits,
}

/// The version of the format of snapshots.
const VERSION: u64 = 1;

impl Transcript {
    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: &Limits) -> Self {
        self.limits = *limits;
        self.messages.iter_mut().for_each(|message| message.chunks.limit(limits));
        self
    }

    /// The messages, in order.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The number of the last entry; 0 before the first.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Entries that were dropped because they belong to no message. Each message has its own diagnostics, in
    /// its chunks.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// Adds the next entry, and returns what it changed. Returns `None` for an entry that was added before,
    /// so that a log may be given again from any entry on.
    pub fn append<'a>(&mut self, entry: &'a Entry) -> Result<Option<Step<'a>>, Misfit> {
        if entry.seq <= self.seq {
            return Ok(None);
        }
        let step = self.resolve(entry);
        self.follow(&step)?;
        Ok(Some(step))
    }

    /// The change that an entry makes to the messages.
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
                    step.effect = Effect::Usage { message, usage: before.plus(*usage) };
                }
                None => step.effect = orphan(entry, "usage"),
            },
            Body::Agent(AgentEvent::Unknown(event)) => {
                let kind = event.get("type").map(ToString::to_string).unwrap_or_default();
                let message = format!("an entry of the unknown type {kind} was ignored");
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

    /// The change that an event makes, and to which message.
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

    /// The message that an event belongs to.
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
                let last = self.approvals.last(approval_id);
                last.map_or_else(|| open_or(Home::Orphan("approval-response")), Home::Message)
            }
            AgentEvent::EditPreview { tool_call_id, .. } => of_call(tool_call_id, "edit-preview"),
            AgentEvent::Error { .. }
            | AgentEvent::Notice { .. }
            | AgentEvent::ModelChanged { .. }
            | AgentEvent::ConfigReload {} => open_or(match self.messages.last() {
                Some(Message { role: Role::System, .. }) => Home::Message(self.messages.len() - 1),
                _ => Home::Opens(Role::System),
            }),
            AgentEvent::Lifecycle(_)
            | AgentEvent::ProviderBlock { .. }
            | AgentEvent::TurnStart { .. }
            | AgentEvent::TurnSealed { .. }
            | AgentEvent::TurnPaused {}
            | AgentEvent::Done {}
            | AgentEvent::Usage { .. }
            | AgentEvent::Unknown(_) => Home::Nowhere,
        }
    }

    /// The open message. Only the last one can be open.
    fn open(&self) -> Option<usize> {
        self.messages.last().filter(|last| last.is_open()).map(|_| self.messages.len() - 1)
    }
}

/// The message that an event belongs to.
enum Home {
    /// An existing message.
    Message(usize),
    /// A new message.
    Opens(Role),
    /// A message that does not exist.
    Orphan(&'static str),
    /// None: it does not change any message.
    Nowhere,
}

/// Applying steps, which is the only way to modify a transcript.
impl Transcript {
    /// Applies a step that [`append`](Self::append) returned for another copy of this transcript.
    pub fn follow(&mut self, step: &Step<'_>) -> Result<(), Misfit> {
        let expected = self.seq + 1;
        if step.seq != expected {
            return Err(Misfit::new(format!("entry {} came, but entry {expected} is next", step.seq)));
        }
        if let Some(message) = step.interrupted {
            self.message_mut(message)?.end(Status::Interrupted, step.at);
        }
        if let Some(opened) = &step.opened {
            let mut opened = (**opened).clone();
            opened.chunks.limit(&self.limits);
            self.messages.push(opened);
        }
        match &step.effect {
            Effect::Chunk { message, change, status } => {
                let host = self.message_mut(*message)?;
                let replaced = replaced_request(&host.chunks, change);
                host.chunks.follow(change)?;
                host.status = *status;
                let is_gone = |request: &String| host.chunks.asked(request).is_none();
                if let Some(replaced) = replaced.filter(is_gone) {
                    self.approvals.remove(&replaced, *message);
                }
                self.enter(*message, change);
            }
            Effect::Ended { message, status } => {
                self.message_mut(*message)?.end(*status, step.at);
            }
            Effect::Usage { message, usage } => {
                self.message_mut(*message)?.usage = Some(*usage);
            }
            Effect::Model { message, model } => {
                self.message_mut(*message)?.model = Some(model.clone());
            }
            Effect::Dropped(diagnostic) => {
                self.diagnostics.add(self.limits.diagnostics, || diagnostic.clone());
            }
            Effect::Nothing {} => {}
        }
        self.seq = step.seq;
        Ok(())
    }

    fn message_mut(&mut self, number: usize) -> Result<&mut Message, Misfit> {
        let has = self.messages.len();
        let misfit =
            || Misfit::new(format!("the change names message {number}, but there are {has} messages"));
        self.messages.get_mut(number).ok_or_else(misfit)
    }

    /// Records the message of a call or an approval request, which later events refer to.
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
    fn read(value: Value) -> Result<Self, Misread> {
        let mut members = Members::new("a transcript", value)?;
        members.version("v", VERSION)?;
        let mut transcript = Self {
            seq: members.count("seq")?,
            diagnostics: read_diagnostics(&mut members)?,
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
        write_diagnostics(&self.diagnostics, &mut map)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Transcript {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(exact(deserializer)?).map_err(D::Error::custom)
    }
}

/// The id of the approval request that this change replaces.
fn replaced_request(chunks: &Chunks, change: &Change<'_>) -> Option<String> {
    let Change::Approval { chunk, call, .. } = change else { return None };
    let Some(Chunk::ToolBatch { calls }) = chunks.get(*chunk) else { return None };
    Some(calls.get(*call)?.approval.as_ref()?.id.clone())
}

fn orphan<'a>(entry: &Entry, event: &str) -> Effect<'a> {
    dropped(entry, Kind::OrphanAgentEvent, format!("`{event}` was dropped: no message is open"))
}

fn dropped<'a>(entry: &Entry, kind: Kind, message: String) -> Effect<'a> {
    Effect::Dropped(Diagnostic::of_event(kind, entry.seq, message))
}
