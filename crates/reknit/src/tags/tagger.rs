//! [`Tagger`]: turns calls and thinking in the text of a reply into blocks of the reply.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::ops::Range;

use super::tagged_text::{Ending, TaggedText};
use super::{Grammar, GrammarError, Parser, Tools};
use crate::diagnostic::{Kind, Place};
use crate::event::{End, Event, Opening, Owner, Slot, StopReason};
use crate::limits::Limits;

/// A stage between a provider's events and the message. It takes the growth of a text and produces the events
/// of the blocks that are written in it.
///
/// A call in a text becomes the same events as a native call, with its arguments as JSON while they arrive.
/// The blocks found in the text at slot 3 have the slots `[3,0]`, `[3,1]` and so on; the text itself does not
/// become a block. All other events pass unchanged.
///
/// [`Reply::with_tags`](crate::Reply::with_tags) adds one to a reply. Used alone, it must be given every
/// event of the reply:
///
/// ```
/// use reknit::diagnostic::Place;
/// use reknit::event::{Event, Opening, Slot};
/// use reknit::tags::{Tagger, profile};
/// use reknit::Message;
///
/// let mut tagger = Tagger::new(profile("cline").unwrap(), None, "turn-7-")?;
/// let (mut message, place) = (Message::default(), Place::default());
/// let text = "I look.\n<read_file><path>a.rs</path></read_file>";
/// for event in [
///     Event::Opened { block: Slot::new(0), choice: 0, opening: Opening::Text { refusal: false } },
///     Event::Grew { block: Slot::new(0), text },
///     Event::Closed { block: Slot::new(0), end: None, raw: None },
///     Event::Ended,
/// ] {
///     if let Some(event) = tagger.push(event, place) {
///         message.apply(event, place); // nothing that the tagger changes
///     }
///     while let Some(event) = tagger.next_event() {
///         message.apply(event, place);
///     }
/// }
/// let call = message.runnable_calls().next().unwrap();
/// assert_eq!((&*call.id, &*call.name), ("turn-7-0_1", "read_file"));
/// # Ok::<(), reknit::tags::GrammarError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tagger {
    /// A parser that has read nothing yet. Each text gets a copy.
    parser: Parser,
    texts: BTreeMap<u32, Box<TaggedText>>,
    /// The texts that the provider closed before it reported why their choice stopped, which decides how they
    /// end.
    closing: Vec<u32>,
    /// Why each choice stopped.
    stopped: BTreeMap<u32, StopReason>,
    phase: Phase,
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// In a message.
    Message,
    /// After the end of a message.
    Over,
    /// Another message has started. The data of the previous one is needed until its last events are taken,
    /// so it is cleared when the next event is pushed.
    Next,
}

/// The slot of a text that is the whole input.
const INPUT: Slot = Slot::new(0);

/// The events that have not been taken yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Output {
    queue: VecDeque<Queued>,
    /// The JSON of arguments, and other text, that queued events refer to.
    json: String,
    /// What the ids of calls start with.
    id_prefix: String,
    /// How many messages with texts there were before this one.
    messages: u32,
}

#[derive(Clone, Debug)]
enum Queued {
    /// A block grew by this range of its parser's text.
    Grew {
        block: Slot,
        text: Range<usize>,
    },
    /// A block grew by this range of `Output::json`.
    Wrote {
        block: Slot,
        json: Range<usize>,
    },
    Signed {
        block: Slot,
        json: Range<usize>,
    },
    /// A block was closed; `raw` is the range of a call in its parser's text.
    Closed {
        block: Slot,
        end: Option<End>,
        raw: Option<Range<usize>>,
    },
    /// Boxed because most events are the growth of a text, and all would be as large.
    Event(Box<Event<'static>>),
}

impl Tagger {
    /// Creates a stage that reads texts with a grammar. With `tools`, values get the types of the tools'
    /// schemas, and calls of unknown tools are marked.
    ///
    /// A call in a text has no id of its own. Its id is `ids` followed by its slot; in the second and later
    /// messages of a stream, the number of the message comes before the slot. The id does not depend on how
    /// the stream is cut, and it is unique if every reply of a session gets different `ids`.
    pub fn new(
        grammar: &Grammar,
        tools: Option<&Tools>,
        ids: impl Into<String>,
    ) -> Result<Self, GrammarError> {
        let mut tagger = Self {
            parser: Parser::new(grammar, tools)?,
            texts: BTreeMap::new(),
            closing: Vec::new(),
            stopped: BTreeMap::new(),
            phase: Phase::Message,
            output: Output { id_prefix: ids.into(), ..Output::default() },
        };
        tagger.limit(&Limits::default());
        Ok(tagger)
    }

    /// Sets other limits. Call this before the first event.
    #[must_use]
    pub fn with_limits(mut self, limits: &Limits) -> Self {
        self.limit(limits);
        self
    }

    /// Takes the next event, which happened at `place` in the input.
    ///
    /// Returns the event if it passes unchanged. Otherwise [`next_event`](Tagger::next_event) returns the
    /// events that it became. Take all of them before pushing the next event.
    pub fn push<'a>(&mut self, event: Event<'a>, place: Place) -> Option<Event<'a>> {
        debug_assert!(self.output.queue.is_empty(), "the events of the last one were taken");
        self.output.json.clear();
        if self.phase == Phase::Next {
            self.forget();
        }
        match event {
            // The message reports what comes after its end.
            _ if self.phase == Phase::Over && !matches!(event, Event::Started(_)) => Some(event),
            Event::Started(_) => {
                self.end(place);
                self.phase = Phase::Next;
                self.after_output(event)
            }
            Event::Opened { block, choice, ref opening } => {
                self.end_closed_texts(place);
                // A refusal is for the reader, whatever it looks like.
                if *opening != (Opening::Text { refusal: false }) {
                    return self.after_output(event);
                }
                if self.texts.contains_key(&block.number()) {
                    let diagnostic = place.notice(Kind::DuplicateBlock, "the block already exists");
                    return self.after_output(Event::Noticed(diagnostic));
                }
                self.texts
                    .insert(block.number(), Box::new(TaggedText::new(block, choice, self.parser.clone())));
                None
            }
            Event::Grew { block, text } => {
                let Self { texts, closing, output, .. } = self;
                let is_open =
                    |text: &&mut Box<TaggedText>| !text.is_over() && !closing.contains(&block.number());
                match texts.get_mut(&block.number()).filter(is_open) {
                    Some(tagged) => tagged.push(text, place, output),
                    None => return Some(event),
                }
                None
            }
            Event::Closed { block, .. } => {
                let Some(text) = self.texts.get(&block.number()).filter(|text| !text.is_over()) else {
                    return Some(event);
                };
                self.closing.push(block.number());
                if self.stopped.contains_key(&text.choice) {
                    self.end_closed_texts(place);
                }
                None
            }
            Event::Kept { owner: Owner::Block(block), key, keep } => {
                match self.texts.get_mut(&block.number()) {
                    Some(text) => {
                        text.keep(key, keep, &mut self.output);
                        None
                    }
                    None => Some(Event::Kept { owner: Owner::Block(block), key, keep }),
                }
            }
            Event::Stopped { choice, ref stop } => {
                self.stopped.insert(choice, stop.reason);
                self.end_closed_texts(place);
                self.after_output(event)
            }
            Event::Ended | Event::Cut | Event::Failed(_) => {
                self.end(place);
                self.after_output(event)
            }
            Event::Named { .. }
            | Event::Signed { .. }
            | Event::Kept { .. }
            | Event::Switched { .. }
            | Event::Usage(_)
            | Event::Ping
            | Event::Noticed(_) => Some(event),
        }
    }

    /// Returns the next event that the pushed one became.
    pub fn next_event(&mut self) -> Option<Event<'_>> {
        let text_of = |block: Slot| self.texts[&block.number()].text();
        Some(match self.output.queue.pop_front()? {
            Queued::Grew { block, text } => Event::Grew { block, text: &text_of(block)[text] },
            Queued::Wrote { block, json } => Event::Grew { block, text: &self.output.json[json] },
            Queued::Signed { block, json } => Event::Signed { block, signature: &self.output.json[json] },
            Queued::Closed { block, end, raw } => {
                Event::Closed { block, end, raw: raw.map(|raw| &text_of(block)[raw]) }
            }
            Queued::Event(event) => *event,
        })
    }

    pub(crate) fn limit(&mut self, limits: &Limits) {
        // The message counts diagnostics, so that one limit applies to all its texts.
        self.parser.limit(&Limits { diagnostics: usize::MAX, ..*limits });
    }

    /// Takes an event. [`next_event`](Tagger::next_event) returns what it became, even if that is itself.
    pub(crate) fn take(&mut self, event: Event<'_>, place: Place) {
        if let Some(event) = self.push(event, place) {
            self.output.pass(event);
        }
    }

    /// Takes the growth of a text if it only continues prose that is open, as most growth does. Returns the
    /// block that grew, and by which part of the text; `None` if the event has to be [taken](Self::take).
    pub(crate) fn skim(&mut self, block: Slot, piece: &str) -> Option<(Slot, Range<usize>)> {
        if self.phase != Phase::Message || !self.closing.is_empty() {
            return None;
        }
        self.texts.get_mut(&block.number())?.skim(piece)
    }

    /// The event of growth that was skimmed.
    pub(crate) fn skimmed(&self, block: Slot, grown: Range<usize>) -> Event<'_> {
        Event::Grew { block, text: &self.texts[&block.number()].text()[grown] }
    }

    /// How long a text may be.
    pub(crate) fn longest_text(&self) -> usize {
        self.parser.parsed.limits.text_bytes
    }

    /// Starts a text that is the whole input.
    pub(crate) fn begin_input(&mut self) {
        self.texts.insert(INPUT.number(), Box::new(TaggedText::new(INPUT, 0, self.parser.clone())));
    }

    /// Takes the next bytes of the text that is the whole input.
    pub(crate) fn take_input(&mut self, piece: &[u8]) {
        self.output.json.clear();
        if let Some(text) = self.texts.get_mut(&INPUT.number()) {
            text.push_bytes(piece, &mut self.output);
        }
    }

    /// The text that is the whole input has ended.
    pub(crate) fn end_input(&mut self) {
        self.output.json.clear();
        if let Some(text) = self.texts.get_mut(&INPUT.number()) {
            text.finish(Ending::Complete, None, &mut self.output);
        }
        self.output.event(Event::Ended);
        self.phase = Phase::Over;
    }

    /// Whether a block is a text that is read here.
    pub(crate) fn reads(&self, block: Slot) -> bool {
        self.texts.contains_key(&block.number())
    }

    /// The number of texts in the message.
    pub(crate) fn texts(&self) -> usize {
        self.texts.len()
    }

    /// Whether all events have been taken.
    pub(crate) fn is_drained(&self) -> bool {
        self.output.queue.is_empty()
    }

    /// Whether the next event starts a message.
    pub(crate) fn starts_next(&self) -> bool {
        self.output.next_is(|event| matches!(event, Event::Started(_)))
    }

    /// Whether the next event opens a block.
    pub(crate) fn opens_next(&self) -> bool {
        self.output.next_is(|event| matches!(event, Event::Opened { .. }))
    }

    /// Discards the events that are left, and takes no more.
    pub(crate) fn stop(&mut self) {
        self.output.queue.clear();
        self.phase = Phase::Over;
    }

    /// Queues `event` after the events that it led to, or returns it if there are none.
    fn after_output<'a>(&mut self, event: Event<'a>) -> Option<Event<'a>> {
        if self.is_drained() {
            return Some(event);
        }
        self.output.pass(event);
        None
    }

    /// Ends the texts that the provider has closed.
    fn end_closed_texts(&mut self, place: Place) {
        for number in mem::take(&mut self.closing) {
            let Some(text) = self.texts.get_mut(&number) else { continue };
            let ending = match self.stopped.get(&text.choice) {
                Some(StopReason::Length | StopReason::Filter) => Ending::CutOff,
                Some(_) | None => Ending::Complete,
            };
            text.finish(ending, Some(place), &mut self.output);
        }
    }

    /// Ends the message and every text that is open in it.
    fn end(&mut self, place: Place) {
        self.end_closed_texts(place);
        for text in self.texts.values_mut() {
            text.finish(Ending::CutOff, Some(place), &mut self.output);
        }
        self.phase = Phase::Over;
    }

    /// Clears the data of the message that has ended.
    fn forget(&mut self) {
        self.output.messages += u32::from(!self.texts.is_empty());
        self.texts.clear();
        self.stopped.clear();
        self.phase = Phase::Message;
    }
}

impl Output {
    /// The id of the call at a slot.
    pub(super) fn id_of(&self, slot: Slot) -> String {
        let prefix = &self.id_prefix;
        let (block, below) = (slot.number(), slot.number_below().unwrap_or_default());
        match self.messages {
            0 => format!("{prefix}{block}_{below}"),
            message => format!("{prefix}{message}_{block}_{below}"),
        }
    }

    pub(super) fn event(&mut self, event: Event<'static>) {
        self.queue.push_back(Queued::Event(Box::new(event)));
    }

    fn next_is(&self, is: impl FnOnce(&Event<'_>) -> bool) -> bool {
        matches!(self.queue.front(), Some(Queued::Event(event)) if is(event))
    }

    /// Queues an event that passes unchanged.
    fn pass(&mut self, event: Event<'_>) {
        let event = match event {
            Event::Grew { block, text } => return self.write(block, |json| json.push_str(text)),
            Event::Signed { block, signature } => {
                let start = self.json.len();
                self.json.push_str(signature);
                self.queue.push_back(Queued::Signed { block, json: start..self.json.len() });
                return;
            }
            Event::Closed { block, end, .. } => return self.closed(block, end, None),
            Event::Named { block, id, name } => Event::Named { block, id, name: name.into_owned().into() },
            Event::Kept { owner, key, keep } => {
                Event::Kept { owner, key: key.into_owned().into(), keep: keep.into_owned() }
            }
            Event::Switched { model } => Event::Switched { model: model.into_owned().into() },
            Event::Started(start) => Event::Started(start),
            Event::Opened { block, choice, opening } => Event::Opened { block, choice, opening },
            Event::Usage(usage) => Event::Usage(usage),
            Event::Stopped { choice, stop } => Event::Stopped { choice, stop },
            Event::Ended => Event::Ended,
            Event::Cut => Event::Cut,
            Event::Ping => Event::Ping,
            Event::Failed(failure) => Event::Failed(failure),
            Event::Noticed(diagnostic) => Event::Noticed(diagnostic),
        };
        self.event(event);
    }

    /// A block grew by a range of its parser's text.
    pub(super) fn grew(&mut self, block: Slot, text: Range<usize>) {
        if !text.is_empty() {
            self.queue.push_back(Queued::Grew { block, text });
        }
    }

    /// A block grew by the JSON that `write` adds.
    pub(super) fn write(&mut self, block: Slot, write: impl FnOnce(&mut String)) {
        let start = self.json.len();
        write(&mut self.json);
        let written = start..self.json.len();
        match self.queue.back_mut() {
            _ if written.is_empty() => {}
            // Everything that a piece added becomes one event.
            Some(Queued::Wrote { block: last, json }) if *last == block => json.end = written.end,
            _ => self.queue.push_back(Queued::Wrote { block, json: written }),
        }
    }

    pub(super) fn closed(&mut self, block: Slot, end: Option<End>, raw: Option<Range<usize>>) {
        self.queue.push_back(Queued::Closed { block, end, raw });
    }
}
