//! [`Reply`]: bytes to messages, for the common case.

use std::collections::VecDeque;

use crate::diagnostic::{Diagnostic, Kind, Place};
use crate::frame;
use crate::json::Value;
use crate::limits::Limits;
use crate::message::{Change, Message, Status};
use crate::wire::Dialect;

mod source;
#[cfg(feature = "stream")]
mod stream;

use source::{Source, Step};

#[cfg(feature = "stream")]
pub use stream::ChangeStream;

/// A provider's stream as the messages it holds: [`new`](Reply::new), [`push`](Reply::push),
/// [`finish`](Reply::finish), [`message`](Reply::message).
///
/// ```
/// use reknit::{Dialect, Reply, message::{Change, Status}};
///
/// let mut reply = Reply::new(Dialect::OpenAiChat);
/// for piece in [&b"data: {\"choices\":[{\"delta\":{\"cont"[..], b"ent\":\"Hi\"}}]}\n", b"\n"] {
///     let mut changes = reply.push(piece);
///     while let Some((change, message)) = changes.next() {
///         if let Change::Grew { text, .. } = change {
///             println!("{text}, so far {} blocks", message.blocks().len());
///         }
///     }
/// }
/// reply.finish();
/// assert_eq!(reply.message().text(), "Hi");
/// assert_eq!(reply.message().status(), Status::Cut, "no finish reason and no [DONE] came");
/// ```
#[derive(Debug)]
pub struct Reply {
    limits: Limits,
    taken: u64,
    input: Input,
    source: Source,
    /// Changes that were found beside an event and are to be given before the next one.
    owed: VecDeque<Change<'static>>,
    message: Message,
    earlier: Vec<Message>,
    blocks: usize,
    error: Option<Error>,
}

/// How far the input is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Input {
    Open,
    /// The caller said that it is over; frames may still be waiting.
    Ending,
    /// Its last frame was translated.
    Ended,
    /// Nothing more comes of it.
    Over,
}

/// What made a reply refuse the rest of its input. What was read before stays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A frame is too long.
    #[error(transparent)]
    Frame(#[from] frame::Error),
    /// The whole is too long.
    #[error("byte {limit}: the reply is longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: u64,
    },
    /// There are too many blocks, choices or messages.
    #[error("byte {at}: the reply has more than {limit} blocks, choices or messages")]
    TooManyBlocks {
        /// Where the first one too many begins.
        at: u64,
        /// The limit.
        limit: usize,
    },
    /// There are bytes, but no frame in them.
    #[error("the input has {bytes} bytes, and no server-sent event and no JSON in them")]
    NoFrame {
        /// How many bytes there are.
        bytes: u64,
    },
    /// The first frames are of no dialect that this version reads.
    #[error("byte {at}: the input is not a stream of a known dialect; it begins with `{beginning}`")]
    UnknownDialect {
        /// Where the first frame begins.
        at: u64,
        /// Its number.
        frame: u64,
        /// How it begins.
        beginning: String,
    },
    /// The input is of another dialect than the one named.
    #[error("byte {at}: the input is not `{named}`, it looks like `{found}`")]
    WrongDialect {
        /// Where the frame that shows it begins.
        at: u64,
        /// The dialect that was named.
        named: Dialect,
        /// The dialect that it looks like.
        found: Dialect,
    },
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Frame(error) => error.hint().to_owned(),
            Self::TooLong { .. } | Self::TooManyBlocks { .. } => Kind::LimitReached.hint().to_owned(),
            Self::NoFrame { .. } | Self::UnknownDialect { .. } => {
                let names = Dialect::ALL.map(Dialect::name).join(", ");
                format!("this version reads {names}; give it the body of a streamed response")
            }
            Self::WrongDialect { found, .. } => {
                format!("name `{found}` instead, or let the dialect be found")
            }
        }
    }

    /// The kind of the diagnostic that a message has of it.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Frame(frame::Error::TooLong { .. }) | Self::TooLong { .. } | Self::TooManyBlocks { .. } => {
                Kind::LimitReached
            }
            Self::NoFrame { .. } | Self::UnknownDialect { .. } => Kind::UnknownDialect,
            Self::WrongDialect { .. } => Kind::WrongDialect,
        }
    }

    /// The diagnostic of it; `last` is where the frame stands that was read last.
    fn diagnostic(&self, last: Place) -> Diagnostic {
        let place = match self {
            Self::Frame(frame::Error::TooLong { at, .. })
            | Self::TooLong { limit: at }
            | Self::TooManyBlocks { at, .. }
            | Self::WrongDialect { at, .. } => Place { at: *at, ..last },
            Self::NoFrame { .. } => Place::default(),
            Self::UnknownDialect { at, frame, .. } => Place { at: *at, frame: *frame },
        };
        place.notice(self.kind(), self.to_string())
    }
}

impl Reply {
    /// A reply in a dialect that is known.
    pub fn new(dialect: Dialect) -> Self {
        Self::from_source(Source::named(dialect))
    }

    /// A reply whose dialect is found by its first frames.
    pub fn detect() -> Self {
        Self::from_source(Source::unknown())
    }

    fn from_source(source: Source) -> Self {
        Self {
            limits: Limits::default(),
            taken: 0,
            input: Input::Open,
            source,
            owed: VecDeque::new(),
            message: Message::default(),
            earlier: Vec::new(),
            blocks: 0,
            error: None,
        }
    }

    /// The same with other limits; to be called before the first piece.
    #[must_use]
    pub fn with_limits(mut self, limits: &Limits) -> Self {
        self.limits = *limits;
        self.source.limit(limits);
        self.message = Message::new(limits);
        self
    }

    /// The same, building the provider's own form beside the neutral one; see [`Reply::into_native`].
    #[must_use]
    pub fn with_native(mut self) -> Self {
        self.source.build_native();
        self
    }

    /// Takes the next piece of the stream, cut anywhere.
    ///
    /// The changes can be looked at one by one. Whether they are or not, the piece is read.
    pub fn push(&mut self, piece: &[u8]) -> Changes<'_> {
        let mut refusal = None;
        if self.input == Input::Open {
            let limit = self.limits.reply_bytes;
            let room = usize::try_from(limit.saturating_sub(self.taken)).unwrap_or(usize::MAX);
            refusal = (piece.len() > room).then_some(Error::TooLong { limit });
            let piece = &piece[..piece.len().min(room)];
            self.taken += piece.len() as u64;
            self.source.push(piece);
        }
        Changes { reply: self, refusal }
    }

    /// The stream is over. A message that is not over is cut.
    pub fn finish(&mut self) -> Changes<'_> {
        if self.input == Input::Open {
            self.source.finish();
            self.input = Input::Ending;
        }
        Changes { reply: self, refusal: None }
    }

    /// The message that is being read, or the last one of the stream.
    pub fn message(&self) -> &Message {
        &self.message
    }

    /// All messages of the stream so far, first to last. Most streams have one.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.earlier.iter().chain([&self.message])
    }

    /// The dialect, once it is known.
    pub fn dialect(&self) -> Option<Dialect> {
        self.source.dialect()
    }

    /// Why the rest of the input is refused, if it is.
    pub fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// The messages in the provider's own non-streamed form, if that was asked for.
    pub fn into_native(self) -> Vec<Value> {
        self.source.into_native()
    }

    fn next_change(&mut self) -> Option<(Change<'_>, &Message)> {
        if self.owed.is_empty() {
            self.advance();
        }
        if let Some(change) = self.owed.pop_front() {
            self.message.follow(&change).expect("what is owed names no block");
            return Some((change, &self.message));
        }
        let place = self.source.place();
        let translator = self.source.translator()?;
        if translator.starts_next() && self.message.status() != Status::Waiting {
            self.earlier.push(std::mem::replace(&mut self.message, Message::new(&self.limits)));
        }
        let change = self.message.apply(translator.next_event()?, place);
        self.blocks += usize::from(matches!(change, Change::Opened { .. }));
        Some((change, &self.message))
    }

    /// Goes on until an event can be taken, a change is owed, or there is nothing more.
    fn advance(&mut self) {
        // Behind a refusal the decoder may still hold frames of the same piece; another cut would not.
        while self.owed.is_empty() && self.input != Input::Over {
            if let Some(translator) = self.source.translator().filter(|translator| !translator.is_drained()) {
                let limit = self.limits.blocks;
                let opens_too_many = translator.opens_next() && self.blocks >= limit;
                if opens_too_many || self.message.choices().len() > limit || self.earlier.len() >= limit {
                    let error =
                        Error::TooManyBlocks { at: self.source.place().at, limit: self.limits.blocks };
                    return self.refuse(error);
                }
                // A second message begins: the first is over, and cut if nobody said that it is whole.
                if translator.starts_next() && self.message.status() == Status::Streaming {
                    self.owed.push_back(Change::Cut {});
                }
                return;
            }
            match (self.source.read(&mut self.owed), self.input) {
                (Err(error), _) => return self.refuse(error),
                (Ok(Step::Frame), _) => {}
                (Ok(Step::Nothing), Input::Open | Input::Over) => return,
                (Ok(Step::Nothing), Input::Ending) => {
                    self.input = Input::Ended;
                    if let Err(error) = self.source.end(self.taken) {
                        return self.refuse(error);
                    }
                }
                (Ok(Step::Nothing), Input::Ended) => self.end(),
            }
        }
    }

    /// Whether all that was taken has been given out.
    fn is_drained(&mut self) -> bool {
        self.advance();
        self.owed.is_empty() && self.source.translator().is_none_or(|translator| translator.is_drained())
    }

    fn refuse(&mut self, error: Error) {
        self.source.stop();
        self.owed.push_back(Change::Noticed(error.diagnostic(self.source.place())));
        self.error = Some(error);
        self.end();
    }

    fn end(&mut self) {
        self.input = Input::Over;
        if !self.message.is_over() {
            self.owed.push_back(Change::Cut {});
        }
    }
}

/// The changes that a piece made, one at a time, each with the message as it is right behind it.
///
/// What is not looked at happens all the same, when this is dropped.
#[derive(Debug)]
pub struct Changes<'a> {
    reply: &'a mut Reply,
    /// Why the rest of the piece is not taken.
    refusal: Option<Error>,
}

impl Changes<'_> {
    /// The next change, and the message that it led to.
    // An iterator could not lend what it gives.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<(Change<'_>, &Message)> {
        if self.refusal.is_some() && self.reply.is_drained() {
            // What was taken of the piece may have been refused already, and a reply has one error.
            let error = self.refusal.take().filter(|_| self.reply.input != Input::Over);
            error.into_iter().for_each(|error| self.reply.refuse(error));
        }
        self.reply.next_change()
    }
}

impl Drop for Changes<'_> {
    fn drop(&mut self) {
        while self.next().is_some() {}
    }
}
