//! OpenAI's Chat Completions and compatible servers: chunks with `choices`, then `[DONE]`.
//!
//! A choice has one text, one refusal, one thinking block and any number of calls, each addressed by its field,
//! so text after a call continues the same block. Nothing is final before the end of the stream: a quarter of
//! real streams send more after `finish_reason`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::blocks::{Blocks, TEXT, THINKING, invented_id};
use super::events::Events;
use super::failure::fail;
use super::fields::{Error, Faults, Half, Raw, unescape};
use super::seen::Seen;
use super::{DONE, State, Translate};
use crate::diagnostic::{Kind, counted};
use crate::event::{CallId, Event, Keep, Notation, Opening, Owner, Slot, Start, Stop, StopReason, Usage};
use crate::frame::Frame;
use crate::json::Value;

mod native;
mod request;
mod router;

pub(super) use native::Native;
pub(super) use request::FORM;
use router::{Fragment, Route, Router};

pub(super) fn claims(frame: &Frame<'_>) -> bool {
    let data = Raw::new(frame.data);
    data.get("choices").is_some_and(|choices| choices.text().starts_with('['))
        || data.get("error").is_some_and(|error| error.text().starts_with('{')) && data.get("type").is_none()
}

/// The members of a chunk that have a meaning here; all others are kept as they are.
const NAMED: [&str; 5] = ["choices", "usage", "error", "id", "model"];

/// Padding that hides the lengths of tokens.
const PADDING: [&str; 2] = ["obfuscation", "p"];

#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    state: State,
    start: Start,
    choices: BTreeMap<u32, Choice>,
    slots: u32,
    seen: Seen,
    usage: String,
    fragments: Fragments,
}

/// The calls of the last frame.
#[derive(Clone, Copy, Debug, Default)]
enum Fragments {
    #[default]
    None,
    /// More of the arguments of one call.
    Arguments(Growing),
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Growing {
    choice: u32,
    call: usize,
    index: Option<u64>,
}

#[derive(Clone, Debug, Default)]
struct Choice {
    text: Option<Slot>,
    refusal: Option<Slot>,
    thinking: Option<Slot>,
    audio: Option<Slot>,
    /// Blocks of encrypted thinking, which come whole.
    encrypted: Vec<Slot>,
    /// The call of the format that preceded tools.
    function: Option<(Slot, String)>,
    calls: Vec<Call>,
    router: Router,
    /// The arguments of the last fragment; kept so that the memory is reused.
    arguments: String,
    /// Halves of surrogate pairs that wait for the next arguments of the same index; nearly always empty.
    halves: BTreeMap<Option<u64>, u16>,
    finish_reason: Option<String>,
    seen: Seen,
}

#[derive(Clone, Copy, Debug)]
struct Call {
    slot: Slot,
    notation: Notation,
}

impl Translate for Fold {
    fn read(&mut self, frame: &Frame<'_>, events: &mut Events) -> Result<(), Error> {
        if frame.data == DONE {
            if self.state == State::Within {
                self.end(events);
            }
            return Ok(());
        }
        self.fragments = Fragments::None;
        let (mut id, mut model) = (None, None);
        let (mut choices, mut usage, mut error, mut groq) = (None, None, None, None);
        let mut others = Vec::new();
        Raw::new(frame.data).members(|key, value| match key {
            _ if value.is_null() => {}
            "choices" => choices = Some(value),
            "usage" => usage = Some(value),
            "error" => error = Some(value),
            "id" => id = value.string(),
            "model" => model = value.string(),
            _ if PADDING.contains(&key) => events.ignore(value),
            _ => {
                if key == "x_groq" {
                    groq = value.get("usage");
                }
                if self.seen.is_new(key, value) {
                    others.push((key.to_owned(), value));
                }
            }
        })?;
        let has_choices = choices.is_some_and(|choices| choices.text().contains('{'));
        // A chunk after the end is the first of another completion, unless it has the id of this one.
        let is_late = self.state == State::After && id.is_some() && id.as_deref() == self.start.id.as_deref();
        if self.state == State::Within {
            self.keep_identity(id, model, events);
        } else if has_choices && !is_late {
            if self.state == State::After {
                // What the previous completion said is new in this one.
                self.seen = Seen::default();
                others.clear();
                Raw::new(frame.data).members(|key, value| {
                    if !NAMED.contains(&key) && !PADDING.contains(&key) && self.seen.is_new(key, value) {
                        others.push((key.to_owned(), value));
                    }
                })?;
            }
            let (id, model) = (id.map(Cow::into_owned), model.map(Cow::into_owned));
            let start = Start { id, model, role: choices.and_then(first_role) };
            let seen = std::mem::take(&mut self.seen);
            *self = Self { state: State::Within, start: start.clone(), seen, ..Self::default() };
            events.started(start);
        }
        let is_error = error.is_some() || frame.event == "error";
        if is_error && error.is_none() {
            // The whole frame is the error, which keeps it.
            others.clear();
        }
        for (key, value) in others {
            events.keep(Owner::Message, &key, value);
        }
        let mut faults = Faults::default();
        let read = choices
            .unwrap_or(Raw::new("[]"))
            .elements(|choice| faults.note("`choices`", self.choice(choice, events)));
        faults.note("`choices`", read);
        self.count(usage.or(groq), events);
        if is_error {
            self.cut(events);
            let error = error.unwrap_or(Raw::new(frame.data));
            fail(error, &["type", "code"], frame, events);
            self.state = State::After;
        } else if !has_choices && choices.is_none() && usage.is_none() {
            let message = "a chunk has neither choices nor usage";
            events.keep_unknown(Kind::UnknownEvent, message, Raw::new(frame.data));
        }
        faults.result()
    }

    fn repeats(&self) -> bool {
        !matches!(self.fragments, Fragments::Other)
    }

    fn repeat(&mut self, block: Slot, text: Raw<'_>, events: &mut Events) {
        match self.fragments {
            Fragments::Arguments(growing) => {
                self.choices.entry(growing.choice).or_default().go_on(growing, text, events);
            }
            Fragments::None | Fragments::Other => events.grew(block, text),
        }
    }

    /// Without `[DONE]`, the message is complete if every choice has a finish reason.
    fn finish(&mut self, events: &mut Events) {
        if self.state != State::Within {
            return;
        }
        let all_stopped = self.choices.values().all(|choice| choice.finish_reason.is_some());
        if all_stopped && !self.choices.is_empty() { self.end(events) } else { self.cut(events) }
    }

    fn cut(&mut self, events: &mut Events) {
        if self.state == State::Within {
            self.choices.values_mut().for_each(|choice| choice.report_missing(events));
        }
    }
}

impl Fold {
    fn end(&mut self, events: &mut Events) {
        let mut open = Vec::new();
        for choice in self.choices.values_mut() {
            choice.report_missing(events);
            if choice.finish_reason.is_none() {
                events.notice(Kind::NoStopReason, "the stream ended without a finish reason");
            }
            let single = [choice.text, choice.refusal, choice.thinking, choice.audio];
            open.extend(single.into_iter().flatten());
            open.extend(choice.function.iter().map(|(slot, _)| *slot));
            open.extend(&choice.encrypted);
            // Without a finish reason, nothing says that the model was done with a free text.
            let is_stopped = choice.finish_reason.is_some();
            let calls = choice.calls.iter().filter(|call| is_stopped || call.notation == Notation::Json);
            open.extend(calls.map(|call| call.slot));
        }
        open.sort_unstable();
        open.into_iter().for_each(|slot| events.closed(slot));
        events.push(Event::Ended);
        self.state = State::After;
    }

    /// Keeps an id or a model that was missing in the first chunk.
    fn keep_identity(&mut self, id: Option<Cow<'_, str>>, model: Option<Cow<'_, str>>, events: &mut Events) {
        for (key, word, known) in [("id", id, &mut self.start.id), ("model", model, &mut self.start.model)] {
            if let (Some(word), None) = (word, &known) {
                events.keep(Owner::Message, key, Value::from(&*word));
                *known = Some(word.into_owned());
            }
        }
    }

    fn choice(&mut self, choice: Raw<'_>, events: &mut Events) -> Result<(), Error> {
        let (mut index, mut delta, mut message, mut logprobs) = (0, None, None, None);
        let (mut finish_reason, mut others) = (None, Vec::new());
        choice.members(|key, value| match key {
            _ if value.is_null() => {}
            "index" => index = value.index().unwrap_or(0),
            "delta" => delta = Some(value),
            "message" => message = Some(value),
            "finish_reason" => finish_reason = value.string(),
            "logprobs" => logprobs = Some(value),
            _ => others.push((key.to_owned(), value)),
        })?;
        // A whole reply has a `message` where a stream has a `delta`; some servers send both.
        match (delta, message) {
            (Some(_), Some(message)) => others.push(("message".to_owned(), message)),
            (None, message) => delta = message,
            (Some(_), None) => {}
        }
        let read = match delta {
            Some(delta) => self.delta(index, delta, events),
            None => Ok(()),
        };
        let state = self.choices.entry(index).or_default();
        for (key, value) in others {
            if state.seen.is_new(&key, value) {
                events.keep(Owner::Choice(index), &key, value);
            }
        }
        if let Some(logprobs) = logprobs {
            let _ = logprobs.members(|key, tokens| {
                let key = format!("logprobs_{key}");
                let _ = tokens.elements(|token| events.keep_pushed(Owner::Choice(index), &key, token));
            });
        }
        if let Some(word) = finish_reason.filter(|word| state.finish_reason.as_deref() != Some(word)) {
            let stop = Stop { reason: stop_reason(&word), detail: word.clone().into_owned() };
            state.finish_reason = Some(word.into_owned());
            events.push(Event::Stopped { choice: index, stop });
        }
        read
    }

    fn delta(&mut self, index: u32, delta: Raw<'_>, events: &mut Events) -> Result<(), Error> {
        let Delta { content, refusal, thoughts, details, calls, function, audio, others } =
            Delta::read(delta)?;
        let choice = self.choices.entry(index).or_default();
        let mut blocks = Blocks { choice: index, next: &mut self.slots, events };
        let mut faults = Faults::default();
        if let Some(text) = thoughts {
            blocks.grow(&mut choice.thinking, &THINKING, text);
        }
        if let Some(details) = details {
            let wants_text = thoughts.is_none();
            let read = details.elements(|detail| choice.reasoning_detail(detail, wants_text, &mut blocks));
            faults.note("`reasoning_details`", read);
        }
        match content {
            Some(parts) if parts.text().starts_with('[') => {
                faults.note("`content`", parts.elements(|part| choice.content_part(part, &mut blocks)));
            }
            Some(text) => blocks.grow(&mut choice.text, &TEXT, text),
            None => {}
        }
        if let Some(text) = refusal {
            blocks.grow(&mut choice.refusal, &Opening::Text { refusal: true }, text);
        }
        if let Some(audio) = audio {
            let slot = blocks.open(&mut choice.audio, &Opening::Other { kind: "audio".to_owned() });
            let read = audio.members(|key, value| {
                let keep = match (key, value.owned_string()) {
                    ("data" | "transcript", Some(text)) => Keep::Grow(text.into()),
                    _ => Keep::Set(blocks.events.value(key, value)),
                };
                blocks.events.push(Event::Kept {
                    owner: Owner::Block(slot),
                    key: key.to_owned().into(),
                    keep,
                });
            });
            faults.note("`audio`", read);
        }
        if let Some(function) = function {
            choice.function_call(function, &mut blocks);
        }
        if let Some(calls) = calls {
            let read = calls.elements(|fragment| {
                let growing = choice.tool_call(fragment, &mut blocks);
                self.fragments = match (self.fragments, growing) {
                    (Fragments::None, Some(growing)) => Fragments::Arguments(growing),
                    _ => Fragments::Other,
                };
            });
            faults.note("`tool_calls`", read);
        }
        for (key, value) in others {
            if value.text().starts_with('[') {
                let mut push = |element: Raw<'_>| {
                    events.keep_pushed(Owner::Choice(index), &key, element);
                };
                faults.note("`delta`", value.elements(&mut push));
            } else if choice.seen.is_new(&key, value) {
                events.keep(Owner::Choice(index), &key, value);
            }
        }
        faults.result()
    }

    fn count(&mut self, usage: Option<Raw<'_>>, events: &mut Events) {
        let Some(usage) = usage.filter(|usage| usage.text() != self.usage) else { return };
        usage.text().clone_into(&mut self.usage);
        let mut counts = Usage::default();
        let _ = usage.members(|key, value| match key {
            "prompt_tokens" => counts.input = value.number(),
            "completion_tokens" => counts.output = value.number(),
            "prompt_cache_hit_tokens" | "cache_read_input_tokens" => counts.cache_read = value.number(),
            "cache_creation_input_tokens" => counts.cache_write = value.number(),
            "reasoning_tokens" => counts.reasoning = value.number(),
            "prompt_tokens_details" => {
                let _ = value.members(|key, value| match key {
                    "cached_tokens" => counts.cache_read = value.number().or(counts.cache_read),
                    "cache_write_tokens" => counts.cache_write = value.number().or(counts.cache_write),
                    _ => {}
                });
            }
            "completion_tokens_details" => {
                counts.reasoning = value.get("reasoning_tokens").and_then(Raw::number).or(counts.reasoning);
            }
            _ => {}
        });
        events.push(Event::Usage(counts));
        events.keep(Owner::Message, "usage", usage);
    }
}

#[derive(Default)]
struct Delta<'a> {
    content: Option<Raw<'a>>,
    refusal: Option<Raw<'a>>,
    /// Thinking, from whichever field has it: servers that send several repeat the text in each.
    thoughts: Option<Raw<'a>>,
    details: Option<Raw<'a>>,
    calls: Option<Raw<'a>>,
    function: Option<Raw<'a>>,
    audio: Option<Raw<'a>>,
    others: Vec<(String, Raw<'a>)>,
}

impl<'a> Delta<'a> {
    fn read(delta: Raw<'a>) -> Result<Self, Error> {
        let mut read = Self::default();
        let (mut reasoning_content, mut reasoning) = (None, None);
        let text = |value: Raw<'a>| {
            Some(value).filter(|value| value.string_body().is_some_and(|body| !body.is_empty()))
        };
        delta.members(|key, value| match key {
            _ if value.is_null() => {}
            "role" => {}
            "content" => read.content = Some(value),
            "refusal" => read.refusal = Some(value),
            "reasoning_content" => reasoning_content = text(value),
            "reasoning" => reasoning = text(value),
            "reasoning_details" => read.details = Some(value),
            "tool_calls" => read.calls = Some(value),
            "function_call" => read.function = Some(value),
            "audio" => read.audio = Some(value),
            _ => read.others.push((key.to_owned(), value)),
        })?;
        read.thoughts = reasoning_content.or(reasoning);
        Ok(read)
    }
}

impl Choice {
    /// Takes one of `reasoning_details`. Its text repeats that of `reasoning`, if there is one.
    fn reasoning_detail(&mut self, detail: Raw<'_>, wants_text: bool, blocks: &mut Blocks<'_>) {
        let encrypted = detail.get("data").and_then(Raw::owned_string).map(|data| {
            let slot = blocks.new_block(Opening::Thinking { redacted: Some(data) });
            self.encrypted.push(slot);
            slot
        });
        let _ = detail.members(|key, value| match key {
            _ if value.is_null() => {}
            "type" | "index" | "data" => {}
            "text" | "summary" if wants_text => blocks.grow(&mut self.thinking, &THINKING, value),
            "text" | "summary" => {}
            "signature" => {
                let slot = blocks.open(&mut self.thinking, &THINKING);
                blocks.events.signed(slot, value);
            }
            _ => {
                // An encrypted detail comes whole. One in pieces repeats these fields in each piece.
                if encrypted.is_none() && !self.seen.is_new(&format!("reasoning.{key}"), value) {
                    return;
                }
                let slot = encrypted.unwrap_or_else(|| blocks.open(&mut self.thinking, &THINKING));
                blocks.events.keep(Owner::Block(slot), key, value);
            }
        });
    }

    /// Takes a part of content that is a list, as Mistral sends it.
    fn content_part(&mut self, part: Raw<'_>, blocks: &mut Blocks<'_>) {
        let (mut text, mut thinking, mut others) = (None, None, false);
        let _ = part.members(|key, value| match key {
            "text" => text = Some(value),
            "thinking" => thinking = Some(value),
            "type" | "closed" => {}
            _ => others = !value.is_null(),
        });
        match (thinking, text) {
            (Some(inner), _) if inner.text().starts_with('[') => {
                let _ = inner.elements(|part| {
                    part.get("text")
                        .into_iter()
                        .for_each(|text| blocks.grow(&mut self.thinking, &THINKING, text));
                });
            }
            (Some(text), _) => blocks.grow(&mut self.thinking, &THINKING, text),
            (None, Some(text)) if !others => blocks.grow(&mut self.text, &TEXT, text),
            _ => blocks.events.keep_pushed(Owner::Choice(blocks.choice), "content_parts", part),
        }
    }

    /// Takes the call of the format that preceded tools: one per choice, without an id.
    fn function_call(&mut self, function: Raw<'_>, blocks: &mut Blocks<'_>) {
        let name = function.get("name").and_then(Raw::owned_string);
        let arguments = function.get("arguments");
        let slot = match (&mut self.function, name) {
            (Some((slot, known)), Some(name)) if *known != name => {
                known.push_str(&name);
                let (id, name) = (invented_id(*slot), known.clone().into());
                blocks.events.push(Event::Named { block: *slot, id, name });
                *slot
            }
            (Some((slot, _)), _) => *slot,
            (None, name) => {
                let name = name.unwrap_or_default();
                let slot = blocks.new_call(None, &name, Notation::Json);
                self.function = Some((slot, name));
                slot
            }
        };
        arguments.into_iter().for_each(|arguments| blocks.events.grew(slot, arguments));
    }

    /// Takes a fragment of a call. Returns the call if the fragment only brings more of its arguments.
    fn tool_call(&mut self, fragment: Raw<'_>, blocks: &mut Blocks<'_>) -> Option<Growing> {
        let (mut index, mut id, mut body, mut notation) = (None, None, None, Notation::Json);
        let mut others = Vec::new();
        let _ = fragment.members(|key, value| match key {
            _ if value.is_null() => {}
            "index" => index = value.number(),
            "id" => id = value.string(),
            "type" => {}
            "function" => body = Some(value),
            "custom" => (body, notation) = (Some(value), Notation::Plain),
            _ => others.push((key.to_owned(), value)),
        });
        let (mut name, mut arguments) = (None, None);
        let _ = body.unwrap_or(Raw::new("{}")).members(|key, value| match key {
            "name" => name = value.string(),
            "arguments" | "input" => arguments = Some(value),
            _ if value.is_null() => {}
            _ => others.push((key.to_owned(), value)),
        });
        let mut text = std::mem::take(&mut self.arguments);
        text.clear();
        match arguments {
            // Some servers send the arguments as an object instead of a string.
            Some(object) if object.text().starts_with('{') => text.push_str(object.text()),
            Some(string) => self.decode(index, string, &mut text, blocks.events),
            None => {}
        }
        let call = self.route(
            &Fragment { index, id: id.as_deref(), name: name.as_deref(), arguments: &text },
            notation,
            blocks,
        );
        self.arguments = text;
        for (key, value) in others {
            let Some(slot) = call.map(|call| self.calls[call].slot) else {
                self.router.hold(index, &key, blocks.events.value(&key, value));
                continue;
            };
            if self.seen.is_new(&format!("{slot}.{key}"), value) {
                blocks.events.keep(Owner::Block(slot), &key, value);
            }
        }
        // A fragment with a name may begin another call, depending on its arguments.
        let (call, string) = (call.filter(|_| name.is_none())?, arguments?);
        string.string_body().filter(|_| !self.arguments.is_empty())?;
        blocks.events.grew_by(self.calls[call].slot, string);
        Some(Growing { choice: blocks.choice, call, index })
    }

    /// Adds a fragment to its call; returns the call, unless it is not known yet.
    fn route(
        &mut self,
        fragment: &Fragment<'_>,
        notation: Notation,
        blocks: &mut Blocks<'_>,
    ) -> Option<usize> {
        match self.router.route(fragment) {
            Route::New { call, arguments, others } => {
                let known = self.router.call(call);
                let slot = blocks.new_call(known.id.as_deref(), &known.name, notation);
                self.calls.push(Call { slot, notation });
                blocks.events.grew_plain(slot, &arguments);
                for (key, value) in others {
                    blocks.events.keep(Owner::Block(slot), &key, value);
                }
                Some(call)
            }
            Route::Known { call, renamed } => {
                let slot = self.calls[call].slot;
                if renamed {
                    let known = self.router.call(call);
                    let id = known.id.clone().map_or_else(|| invented_id(slot), CallId::Given);
                    let name = known.name.clone().into();
                    blocks.events.push(Event::Named { block: slot, id, name });
                }
                blocks.events.grew_plain(slot, fragment.arguments);
                Some(call)
            }
            Route::Held => None,
        }
    }

    /// Takes another fragment like the last one.
    fn go_on(&mut self, Growing { call, index, .. }: Growing, arguments: Raw<'_>, events: &mut Events) {
        let mut text = std::mem::take(&mut self.arguments);
        text.clear();
        self.decode(index, arguments, &mut text, events);
        self.router.grow(call, &text);
        events.grew_plain(self.calls[call].slot, &text);
        self.arguments = text;
    }

    /// Appends a piece of arguments to `out`; a surrogate pair that was cut between two pieces is joined.
    fn decode(&mut self, index: Option<u64>, arguments: Raw<'_>, out: &mut String, events: &mut Events) {
        let mut half: Half = self.halves.remove(&index);
        events.report(unescape(arguments.string_body().unwrap_or_default(), &mut half, out));
        self.halves.extend(half.map(|half| (index, half)));
    }

    /// Reports what has no call or no id when the stream ends, complete or not.
    fn report_missing(&mut self, events: &mut Events) {
        for (bytes, fragment) in self.router.take_held() {
            let bytes = counted(bytes as u64, "byte");
            let message = format!("{bytes} of arguments came for a call without a name");
            events.keep_unknown(Kind::OrphanFragment, message, fragment);
        }
        for (call, Call { slot, .. }) in self.router.calls().iter().zip(&self.calls) {
            if call.id.is_none() {
                let message =
                    format!("call to `{}` has no id, and was given `{}`", call.name, invented_id(*slot));
                events.notice(Kind::MissingId, message);
            }
        }
        if !std::mem::take(&mut self.halves).is_empty() {
            events.notice(Kind::LoneSurrogate, "arguments ended with a lone surrogate");
        }
    }
}

fn first_role(choices: Raw<'_>) -> Option<String> {
    let mut role = None;
    let _ = choices.elements(|choice| {
        let delta = choice.get("delta").or_else(|| choice.get("message"));
        role = role.take().or_else(|| delta?.get("role")?.owned_string());
    });
    role
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "stop" | "eos" | "end_turn" => StopReason::End,
        "length" | "model_length" | "max_tokens" => StopReason::Length,
        "tool_calls" | "function_call" | "tool_use" => StopReason::Tool,
        "content_filter" => StopReason::Filter,
        _ => StopReason::Other,
    }
}
