//! Providers' frames to neutral events: one file a dialect.
//!
//! Only this folder knows a provider's name. A [`Translator`] gives the neutral [`Event`]s of a stream; a
//! [`Native`], run only when asked for, gives the reply in the provider's own, non-streamed form.

use std::fmt;
use std::str::FromStr;

use crate::diagnostic::Kind;
use crate::event::Event;
use crate::frame::{self, Frame};
use crate::json::Value;

mod anthropic;
mod events;
mod fields;
mod openai_chat;
mod openai_responses;

use events::Events;

/// A provider's way to write a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Chat Completions, and the many servers that imitate them.
    OpenAiChat,
    /// OpenAI's Responses.
    OpenAiResponses,
}

impl Dialect {
    /// Every dialect that this version reads.
    pub const ALL: [Self; 3] = [Self::Anthropic, Self::OpenAiChat, Self::OpenAiResponses];

    /// Its name, as the command line takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
        }
    }

    /// The dialect of a stream, by one of its first frames; `None` if the frame could be anyone's.
    pub fn detect(frame: &Frame<'_>) -> Option<Self> {
        if frame.kind != frame::Kind::Data {
            return None;
        }
        if anthropic::claims(frame) {
            Some(Self::Anthropic)
        } else if openai_responses::claims(frame) {
            // Before Chat Completions: a response that failed has an `error` and no `type`, as theirs do.
            Some(Self::OpenAiResponses)
        } else if openai_chat::claims(frame) {
            Some(Self::OpenAiChat)
        } else {
            None
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no dialect's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a dialect")]
pub struct UnknownName {
    name: String,
}

impl UnknownName {
    /// What to do about it.
    pub fn hint(&self) -> String {
        format!("use one of: {}", Dialect::ALL.map(Dialect::name).join(", "))
    }
}

impl FromStr for Dialect {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|dialect| dialect.name() == name);
        found.ok_or_else(|| UnknownName { name: name.to_owned() })
    }
}

/// Frames of one dialect in, neutral events out.
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
#[derive(Clone, Debug)]
pub struct Translator {
    fold: Fold,
    events: Events,
}

#[derive(Clone, Debug)]
enum Fold {
    Anthropic(anthropic::Fold),
    OpenAiChat(openai_chat::Fold),
    OpenAiResponses(openai_responses::Fold),
}

impl Translator {
    /// A translator at the beginning of a stream.
    pub fn new(dialect: Dialect) -> Self {
        let fold = match dialect {
            Dialect::Anthropic => Fold::Anthropic(anthropic::Fold::default()),
            Dialect::OpenAiChat => Fold::OpenAiChat(openai_chat::Fold::default()),
            Dialect::OpenAiResponses => Fold::OpenAiResponses(openai_responses::Fold::default()),
        };
        Self { fold, events: Events::default() }
    }

    /// Takes the next frame of the stream.
    pub fn push(&mut self, frame: &Frame<'_>) {
        self.events.at(frame);
        if frame.kind == frame::Kind::Comment {
            return self.events.push(Event::Ping);
        }
        let read = match &mut self.fold {
            Fold::Anthropic(fold) => fold.read(frame, &mut self.events),
            Fold::OpenAiChat(fold) => fold.read(frame, &mut self.events),
            Fold::OpenAiResponses(fold) => fold.read(frame, &mut self.events),
        };
        if let Err(error) = read {
            self.events.notice(Kind::MalformedFrame, format!("frame {}: {error}", frame.number));
        }
    }

    /// The next event of the frames that were given.
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

    /// Whether there is no event to be had.
    pub(crate) fn is_drained(&self) -> bool {
        self.events.is_empty()
    }

    /// The stream is over. What its end means for the message comes as events.
    pub fn finish(&mut self) {
        match &mut self.fold {
            Fold::Anthropic(_) => {}
            Fold::OpenAiChat(fold) => fold.finish(&mut self.events),
            Fold::OpenAiResponses(fold) => fold.finish(&mut self.events),
        }
    }
}

/// The reply in the provider's own non-streamed form.
///
/// What the stream did not bring is absent, and an unfinished argument stands as its text so far.
#[derive(Clone, Debug)]
pub struct Native {
    fold: NativeFold,
}

#[derive(Clone, Debug)]
enum NativeFold {
    Anthropic(anthropic::Native),
    OpenAiChat(openai_chat::Native),
    OpenAiResponses(openai_responses::Native),
}

impl Native {
    /// A fold at the beginning of a stream.
    pub fn new(dialect: Dialect) -> Self {
        let fold = match dialect {
            Dialect::Anthropic => NativeFold::Anthropic(anthropic::Native::default()),
            Dialect::OpenAiChat => NativeFold::OpenAiChat(openai_chat::Native::default()),
            Dialect::OpenAiResponses => NativeFold::OpenAiResponses(openai_responses::Native::default()),
        };
        Self { fold }
    }

    /// Takes the next frame of the stream.
    pub fn push(&mut self, frame: &Frame<'_>) {
        if frame.kind == frame::Kind::Comment {
            return;
        }
        // A frame that is no JSON is noticed by the translator, which sees the same frames.
        let Ok(data) = frame.data.parse::<Value>() else {
            if frame.data == DONE
                && let NativeFold::OpenAiChat(fold) = &mut self.fold
            {
                fold.done();
            }
            return;
        };
        match &mut self.fold {
            NativeFold::Anthropic(fold) => fold.read(frame.event, data),
            NativeFold::OpenAiChat(fold) => fold.read(data),
            NativeFold::OpenAiResponses(fold) => fold.read(frame, data),
        }
    }

    /// The messages of the stream, first to last; the last one as far as it has come.
    pub fn into_messages(self) -> Vec<Value> {
        match self.fold {
            NativeFold::Anthropic(fold) => fold.into_messages(),
            NativeFold::OpenAiChat(fold) => fold.into_messages(),
            NativeFold::OpenAiResponses(fold) => fold.into_messages(),
        }
    }
}

/// What OpenAI and its imitators send as the last frame.
const DONE: &str = "[DONE]";
