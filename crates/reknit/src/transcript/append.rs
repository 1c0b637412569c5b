//! [`append`]: folds an event into the chunks of a message.

use std::borrow::Cow;

use super::change::Change;
use super::chunk::{Approval, Call, Chunk, Input, SystemKind};
use super::chunks::{Chunks, Place};
use crate::agent::{AgentEvent, Stream};
use crate::diagnostic::{Diagnostic, Kind};
use crate::text::Text;

/// Folds an event into the chunks, and returns what it changed.
///
/// | Event | Opens a chunk | Otherwise |
/// | --- | --- | --- |
/// | `text-delta` | unless the last chunk is text | appends to it |
/// | `reasoning-delta` | unless the last chunk is unsealed thinking | appends to it |
/// | `reasoning-end` | never | with metadata, seals the last thinking, if it is not sealed |
/// | `tool-call`, `tool-input-start` | unless the last chunk is a batch | adds a call to it |
/// | `tool-call` of a call that is being written | never | completes it |
/// | `tool-result` | never | adds the result to its call; of several calls with the same id, to the first one in the last batch |
/// | `shell-output` | never | appends to the call that it names, or to the last call of the last batch |
/// | `error`, `notice`, `model-changed`, `config-reload` | always | |
/// | all others | never | |
///
/// An event that has no place is dropped and reported as a diagnostic.
///
/// ```
/// use reknit::agent::AgentEvent;
/// use reknit::transcript::{Chunks, append};
///
/// let mut chunks = Chunks::default();
/// for line in [
///     r#"{"type":"text-delta","delta":"I loo"}"#,
///     r#"{"type":"text-delta","delta":"k."}"#,
///     r#"{"type":"tool-call","toolCall":{"id":"c1","name":"ls","arguments":{"path":"."}}}"#,
///     r#"{"type":"tool-result","toolResult":{"toolCallId":"c1","toolName":"ls","result":"a.rs","isError":false}}"#,
/// ] {
///     let event: AgentEvent = serde_json::from_str(line)?;
///     append(&mut chunks, &event);
/// }
/// assert_eq!(
///     serde_json::to_string(&chunks[..])?,
///     concat!(
///         r#"[{"type":"text","text":"I look."},"#,
///         r#"{"type":"tool-batch","calls":[{"id":"c1","name":"ls","arguments":{"path":"."},"result":"a.rs","isError":false}]}]"#,
///     )
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn append<'a>(chunks: &mut Chunks, event: &'a AgentEvent) -> Change<'a> {
    let change = chunks.resolve(event);
    chunks.follow(&change).expect("a change resolved against these chunks fits them");
    change
}

impl Chunks {
    /// The change that an event makes to these chunks.
    pub(super) fn resolve<'a>(&self, event: &'a AgentEvent) -> Change<'a> {
        let next = self.len();
        let opened = |value| Change::Opened { chunk: next, value };
        match event {
            AgentEvent::TextDelta { delta } => match self.last() {
                Some(Chunk::Text { text }) => grew(next - 1, text, delta),
                _ => opened(Chunk::Text { text: Text::from(&**delta) }),
            },
            AgentEvent::ReasoningDelta { delta } => match self.last() {
                Some(Chunk::Thinking { text, metadata: None }) => grew(next - 1, text, delta),
                _ => opened(Chunk::Thinking { text: Text::from(&**delta), metadata: None }),
            },
            AgentEvent::ReasoningEnd { metadata: None } => Change::Nothing {},
            AgentEvent::ReasoningEnd { metadata: Some(metadata) } => {
                match self.places.last_thinking.map(|chunk| (chunk, &self[chunk])) {
                    Some((chunk, Chunk::Thinking { metadata: None, .. })) => {
                        Change::Sealed { chunk, metadata: metadata.clone() }
                    }
                    Some(_) => self.orphan("reasoning-end", "the last thinking is already sealed"),
                    None => self.orphan("reasoning-end", "there is no thinking"),
                }
            }
            AgentEvent::ToolInputStart { tool_call_id, tool_name } => {
                let input = Input::Streaming { input_text: Text::new() };
                self.called(Call::new(tool_call_id, tool_name, input))
            }
            AgentEvent::ToolInputDelta { tool_call_id, delta } => match self.writing(tool_call_id) {
                Some((Place { chunk, call }, text)) => {
                    Change::InputGrew { chunk, call, at: text.len(), text: Cow::Borrowed(delta) }
                }
                None => self.orphan("tool-input-delta", &not_being_written(tool_call_id)),
            },
            AgentEvent::ToolInputError { tool_call_id, error } => match self.writing(tool_call_id) {
                Some((Place { chunk, call }, _)) => {
                    Change::InputBroken { chunk, call, error: Cow::Borrowed(error) }
                }
                None => self.orphan("tool-input-error", &not_being_written(tool_call_id)),
            },
            AgentEvent::ToolCall { tool_call } => match self.writing(&tool_call.id) {
                Some((Place { chunk, call }, _)) => Change::InputWhole {
                    chunk,
                    call,
                    name: tool_call.name.clone(),
                    arguments: tool_call.arguments.clone(),
                },
                None => {
                    let input = Input::Whole { arguments: tool_call.arguments.clone() };
                    self.called(Call::new(&tool_call.id, &tool_call.name, input))
                }
            },
            AgentEvent::ToolResult { tool_result } => {
                match self.places.calls.get(&tool_result.tool_call_id) {
                    Some(&Place { chunk, call }) => Change::Answered {
                        chunk,
                        call,
                        result: tool_result.result.clone(),
                        is_error: tool_result.is_error,
                    },
                    None => self.orphan("tool-result", &no_call(&tool_result.tool_call_id)),
                }
            }
            AgentEvent::ShellOutput { data, stream, tool_call_id } => {
                self.shell_output(data, *stream, tool_call_id.as_deref())
            }
            AgentEvent::ApprovalRequest { approval_id, tool_call_id, reason } => {
                match self.places.calls.get(tool_call_id) {
                    Some(&Place { chunk, call }) => {
                        let approval =
                            Approval { id: approval_id.clone(), decision: None, reason: reason.clone() };
                        Change::Approval { chunk, call, approval }
                    }
                    None => self.orphan("approval-request", &no_call(tool_call_id)),
                }
            }
            AgentEvent::ApprovalResponse { approval_id, decision, reason } => match self.asked(approval_id) {
                Some(place @ Place { chunk, call }) => {
                    let asked = self.call_at(place).approval.as_ref();
                    let reason = reason.clone().or_else(|| asked?.reason.clone());
                    let approval = Approval { id: approval_id.clone(), decision: Some(*decision), reason };
                    Change::Approval { chunk, call, approval }
                }
                None => self.orphan("approval-response", &format!("there is no request `{approval_id}`")),
            },
            AgentEvent::EditPreview { tool_call_id, path, delta, restarted } => {
                match self.places.calls.get(tool_call_id) {
                    Some(&place @ Place { chunk, call }) => {
                        let shown = self.call_at(place).preview.as_ref();
                        let shown = shown.filter(|shown| shown.path == *path && !restarted);
                        let at = shown.map_or(0, |shown| shown.text.len());
                        let (path, text) = (Cow::Borrowed(&**path), Cow::Borrowed(&**delta));
                        Change::Previewed { chunk, call, path, at, text }
                    }
                    None => self.orphan("edit-preview", &no_call(tool_call_id)),
                }
            }
            AgentEvent::Error { error, status_code } => {
                opened(Chunk::Error { message: error.clone(), status_code: status_code.clone() })
            }
            AgentEvent::Notice { message } => opened(system(SystemKind::Notice, message.clone())),
            AgentEvent::ModelChanged { key_id, model_id } => {
                opened(system(SystemKind::ModelChanged, format!("Switched to {model_id} ({key_id})")))
            }
            AgentEvent::ConfigReload {} => {
                opened(system(SystemKind::ConfigReload, "Configuration reloaded".to_owned()))
            }
            AgentEvent::Unknown(object) => {
                let kind = object.get("type").map_or_else(String::new, ToString::to_string);
                let message = format!("an event of the unknown type {kind} was ignored");
                Change::Dropped(Diagnostic::of_event(Kind::UnknownAgentEvent, self.events(), message))
            }
            AgentEvent::Lifecycle(_)
            | AgentEvent::ProviderBlock { .. }
            | AgentEvent::TurnStart { .. }
            | AgentEvent::TurnSealed { .. }
            | AgentEvent::TurnPaused {}
            | AgentEvent::Done {}
            | AgentEvent::Usage { .. } => Change::Nothing {},
        }
    }

    /// Adds a call to the last batch, or opens a new one.
    fn called(&self, value: Call) -> Change<'static> {
        match self.last() {
            Some(Chunk::ToolBatch { calls }) => {
                Change::Called { chunk: self.len() - 1, call: calls.len(), value: Box::new(value) }
            }
            _ => Change::Opened { chunk: self.len(), value: Chunk::ToolBatch { calls: vec![value] } },
        }
    }

    fn shell_output<'a>(&self, data: &'a str, stream: Stream, id: Option<&str>) -> Change<'a> {
        let place = match id {
            Some(id) => self.places.calls.get(id).copied(),
            None => self.places.last_batch.and_then(|chunk| match &self[chunk] {
                Chunk::ToolBatch { calls } => Some(Place { chunk, call: calls.len().checked_sub(1)? }),
                _ => None,
            }),
        };
        let Some(place @ Place { chunk, call }) = place else {
            let why = id.map_or_else(|| "there is no call".to_owned(), no_call);
            return self.orphan("shell-output", &why);
        };
        let output = self.call_at(place).shell_output.as_ref();
        let at = output.map_or(0, |output| output.of(stream).len());
        Change::Wrote { chunk, call, stream, at, text: Cow::Borrowed(data) }
    }

    fn orphan(&self, event: &str, why: &str) -> Change<'static> {
        let message = format!("`{event}` was dropped: {why}");
        Change::Dropped(Diagnostic::of_event(Kind::OrphanAgentEvent, self.events(), message))
    }
}

fn grew<'a>(chunk: usize, shown: &Text, delta: &'a str) -> Change<'a> {
    Change::Grew { chunk, at: shown.len(), text: Cow::Borrowed(delta) }
}

fn system(kind: SystemKind, text: String) -> Chunk {
    Chunk::System { kind, text }
}

fn no_call(id: &str) -> String {
    format!("there is no call `{id}`")
}

fn not_being_written(id: &str) -> String {
    format!("no call `{id}` is being written")
}
