//! [`Bridge`]: from the changes of a reply to agent events.

use std::collections::BTreeMap;
use std::iter;

use super::AgentEvent;
use crate::diagnostic::Kind;
use crate::event::{CallId, End, Opening, Origin, Slot, StopReason, Usage};
use crate::json::Object;
use crate::message::{self, Args, Block, Body, Change, Message, Status};
use crate::text::Text;

mod ended;
mod turns;

use ended::{complete, failed, metadata, of_fields, what_is_wrong};
use turns::{Track, Turns};

/// Turns the changes of a reply into agent events, for all messages of the reply.
///
/// [`ReplyEvents`](super::ReplyEvents) does this from the bytes of the reply.
///
/// | Block | Events |
/// | --- | --- |
/// | text | `text-delta`; then a `provider-block` of the kind `text` if the provider sent other fields with it, such as a signature or citations |
/// | thinking | `reasoning-delta`; `reasoning-end` at its end, with `signature`, `redactedData` and the provider's own fields as metadata, if there are any. Thinking with metadata but without text begins with an empty delta. |
/// | call | `tool-input-start`, `tool-input-delta`, and then one `tool-call` if the arguments are complete, with the provider's own fields as `metadata`, or a `tool-input-error` |
/// | result of a call that the provider ran | `tool-result` with the fields of the block; a `provider-block` if it names no call |
/// | anything else | `provider-block` |
///
/// A failure of the provider and an early end of the stream are an `error`, and a reply that the provider has
/// paused ends with a `turn-paused`. The last event of a message is its `usage`; for the last message it
/// comes with [`finish`](Bridge::finish).
///
/// **Order.** An event comes with its change, unless its block would be mixed with another one: if several
/// texts are open at the same time, the one that was opened first comes first, and the others wait until it
/// is over. The same goes for thinking, and for calls with the same id. If thinking without metadata is
/// followed by other thinking, it is sealed with empty metadata, so that each has its own chunk.
///
/// **Calls.** A call starts when its id and name are final: with the first of its arguments, when another
/// block starts, or at its end. If the provider did not send an id, it may still do so, and the call starts
/// at its end. The deltas of a call are the text of its arguments: JSON, or free text for tools that take it.
/// An incomplete signature is left out.
///
/// Only the first choice of a message is reported.
#[derive(Clone, Debug, Default)]
pub struct Bridge {
    open: BTreeMap<Slot, Open>,
    /// Calls that have an id and have not started, because more of their name may arrive.
    naming: Vec<Slot>,
    /// The first block of a text that was split. It has the fields that the provider sends with the text,
    /// which may arrive until the text is over.
    split: Option<Slot>,
    turns: Turns,
    usage: Usage,
}

/// An open block.
#[derive(Clone, Debug)]
enum Open {
    Text,
    Thinking(Shown),
    Call(Call),
    /// A block that is reported at its end.
    Fields,
}

/// Whether there was an event for some thinking.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shown {
    No,
    Yes,
}

#[derive(Clone, Debug)]
enum Call {
    /// Its id may still change.
    Unknown,
    /// More of its name may still arrive.
    Naming,
    Started {
        id: String,
    },
}

impl Bridge {
    /// Takes a change, and the message after it.
    ///
    /// Events that are not taken from the iterator come first the next time.
    pub fn follow(&mut self, change: &Change<'_>, message: &Message) -> impl Iterator<Item = AgentEvent> {
        self.take(change, message);
        self.events()
    }

    /// Ends the reply.
    pub fn finish(&mut self) -> impl Iterator<Item = AgentEvent> {
        self.report_usage();
        self.events()
    }

    /// The events that are ready.
    pub(super) fn events(&mut self) -> impl Iterator<Item = AgentEvent> {
        iter::from_fn(|| self.turns.next())
    }

    pub(super) fn take(&mut self, change: &Change<'_>, message: &Message) {
        match change {
            Change::Started(_) => self.report_usage(),
            Change::Opened { block, choice: 0, opening } => self.opened(*block, opening, message),
            Change::Named { block, .. } => self.named(*block, message),
            Change::Grew { block, text, .. } => self.grew(*block, text, message),
            Change::Signed { block, signature, .. } if !signature.is_empty() => self.show_thinking(*block),
            Change::Closed { block, .. } => self.closed(*block, message),
            Change::Usage(usage) => self.usage.update(*usage),
            Change::Stopped { choice: 0, stop } if stop.reason == StopReason::Pause => {
                self.turns.emit(AgentEvent::TurnPaused {});
            }
            Change::Ended { .. } => self.end(message),
            Change::Failed(failure) => {
                self.end(message);
                self.turns.emit(failed(failure));
            }
            Change::Cut {} => {
                self.end(message);
                let refused = message.diagnostics().last().filter(|last| refuses(last.kind));
                let error = refused.map_or(CUT, |last| &last.message).to_owned();
                self.turns.emit(AgentEvent::Error { error, status_code: None });
            }
            _ => {}
        }
    }

    fn report_usage(&mut self) {
        let usage = std::mem::take(&mut self.usage);
        if !usage.is_empty() {
            self.turns.emit(AgentEvent::Usage { usage });
        }
    }

    fn opened(&mut self, block: Slot, opening: &Opening, message: &Message) {
        self.start_named(message);
        if self.split.is_some_and(|first| first.number() != block.number()) {
            self.end_split(message);
        }
        if block.number_below() == Some(0) {
            self.split = Some(block);
        }
        let open = match opening {
            Opening::Text { .. } => {
                self.turns.begin(&Track::Text, block);
                Open::Text
            }
            Opening::Thinking { .. } => {
                self.turns.begin(&Track::Thinking, block);
                Open::Thinking(Shown::No)
            }
            Opening::ToolCall { .. } => Open::Call(Call::Unknown),
            Opening::ToolResult { .. } | Opening::Other { .. } => Open::Fields,
        };
        self.open.insert(block, open);
        match opening {
            Opening::Thinking { redacted: Some(_) } => self.show_thinking(block),
            Opening::ToolCall { origin: Origin::Native, .. } => self.named(block, message),
            // The id and name of a call in a text never change.
            Opening::ToolCall { .. } => self.start(block, message),
            _ => {}
        }
    }

    /// The id or name of a call changed. The call starts if some of its arguments have arrived.
    fn named(&mut self, block: Slot, message: &Message) {
        let Some(Open::Call(call @ Call::Unknown)) = self.open.get_mut(&block) else { return };
        let Some(found) = call_at(block, message) else { return };
        if let CallId::Invented(_) = found.id {
            return;
        }
        *call = Call::Naming;
        if so_far(found).is_empty() {
            self.naming.push(block);
        } else {
            self.start(block, message);
        }
    }

    fn grew(&mut self, block: Slot, text: &str, message: &Message) {
        let is_naming = matches!(self.open.get(&block), Some(Open::Call(Call::Naming)));
        self.start_named(message);
        if is_naming {
            return;
        }
        let delta = text.to_owned();
        match self.open.get(&block) {
            Some(Open::Text) => self.turns.send(block, AgentEvent::TextDelta { delta }),
            Some(Open::Thinking(_)) => {
                self.open.insert(block, Open::Thinking(Shown::Yes));
                self.turns.send(block, AgentEvent::ReasoningDelta { delta });
            }
            Some(Open::Call(Call::Started { id })) => {
                let event = AgentEvent::ToolInputDelta { tool_call_id: id.clone(), delta };
                self.turns.send(block, event);
            }
            Some(Open::Call(Call::Unknown | Call::Naming) | Open::Fields) | None => {}
        }
    }

    /// Reports thinking that may never have any text.
    fn show_thinking(&mut self, block: Slot) {
        if let Some(Open::Thinking(shown @ Shown::No)) = self.open.get_mut(&block) {
            *shown = Shown::Yes;
            let event = AgentEvent::ReasoningDelta { delta: String::new() };
            self.turns.send(block, event);
        }
    }

    /// Starts the calls whose names are final.
    fn start_named(&mut self, message: &Message) {
        for block in std::mem::take(&mut self.naming) {
            self.start(block, message);
        }
    }

    fn start(&mut self, block: Slot, message: &Message) {
        let Some(Open::Call(call @ (Call::Unknown | Call::Naming))) = self.open.get_mut(&block) else {
            return;
        };
        let Some(found) = call_at(block, message) else { return };
        let id = found.id.to_string();
        self.turns.begin(&Track::Call(id.clone()), block);
        let event = AgentEvent::ToolInputStart { tool_call_id: id.clone(), tool_name: found.name.clone() };
        self.turns.send(block, event);
        let text = so_far(found);
        if !text.is_empty() {
            let event = AgentEvent::ToolInputDelta { tool_call_id: id.clone(), delta: text.to_string() };
            self.turns.send(block, event);
        }
        *call = Call::Started { id };
    }

    fn closed(&mut self, slot: Slot, message: &Message) {
        // The name of a call that has not started is final now.
        self.start(slot, message);
        let (Some(open), Some(block)) = (self.open.remove(&slot), message.block(slot)) else { return };
        match (open, block.body()) {
            (Open::Text, _) => {
                let fields = own_fields(block).filter(|_| block.end() == Some(End::Closed));
                fields.into_iter().for_each(|fields| self.turns.send(slot, of_text(fields)));
                self.turns.end(&Track::Text, slot);
            }
            (Open::Thinking(shown), _) => {
                let metadata = metadata(block, own_fields(block));
                if shown == Shown::No && metadata.is_some() {
                    self.turns.send(slot, AgentEvent::ReasoningDelta { delta: String::new() });
                }
                if shown == Shown::Yes || metadata.is_some() {
                    self.turns.send(slot, AgentEvent::ReasoningEnd { metadata });
                }
                self.turns.end(&Track::Thinking, slot);
            }
            (Open::Call(Call::Started { id }), Body::ToolCall(call)) => {
                let track = Track::Call(id.clone());
                let last = match &call.args {
                    Args::Complete(arguments) => {
                        AgentEvent::ToolCall { tool_call: complete(call, arguments, own_fields(block)) }
                    }
                    args @ (Args::Streaming(_) | Args::Cut(_) | Args::Malformed { .. }) => {
                        AgentEvent::ToolInputError { tool_call_id: id, error: what_is_wrong(args) }
                    }
                };
                self.turns.send(slot, last);
                self.turns.end(&track, slot);
            }
            (Open::Fields, _) if block.end() == Some(End::Closed) => {
                of_fields(block).into_iter().for_each(|event| self.turns.emit(event));
            }
            _ => {}
        }
    }

    /// Ends the message and its open blocks.
    fn end(&mut self, message: &Message) {
        let open: Vec<_> = self.open.keys().copied().collect();
        open.into_iter().for_each(|block| self.closed(block, message));
        self.end_split(message);
    }

    /// Ends the text that was split.
    fn end_split(&mut self, message: &Message) {
        let Some(block) = self.split.take().and_then(|first| message.block(first)) else { return };
        // At a length limit the last block is cut, but the provider ended the text.
        let is_ended = block.end() == Some(End::Closed) || message.status() == Status::Stopped;
        if is_ended && !block.extra().is_empty() {
            self.turns.emit(of_text(block.extra()));
        }
    }
}

const CUT: &str = "the stream ended before the message did";

/// Whether the rest of the stream was refused because of this.
fn refuses(kind: Kind) -> bool {
    matches!(kind, Kind::LimitReached | Kind::DamagedFrame | Kind::UnknownDialect | Kind::WrongDialect)
}

fn call_at(block: Slot, message: &Message) -> Option<&message::ToolCall> {
    match message.block(block)?.body() {
        Body::ToolCall(call) => Some(call),
        _ => None,
    }
}

/// The provider's own fields of a block. Those of the first block in a text belong to the whole text.
fn own_fields(block: &Block) -> Option<&Object> {
    Some(block.extra()).filter(|fields| block.slot().number_below().is_none() && !fields.is_empty())
}

/// The fields that the provider sent with a text.
fn of_text(fields: &Object) -> AgentEvent {
    AgentEvent::ProviderBlock { kind: "text".to_owned(), block: fields.clone() }
}

/// The text of a call's arguments so far.
fn so_far(call: &message::ToolCall) -> Text {
    match &call.args {
        Args::Streaming(input) | Args::Cut(input) => input.raw().clone(),
        Args::Malformed { raw, .. } => raw.clone(),
        Args::Complete(_) => Text::new(),
    }
}
