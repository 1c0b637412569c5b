//! Translates providers' frames to neutral events, with one file per dialect.
//!
//! Only this folder knows the providers. A [`Translator`] turns the frames of a stream into neutral [`Event`]s.
//! A `Native` builds the reply in the provider's own, non-streamed form. [`history`](crate::history) uses the
//! way back, from neutral messages to those of a provider's request.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::diagnostic::{Hint, Kind};
use crate::event::{Event, Slot, Start};
use crate::frame::{self, Frame};
use crate::json::{Object, Value};

mod agent_c;
mod anthropic;
mod bedrock_converse;
mod blocks;
mod cohere;
mod events;
mod failure;
mod fields;
mod gemini;
mod gemini_interactions;
mod heartbeat;
mod native_members;
mod numbered_blocks;
mod object;
mod ollama;
mod openai_chat;
mod openai_responses;
mod other_members;
mod repeated_frame;
pub(crate) mod request;
mod seen_members;
mod slots;
mod surrogates;
#[cfg(test)]
mod tests;

use events::Events;
use fields::{Error, Raw};
pub(crate) use heartbeat::is_heartbeat;
use repeated_frame::Repeat;
use request::Form;

/// The format in which a provider streams a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Chat Completions, and the many servers that are compatible with them.
    OpenAiChat,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Google's Gemini, from AI Studio, Vertex or Code Assist.
    Gemini,
    /// Google's Interactions, the other API of Gemini.
    GeminiInteractions,
    /// Amazon Bedrock's Converse, as an AWS event stream or with each message as a line of JSON.
    BedrockConverse,
    /// Cohere's Chat, version 2.
    Cohere,
    /// Ollama's own API.
    Ollama,
    /// Agent C's realtime events of one session.
    AgentC,
}

/// What it takes to read a dialect. What only some programs need has a method of its own instead, so that the
/// others are linked without it.
struct Entry {
    name: &'static str,
    /// Whether a frame can only be of this dialect.
    claims: fn(&Frame<'_>) -> bool,
    translate: fn() -> Box<dyn Translate>,
}

impl Entry {
    fn of<F: Translate + Default + 'static>(name: &'static str, claims: fn(&Frame<'_>) -> bool) -> Self {
        Self { name, claims, translate: || Box::<F>::default() }
    }
}

/// Where in a stream of messages the next frame is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum State {
    /// No message has begun.
    #[default]
    Before,
    Within,
    /// A message is over, and another may begin.
    After,
}

impl State {
    /// Starts a message whose start is missing: its content still counts.
    fn begin(&mut self, message: &str, events: &mut Events) {
        if *self == Self::Before {
            events.notice(Kind::MissingStart, format!("the start of the {message} is missing"));
            events.started(Start::default());
            *self = Self::Within;
        }
    }
}

/// Turns the frames of one dialect into events. It remembers what it needs to read the next frame.
trait Translate: Send + Sync {
    fn read(&mut self, frame: &Frame<'_>, events: &mut Events) -> Result<(), Error>;

    /// Whether [`repeat`](Self::repeat) may read the next frame if the last one only made a block grow.
    ///
    /// It may if reading the same frame again would do the same again and change nothing else.
    fn repeats(&self) -> bool {
        false
    }

    /// Translates a frame that differs from the one before only in `text`, which makes `block` grow.
    fn repeat(&mut self, block: Slot, text: Raw<'_>, events: &mut Events) {
        events.grew(block, text);
    }

    fn finish(&mut self, events: &mut Events) {
        self.cut(events);
    }

    /// Ends the stream inside a message: emits what was held back.
    fn cut(&mut self, _events: &mut Events) {}
}

/// Turns the frames of one dialect into the provider's own form of the reply.
trait Rebuild: Send + Sync {
    /// Takes a frame. A message that ends with it is added to `done`.
    fn read(&mut self, frame: &Frame<'_>, data: Object, done: &mut Vec<Value>);

    /// Whether `[DONE]` ends a message, and what follows begins another.
    fn ends_with_done(&self) -> bool {
        false
    }

    /// Takes the message that is being built, which may be unfinished.
    fn take(&mut self) -> Option<Value>;
}

// Whatever a fold can do is linked with it, and nobody reads what it would print.
impl fmt::Debug for dyn Translate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Translate").finish_non_exhaustive()
    }
}

impl fmt::Debug for dyn Rebuild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rebuild").finish_non_exhaustive()
    }
}

impl Dialect {
    /// Every dialect that this version reads, in the order in which detection tries them.
    ///
    /// Chat Completions come last: they are imitated so widely that any error that is an object could be
    /// theirs.
    pub const ALL: [Self; 9] = [
        Self::Anthropic,
        Self::OpenAiResponses,
        Self::Gemini,
        Self::GeminiInteractions,
        Self::BedrockConverse,
        Self::Cohere,
        Self::Ollama,
        Self::AgentC,
        Self::OpenAiChat,
    ];

    /// The name that the command line uses.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// Whether the provider has its own form of a whole reply; see
    /// [`Reply::with_native`](crate::Reply::with_native).
    pub fn has_native(self) -> bool {
        self.rebuild().is_some()
    }

    /// Detects the dialect of a stream from one of its first frames; `None` if the frame does not show it.
    pub fn detect(frame: &Frame<'_>) -> Option<Self> {
        let may_show = frame.kind != frame::Kind::Comment && !is_heartbeat(frame);
        Self::ALL.into_iter().find(|dialect| may_show && (dialect.entry().claims)(frame))
    }

    /// The form of its requests; `None` if it is not known.
    pub(crate) fn form(self) -> Option<&'static Form> {
        Some(match self {
            Self::Anthropic => &anthropic::FORM,
            Self::OpenAiChat => &openai_chat::FORM,
            Self::OpenAiResponses => &openai_responses::FORM,
            Self::Gemini => &gemini::FORM,
            Self::BedrockConverse => &bedrock_converse::FORM,
            Self::Cohere => &cohere::FORM,
            Self::Ollama => &ollama::FORM,
            Self::GeminiInteractions | Self::AgentC => return None,
        })
    }

    /// What builds its own form of a reply; `None` if it has no form other than the stream.
    fn rebuild(self) -> Option<Box<dyn Rebuild>> {
        Some(match self {
            Self::Anthropic => Box::<anthropic::Native>::default(),
            Self::OpenAiChat => Box::<openai_chat::Native>::default(),
            Self::OpenAiResponses => Box::<openai_responses::Native>::default(),
            Self::Gemini => Box::<gemini::Native>::default(),
            Self::BedrockConverse => Box::<bedrock_converse::Native>::default(),
            Self::Cohere => Box::<cohere::Native>::default(),
            Self::Ollama => Box::<ollama::Native>::default(),
            Self::GeminiInteractions | Self::AgentC => return None,
        })
    }

    fn entry(self) -> Entry {
        match self {
            Self::Anthropic => Entry::of::<anthropic::Fold>("anthropic", anthropic::claims),
            Self::OpenAiChat => Entry::of::<openai_chat::Fold>("openai-chat", openai_chat::claims),
            Self::OpenAiResponses => {
                Entry::of::<openai_responses::Fold>("openai-responses", openai_responses::claims)
            }
            Self::Gemini => Entry::of::<gemini::Fold>("gemini", gemini::claims),
            Self::GeminiInteractions => {
                Entry::of::<gemini_interactions::Fold>("gemini-interactions", gemini_interactions::claims)
            }
            Self::BedrockConverse => {
                Entry::of::<bedrock_converse::Fold>("bedrock-converse", bedrock_converse::claims)
            }
            Self::Cohere => Entry::of::<cohere::Fold>("cohere", cohere::claims),
            Self::Ollama => Entry::of::<ollama::Fold>("ollama", ollama::claims),
            Self::AgentC => Entry::of::<agent_c::Fold>("agent-c", agent_c::claims),
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no dialect has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a dialect")]
pub struct UnknownName {
    name: String,
}

impl Hint for UnknownName {
    fn hint(&self) -> Cow<'static, str> {
        format!("use one of: {}", Dialect::ALL.map(Dialect::name).join(", ")).into()
    }
}

impl FromStr for Dialect {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|dialect| dialect.name() == name);
        found.ok_or_else(|| UnknownName { name: name.to_owned() })
    }
}

/// Translates frames of one dialect to neutral events.
///
/// ```
/// use reknit::event::Event;
/// use reknit::{Dialect, Limits, frame, wire::Translator};
///
/// let mut decoder = frame::Decoder::new(frame::Framing::Sse, &Limits::default());
/// let mut translator = Translator::new(Dialect::OpenAiChat);
/// let mut text = String::new();
/// decoder.push(b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n");
/// while let Some(frame) = decoder.next_frame()? {
///     translator.push(&frame);
///     while let Some(event) = translator.next_event() {
///         if let Event::Grew { text: piece, .. } = event {
///             text.push_str(piece);
///         }
///     }
/// }
/// assert_eq!(text, "Hi");
/// # Ok::<(), frame::Error>(())
/// ```
#[derive(Debug)]
pub struct Translator {
    fold: Box<dyn Translate>,
    repeat: Repeat,
    events: Events,
}

impl Translator {
    /// Creates a translator at the start of a stream.
    pub fn new(dialect: Dialect) -> Self {
        let fold = (dialect.entry().translate)();
        Self { fold, repeat: Repeat::default(), events: Events::default() }
    }

    /// Takes the next frame of the stream.
    pub fn push(&mut self, frame: &Frame<'_>) {
        self.events.at(frame);
        if frame.kind == frame::Kind::Comment {
            return self.events.push(Event::Ping);
        }
        let is_data = frame.kind == frame::Kind::Data;
        if let Some((block, text)) = self.repeat.read(frame).filter(|_| is_data) {
            return self.fold.repeat(block, text, &mut self.events);
        }
        if let Err(error) = self.fold.read(frame, &mut self.events) {
            self.events.notice(Kind::MalformedFrame, format!("frame {}: {error}", frame.number));
        }
        let growth = if self.fold.repeats() { self.events.growth(frame) } else { None };
        self.repeat.set(frame, growth);
    }

    /// The next event of the frames pushed so far.
    pub fn next_event(&mut self) -> Option<Event<'_>> {
        self.events.next()
    }

    /// Whether the next event starts a message.
    pub(crate) fn starts_next(&self) -> bool {
        self.events.starts_next()
    }

    /// Whether the next event opens a block.
    pub(crate) fn opens_next(&self) -> bool {
        self.events.opens_next()
    }

    /// The block that the next event is about, if it is one of those that lend text.
    pub(crate) fn grows_next(&self) -> Option<Slot> {
        self.events.grows_next()
    }

    /// The block that the next event makes grow, and by what, if it does.
    pub(crate) fn growth_next(&self) -> Option<(Slot, &str)> {
        self.events.growth_next()
    }

    /// Whether no event is left.
    pub(crate) fn is_drained(&self) -> bool {
        self.events.is_empty()
    }

    /// Ends the stream; [`next_event`](Self::next_event) then returns what that means for the message.
    ///
    /// `unread` is the number of bytes after the last frame, if the stream stopped inside another one. In some
    /// dialects the end of the input ends the message; then a stream that stops inside a frame does not, unless
    /// that frame can be a `[DONE]` without its line end.
    pub fn finish(&mut self, unread: u64) {
        if unread <= ("data: ".len() + DONE.len()) as u64 {
            self.fold.finish(&mut self.events);
        } else {
            self.fold.cut(&mut self.events);
        }
        self.events.finish();
    }
}

/// Builds the reply in the provider's own non-streamed form.
///
/// What the stream did not bring is absent, and unfinished arguments are the text so far.
#[derive(Debug)]
pub(crate) struct Native {
    fold: Box<dyn Rebuild>,
    /// The messages that are over.
    done: Vec<Value>,
    /// Whether a frame contained half of a surrogate pair, so that there are marks to resolve.
    has_halves: bool,
}

impl Native {
    /// Starts at the beginning of a stream; `None` if the dialect [has no such form](Dialect::has_native).
    pub(crate) fn new(dialect: Dialect) -> Option<Self> {
        Some(Self { fold: dialect.rebuild()?, done: Vec::new(), has_halves: false })
    }

    /// Takes the next frame of the stream.
    pub(crate) fn push(&mut self, frame: &Frame<'_>) {
        if frame.kind == frame::Kind::Comment {
            return;
        }
        if frame.data == DONE {
            if self.fold.ends_with_done() {
                self.done.extend(self.fold.take());
            }
            return;
        }
        // The translator sees the same frames, and reports those that are not objects.
        if let Some(Value::Object(data)) = self.parse(frame.data) {
            self.fold.read(frame, data, &mut self.done);
        }
    }

    /// The messages of the stream in order; the last one may be unfinished.
    pub(crate) fn into_messages(mut self) -> Vec<Value> {
        self.done.extend(self.fold.take());
        if self.has_halves { self.done.into_iter().map(surrogates::resolve).collect() } else { self.done }
    }

    /// The value of a frame, read as leniently as the translator reads it if some part is malformed.
    fn parse(&mut self, data: &str) -> Option<Value> {
        if let Ok(value) = data.parse() {
            return Some(value);
        }
        let marked = surrogates::mark(data);
        self.has_halves |= marked.is_some();
        let data = Raw::new(marked.as_deref().unwrap_or(data));
        data.members(|_, _| {}).ok().map(|()| data.value_to_depth(KEPT_DEPTH))
    }
}

/// How deep a frame with a malformed part is read; providers' own fields are not nested deeper.
const KEPT_DEPTH: usize = 16;

/// What OpenAI and compatible servers send as the last frame.
const DONE: &str = "[DONE]";
