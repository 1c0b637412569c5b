//! [`Bridge`]: the parts of a reply as agent events.

use std::collections::BTreeMap;

use super::AgentEvent;
use crate::diagnostic::Kind;
use crate::event::{StopReason, Usage};
use crate::json::Object;
use crate::message::{self, Body, Message, State};
use crate::parts::{self, Address, Args, Change, Input, List, Opening, Origin, Part};
use crate::text::Text;
use crate::wire;

mod ended;
mod turns;
mod written;

use ended::{failed, metadata, of_fields, what_is_wrong, whole};
use turns::{Turns, Voice};
use written::Written;

/// Turns what changes in the parts of a reply into agent events, for all messages of the reply.
///
/// | Part | Events |
/// | --- | --- |
/// | text | `text-delta`; behind it a `provider-block` of the kind `text` with the provider's own fields of it, if there are such: a signature, citations |
/// | thinking | `reasoning-delta`; `reasoning-end` when it is over, with `signature`, `redactedData` and the provider's own fields in its metadata if there are such. One that shows nothing but has them begins with an empty delta. |
/// | call | `tool-input-start`, `tool-input-delta`, and then one `tool-call` if the arguments are whole, with the provider's own fields as `metadata`, or a `tool-input-error` |
/// | result of a call that the provider ran | `tool-result` with the fields of the block; a `provider-block` if it names no call |
/// | anything else | `provider-block` |
///
/// A failure of the provider and an early end of the stream are an `error`, and a reply that the provider has
/// paused ends with a `turn-paused`. What was counted of a message
/// is its last event, a `usage`; that of the last message comes with [`finish`](Bridge::finish).
///
/// **Order.** Events come when their change does, but for parts that would run into each other: of several
/// texts that are open at the same time, the one that was opened first is told, and the others wait until
/// it is over. The same holds for thinking, and for calls with the same id. Thinking that has nothing to be
/// sealed with and is followed by other thinking is sealed with empty metadata: each has its own chunk.
///
/// **Calls.** A call starts when its id and name are sure: behind the first of its arguments, when another
/// part begins, or at its end. An id that the provider did not send may still come, so such a call starts
/// at its end. The deltas of a call are the text of its arguments: JSON, or free text where the tool takes
/// that. Arguments that are written one by one become the text of an object: a value grows as a string as
/// soon as its text cannot be JSON any more. Should it be another one when it is whole, only the `tool-call`
/// has that. A signature that is cut is not given.
///
/// Of a message with several choices, the first one is told.
///
/// ```
/// use reknit::agent::{AgentEvent, Bridge};
/// use reknit::transcript::{Chunks, append};
/// use reknit::{Parts, Reply};
///
/// # let network: Vec<&[u8]> = vec![
/// #     b"data: {\"choices\":[{\"delta\":{\"content\":\"Let me lo\"}}]}\n\ndata: {\"choices\":[{\"delta\":",
/// #     b"{\"content\":\"ok.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
/// # ];
/// let (mut reply, mut parts, mut bridge) = (Reply::detect(), Parts::default(), Bridge::new());
/// let mut chunks = Chunks::default();
/// for piece in network {
///     let mut changes = reply.push(piece);
///     while let Some((change, message)) = changes.next() {
///         let mut changes = parts.follow(message, &change);
///         while let Some((change, list)) = changes.next() {
///             bridge.follow(&change, list, message);
///             while let Some(event) = bridge.next_event() {
///                 append(&mut chunks, &event);
///             }
///         }
///     }
/// }
/// bridge.finish();
/// assert_eq!(bridge.next_event(), None, "this provider has counted nothing");
/// assert_eq!(serde_json::to_string(chunks.list())?, r#"[{"type":"text","text":"Let me look."}]"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Bridge {
    open: BTreeMap<Address, Open>,
    /// Calls that have their id and did not start, because their name may go on.
    naming: Vec<Address>,
    turns: Turns,
    usage: Usage,
}

/// A part that is not over.
#[derive(Clone, Debug)]
enum Open {
    Text,
    Thinking(Shown),
    Call(Call),
    /// One that is told at its end.
    Fields,
}

/// Whether there is a chunk of some thinking.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shown {
    No,
    Yes,
}

#[derive(Clone, Debug)]
enum Call {
    /// Its id may still change.
    Unknown,
    /// Its name may still go on.
    Naming,
    Started {
        id: String,
        /// Of arguments that come one by one.
        written: Option<Written>,
    },
}

impl Bridge {
    /// Before the first change.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a change of the parts, with the parts right behind it and the message that they are of.
    pub fn follow(&mut self, change: &Change<'_>, list: &List, message: &Message) {
        match change {
            Change::Opened { part, choice: 0, opening } => self.opened(*part, opening, list),
            Change::Named { part, .. } => self.named(*part, list),
            Change::Grew { part, text, .. } => self.grew(*part, text, list),
            Change::ParamOpened { part, name } => self.write(*part, |written| written.open(name)),
            Change::ParamGrew { part, text, .. } => self.write(*part, |written| written.grow(text)),
            Change::ParamClosed { part, value, .. } => {
                self.write(*part, |written| written.close(value.as_ref()));
            }
            Change::Signed { part, signature, .. } if !signature.is_empty() => self.show_thinking(*part),
            Change::Closed { part, .. } => self.closed(*part, list, message),
            Change::Message(change) => self.message_changed(change, message),
            Change::Opened { .. } | Change::Signed { .. } | Change::Noticed(_) | Change::Omitted { .. } => {}
        }
    }

    /// The reply is over.
    pub fn finish(&mut self) {
        let usage = std::mem::take(&mut self.usage);
        if !usage.is_empty() {
            self.turns.tell(AgentEvent::Usage { usage: usage.into() });
        }
    }

    /// The next event.
    pub fn next_event(&mut self) -> Option<AgentEvent> {
        self.turns.next()
    }

    fn opened(&mut self, part: Address, opening: &Opening, list: &List) {
        self.start_named(list);
        let open = match opening {
            Opening::Text { .. } => {
                self.turns.begin(&Voice::Text, part);
                Open::Text
            }
            Opening::Thinking { .. } => {
                self.turns.begin(&Voice::Thinking, part);
                Open::Thinking(Shown::No)
            }
            Opening::ToolCall { .. } => Open::Call(Call::Unknown),
            Opening::ToolResult { .. } | Opening::Other { .. } => Open::Fields,
        };
        self.open.insert(part, open);
        match opening {
            Opening::Thinking { redacted: Some(_) } => self.show_thinking(part),
            Opening::ToolCall { origin: Origin::Tagged(_), .. } => self.start(part, list),
            Opening::ToolCall { origin: Origin::Native, .. } => self.named(part, list),
            _ => {}
        }
    }

    /// A call is called something else now. It starts if its arguments have begun already.
    fn named(&mut self, part: Address, list: &List) {
        let Some(Open::Call(call @ Call::Unknown)) = self.open.get_mut(&part) else { return };
        let Some(Part::Call(found)) = list.part(part) else { return };
        if wire::is_invented(&found.id, part.block) {
            return;
        }
        *call = Call::Naming;
        if so_far(found).is_empty() {
            self.naming.push(part);
        } else {
            self.start(part, list);
        }
    }

    fn grew(&mut self, part: Address, text: &str, list: &List) {
        let is_naming = matches!(self.open.get(&part), Some(Open::Call(Call::Naming)));
        self.start_named(list);
        if is_naming {
            return;
        }
        let delta = text.to_owned();
        match self.open.get(&part) {
            Some(Open::Text) => self.turns.say(part, AgentEvent::TextDelta { delta }),
            Some(Open::Thinking(_)) => {
                self.open.insert(part, Open::Thinking(Shown::Yes));
                self.turns.say(part, AgentEvent::ReasoningDelta { delta });
            }
            Some(Open::Call(Call::Started { id, .. })) => {
                let event = AgentEvent::ToolInputDelta { tool_call_id: id.clone(), delta };
                self.turns.say(part, event);
            }
            Some(Open::Call(Call::Unknown | Call::Naming) | Open::Fields) | None => {}
        }
    }

    /// Goes on with the text of arguments that are written one by one.
    fn write(&mut self, part: Address, write: impl FnOnce(&mut Written) -> String) {
        let Some(Open::Call(Call::Started { id, written: Some(written) })) = self.open.get_mut(&part) else {
            return;
        };
        let delta = write(written);
        if !delta.is_empty() {
            let event = AgentEvent::ToolInputDelta { tool_call_id: id.clone(), delta };
            self.turns.say(part, event);
        }
    }

    /// Opens a chunk for thinking that may never show anything.
    fn show_thinking(&mut self, part: Address) {
        if let Some(Open::Thinking(shown @ Shown::No)) = self.open.get_mut(&part) {
            *shown = Shown::Yes;
            let event = AgentEvent::ReasoningDelta { delta: String::new() };
            self.turns.say(part, event);
        }
    }

    /// Starts the calls whose names nothing can follow any more.
    fn start_named(&mut self, list: &List) {
        for part in std::mem::take(&mut self.naming) {
            self.start(part, list);
        }
    }

    fn start(&mut self, part: Address, list: &List) {
        let Some(Open::Call(call @ (Call::Unknown | Call::Naming))) = self.open.get_mut(&part) else {
            return;
        };
        let Some(Part::Call(found)) = list.part(part) else { return };
        let id = found.id.clone();
        self.turns.begin(&Voice::Call(id.clone()), part);
        let event = AgentEvent::ToolInputStart { tool_call_id: id.clone(), tool_name: found.name.clone() };
        self.turns.say(part, event);
        let text = so_far(found);
        if !text.is_empty() {
            let event = AgentEvent::ToolInputDelta { tool_call_id: id.clone(), delta: text.to_string() };
            self.turns.say(part, event);
        }
        let written = matches!(found.args, Args::Streaming(Input::Params(_))).then(Written::default);
        *call = Call::Started { id, written };
    }

    fn closed(&mut self, part: Address, list: &List, message: &Message) {
        // Of a call that has not started because nothing followed its name, that is sure now.
        self.start(part, list);
        let Some(open) = self.open.remove(&part) else { return };
        let own = own_fields(part, list, message);
        let mut of_text = fields_of_text(part, list, message);
        match (open, list.part(part)) {
            (Open::Text, _) => {
                of_text.take().into_iter().for_each(|event| self.turns.say(part, event));
                self.turns.end(&Voice::Text, part);
            }
            (Open::Thinking(shown), Some(thinking)) => {
                if shown == Shown::Yes {
                    let event = AgentEvent::ReasoningEnd { metadata: metadata(thinking, own) };
                    self.turns.say(part, event);
                }
                self.turns.end(&Voice::Thinking, part);
            }
            (Open::Call(Call::Started { id, written }), Some(Part::Call(call))) => {
                let voice = Voice::Call(id.clone());
                let last = match &call.args {
                    Args::Complete(arguments) => {
                        if let Some(mut written) = written {
                            let (tool_call_id, delta) = (id, written.end());
                            let event = AgentEvent::ToolInputDelta { tool_call_id, delta };
                            self.turns.say(part, event);
                        }
                        AgentEvent::ToolCall { tool_call: whole(call, arguments, own, part, message) }
                    }
                    args @ (Args::Streaming(_) | Args::Cut(_) | Args::Malformed(_)) => {
                        AgentEvent::ToolInputError { tool_call_id: id, error: what_is_wrong(args) }
                    }
                };
                self.turns.say(part, last);
                self.turns.end(&voice, part);
            }
            (Open::Fields, Some(closed)) if closed.state() == State::Closed => {
                let fields = list.extra(part.block).cloned().unwrap_or_default();
                of_fields(closed, fields).into_iter().for_each(|event| self.turns.tell(event));
            }
            _ => {}
        }
        of_text.into_iter().for_each(|event| self.turns.tell(event));
    }

    fn message_changed(&mut self, change: &message::Change<'_>, message: &Message) {
        match change {
            message::Change::Started(_) => self.finish(),
            message::Change::Usage(usage) => self.usage.update(*usage),
            message::Change::Stopped { choice: 0, stop } if stop.reason == StopReason::Pause => {
                self.turns.tell(AgentEvent::TurnPaused {});
            }
            message::Change::Failed(failure) => self.turns.tell(failed(failure)),
            message::Change::Cut {} => {
                let refused = message.diagnostics().last().filter(|odd| refuses(odd.kind));
                let error = refused.map_or(CUT, |odd| &odd.message).to_owned();
                self.turns.tell(AgentEvent::Error { error, status_code: None });
            }
            _ => {}
        }
    }
}

const CUT: &str = "the stream ended before the message did";

/// Whether the rest of a stream was not read because of this.
fn refuses(kind: Kind) -> bool {
    matches!(kind, Kind::LimitReached | Kind::UnknownDialect | Kind::WrongDialect)
}

/// The provider's own fields of a part, if it is a block of the provider and no piece of a text.
fn own_fields<'a>(part: Address, list: &'a List, message: &Message) -> Option<&'a Object> {
    let is_text = matches!(message.block(part.block)?.body(), Body::Text { .. });
    list.extra(part.block).filter(|fields| !is_text && !fields.is_empty())
}

/// The provider's own fields of a text that is whole, if this is the last of its parts.
fn fields_of_text(part: Address, list: &List, message: &Message) -> Option<AgentEvent> {
    let block = message.block(part.block)?;
    let is_last = list.parts_of(part.block).last().is_some_and(|last| last.address == part);
    let is_whole_text = matches!(block.body(), Body::Text { .. }) && block.state() == State::Closed;
    let fields = list.extra(part.block).filter(|fields| is_last && is_whole_text && !fields.is_empty())?;
    Some(AgentEvent::ProviderBlock { kind: "text".to_owned(), block: fields.clone() })
}

/// The text of a call's arguments, if they are still arriving and not one by one.
fn so_far(call: &parts::ToolCall) -> Text {
    match &call.args {
        Args::Streaming(input) | Args::Cut(input) | Args::Malformed(input) => match input {
            Input::Json(json) => json.raw().clone(),
            Input::Plain(text) => text.clone(),
            Input::Params(_) => Text::new(),
        },
        Args::Complete(_) => Text::new(),
    }
}
