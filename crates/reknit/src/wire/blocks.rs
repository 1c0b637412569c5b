//! [`Blocks`]: opens the blocks of a message, one after the other.

use super::events::Events;
use super::fields::Raw;
use crate::event::{CallId, Event, Notation, Opening, Origin, Runner, Slot};

pub(super) const TEXT: Opening = Opening::Text { refusal: false };
pub(super) const THINKING: Opening = Opening::Thinking { redacted: None };

/// Opens the blocks of one choice as they are needed.
pub(super) struct Blocks<'a> {
    pub(super) choice: u32,
    /// The slot of the next block, counted across all choices.
    pub(super) next: &'a mut u32,
    pub(super) events: &'a mut Events,
}

impl<'a> Blocks<'a> {
    /// For a message with a single choice.
    pub(super) fn new(next: &'a mut u32, events: &'a mut Events) -> Self {
        Self { choice: 0, next, events }
    }

    pub(super) fn new_block(&mut self, opening: Opening) -> Slot {
        let block = Slot::new(*self.next);
        *self.next += 1;
        self.events.push(Event::Opened { block, choice: self.choice, opening });
        block
    }

    pub(super) fn new_call(&mut self, id: Option<&str>, name: &str, notation: Notation) -> Slot {
        let (id, name) = (self.call_id(id.map(str::to_owned)), name.to_owned());
        let (runner, origin) = (Runner::Client, Origin::Native);
        self.new_block(Opening::ToolCall { id, name, runner, notation, origin })
    }

    /// The id of the call that is opened next.
    pub(super) fn call_id(&self, id: Option<String>) -> CallId {
        id.map_or_else(|| invented_id(Slot::new(*self.next)), CallId::Given)
    }

    pub(super) fn open(&mut self, slot: &mut Option<Slot>, opening: &Opening) -> Slot {
        *slot.get_or_insert_with(|| self.new_block(opening.clone()))
    }

    /// Grows a block by a string, and opens it first if necessary; a string that is empty or absent does nothing.
    pub(super) fn grow(&mut self, slot: &mut Option<Slot>, opening: &Opening, text: Option<Raw<'_>>) {
        if let Some(text) = text.filter(|text| text.has_text()) {
            let slot = self.open(slot, opening);
            self.events.grew(slot, text);
        }
    }
}

/// A call that the provider sends as a block, with arguments in JSON.
pub(super) fn native_call(id: CallId, name: String, runner: Runner) -> Opening {
    Opening::ToolCall { id, name, runner, notation: Notation::Json, origin: Origin::Native }
}

/// The id of a call that came without one.
pub(super) fn invented_id(slot: Slot) -> CallId {
    CallId::Invented(format!("call_{slot}"))
}
