//! [`Message`]: a reply while it arrives.
//!
//! [`Message::apply`] takes an [`Event`] and returns the [`Change`] that it made. A change is a patch: a copy
//! of the message elsewhere that is given every change, with [`Message::follow`], is always equal to the
//! original.

use std::collections::{BTreeMap, btree_map};

use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Diagnostics, Kind, Place};
use crate::event::{Event, Failure, Owner, Runner, Slot, Start, Stop, StopReason, Usage};
use crate::json::Object;
use crate::limits::Limits;

mod tool_call;
mod block;
mod change;
mod extra;
mod misfit;
mod json_form;

pub use block::{Block, Body};
pub use change::Change;
use extra::Extra;
pub use misfit::Misfit;
pub use tool_call::{Args, Input, ParseError, ToolCall};

/// A message of a model, as far as it has arrived.
///
/// It serialises to the form that `reknit read --json` prints.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    start: Start,
    phase: Phase,
    choices: Vec<Choice>,
    /// Whether any of them has a stop reason.
    has_stops: bool,
    blocks: BTreeMap<Slot, Block>,
    usage: Usage,
    extra: Extra,
    diagnostics: Diagnostics,
    limits: Limits,
}

#[derive(Clone, Debug, PartialEq)]
enum Phase {
    Waiting,
    Streaming,
    Stopped,
    Failed(Failure),
    Cut,
}

/// The state of a message or a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nothing has arrived yet.
    Waiting,
    /// It is still arriving.
    Streaming,
    /// The provider ended it and everything arrived. The stop reason says whether the model was done.
    Stopped,
    /// The provider reported an error.
    Failed,
    /// The stream ended before the message did: it is incomplete.
    Cut,
}

/// One of the answers in a message. Most messages have one.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    index: u32,
    stop: Option<Stop>,
    /// Whether content came after `stop`, so that it does not end the choice.
    goes_on: bool,
    extra: Extra,
}

impl Default for Message {
    fn default() -> Self {
        Self::new(&Limits::default())
    }
}

impl Message {
    /// A message of which nothing has arrived yet.
    pub fn new(limits: &Limits) -> Self {
        Self {
            start: Start::default(),
            phase: Phase::Waiting,
            choices: Vec::new(),
            has_stops: false,
            blocks: BTreeMap::new(),
            usage: Usage::default(),
            extra: Extra::default(),
            diagnostics: Diagnostics::default(),
            limits: *limits,
        }
    }

    /// The id that the provider gave it.
    pub fn id(&self) -> Option<&str> {
        self.start.id.as_deref()
    }

    /// The model that answers; the last one if the provider switched models.
    pub fn model(&self) -> Option<&str> {
        self.start.model.as_deref()
    }

    /// The role in the provider's word, nearly always `assistant`.
    pub fn role(&self) -> Option<&str> {
        self.start.role.as_deref()
    }

    /// Its state.
    pub fn status(&self) -> Status {
        match self.phase {
            Phase::Waiting => Status::Waiting,
            Phase::Streaming => Status::Streaming,
            Phase::Stopped => Status::Stopped,
            Phase::Failed(_) => Status::Failed,
            Phase::Cut => Status::Cut,
        }
    }

    /// Whether it is over, complete or not.
    pub fn is_over(&self) -> bool {
        !matches!(self.phase, Phase::Waiting | Phase::Streaming)
    }

    /// The error that the provider reported.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.phase {
            Phase::Failed(failure) => Some(failure),
            Phase::Waiting | Phase::Streaming | Phase::Stopped | Phase::Cut => None,
        }
    }

    /// Why the first choice stopped.
    pub fn stop(&self) -> Option<&Stop> {
        self.choices.first().and_then(Choice::stop)
    }

    /// The choices, sorted by their index.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// The state of one of its choices.
    pub(super) fn choice_status(&self, choice: &Choice) -> Status {
        match (&choice.stop, self.status()) {
            (Some(_), Status::Failed | Status::Cut) if !choice.goes_on => Status::Stopped,
            (_, status) => status,
        }
    }

    /// The blocks, sorted by their slots.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = &Block> + ExactSizeIterator {
        self.blocks.values()
    }

    /// The block at an address.
    pub fn block(&self, slot: Slot) -> Option<&Block> {
        self.blocks.get(&slot)
    }

    /// The calls that may be run: they are complete, the provider does not run them itself, and the message
    /// was ended by the provider. A message that failed, was cut or is still arriving has no such calls.
    pub fn runnable_calls(&self) -> impl Iterator<Item = &ToolCall> {
        let is_over = self.status() == Status::Stopped;
        self.tool_calls().filter(move |call| {
            is_over && call.runner == Runner::Client && matches!(call.args, Args::Complete(_))
        })
    }

    /// All calls, including those that are not complete and those that the provider runs itself.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks().filter_map(|block| match &block.body {
            Body::ToolCall(call) => Some(call),
            Body::Text { .. } | Body::Thinking { .. } | Body::ToolResult { .. } | Body::Other { .. } => None,
        })
    }

    /// The text of the first choice.
    pub fn text(&self) -> String {
        let first = self.choices.first().map_or(0, |choice| choice.index);
        let texts =
            self.blocks().filter(|block| block.choice == first).filter_map(|block| match &block.body {
                Body::Text { text, .. } => Some(text.to_str()),
                Body::Thinking { .. } | Body::ToolCall(_) | Body::ToolResult { .. } | Body::Other { .. } => {
                    None
                }
            });
        texts.collect()
    }

    /// The number of tokens.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Fields of the message that are not part of the neutral form, under the provider's names.
    pub fn extra(&self) -> &Object {
        &self.extra
    }

    /// What was unexpected in the stream.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// Applies an event, and returns what it changed. `place` is where the event is in the input.
    ///
    /// An event that does not fit the message only adds a diagnostic.
    pub fn apply<'a>(&mut self, event: Event<'a>, place: Place) -> Change<'a> {
        let change = self.resolve(event, place);
        self.follow(&change).expect("a change resolved against this message fits it");
        change
    }

    /// Applies a change that [`apply`](Self::apply) returned for another copy of this message.
    pub fn follow(&mut self, change: &Change<'_>) -> Result<(), Misfit> {
        match change {
            Change::Started(start) => {
                self.start = start.clone();
                self.go_on();
            }
            Change::Opened { block, choice, opening } => {
                let btree_map::Entry::Vacant(place) = self.blocks.entry(*block) else {
                    return Err(Misfit::new(format!("the message already has block {block}")));
                };
                place.insert(Block::new(*block, *choice, opening, &self.limits));
                let choice = self.choice(*choice);
                choice.goes_on = choice.stop.is_some();
                self.go_on();
            }
            Change::Named { block, id, name } => self.open_block(*block)?.name(id, name)?,
            Change::Grew { block, at, text } => {
                let block = self.open_block(*block)?;
                block.grow(*at, text)?;
                let index = block.choice;
                if self.has_stops {
                    let choice = self.choice(index);
                    choice.goes_on = choice.stop.is_some();
                }
            }
            Change::Signed { block, at, signature } => self.open_block(*block)?.sign(*at, signature)?,
            Change::Closed { block, end, notice, raw } => {
                self.open_block(*block)?.close(*end, raw.as_deref());
                self.notice(notice.as_ref());
            }
            Change::Kept { owner, key, keep } => self.extra_of(*owner)?.keep(key, keep),
            Change::Switched { model } => self.start.model = Some(model.clone().into_owned()),
            Change::Usage(usage) => self.usage.update(*usage),
            Change::Stopped { choice, stop } => {
                let choice = self.choice(*choice);
                (choice.stop, choice.goes_on) = (Some(stop.clone()), false);
                self.has_stops = true;
                self.go_on();
            }
            Change::Ended { notice } => {
                self.end(Phase::Stopped);
                self.notice(notice.as_ref());
            }
            Change::Cut {} => self.end(Phase::Cut),
            Change::Failed(failure) => self.end(Phase::Failed(failure.clone())),
            Change::Noticed(diagnostic) => self.notice(Some(diagnostic)),
            Change::Ping {} => {}
        }
        Ok(())
    }

    /// The change that an event makes to this message.
    fn resolve<'a>(&self, event: Event<'a>, place: Place) -> Change<'a> {
        if self.is_over()
            && !matches!(event, Event::Ping | Event::Noticed(_) | Event::Usage(_) | Event::Kept { .. })
        {
            return Change::Noticed(place.notice(Kind::AfterEnd, "something arrived after the end"));
        }
        match event {
            Event::Started(start) => Change::Started(start),
            Event::Opened { block, choice, opening } => match self.block(block) {
                None => Change::Opened { block, choice, opening },
                Some(_) => Change::Noticed(place.notice(Kind::DuplicateBlock, "the block already exists")),
            },
            Event::Named { block, id, name } => match self.block(block) {
                Some(call) if call.is_open_call() => Change::Named { block, id, name },
                Some(_) | None => no_such_block(place),
            },
            Event::Grew { block, text } => match self.block(block).and_then(Block::length) {
                Some(at) => Change::Grew { block, at, text: text.into() },
                None => no_such_block(place),
            },
            Event::Signed { block, signature } => match self.block(block).and_then(Block::signature_length) {
                Some(at) => Change::Signed { block, at, signature: signature.into() },
                None => no_such_block(place),
            },
            Event::Closed { block, end, raw } => match self.block(block) {
                Some(open) if open.end.is_none() => open.closing(end, raw, self.reason(open.choice), place),
                Some(_) | None => no_such_block(place),
            },
            Event::Kept { owner: Owner::Block(block), .. } if self.block(block).is_none() => {
                no_such_block(place)
            }
            Event::Kept { owner, key, keep } => Change::Kept { owner, key, keep },
            Event::Switched { model } => Change::Switched { model },
            Event::Usage(usage) => Change::Usage(usage),
            Event::Stopped { choice, stop } => Change::Stopped { choice, stop },
            Event::Ended => {
                let notice = self.call_left_open(place).or_else(|| self.calls_missing(place));
                Change::Ended { notice }
            }
            Event::Cut => Change::Cut {},
            Event::Ping => Change::Ping {},
            Event::Failed(failure) => Change::Failed(failure),
            Event::Noticed(diagnostic) => Change::Noticed(diagnostic),
        }
    }

    /// The provider ended the message without ending one of its calls: the call is cut.
    fn call_left_open(&self, place: Place) -> Option<Diagnostic> {
        let open = self.blocks().filter(|block| block.end.is_none());
        let name = open.into_iter().find_map(|block| match &block.body {
            Body::ToolCall(call) => Some(&call.name),
            _ => None,
        })?;
        let message = format!("arguments of `{name}`: the message ended before the call did");
        Some(place.notice(Kind::CutArguments, message))
    }

    /// A model that stops for tool calls should have made some. Real ones forget to.
    fn calls_missing(&self, place: Place) -> Option<Diagnostic> {
        let waits = self
            .choices
            .iter()
            .any(|choice| choice.stop().is_some_and(|stop| stop.reason == StopReason::Tool));
        let missing = waits && self.tool_calls().next().is_none();
        missing.then(|| place.notice(Kind::CallsMissing, "the model stopped for tool calls, but made none"))
    }

    /// Why a choice stopped, if it has.
    fn reason(&self, choice: u32) -> Option<StopReason> {
        let position = self.choices.binary_search_by_key(&choice, |choice| choice.index).ok()?;
        self.choices[position].stop.as_ref().map(|stop| stop.reason)
    }

    fn go_on(&mut self) {
        if matches!(self.phase, Phase::Waiting) {
            self.phase = Phase::Streaming;
        }
    }

    fn end(&mut self, phase: Phase) {
        self.blocks.values_mut().for_each(Block::cut);
        self.phase = phase;
    }

    fn notice(&mut self, diagnostic: Option<&Diagnostic>) {
        if let Some(diagnostic) = diagnostic {
            self.diagnostics.add(self.limits.diagnostics, || diagnostic.clone());
        }
    }

    fn open_block(&mut self, slot: Slot) -> Result<&mut Block, Misfit> {
        let block = self.blocks.get_mut(&slot).ok_or_else(|| no_block(slot))?;
        if block.end.is_none() { Ok(block) } else { Err(block.misfit()) }
    }

    /// The choice with this index, which is added if it is new.
    fn choice(&mut self, index: u32) -> &mut Choice {
        let position =
            self.choices.binary_search_by_key(&index, |choice| choice.index).unwrap_or_else(|position| {
                self.choices
                    .insert(position, Choice { index, stop: None, goes_on: false, extra: Extra::default() });
                position
            });
        &mut self.choices[position]
    }

    fn extra_of(&mut self, owner: Owner) -> Result<&mut Extra, Misfit> {
        Ok(match owner {
            Owner::Message => &mut self.extra,
            Owner::Choice(index) => &mut self.choice(index).extra,
            Owner::Block(slot) => &mut self.blocks.get_mut(&slot).ok_or_else(|| no_block(slot))?.extra,
        })
    }
}

impl Choice {
    /// Its number, counted from 0 by the provider.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Why it stopped.
    pub fn stop(&self) -> Option<&Stop> {
        self.stop.as_ref()
    }

    /// Fields that are not part of the neutral form, under the provider's names.
    pub fn extra(&self) -> &Object {
        &self.extra
    }
}

fn no_block(slot: Slot) -> Misfit {
    Misfit::new(format!("the message has no block {slot}"))
}

fn no_such_block(place: Place) -> Change<'static> {
    Change::Noticed(place.notice(Kind::OrphanDelta, "something arrived for a block that is not open"))
}
