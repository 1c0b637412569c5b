//! [`Choice`]: what one choice has said so far.

use std::collections::BTreeMap;

use super::super::blocks::{Blocks, TEXT, invented_id};
use super::super::events::Events;
use super::super::fields::{Error, Faults, Half, Raw, unescape};
use super::super::seen_members::Seen;
use super::delta::Delta;
use super::router::{Fragment, Route, Router};
use super::thoughts::Thoughts;
use super::{Fragments, Growing, stop_reason};
use crate::diagnostic::{Kind, counted};
use crate::event::{CallId, Event, Keep, Notation, Opening, Owner, Slot, Stop};

#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    text: Option<Slot>,
    refusal: Option<Slot>,
    thoughts: Thoughts,
    audio: Option<Slot>,
    /// The call of the format that preceded tools.
    function: Option<(Slot, String)>,
    calls: Vec<Call>,
    router: Router,
    /// The arguments of the last fragment; kept so that the memory is reused.
    arguments: String,
    /// Halves of surrogate pairs that wait for the next arguments of the same index; nearly always empty.
    halves: BTreeMap<Option<u64>, u16>,
    finish: Finish,
    role: Role,
    seen: Seen,
}

#[derive(Clone, Copy, Debug)]
struct Call {
    slot: Slot,
    notation: Notation,
}

/// The finish reason of a choice.
#[derive(Clone, Debug, Default)]
enum Finish {
    #[default]
    Missing,
    Given(String),
    /// More content came after it, so it does not end the choice.
    Passed,
}

/// The role in the last delta.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Role {
    #[default]
    Absent,
    Present,
    /// It came again after a finish reason, and no content has come since.
    Again,
}

/// Strings of a delta that name something. Any other unknown string is a piece of a text.
pub(super) const NAMES: [&str; 5] = ["channel", "id", "model", "name", "type"];

impl Choice {
    /// Whether its finish reason is the last thing that it said.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.finish, Finish::Given(_))
    }

    /// The blocks that the end of the message closes.
    pub(super) fn open_blocks(&self) -> impl Iterator<Item = Slot> {
        let single = [self.text, self.refusal, self.thoughts.slot(), self.audio].into_iter().flatten();
        let function = self.function.iter().map(|(slot, _)| *slot);
        // Without a finish reason, nothing says that the model was done with a free text.
        let has_stopped = !matches!(self.finish, Finish::Missing);
        let is_whole = move |call: &&Call| has_stopped || call.notation == Notation::Json;
        single.chain(function).chain(self.calls.iter().filter(is_whole).map(|call| call.slot))
    }

    pub(super) fn has_stopped(&self) -> bool {
        !matches!(self.finish, Finish::Missing)
    }

    pub(super) fn stop(&mut self, index: u32, word: &str, events: &mut Events) {
        if !matches!(&self.finish, Finish::Given(known) if known == word) {
            let stop = Stop { reason: stop_reason(word), detail: word.to_owned() };
            self.finish = Finish::Given(word.to_owned());
            events.push(Event::Stopped { choice: index, stop });
        }
    }

    /// Keeps a field unless it has the value that it had before.
    pub(super) fn keep(&mut self, index: u32, key: &str, value: Raw<'_>, events: &mut Events) {
        if self.seen.is_new(key, value) {
            events.keep(Owner::Choice(index), key, value);
        }
    }

    /// Takes a delta; `fragments` is what its calls are.
    pub(super) fn take(
        &mut self,
        delta: Delta<'_>,
        fragments: &mut Fragments,
        blocks: &mut Blocks<'_>,
    ) -> Result<(), Error> {
        let before = blocks.events.len();
        let Delta { content, refusal, thoughts, details, calls, function, audio, has_role, others } = delta;
        self.role = match (self.role, has_role) {
            (Role::Absent, true) if self.has_stopped() => Role::Again,
            (Role::Again, _) => Role::Again,
            (_, true) => Role::Present,
            (_, false) => Role::Absent,
        };
        let mut faults = Faults::default();
        if let Some(text) = thoughts {
            self.thoughts.grow(text, blocks);
        }
        if let Some(details) = details {
            let read = details.elements(|detail| self.thoughts.detail(detail, blocks));
            faults.note("`reasoning_details`", read);
        }
        match content {
            Some(parts) if parts.text().starts_with('[') => {
                faults.note("`content`", parts.elements(|part| self.content_part(part, blocks)));
            }
            Some(part) if part.text().starts_with('{') => self.content_part(part, blocks),
            text => blocks.grow(&mut self.text, &TEXT, text),
        }
        blocks.grow(&mut self.refusal, &Opening::Text { refusal: true }, refusal);
        if let Some(audio) = audio {
            faults.note("`audio`", self.audio(audio, blocks));
        }
        if let Some(function) = function {
            self.function_call(function, blocks);
        }
        if let Some(calls) = calls {
            let read = calls.elements(|fragment| fragments.add(self.tool_call(fragment, blocks)));
            faults.note("`tool_calls`", read);
        }
        // A fragment may be held back until the name of its call comes.
        let has_calls = calls.is_some_and(|calls| calls.text().contains('{'));
        let has_content = has_calls || blocks.events.have_content_since(before);
        if self.has_stopped() && has_content {
            self.go_on_after_finish(has_role, blocks.events);
        }
        for (key, value) in others.iter() {
            faults.note("`delta`", self.unknown(key, value, blocks));
        }
        faults.result()
    }

    /// Notes that content came after a finish reason: only another end shows that the choice is over.
    fn go_on_after_finish(&mut self, has_role: bool, events: &mut Events) {
        self.finish = Finish::Passed;
        if self.role == Role::Again {
            let message = "the role came again after the finish reason; what follows was added to the reply";
            events.notice(Kind::RestartedReply, message);
            self.role = if has_role { Role::Present } else { Role::Absent };
        }
    }

    /// Keeps a member of a delta that is not known.
    fn unknown(&mut self, key: &str, value: Raw<'_>, blocks: &mut Blocks<'_>) -> Result<(), Error> {
        let owner = Owner::Choice(blocks.choice);
        if value.text().starts_with('[') {
            return value.elements(|element| blocks.events.keep_pushed(owner, key, element));
        }
        if value.string_body().is_some() && !NAMES.contains(&key) {
            blocks.events.keep_grown(owner, key, value);
        } else {
            self.keep(blocks.choice, key, value, blocks.events);
        }
        Ok(())
    }

    fn audio(&mut self, audio: Raw<'_>, blocks: &mut Blocks<'_>) -> Result<(), Error> {
        let slot = blocks.open(&mut self.audio, &Opening::Other { kind: "audio".to_owned() });
        audio.members(|key, value| match (key, value.owned_string()) {
            ("data" | "transcript", Some(text)) => {
                blocks.events.kept(Owner::Block(slot), key, Keep::Grow(text.into()));
            }
            _ => blocks.events.keep(Owner::Block(slot), key, value),
        })
    }

    /// Takes a part of content that is a list, as Mistral sends it.
    fn content_part(&mut self, part: Raw<'_>, blocks: &mut Blocks<'_>) {
        let ([kind, text, thinking], others, _) = part.split_leniently(["type", "text", "thinking"]);
        let kind = kind.and_then(Raw::string);
        let is_text = others.is_empty() || matches!(kind.as_deref(), None | Some("text" | "output_text"));
        match (thinking, text) {
            (Some(thinking), _) => self.thoughts.part(thinking, &others, blocks),
            (None, Some(text)) if is_text => {
                blocks.grow(&mut self.text, &TEXT, Some(text));
                for (key, value) in others.iter() {
                    let owner = Owner::Block(blocks.open(&mut self.text, &TEXT));
                    let push = |element: Raw<'_>| blocks.events.keep_pushed(owner, key, element);
                    // Each part has its own list, and all belong to the one text.
                    if value.elements(push).is_err() {
                        blocks.events.keep(owner, key, value);
                    }
                }
            }
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
        blocks.events.grew(slot, arguments);
    }

    /// Takes a fragment of a call. Returns the call if the fragment only brings more of its arguments.
    fn tool_call(&mut self, fragment: Raw<'_>, blocks: &mut Blocks<'_>) -> Option<Growing> {
        let ([_, index, id, function, custom], mut others, _) =
            fragment.split_leniently(["type", "index", "id", "function", "custom"]);
        let notation = if custom.is_some() { Notation::Plain } else { Notation::Json };
        let body = custom.or(function).unwrap_or_default();
        let ([name, arguments, input], more, _) = body.split_leniently(["name", "arguments", "input"]);
        others.append(more);
        let (index, arguments) = (index.and_then(Raw::number), arguments.or(input));
        let [id, name] = [id, name].map(|word| word?.string());
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
        for (key, value) in others.iter() {
            let Some(slot) = call.map(|call| self.calls[call].slot) else {
                self.router.hold(index, key, blocks.events.value(key, value));
                continue;
            };
            if self.seen.is_new(&format!("{slot}.{key}"), value) {
                blocks.events.keep(Owner::Block(slot), key, value);
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
                let slot = blocks.new_call(known.own_id(), &known.name, notation);
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
                    let id =
                        known.own_id().map_or_else(|| invented_id(slot), |id| CallId::Given(id.to_owned()));
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
    pub(super) fn go_on(
        &mut self,
        Growing { call, index, .. }: Growing,
        arguments: Raw<'_>,
        events: &mut Events,
    ) {
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
    pub(super) fn report_missing(&mut self, events: &mut Events) {
        for (bytes, fragment) in self.router.take_held() {
            let bytes = counted(bytes as u64, "byte");
            let message = format!("{bytes} of arguments came for a call without a name");
            events.keep_unknown(Kind::OrphanFragment, message, fragment);
        }
        for (call, Call { slot, .. }) in self.router.calls().iter().zip(&self.calls) {
            if call.own_id().is_none() {
                let why = if call.id.is_none() { "no id" } else { "the id of another call" };
                let message =
                    format!("call to `{}` has {why}, and was given `{}`", call.name, invented_id(*slot));
                events.notice(Kind::MissingId, message);
            }
        }
        if !std::mem::take(&mut self.halves).is_empty() {
            events.notice(Kind::LoneSurrogate, "arguments ended with a lone surrogate");
        }
    }
}
