//! [`Live`]: the changes of a reply, put on a terminal as they come.

use std::io::{self, Write};
use std::time::Duration;

use reknit::Message;
use reknit::event::{Opening, Runner, Slot, Stop, StopReason};
use reknit::message::{Args, Block, Body, CallEnd, Change, Input, State, Status, ToolCall};

use crate::view::{End, Facts, Terminal, View, arguments};

/// A reply on a terminal.
///
/// One call is on stage at a time. Others that come meanwhile wait until it is over and are shown whole;
/// so is every choice but the first.
pub(super) struct Live {
    view: View,
    facts: Facts,
    phase: Phase,
    choice: Option<u32>,
    /// The call on stage.
    call: Option<Slot>,
    /// Calls that were not on stage yet.
    waiting: Vec<Slot>,
    /// Calls that left the stage before their end.
    left: Vec<Left>,
}

/// A call that made room for something else.
struct Left {
    slot: Slot,
    /// Whether more of it came since.
    went_on: bool,
}

/// How far the message is.
enum Phase {
    Waiting,
    Streaming,
    Over(End, String),
}

impl Live {
    pub(super) fn new(terminal: Terminal) -> Self {
        Self {
            view: View::new(terminal),
            facts: Facts::default(),
            phase: Phase::Waiting,
            choice: None,
            call: None,
            waiting: Vec::new(),
            left: Vec::new(),
        }
    }

    /// Shows a change that came at a time.
    pub(super) fn show(&mut self, change: &Change<'_>, message: &Message, at: Option<Duration>) {
        if let (Change::Started(_), Phase::Over(..)) = (change, &self.phase) {
            self.finish();
        }
        match change {
            Change::Started(_) => self.phase = Phase::Streaming,
            Change::Opened { choice, block, opening } => {
                self.choice.get_or_insert(*choice);
                if message.block(*block).is_some_and(|block| self.is_of_choice(block)) {
                    self.opened(*block, opening);
                }
            }
            Change::Grew { block, at: offset, text } => {
                self.facts.characters += text.chars().count() as u64;
                self.facts.first = self.facts.first.or(at);
                if let Some(grown) = message.block(*block).filter(|block| self.is_of_choice(block)) {
                    self.grew(grown, *offset, text, message);
                }
            }
            Change::Closed { block, .. } => {
                if let Some(closed) = message.block(*block).filter(|block| self.is_of_choice(block)) {
                    self.closed(closed, message);
                }
            }
            Change::Ended { .. } | Change::Cut {} | Change::Failed(_) => self.ended(message),
            Change::Named { .. }
            | Change::Signed { .. }
            | Change::Kept { .. }
            | Change::Switched { .. }
            | Change::Usage(_)
            | Change::Stopped { .. }
            | Change::Noticed(_)
            | Change::Ping {} => {}
        }
        if let Change::Started(_)
        | Change::Switched { .. }
        | Change::Usage(_)
        | Change::Ended { .. }
        | Change::Cut {} = change
        {
            self.facts.model = message.model().map(str::to_owned);
            self.facts.input = message.usage().input;
            // Some count a token before there is any, and the others at the end.
            self.facts.output = message.usage().output.filter(|_| self.facts.characters > 0);
        }
        self.facts.last = at.or(self.facts.last);
    }

    /// Something comes.
    pub(super) fn get_ready(&mut self) {
        self.view.measure();
    }

    /// Nothing comes at the moment.
    pub(super) fn wait(&mut self, elapsed: Option<Duration>) {
        self.view.status(&Facts { last: elapsed, ..self.facts.clone() });
    }

    /// If the message is not whole, it is because somebody interrupted it.
    pub(super) fn interrupt(&mut self) {
        if let Phase::Waiting | Phase::Streaming | Phase::Over(End::Broken, _) = self.phase {
            self.phase = Phase::Over(End::Broken, "interrupted".to_owned());
        }
    }

    /// Writes what is to be seen now.
    pub(super) fn drain(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.view.drain(out)
    }

    /// Takes away the status line.
    pub(super) fn clear(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.view.clear(out)
    }

    /// The message is over; another one may follow.
    pub(super) fn finish(&mut self) {
        if let Phase::Over(end, words) = std::mem::replace(&mut self.phase, Phase::Waiting) {
            self.view.finish(&self.facts, end, &words);
        }
        // The time goes on: the first piece of the next message came when it came.
        self.facts = Facts { last: self.facts.last, ..Facts::default() };
        (self.choice, self.call) = (None, None);
        self.waiting.clear();
        self.left.clear();
    }

    fn is_of_choice(&self, block: &Block) -> bool {
        self.choice == Some(block.choice())
    }

    fn opened(&mut self, slot: Slot, opening: &Opening) {
        match opening {
            Opening::Thinking { redacted: Some(_) } => {
                self.clear_stage();
                self.view.note("[thinking, not shown by the provider]");
            }
            Opening::ToolResult { kind, .. } | Opening::Other { kind } => {
                self.clear_stage();
                self.view.note(&format!("[{kind}]"));
            }
            Opening::Text { refusal: true } => {
                self.clear_stage();
                self.view.note("[refusal]");
            }
            // Its name may come in pieces: it is known when something follows.
            Opening::ToolCall { .. } => self.waiting.push(slot),
            Opening::Thinking { redacted: None } | Opening::Text { refusal: false } => {}
        }
    }

    fn grew(&mut self, block: &Block, offset: usize, text: &str, message: &Message) {
        match block.body() {
            Body::Text { .. } => {
                self.clear_stage();
                self.view.text(text);
            }
            Body::Thinking { .. } => {
                self.clear_stage();
                self.view.thinking(text);
            }
            Body::ToolCall(call) => self.call_grew(block.slot(), call, offset, text, message),
            Body::ToolResult { .. } | Body::Other { .. } => {}
        }
    }

    fn call_grew(&mut self, slot: Slot, call: &ToolCall, offset: usize, text: &str, message: &Message) {
        if self.call != Some(slot) {
            self.release_whole(message);
            if let Some(left) = self.left.iter_mut().find(|left| left.slot == slot) {
                left.went_on |= !text.trim().is_empty();
            }
            if self.call.is_some() || offset > 0 {
                return;
            }
            self.waiting.retain(|&waiting| waiting != slot);
            self.open_call(call);
            self.call = Some(slot);
        }
        if let Args::Streaming(Input::Json(json)) = &call.args {
            arguments::grew(&mut self.view, json);
        } else {
            self.view.argument_grew(arguments::ALL, text);
        }
    }

    fn closed(&mut self, block: &Block, message: &Message) {
        let slot = block.slot();
        match block.body() {
            Body::ToolCall(call) if self.call == Some(slot) => {
                self.close_call(call);
                self.call = None;
            }
            Body::ToolCall(_) => self.release_whole(message),
            Body::Thinking { text, redacted: None, .. } if text.is_empty() => {
                self.clear_stage();
                self.view.note("[thinking, not shown by the provider]");
            }
            Body::Thinking { .. } | Body::Text { .. } | Body::ToolResult { .. } | Body::Other { .. } => {}
        }
        self.show_waiting(message);
    }

    fn ended(&mut self, message: &Message) {
        if let Some(slot) = self.call
            && let Some(Body::ToolCall(call)) = message.block(slot).map(Block::body)
        {
            self.close_call(call);
        }
        self.call = None;
        self.show_waiting(message);
        self.show_other_choices(message);
        self.phase = match (message.status(), message.stop()) {
            (Status::Stopped, stop) => stopped(stop),
            (Status::Failed, _) => Phase::Over(End::Broken, "failed".to_owned()),
            (Status::Waiting | Status::Streaming | Status::Cut, _) => {
                Phase::Over(End::Broken, "cut".to_owned())
            }
        };
    }

    /// Makes room for something that is no call.
    fn clear_stage(&mut self) {
        if let Some(slot) = self.call.take() {
            self.view.call_closed(End::Whole, "");
            self.left.push(Left { slot, went_on: false });
        }
    }

    /// Makes room for another call if that on stage has whole JSON. Only its end makes it a whole call, but
    /// some providers end all calls together.
    fn release_whole(&mut self, message: &Message) {
        if let Some(slot) = self.call
            && let Some(Body::ToolCall(call)) = message.block(slot).map(Block::body)
            && let Args::Streaming(Input::Json(json)) = &call.args
            && json.check().is_ok()
        {
            self.clear_stage();
        }
    }

    /// Says of the calls that are over what was not said yet, once nothing else is on stage.
    fn show_waiting(&mut self, message: &Message) {
        if self.call.is_some() {
            return;
        }
        let is_over = |slot: Slot| message.block(slot).is_none_or(|block| block.state() != State::Open);
        for Left { slot, went_on } in self.left.extract_if(.., |left| is_over(left.slot)).collect::<Vec<_>>()
        {
            let Some(block) = message.block(slot) else { continue };
            match (block.body(), block.call_end()) {
                _ if went_on => self.show_whole(block),
                (Body::ToolCall(call), Some(CallEnd::Cut)) => {
                    self.view.note(&format!("[call {} above is cut]", call.name));
                }
                (Body::ToolCall(call), Some(CallEnd::Malformed)) => {
                    self.view.note(&format!("[call {} above is malformed]", call.name));
                }
                _ => {}
            }
        }
        for slot in self.waiting.extract_if(.., |&mut slot| is_over(slot)).collect::<Vec<_>>() {
            message.block(slot).into_iter().for_each(|block| self.show_whole(block));
        }
    }

    fn show_other_choices(&mut self, message: &Message) {
        let Some(live) = self.choice else { return };
        for choice in message.choices().iter().filter(|choice| live != choice.index()) {
            self.view.note(&format!("[choice {}]", choice.index()));
            for block in message.blocks().iter().filter(|block| block.choice() == choice.index()) {
                self.show_whole(block);
            }
        }
    }

    fn show_whole(&mut self, block: &Block) {
        match block.body() {
            Body::Text { text, .. } => text.segments().for_each(|text| self.view.text(text)),
            Body::Thinking { text, .. } => text.segments().for_each(|text| self.view.thinking(text)),
            Body::ToolCall(call) => {
                self.open_call(call);
                match &call.args {
                    Args::Complete(value) => arguments::whole(&mut self.view, value),
                    Args::Streaming(Input::Json(json)) => {
                        json.value().into_iter().for_each(|value| arguments::whole(&mut self.view, value));
                    }
                    Args::Streaming(Input::Plain(text)) => {
                        text.segments().for_each(|text| self.view.argument_grew(arguments::ALL, text));
                    }
                    Args::Malformed { .. } => {}
                }
                self.close_call(call);
            }
            Body::ToolResult { .. } | Body::Other { .. } => {}
        }
    }

    fn open_call(&mut self, call: &ToolCall) {
        self.view.call_opened(&call.name);
        if call.runner == Runner::Provider {
            self.view.note("run by the provider");
        }
    }

    fn close_call(&mut self, call: &ToolCall) {
        match &call.args {
            Args::Malformed { raw, error } => {
                raw.segments().for_each(|text| self.view.argument_grew(arguments::ALL, text));
                self.view.call_closed(End::Broken, &format!("malformed: {error}"));
            }
            Args::Streaming(_) => self.view.call_closed(End::Broken, "cut"),
            Args::Complete(_) => self.view.call_closed(End::Whole, ""),
        }
    }
}

fn stopped(stop: Option<&Stop>) -> Phase {
    let Some(Stop { reason, detail }) = stop else { return Phase::Over(End::Whole, "done".to_owned()) };
    let (end, words) = match reason {
        StopReason::End => (End::Whole, "done"),
        StopReason::Tool => (End::Whole, "waits for its calls"),
        StopReason::StopSequence => (End::Whole, "stopped at a stop sequence"),
        StopReason::Length => (End::Short, "stopped by its limit on length"),
        StopReason::Refusal => (End::Short, "refused"),
        StopReason::Filter => (End::Short, "stopped by a filter"),
        StopReason::Pause => (End::Short, "paused"),
        StopReason::Other => (End::Short, detail.as_str()),
    };
    Phase::Over(end, words.to_owned())
}
