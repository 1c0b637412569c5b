//! [`TextBlock`]: a block of text, read with a grammar.

use std::collections::VecDeque;

use super::part::Address;
use crate::diagnostic::Kind;
use crate::event::Slot;
use crate::message::CallEnd;
use crate::tags::{self, Block, Call, Parser};

/// A text block of the message while it arrives.
#[derive(Clone, Debug)]
pub(super) struct TextBlock {
    slot: Slot,
    pub(super) choice: u32,
    pub(super) parser: Parser,
    /// A call whose JSON is over and whose closing marker may still come.
    ///
    /// To the parser it is closed; but the marker belongs to it, and should the text be torn off here, it
    /// must not look whole.
    held: Option<usize>,
    /// How many diagnostics of the parser were passed on, and how many that it only counted.
    noticed: usize,
    omitted: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Open,
    /// The parser takes no more.
    Refused,
    Over,
}

/// How a text ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ending {
    /// The provider said that it is over.
    Whole,
    /// The message ended inside it.
    Torn,
}

/// What is to be said of the parts, one change each; said when it is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// What the message's own change means for a part that is a whole block, or for none.
    Given,
    /// The message's own change brings a diagnostic, which is no part's.
    Notice,
    /// What the parser of a block says.
    Tag(Slot, tags::Change),
    /// A part that its block or its message leaves open is over.
    End(Address, CallEnd),
    /// The diagnostic with this index of the parser of a block.
    Noticed(Slot, usize),
    /// The parser of a block only counted so many.
    Omitted(u64),
}

impl TextBlock {
    pub(super) fn new(slot: Slot, choice: u32, parser: Parser) -> Self {
        Self { slot, choice, parser, held: None, noticed: 0, omitted: 0, state: State::Open }
    }

    pub(super) fn push(&mut self, piece: &str, steps: &mut VecDeque<Step>) {
        if self.state != State::Open {
            return;
        }
        if self.parser.push(piece).is_err() {
            self.state = State::Refused;
        }
        self.pass_on(steps);
        if !self.parser.in_call() {
            self.release(steps);
        }
        self.notice(steps, |_| true);
    }

    pub(super) fn finish(&mut self, ending: Ending, steps: &mut VecDeque<Step>) {
        let refused = match std::mem::replace(&mut self.state, State::Over) {
            State::Over => return,
            State::Refused => true,
            State::Open => false,
        };
        // A parser that refused more is finished already, and what that changed was passed on.
        if !refused {
            self.parser.finish();
            match ending {
                Ending::Whole => self.pass_on(steps),
                Ending::Torn => self.pass_on_torn(steps),
            }
        }
        self.release(steps);
        let open = match (self.parser.blocks().next_back(), ending) {
            (Some(Block::Text { closed: false, .. }), Ending::Whole) => Some(CallEnd::Closed),
            (Some(Block::Text { closed: false, .. }), Ending::Torn) => Some(CallEnd::Cut),
            (Some(Block::Thinking { closed: false, .. }), _) => Some(CallEnd::Cut),
            _ => None,
        };
        let last = self.parser.blocks().len().wrapping_sub(1);
        steps.extend(open.map(|end| Step::End(self.address(last), end)));
        // That a call is whole without its marker is not what can be said of a text that was torn off.
        self.notice(steps, |kind| ending == Ending::Whole || kind != Kind::MissingCloser);
    }

    pub(super) fn address(&self, block: usize) -> Address {
        Address { block: self.slot, part: u32::try_from(block).expect("a text has fewer blocks than bytes") }
    }

    pub(super) fn call(&self, block: usize) -> Option<Call<'_>> {
        match self.parser.block(block) {
            Some(Block::Call(call)) => Some(call),
            Some(Block::Text { .. } | Block::Thinking { .. }) | None => None,
        }
    }

    /// Says what the parser changed last.
    fn pass_on(&mut self, steps: &mut VecDeque<Step>) {
        let mut held = self.held;
        for change in self.parser.changes() {
            // Something follows the call that is held: it is over, with or without its marker.
            let closed = held.take().map(|block| tags::Change::Closed { block });
            steps.extend(closed.map(|change| Step::Tag(self.slot, change)));
            match change {
                tags::Change::Closed { block } if self.ends_by_itself(block) => held = Some(block),
                change => steps.push_back(Step::Tag(self.slot, change)),
            }
        }
        self.held = held;
    }

    /// Says what the end of the text changed, the text being torn off there.
    ///
    /// What is a whole call only because nothing follows is none: half of its marker may have come, or its
    /// tags may stand in a code span of which the end did not.
    fn pass_on_torn(&mut self, steps: &mut VecDeque<Step>) {
        let held = self.held.take().map(|block| tags::Change::Closed { block });
        for change in held.into_iter().chain(self.parser.changes()) {
            steps.push_back(match change {
                tags::Change::Closed { block } if self.is_whole_call(block) => {
                    Step::End(self.address(block), CallEnd::Cut)
                }
                change => Step::Tag(self.slot, change),
            });
        }
    }

    fn release(&mut self, steps: &mut VecDeque<Step>) {
        let closed = self.held.take().map(|block| tags::Change::Closed { block });
        steps.extend(closed.map(|change| Step::Tag(self.slot, change)));
    }

    /// Whether a block is a call that the parser ends with its JSON, before any closing marker.
    fn ends_by_itself(&self, block: usize) -> bool {
        self.call(block).is_some_and(|call| call.json().is_some())
    }

    fn is_whole_call(&self, block: usize) -> bool {
        self.call(block).is_some_and(|call| call.end() == Some(CallEnd::Closed))
    }

    fn notice(&mut self, steps: &mut VecDeque<Step>, said: impl Fn(Kind) -> bool) {
        let fresh = self.parser.diagnostics().iter().enumerate().skip(self.noticed);
        let fresh = fresh.filter(|(_, diagnostic)| said(diagnostic.kind));
        steps.extend(fresh.map(|(index, _)| Step::Noticed(self.slot, index)));
        self.noticed = self.parser.diagnostics().len();
        let omitted = self.parser.diagnostics_omitted();
        if omitted > self.omitted {
            steps.push_back(Step::Omitted((omitted - self.omitted) as u64));
            self.omitted = omitted;
        }
    }
}
