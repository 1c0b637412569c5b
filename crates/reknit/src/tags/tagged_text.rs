//! [`TaggedText`]: a text block of a reply, parsed with a grammar.

use std::borrow::Cow;
use std::mem;
use std::ops::Range;

use super::arguments;
use super::call::Param;
use super::tagger::Output;
use super::{Block, Call, Change, Parser, TooLong};
use crate::diagnostic::{Diagnostic, Kind, Location, Place};
use crate::event::{CallId, End, Event, Keep, Notation, Opening, Origin, Owner, Runner, Slot};

/// A text that is arriving, and how far its blocks have been turned into events.
#[derive(Clone, Debug)]
pub(super) struct TaggedText {
    slot: Slot,
    pub(super) choice: u32,
    parser: Parser,
    /// A call whose JSON is complete and whose closing marker may still come.
    ///
    /// For the parser it is closed, but the marker belongs to it, and if the text is cut off here, the call
    /// must not look complete.
    held: Option<usize>,
    /// How many of the parser's diagnostics have been passed on.
    diagnostics_emitted: usize,
    /// Fields that the provider sent with the text before a block was found in it.
    fields: Vec<(String, Keep<'static>)>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Open,
    /// The parser accepts no more.
    Refused,
    Over,
}

/// How a text ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ending {
    /// The model finished it.
    Complete,
    /// The message ended inside it, or the model was stopped there.
    CutOff,
}

impl TaggedText {
    pub(super) fn new(slot: Slot, choice: u32, parser: Parser) -> Self {
        Self {
            slot,
            choice,
            parser,
            held: None,
            diagnostics_emitted: 0,
            fields: Vec::new(),
            state: State::Open,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// The text of the parser, including what the grammar adds before the input.
    pub(super) fn text(&self) -> &str {
        self.parser.text()
    }

    pub(super) fn push(&mut self, piece: &str, place: Place, output: &mut Output) {
        if self.state == State::Open {
            let taken = self.parser.push(piece);
            self.pushed(taken, Some(place), output);
        }
    }

    /// Takes a piece that only continues the open prose. Returns the block that grew, and by which part of the
    /// text; `None` if the piece has to be pushed.
    pub(super) fn skim(&mut self, piece: &str) -> Option<(Slot, Range<usize>)> {
        if self.state != State::Open || self.held.is_some() {
            return None;
        }
        let (block, grown) = self.parser.skim(piece)?;
        Some((self.slot_of(block), grown))
    }

    /// Takes the next piece of a text that is the whole input. Its diagnostics name
    /// bytes of the input.
    pub(super) fn push_bytes(&mut self, piece: &[u8], output: &mut Output) {
        if self.state == State::Open {
            let taken = self.parser.push_bytes(piece);
            self.pushed(taken, None, output);
        }
    }

    fn pushed(&mut self, taken: Result<(), TooLong>, place: Option<Place>, output: &mut Output) {
        if taken.is_err() {
            self.state = State::Refused;
        }
        self.emit_changes(End::Closed, output);
        if !self.parser.in_call() {
            self.close_held(End::Closed, output);
        }
        self.emit_diagnostics(place, output, |_| true);
    }

    pub(super) fn finish(&mut self, ending: Ending, place: Option<Place>, output: &mut Output) {
        let whole = match (mem::replace(&mut self.state, State::Over), ending) {
            (State::Over, _) => return,
            (State::Open, Ending::Complete) => End::Closed,
            // A call that looks complete only because nothing follows does not count as complete: half of its
            // marker may have come, or its tags may be in a code span whose end did not come.
            (State::Open, Ending::CutOff) | (State::Refused, _) => End::Cut,
        };
        self.parser.finish();
        self.emit_changes(whole, output);
        self.close_held(whole, output);
        let cut = (ending == Ending::CutOff).then_some(End::Cut);
        let last = self.slot_of(self.parser.blocks().len().saturating_sub(1));
        match self.parser.blocks().next_back() {
            Some(Block::Text { closed: false, .. }) => output.closed(last, cut, None),
            Some(Block::Thinking { closed: false, .. }) => output.closed(last, Some(End::Cut), None),
            Some(_) | None => {}
        }
        self.emit_fields_alone(cut, output);
        // If the text is cut off, it cannot be said that a call is complete without its marker.
        self.emit_diagnostics(place, output, |kind| {
            ending == Ending::Complete || kind != Kind::MissingCloser
        });
    }

    /// Passes on a field that the provider sent with the text, as a field of the first block that is found in
    /// it.
    pub(super) fn keep(&mut self, key: Cow<'_, str>, keep: Keep<'_>, output: &mut Output) {
        if self.parser.blocks().len() == 0 && !self.is_over() {
            self.fields.push((key.into_owned(), keep.into_owned()));
        } else {
            output.kept(self.slot_of(0), key.into_owned(), keep.into_owned());
        }
    }

    /// The text has ended and was only whitespace: the fields that the provider sent with it need a block.
    fn emit_fields_alone(&mut self, end: Option<End>, output: &mut Output) {
        if self.fields.is_empty() {
            return;
        }
        let block = self.slot_of(0);
        output.opened(block, self.choice, Opening::Text { refusal: false });
        output.grew(block, self.prefix()..self.parser.text().len());
        self.emit_fields(output);
        output.closed(block, end, None);
    }

    fn emit_fields(&mut self, output: &mut Output) {
        for (key, keep) in mem::take(&mut self.fields) {
            output.kept(self.slot_of(0), key, keep);
        }
    }

    fn slot_of(&self, block: usize) -> Slot {
        self.slot.below(u32::try_from(block).expect("a text has fewer blocks than bytes"))
    }

    /// The length of the text that the grammar adds before the input.
    fn prefix(&self) -> usize {
        self.parser.parsed.prefix
    }

    fn call(&self, block: usize) -> Option<Call<'_>> {
        match self.parser.block(block) {
            Some(Block::Call(call)) => Some(call),
            Some(Block::Text { .. } | Block::Thinking { .. }) | None => None,
        }
    }

    /// Passes on the parser's last changes. `whole` is how a call ends that looks complete.
    fn emit_changes(&mut self, whole: End, output: &mut Output) {
        let mut number = 0;
        while let Some(change) = self.parser.parsed.changes.get(number) {
            number += 1;
            // Something follows the call that is held, so it has ended, with or without its marker.
            self.close_held(whole, output);
            match change {
                Change::Opened { block } => self.open(block, output),
                Change::Grew { block, from, to } => output.grew(self.slot_of(block), from..to),
                Change::ParamOpened { block, param: number } => {
                    self.write(block, number, output, |param, json| {
                        arguments::open_param(param, number, json);
                    });
                }
                Change::ParamGrew { block, param, from, to } => {
                    self.write(block, param, output, |param, json| {
                        let grown = param.text().get(from..to).unwrap_or_default();
                        arguments::grow_param(param, grown, json);
                    });
                }
                Change::ParamClosed { block, param } => {
                    self.write(block, param, output, arguments::close_param);
                }
                Change::ArgsGrew { block, from, to } => self.grow_arguments(block, from..to, output),
                Change::Closed { block } if self.ends_by_itself(block) => self.held = Some(block),
                Change::Closed { block } => self.close(block, whole, output),
            }
        }
    }

    fn close_held(&mut self, whole: End, output: &mut Output) {
        if let Some(block) = self.held.take() {
            self.close(block, whole, output);
        }
    }

    /// Whether a block is a call that the parser closes at the end of its JSON, before a closing marker.
    fn ends_by_itself(&self, block: usize) -> bool {
        self.call(block).is_some_and(|call| call.param_count().is_none())
    }

    fn open(&mut self, block: usize, output: &mut Output) {
        let opening = match self.parser.block(block) {
            Some(Block::Call(call)) => {
                let parent = call.parent().map(|parent| output.id_of(self.slot_of(parent)));
                Opening::ToolCall {
                    id: CallId::Invented(output.id_of(self.slot_of(block))),
                    name: call.name().to_owned(),
                    runner: Runner::Client,
                    notation: Notation::Json,
                    origin: Origin::Tagged { known: call.is_known(), parent },
                }
            }
            Some(Block::Thinking { .. }) => Opening::Thinking { redacted: None },
            Some(Block::Text { .. }) | None => Opening::Text { refusal: false },
        };
        output.opened(self.slot_of(block), self.choice, opening);
        self.emit_fields(output);
    }

    /// Continues the JSON of a call's arguments after a change of a parameter.
    fn write(
        &self,
        block: usize,
        number: usize,
        output: &mut Output,
        write: impl FnOnce(Param<'_>, &mut String),
    ) {
        let Some(call) = self.call(block).filter(|call| !self.is_late(call)) else { return };
        if let Some(param) = call.param(number) {
            output.write(self.slot_of(block), |json| write(param, json));
        }
    }

    /// Whether the arguments of a call are passed on only when it closes: if they may change until then, or if
    /// they are JSON and not an object. Some models write the object into a string, and some write `null`.
    fn is_late(&self, call: &Call<'_>) -> bool {
        match call.param_count() {
            Some(_) => self.parser.matcher.rereads_values(),
            None => !call.has_object(),
        }
    }

    /// The JSON of a call's arguments grew by this range of it.
    fn grow_arguments(&self, block: usize, grown: Range<usize>, output: &mut Output) {
        let Some(call) = self.call(block).filter(|call| !self.is_late(call)) else { return };
        let slot = self.slot_of(block);
        match call.args_range() {
            Some(range) => output.grew(slot, range.start + grown.start..range.start + grown.end),
            None => output.write(slot, |json| json.push_str(&call.args_piece(grown))),
        }
    }

    fn close(&self, block: usize, whole: End, output: &mut Output) {
        let slot = self.slot_of(block);
        let Some(call) = self.call(block) else { return output.closed(slot, None, None) };
        let end = match call.end() {
            Some(End::Closed) => whole,
            end => end.unwrap_or(End::Cut),
        };
        if end == End::Closed {
            output.write(slot, |json| match call.param_count() {
                _ if self.is_late(&call) => arguments::write_all(&call, json),
                Some(count) => arguments::finish_params(count, json),
                // All of it has been written.
                None => {}
            });
        }
        let range = call.range();
        output.closed(slot, Some(end), Some(range.start.max(self.prefix())..range.end));
    }

    /// Passes on the parser's new diagnostics if `reported` selects them. `place` is where the text is in the
    /// input, or `None` if the text is the input.
    fn emit_diagnostics(
        &mut self,
        place: Option<Place>,
        output: &mut Output,
        reported: impl Fn(Kind) -> bool,
    ) {
        let fresh = self.parser.diagnostics().iter().skip(self.diagnostics_emitted);
        for diagnostic in fresh.filter(|diagnostic| reported(diagnostic.kind)) {
            let mut diagnostic = diagnostic.clone();
            if let (Some(place), Some(offset)) = (place, diagnostic.place().map(|place| place.at)) {
                diagnostic.location = Location::Text { place, block: self.slot, offset };
            }
            output.noticed(diagnostic);
        }
        self.diagnostics_emitted = self.parser.diagnostics().len();
    }
}

impl Output {
    fn opened(&mut self, block: Slot, choice: u32, opening: Opening) {
        self.event(Event::Opened { block, choice, opening });
    }

    fn kept(&mut self, block: Slot, key: String, keep: Keep<'static>) {
        self.event(Event::Kept { owner: Owner::Block(block), key: key.into(), keep });
    }

    fn noticed(&mut self, diagnostic: Diagnostic) {
        self.event(Event::Noticed(diagnostic));
    }
}
