//! [`Events`]: the queue of the events of a frame.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use super::fields::{Address, Error, Half, Odd, Raw, decode, flush, unescape};
use super::repeated_frame::Growth;
use crate::diagnostic::{Diagnostic, Kind, Place, counted};
use crate::event::{Event, Keep, Owner, Slot, Start, Stop, StopReason, Usage};
use crate::frame::Frame;
use crate::json::Value;

/// The texts of the queued events are in one buffer, which is reused.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    queue: VecDeque<Queued>,
    texts: String,
    /// Halves of surrogate pairs that wait for the next text of their block; nearly always empty.
    halves: BTreeMap<Slot, u16>,
    place: Place,
    /// The string of the frame that made a block grow, and one that means nothing.
    grown: Option<(Slot, Address)>,
    padding: Option<Address>,
}

#[derive(Clone, Debug)]
enum Queued {
    Grew { block: Slot, text: Range<usize> },
    Signed { block: Slot, text: Range<usize> },
    Event(Event<'static>),
}

/// What can be kept: a value, or a part of a frame that is not parsed yet.
pub(super) trait Kept {
    fn into_value(self, key: &str, events: &mut Events) -> Value;
}

impl Kept for Value {
    fn into_value(self, _key: &str, _events: &mut Events) -> Value {
        self
    }
}

impl Kept for Raw<'_> {
    fn into_value(self, key: &str, events: &mut Events) -> Value {
        events.value(key, self)
    }
}

impl Events {
    /// Starts the events of `frame`.
    pub(super) fn at(&mut self, frame: &Frame<'_>) {
        if self.queue.is_empty() {
            self.texts.clear();
        }
        self.place = Place { at: frame.bytes.start, frame: frame.number };
        (self.grown, self.padding) = (None, None);
    }

    /// The growth of a block by a string of the frame, if that is all the frame did.
    pub(super) fn growth(&self, frame: &Frame<'_>) -> Option<Growth> {
        // A pending half of a surrogate pair changes what the same frame would do next.
        let is_all = self.queue.len() == 1 && self.halves.is_empty();
        let (block, text) = self.grown.filter(|_| is_all)?;
        let padding = self.padding.and_then(|padding| padding.place_in(frame.data));
        Some(Growth { block, text: text.place_in(frame.data)?, padding })
    }

    /// Notes that a string of the frame means nothing.
    pub(super) fn ignore(&mut self, string: Raw<'_>) {
        self.padding = string.string_body().map(|_| string.address());
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether any event after the first `count` brings some of the content of a block.
    pub(super) fn have_content_since(&self, count: usize) -> bool {
        self.queue.range(count..).any(|queued| match queued {
            Queued::Grew { .. } | Queued::Signed { .. } => true,
            Queued::Event(Event::Kept { owner, .. }) => matches!(owner, Owner::Block(_)),
            Queued::Event(event) => matches!(event, Event::Opened { .. } | Event::Named { .. }),
        })
    }

    pub(super) fn push(&mut self, event: Event<'static>) {
        self.queue.push_back(Queued::Event(event));
    }

    /// Starts a message; nothing of the previous one is pending any more.
    pub(super) fn started(&mut self, start: Start) {
        self.halves.clear();
        self.push(Event::Started(start));
    }

    /// Reports why a choice stopped, or that it stopped `without` a reason.
    pub(super) fn stopped(
        &mut self,
        detail: Option<String>,
        reason: impl FnOnce(&str) -> StopReason,
        without: &str,
    ) {
        match detail {
            Some(detail) => {
                let stop = Stop { reason: reason(&detail), detail };
                self.push(Event::Stopped { choice: 0, stop });
            }
            None => self.notice(Kind::NoStopReason, without),
        }
    }

    /// Reports the counts of a usage object, and keeps it.
    pub(super) fn counted(&mut self, counts: Usage, usage: Raw<'_>) {
        if !counts.is_empty() {
            self.push(Event::Usage(counts));
        }
        self.keep(Owner::Message, "usage", usage);
    }

    pub(super) fn notice(&mut self, kind: Kind, message: impl Into<String>) {
        let diagnostic: Diagnostic = self.place.notice(kind, message);
        self.push(Event::Noticed(diagnostic));
    }

    /// The value of a field. If it cannot be read exactly, that is reported and its text is kept.
    pub(super) fn value(&mut self, key: &str, field: Raw<'_>) -> Value {
        let error = match field.exact() {
            Ok(value) => return value,
            Err(error) => error,
        };
        let Some(body) = field.string_body() else {
            self.notice(Kind::FieldAsText, format!("`{key}` is kept as its text: {error}"));
            return field.value();
        };
        let (text, odd) = decode(body);
        self.report(odd);
        text.into()
    }

    pub(super) fn report(&mut self, odd: Odd) {
        if odd.lone > 0 {
            self.notice(Kind::LoneSurrogate, counted(odd.lone.into(), "lone surrogate"));
        }
        if odd.escapes > 0 {
            self.notice(Kind::MalformedEscape, counted(odd.escapes.into(), "invalid escape"));
        }
    }

    /// Keeps a field that the neutral form has no place for.
    pub(super) fn keep(&mut self, owner: Owner, key: &str, value: impl Kept) {
        let value = value.into_value(key, self);
        self.kept(owner, key, Keep::Set(value));
    }

    /// Keeps the members of an object that are not `known`.
    pub(super) fn keep_others(&mut self, owner: Owner, object: Raw<'_>, known: &[&str]) -> Result<(), Error> {
        object.fields(|key, value| {
            if !known.contains(&key) {
                self.keep(owner, key, value);
            }
        })
    }

    /// Adds to a list that the neutral form has no place for.
    pub(super) fn keep_pushed(&mut self, owner: Owner, key: &str, value: impl Kept) {
        let value = value.into_value(key, self);
        self.kept(owner, key, Keep::Push(value));
    }

    /// Adds to a text that the neutral form has no place for.
    pub(super) fn keep_grown(&mut self, owner: Owner, key: &str, string: Raw<'_>) {
        if let Value::String(text) = self.value(key, string) {
            self.kept(owner, key, Keep::Grow(text.to_string().into()));
        }
    }

    /// Changes a field that the neutral form has no place for.
    pub(super) fn kept(&mut self, owner: Owner, key: &str, keep: Keep<'static>) {
        self.push(Event::Kept { owner, key: key.to_owned().into(), keep });
    }

    /// Keeps a whole event or delta that the dialect does not know.
    pub(super) fn keep_unknown(&mut self, kind: Kind, message: impl Into<String>, value: impl Kept) {
        self.notice(kind, message);
        self.keep_pushed(Owner::Message, "unknown", value);
    }

    /// Grows a block by a JSON string; does nothing if it is empty, not a string or absent.
    pub(super) fn grew<'a>(&mut self, block: Slot, string: impl Into<Option<Raw<'a>>>) {
        if let Some(string) = string.into()
            && let Some(text) = self.decode(block, string)
        {
            self.queue.push_back(Queued::Grew { block, text });
            self.grew_by(block, string);
        }
    }

    /// Notes which string of the frame a block grew by.
    pub(super) fn grew_by(&mut self, block: Slot, string: Raw<'_>) {
        self.grown = Some((block, string.address()));
    }

    pub(super) fn grew_plain(&mut self, block: Slot, text: &str) {
        if !text.is_empty() {
            let start = self.texts.len();
            self.texts.push_str(text);
            self.queue.push_back(Queued::Grew { block, text: start..self.texts.len() });
        }
    }

    /// Grows a call by its arguments. Some servers send them as a string that contains the JSON.
    pub(super) fn grew_arguments(&mut self, call: Slot, arguments: Raw<'_>) {
        match arguments.string_body() {
            Some(_) => self.grew(call, arguments),
            None => self.grew_plain(call, arguments.text()),
        }
    }

    pub(super) fn signed<'a>(&mut self, block: Slot, string: impl Into<Option<Raw<'a>>>) {
        let Some(string) = string.into() else { return };
        // Half of a pair at the end of the text is no part of the signature.
        self.flush(block);
        if let Some(text) = self.decode(block, string) {
            self.queue.push_back(Queued::Signed { block, text });
        }
    }

    pub(super) fn closed(&mut self, block: Slot) {
        self.flush(block);
        self.push(Event::Closed { block, end: None, raw: None });
    }

    /// Ends the text of a block: the other half of a surrogate pair will not come.
    fn flush(&mut self, block: Slot) {
        let mut half: Half = self.halves.remove(&block);
        if half.is_some() {
            let start = self.texts.len();
            flush(&mut half, &mut self.texts);
            self.queue.push_back(Queued::Grew { block, text: start..self.texts.len() });
            self.notice(Kind::LoneSurrogate, "a block ended with a lone surrogate");
        }
    }

    /// Ends the stream: the other half of a surrogate pair will not come.
    pub(super) fn finish(&mut self) {
        if !std::mem::take(&mut self.halves).is_empty() {
            self.notice(Kind::LoneSurrogate, "the stream ended with a lone surrogate");
        }
    }

    pub(super) fn next(&mut self) -> Option<Event<'_>> {
        Some(match self.queue.pop_front()? {
            Queued::Grew { block, text } => Event::Grew { block, text: &self.texts[text] },
            Queued::Signed { block, text } => Event::Signed { block, signature: &self.texts[text] },
            Queued::Event(event) => event,
        })
    }

    pub(super) fn starts_next(&self) -> bool {
        matches!(self.queue.front(), Some(Queued::Event(Event::Started(_))))
    }

    pub(super) fn opens_next(&self) -> bool {
        matches!(self.queue.front(), Some(Queued::Event(Event::Opened { .. })))
    }

    pub(super) fn grows_next(&self) -> Option<Slot> {
        match self.queue.front()? {
            Queued::Grew { block, .. } | Queued::Signed { block, .. } => Some(*block),
            Queued::Event(_) => None,
        }
    }

    pub(super) fn growth_next(&self) -> Option<(Slot, &str)> {
        match self.queue.front()? {
            Queued::Grew { block, text } => Some((*block, &self.texts[text.clone()])),
            Queued::Signed { .. } | Queued::Event(_) => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    fn decode(&mut self, block: Slot, string: Raw<'_>) -> Option<Range<usize>> {
        let start = self.texts.len();
        if let Some(body) = string.plain_body()
            && self.halves.is_empty()
        {
            self.texts.push_str(body);
            return (!body.is_empty()).then_some(start..self.texts.len());
        }
        let body = string.string_body()?;
        let mut half: Half = self.halves.remove(&block);
        let odd = unescape(body, &mut half, &mut self.texts);
        self.halves.extend(half.map(|half| (block, half)));
        self.report(odd);
        (self.texts.len() > start).then_some(start..self.texts.len())
    }
}
