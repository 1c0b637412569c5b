//! [`Candidate`]: the parts of one candidate as blocks.

use std::collections::BTreeSet;

use super::super::blocks::{Blocks, TEXT, THINKING, native_call};
use super::super::events::Events;
use super::super::fields::{Error, Raw};
use super::super::other_members::Others;
use super::super::seen_members::Seen;
use super::arguments::{Arguments, Taken};
use super::for_each_element;
use crate::diagnostic::Kind;
use crate::event::{CallId, End, Event, Notation, Opening, Owner, Runner, Slot, Stop, StopReason};

#[derive(Clone, Debug, Default)]
pub(super) struct Candidate {
    open: Open,
    /// Whether there are calls for the client to run.
    has_calls: bool,
    /// The id of the latest call that Google ran.
    ran: Option<String>,
    finish_reason: Option<String>,
    /// Whether content came after the finish reason, which then does not end the candidate.
    goes_on: bool,
    /// What was emitted for `finish_reason`.
    stop: Option<Stop>,
    seen: Seen,
    citations: BTreeSet<String>,
}

/// The block that the next part may continue.
#[derive(Clone, Debug, Default)]
enum Open {
    #[default]
    Nothing,
    Text(Slot),
    Thinking(Slot),
    Call(Box<Call>),
}

/// A call whose arguments come in pieces.
#[derive(Clone, Debug)]
struct Call {
    slot: Slot,
    id: Option<String>,
    name: String,
    arguments: Arguments,
    /// Arguments that came whole, in `args`.
    whole: Option<String>,
}

/// A call of one of Google's own tools, such as its search, and the result of such a call.
pub(super) const SERVER_CALL: &str = "toolCall";
pub(super) const SERVER_RESULT: &str = "toolResponse";

/// The members of a part that are read; any other is kept.
const KNOWN: [&str; 5] =
    ["functionCall", "executableCode", "codeExecutionResult", SERVER_CALL, SERVER_RESULT];

/// Members that describe a part and are not its content.
pub(super) const ANNOTATIONS: [&str; 5] =
    ["thought", "thoughtSignature", "partMetadata", "videoMetadata", "mediaResolution"];

impl Candidate {
    pub(super) fn has_stopped(&self) -> bool {
        self.finish_reason.is_some() && !self.goes_on
    }

    pub(super) fn go_on(&mut self) {
        self.goes_on = self.finish_reason.is_some();
    }

    /// Notes that the server ended the stream.
    pub(super) fn end_again(&mut self) {
        self.goes_on = false;
    }

    pub(super) fn part(&mut self, part: Raw<'_>, blocks: &mut Blocks<'_>) -> Result<(), Error> {
        let ([text, thought, signature], others) = part.split(["text", "thought", "thoughtSignature"])?;
        let known = others.iter().rfind(|(key, _)| KNOWN.contains(key));
        let held = known.or_else(|| others.iter().find(|(key, _)| !ANNOTATIONS.contains(key)));
        let Some((kind, value)) = held else {
            let text = text.filter(|text| text.has_text());
            let signature = signature.filter(|signature| signature.has_text());
            if text.is_some() || signature.is_some() || !others.is_empty() {
                let slot = self.text(thought.is_some_and(Raw::is_true), blocks);
                blocks.events.grew(slot, text);
                others.keep(Owner::Block(slot), blocks.events);
                signature.into_iter().for_each(|signature| self.sign(slot, signature, blocks.events));
            }
            return Ok(());
        };
        match kind {
            "functionCall" => self.function_call(value, part, blocks)?,
            "executableCode" => self.code(value, part, blocks)?,
            SERVER_CALL => self.server_call(value, part, blocks)?,
            "codeExecutionResult" | SERVER_RESULT => {
                let id = value.get("id").and_then(Raw::owned_string).or_else(|| self.ran.clone());
                let slot = self.whole(Opening::ToolResult { kind: kind.to_owned(), call_id: id }, blocks);
                keep_others(value, &["id"], slot, blocks.events);
                keep_others(part, &[kind], slot, blocks.events);
                blocks.events.closed(slot);
            }
            _ => {
                let slot = self.whole(Opening::Other { kind: kind.to_owned() }, blocks);
                keep_others(part, &[], slot, blocks.events);
                blocks.events.closed(slot);
            }
        }
        Ok(())
    }

    pub(super) fn keep(&mut self, index: u32, others: &Others<'_>, events: &mut Events) {
        others.keep_new(Owner::Choice(index), &mut self.seen, events);
    }

    /// Keeps the sources of what the model said: some frames repeat them, others add to them.
    pub(super) fn cite(&mut self, index: u32, citations: Option<Raw<'_>>, events: &mut Events) {
        for_each_element(citations, |_, citation| {
            if self.citations.insert(citation.text().to_owned()) {
                events.keep_pushed(Owner::Choice(index), "citations", citation);
            }
        });
    }

    /// Emits why the candidate stopped, if that is new. `STOP` is also used for calls.
    pub(super) fn stop(&mut self, index: u32, word: Option<&str>, events: &mut Events) {
        if let Some(word) = word.filter(|word| *word != "FINISH_REASON_UNSPECIFIED") {
            self.finish_reason = Some(word.to_owned());
            if std::mem::take(&mut self.goes_on) {
                self.stop = None;
            }
        }
        let Some(detail) = self.finish_reason.clone() else { return };
        let reason = match stop_reason(&detail) {
            StopReason::End if self.has_calls => StopReason::Tool,
            reason => reason,
        };
        let stop = Stop { reason, detail };
        if self.stop.as_ref() != Some(&stop) {
            self.stop = Some(stop.clone());
            events.push(Event::Stopped { choice: index, stop });
        }
    }

    /// Closes what is open, because something else comes or the message ends.
    pub(super) fn close(&mut self, events: &mut Events) {
        match std::mem::take(&mut self.open) {
            Open::Nothing => {}
            Open::Text(slot) | Open::Thinking(slot) => events.closed(slot),
            Open::Call(mut call) => call.abandon(events),
        }
    }

    /// Emits what was held back, because the stream was cut.
    pub(super) fn settle(&mut self, events: &mut Events) {
        if let Open::Call(call) = &mut self.open {
            call.settle(events);
        }
    }

    /// The block of a text or a thought, opened if it does not continue the open one.
    fn text(&mut self, is_thought: bool, blocks: &mut Blocks<'_>) -> Slot {
        match self.open {
            Open::Thinking(slot) if is_thought => slot,
            Open::Text(slot) if !is_thought => slot,
            Open::Nothing | Open::Text(_) | Open::Thinking(_) | Open::Call(_) => {
                self.close(blocks.events);
                let slot = blocks.new_block(if is_thought { THINKING } else { TEXT });
                self.open = if is_thought { Open::Thinking(slot) } else { Open::Text(slot) };
                slot
            }
        }
    }

    /// Signs the open block. It must be sent back unchanged, so nothing more is added to it.
    fn sign(&mut self, slot: Slot, signature: Raw<'_>, events: &mut Events) {
        if matches!(self.open, Open::Thinking(_)) {
            events.signed(slot, signature);
        } else {
            events.keep(Owner::Block(slot), "thoughtSignature", signature);
        }
        self.close(events);
    }

    fn function_call(
        &mut self,
        function: Raw<'_>,
        part: Raw<'_>,
        blocks: &mut Blocks<'_>,
    ) -> Result<(), Error> {
        let ([id, name, args, partial, continues], others) =
            function.split(["id", "name", "args", "partialArgs", "willContinue"])?;
        let [id, name] = [id, name].map(|word| word?.owned_string());
        let mut call = match std::mem::take(&mut self.open) {
            Open::Call(mut call) if goes_on(call.id.as_deref(), id.as_deref(), name.as_deref()) => {
                if call.id.is_none()
                    && let Some(id) = id
                {
                    let (name, known) = (call.name.clone().into(), CallId::Given(id.clone()));
                    blocks.events.push(Event::Named { block: call.slot, id: known, name });
                    call.id = Some(id);
                }
                call
            }
            open => {
                self.open = open;
                let Some(name) = name else {
                    if args.is_some() || partial.is_some() || id.is_some() {
                        let message = "arguments came for a call without a name";
                        blocks.events.keep_unknown(Kind::OrphanFragment, message, part);
                    }
                    return Ok(());
                };
                self.close(blocks.events);
                self.has_calls = true;
                let slot = blocks.new_call(id.as_deref(), &name, Notation::Json);
                Box::new(Call { slot, id, name, arguments: Arguments::default(), whole: None })
            }
        };
        let slot = call.slot;
        others.keep(Owner::Block(slot), blocks.events);
        keep_others(part, &["functionCall"], slot, blocks.events);
        let read = call.take(args, partial, blocks.events);
        if continues.is_some_and(Raw::is_true) {
            self.open = Open::Call(call);
        } else {
            call.end(blocks.events);
        }
        read
    }

    fn code(&mut self, code: Raw<'_>, part: Raw<'_>, blocks: &mut Blocks<'_>) -> Result<(), Error> {
        let (mut id, mut arguments) = (None, String::new());
        code.members(|key, value| match key {
            "id" => id = value.owned_string(),
            _ => {
                arguments.push_str(if arguments.is_empty() { "{" } else { "," });
                arguments.push_str(&format!("{}:{}", crate::json::Value::from(key), value.text()));
            }
        })?;
        if !arguments.is_empty() {
            arguments.push('}');
        }
        let slot = self.ran(blocks.call_id(id), "code_execution".to_owned(), &arguments, blocks);
        keep_others(part, &["executableCode"], slot, blocks.events);
        blocks.events.closed(slot);
        Ok(())
    }

    /// Takes a call of one of Google's own tools.
    fn server_call(&mut self, call: Raw<'_>, part: Raw<'_>, blocks: &mut Blocks<'_>) -> Result<(), Error> {
        let ([id, name, args], others) = call.split(["id", "toolType", "args"])?;
        let [id, name] = [id, name].map(|word| word?.owned_string());
        let slot = self.ran(blocks.call_id(id), name.unwrap_or_default(), args.map_or("", Raw::text), blocks);
        // The part goes back as what it was.
        blocks.events.keep(Owner::Block(slot), "type", crate::json::Value::from(SERVER_CALL));
        others.keep(Owner::Block(slot), blocks.events);
        keep_others(part, &[SERVER_CALL], slot, blocks.events);
        blocks.events.closed(slot);
        Ok(())
    }

    fn ran(&mut self, id: CallId, name: String, arguments: &str, blocks: &mut Blocks<'_>) -> Slot {
        self.ran = Some(id.to_string());
        let slot = self.whole(native_call(id, name, Runner::Provider), blocks);
        blocks.events.grew_plain(slot, arguments);
        slot
    }

    fn whole(&mut self, opening: Opening, blocks: &mut Blocks<'_>) -> Slot {
        self.close(blocks.events);
        blocks.new_block(opening)
    }
}

impl Call {
    fn take(
        &mut self,
        args: Option<Raw<'_>>,
        partial: Option<Raw<'_>>,
        events: &mut Events,
    ) -> Result<(), Error> {
        if let Some(args) = args {
            self.whole = Some(args.text().to_owned());
        }
        let read = partial.unwrap_or(Raw::new("[]")).elements(|partial| match self.arguments.take(partial) {
            Taken::InOrder => {}
            Taken::Late if self.arguments.is_first_late() => {
                let message = format!("arguments of `{}`: a value came out of order", self.name);
                events.notice(Kind::ScatteredArguments, message);
            }
            Taken::Late => {}
            Taken::NotUnderstood => {
                let message = format!("arguments of `{}`: a piece was not understood", self.name);
                events.keep_unknown(Kind::UnknownEvent, message, partial);
            }
        });
        if read.is_err() {
            self.arguments.mark_incomplete();
        }
        events.grew_plain(self.slot, self.arguments.grown());
        read.map_err(|error| error.within("`partialArgs`"))
    }

    /// Ends the call, because the provider says so.
    fn end(&mut self, events: &mut Events) {
        match self.whole.take() {
            Some(args) if self.arguments.is_empty() => {
                events.grew_plain(self.slot, &args);
                return events.closed(self.slot);
            }
            Some(args) => events.keep(Owner::Block(self.slot), "args", Raw::new(&args)),
            None => {}
        }
        if !self.arguments.end() {
            return self.abandon(events);
        }
        events.grew_plain(self.slot, self.arguments.grown());
        events.closed(self.slot);
    }

    /// Abandons a call that was to continue and does not. Whole JSON does not mean that it is complete, because
    /// we write the closing brackets.
    fn abandon(&mut self, events: &mut Events) {
        self.settle(events);
        let message = format!("arguments of `{}`: incomplete when the call ended", self.name);
        events.notice(Kind::CutArguments, message);
        events.push(Event::Closed { block: self.slot, end: Some(End::Cut), raw: None });
    }

    fn settle(&mut self, events: &mut Events) {
        self.arguments.settle();
        events.grew_plain(self.slot, self.arguments.grown());
        if let Some(args) = self.whole.take() {
            events.keep(Owner::Block(self.slot), "args", Raw::new(&args));
        }
    }
}

/// Whether a piece with this id and name continues a call rather than begins another one.
pub(super) fn goes_on(known_id: Option<&str>, id: Option<&str>, name: Option<&str>) -> bool {
    match (known_id, id) {
        (Some(known), Some(id)) => known == id,
        (None, _) | (_, None) => name.is_none(),
    }
}

/// Keeps the members of an object that are not `known`.
fn keep_others(object: Raw<'_>, known: &[&str], slot: Slot, events: &mut Events) {
    // It has been followed to its end.
    let _ = events.keep_others(Owner::Block(slot), object, known);
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "STOP" => StopReason::End,
        "MAX_TOKENS" => StopReason::Length,
        "CONTINUATION" => StopReason::Pause,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "MODEL_ARMOR" => {
            StopReason::Filter
        }
        word if word.starts_with("IMAGE_") && word != "IMAGE_OTHER" => StopReason::Filter,
        _ => StopReason::Other,
    }
}
