//! [`Reply`]: from bytes to messages, for the common case.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use crate::diagnostic::{Diagnostic, Hint, Kind, Place};
use crate::event::{Event, Slot};
use crate::frame;
use crate::json::Value;
use crate::limits::Limits;
use crate::message::{Change, Message, Status};
use crate::tags::Tagger;
use crate::wire::{Dialect, Translator};

mod items;
mod source;
#[cfg(feature = "stream")]
mod change_stream;

use source::{Source, Step};

pub use items::{Item, Items};

#[cfg(feature = "stream")]
pub use change_stream::ChangeStream;

/// Reads the messages in a provider's stream: [`new`](Reply::new), [`push`](Reply::push),
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
/// assert_eq!(reply.message().status(), Status::Cut, "neither a finish reason nor [DONE] arrived");
/// ```
#[derive(Debug)]
pub struct Reply {
    limits: Limits,
    /// Whether the input is the text of a model and not the stream of a provider.
    is_text: bool,
    taken: u64,
    /// The values in what was taken.
    values: usize,
    input: Input,
    source: Source,
    /// Events that go before the next one of the provider.
    pending: VecDeque<Event<'static>>,
    /// Why the rest of the last piece is refused, once everything before it was read.
    refusal: Option<Error>,
    tagger: Option<Box<Tagger>>,
    message: Message,
    earlier: Vec<Message>,
    blocks: usize,
    error: Option<Error>,
}

/// The state of the input.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Input {
    Open,
    /// The caller has finished it; some frames may not have been read yet.
    Ending,
    /// Its last frame was translated.
    Ended,
    /// There is nothing left to read.
    Over,
}

/// Why a reply refused the rest of its input. What it read before is kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A frame is too long or damaged.
    #[error(transparent)]
    Frame(#[from] frame::Error),
    /// The reply is too long.
    #[error("byte {limit}: the reply is longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: u64,
    },
    /// There are too many values.
    #[error("byte {at}: the reply has more than {limit} values")]
    TooManyValues {
        /// Where the first one that was refused begins.
        at: u64,
        /// The limit.
        limit: usize,
    },
    /// There are too many blocks, choices or messages.
    #[error("byte {at}: the reply has more than {limit} blocks, choices or messages")]
    TooManyBlocks {
        /// Where the first one that was refused begins.
        at: u64,
        /// The limit.
        limit: usize,
    },
    /// There is no frame in the input.
    #[error("the input ({bytes} bytes) contains neither a server-sent event nor JSON")]
    NoFrame {
        /// The length of the input.
        bytes: u64,
    },
    /// The first frames are not in a dialect that this version reads.
    #[error("byte {at}: the input is not a stream of a known dialect; it begins with `{beginning}`")]
    UnknownDialect {
        /// Where the first frame begins.
        at: u64,
        /// Its number.
        frame: u64,
        /// The beginning of its data.
        beginning: String,
    },
    /// The input is in another dialect than the one named.
    #[error("byte {at}: the input is not `{named}`, but looks like `{found}`")]
    WrongDialect {
        /// Where the frame begins that shows it.
        at: u64,
        /// The dialect that was named.
        named: Dialect,
        /// The dialect that it looks like.
        found: Dialect,
    },
}

impl Hint for Error {
    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Frame(error) => error.hint(),
            Self::TooLong { .. } | Self::TooManyValues { .. } | Self::TooManyBlocks { .. } => {
                Kind::LimitReached.hint()
            }
            Self::NoFrame { .. } | Self::UnknownDialect { .. } => {
                let names = Dialect::ALL.map(Dialect::name).join(", ");
                format!("the input must be the body of a streamed response, in one of {names}").into()
            }
            Self::WrongDialect { found, .. } => {
                format!("name `{found}` instead, or let the dialect be detected").into()
            }
        }
    }
}

impl Error {
    /// The kind of its diagnostic in the message.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Frame(frame::Error::TooLong { .. })
            | Self::TooLong { .. }
            | Self::TooManyValues { .. }
            | Self::TooManyBlocks { .. } => Kind::LimitReached,
            Self::Frame(frame::Error::Damaged { .. }) => Kind::DamagedFrame,
            Self::NoFrame { .. } | Self::UnknownDialect { .. } => Kind::UnknownDialect,
            Self::WrongDialect { .. } => Kind::WrongDialect,
        }
    }

    /// Its diagnostic; `last` is the place of the last frame.
    fn diagnostic(&self, last: Place) -> Diagnostic {
        let place = match self {
            Self::Frame(frame::Error::TooLong { at, .. } | frame::Error::Damaged { at, .. })
            | Self::TooLong { limit: at }
            | Self::TooManyValues { at, .. }
            | Self::TooManyBlocks { at, .. }
            | Self::WrongDialect { at, .. } => Place { at: *at, ..last },
            Self::NoFrame { .. } => Place::default(),
            Self::UnknownDialect { at, frame, .. } => Place { at: *at, frame: *frame },
        };
        place.notice(self.kind(), self.to_string())
    }
}

/// Whether a value may begin with or after this byte.
fn begins_value(byte: u8) -> bool {
    matches!(byte, b'[' | b'{' | b',')
}

/// How many values may begin in a piece.
fn count_values(piece: &[u8]) -> usize {
    // Every byte passes here. Parts of a fixed length are compared many bytes at a time even where the code is
    // optimised for its size, and the count of one fits into a byte.
    let (parts, rest) = piece.as_chunks::<32>();
    let counts = parts.iter().map(|part| part.iter().map(|byte| u8::from(begins_value(*byte))).sum::<u8>());
    counts.map(usize::from).sum::<usize>() + rest.iter().filter(|byte| begins_value(**byte)).count()
}

impl Reply {
    /// A reply in a known dialect.
    pub fn new(dialect: Dialect) -> Self {
        Self::from_source(Source::named(dialect))
    }

    /// A reply whose dialect is detected from its first frames.
    pub fn detect() -> Self {
        Self::from_source(Source::unknown())
    }

    /// A reply whose input is only the text of a model, with the calls and thinking that are written in it.
    ///
    /// Its diagnostics name bytes of the text.
    ///
    /// ```
    /// use reknit::Reply;
    /// use reknit::tags::{Tagger, profile};
    ///
    /// let mut reply = Reply::of_text(Tagger::new(profile("hermes").unwrap(), None, "")?);
    /// reply.push(b"<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>");
    /// reply.finish();
    /// assert_eq!(reply.message().runnable_calls().next().unwrap().name, "now");
    /// # Ok::<(), reknit::tags::GrammarError>(())
    /// ```
    pub fn of_text(mut tagger: Tagger) -> Self {
        tagger.begin_input();
        Self { is_text: true, tagger: Some(Box::new(tagger)), ..Self::from_source(Source::none()) }
    }

    fn from_source(source: Source) -> Self {
        Self {
            limits: Limits::default(),
            is_text: false,
            taken: 0,
            values: 0,
            input: Input::Open,
            source,
            pending: VecDeque::new(),
            refusal: None,
            tagger: None,
            message: Message::default(),
            earlier: Vec::new(),
            blocks: 0,
            error: None,
        }
    }

    /// Sets the limits. Call it before the first piece.
    #[must_use]
    pub fn with_limits(mut self, limits: &Limits) -> Self {
        self.limits = *limits;
        self.source.limit(limits);
        self.message = Message::new(limits);
        self.tagger.iter_mut().for_each(|tagger| tagger.limit(limits));
        self
    }

    /// Makes the calls and thinking that the model writes in its text separate blocks. Call it before the
    /// first piece.
    ///
    /// ```
    /// use reknit::tags::{Tagger, profile};
    /// use reknit::{Dialect, Reply};
    ///
    /// # let network: Vec<&[u8]> = vec![
    /// #     b"data: {\"choices\":[{\"delta\":{\"content\":\"I look.\\n<read_fi\"}}]}\n\n",
    /// #     b"data: {\"choices\":[{\"delta\":{\"content\":\"le><path>a.rs</path></read_file>\"}}]}\n\n",
    /// #     b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    /// # ];
    /// let tagger = Tagger::new(profile("cline").unwrap(), None, "turn-7-")?;
    /// let mut reply = Reply::new(Dialect::OpenAiChat).with_tags(tagger);
    /// for piece in network {
    ///     reply.push(piece);
    /// }
    /// reply.finish();
    /// assert_eq!(reply.message().text(), "I look.");
    /// let call = reply.message().runnable_calls().next().unwrap();
    /// assert_eq!((&*call.id, &*call.name), ("turn-7-0_1", "read_file"));
    /// # Ok::<(), reknit::tags::GrammarError>(())
    /// ```
    #[must_use]
    pub fn with_tags(mut self, mut tagger: Tagger) -> Self {
        tagger.limit(&self.limits);
        self.tagger = Some(Box::new(tagger));
        self
    }

    /// Builds the provider's own form as well; see [`Reply::into_native`].
    #[must_use]
    pub fn with_native(mut self) -> Self {
        self.source.build_native();
        self
    }

    /// Reads the next piece of the stream, which may be cut anywhere.
    ///
    /// The piece is read whether or not you look at the changes.
    pub fn push<'a>(&'a mut self, piece: &'a [u8]) -> Changes<'a> {
        let mut changes = Changes { reply: self, rest: piece };
        changes.read_on();
        changes
    }

    /// Ends the stream. A message that is not over is cut.
    pub fn finish(&mut self) -> Changes<'_> {
        self.take_end();
        Changes { reply: self, rest: &[] }
    }

    /// The current message, or the last one of the stream.
    pub fn message(&self) -> &Message {
        &self.message
    }

    /// All messages of the stream so far, in order. Most streams have one.
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

    /// The messages in the provider's own non-streamed form, if [`with_native`](Self::with_native) was
    /// called.
    pub fn into_native(self) -> Vec<Value> {
        self.source.into_native()
    }

    /// Takes a piece. [`next_change`](Self::next_change) then returns its changes.
    fn take(&mut self, piece: &[u8]) {
        if self.input != Input::Open {
            return;
        }
        let limit = self.longest_input();
        let room = usize::try_from(limit.saturating_sub(self.taken)).unwrap_or(usize::MAX);
        if piece.len() > room {
            self.refusal = Some(Error::TooLong { limit });
        }
        let mut piece = &piece[..piece.len().min(room)];
        let (values, limit) = (count_values(piece), self.limits.values);
        self.values += values;
        if self.values > limit {
            let left = limit.saturating_sub(self.values - values);
            let refused = piece.iter().enumerate().filter(|(_, byte)| begins_value(**byte)).nth(left);
            let (end, _) = refused.expect("the piece has more values than are left");
            piece = &piece[..end];
            self.refusal = Some(Error::TooManyValues { at: self.taken + end as u64, limit });
        }
        self.taken += piece.len() as u64;
        match self.tagger.as_deref_mut().filter(|_| self.is_text) {
            Some(tagger) => tagger.take_input(piece),
            None => self.source.push(piece),
        }
    }

    /// How much of the input is taken at most.
    fn longest_input(&self) -> u64 {
        match self.tagger.as_deref().filter(|_| self.is_text) {
            Some(tagger) => self.limits.reply_bytes.min(tagger.longest_text() as u64),
            None => self.limits.reply_bytes,
        }
    }

    fn take_end(&mut self) {
        if self.input != Input::Open {
            return;
        }
        match self.tagger.as_deref_mut().filter(|_| self.is_text) {
            Some(tagger) => tagger.end_input(),
            None => self.source.finish(),
        }
        self.input = Input::Ending;
    }

    /// The next change, and the message after it.
    fn next_change(&mut self) -> Option<(Change<'_>, &Message)> {
        let ready = self.advance()?;
        self.change(ready)
    }

    /// Takes the event that is ready into the message.
    fn change(&mut self, ready: Ready) -> Option<(Change<'_>, &Message)> {
        let place = self.source.place();
        let starts = match ready {
            Ready::Pending | Ready::Skimmed(..) => false,
            Ready::Tagged => self.tagger.as_ref().is_some_and(|tagger| tagger.starts_next()),
            Ready::Sent => self.source.translator().is_some_and(|translator| translator.starts_next()),
        };
        if starts && self.message.status() != Status::Waiting {
            self.earlier.push(std::mem::replace(&mut self.message, Message::new(&self.limits)));
        }
        let event = match ready {
            Ready::Pending => self.pending.pop_front(),
            Ready::Tagged => self.tagger.as_mut().and_then(|tagger| tagger.next_event()),
            Ready::Skimmed(block, grown) => self.tagger.as_ref().map(|tagger| tagger.skimmed(block, grown)),
            Ready::Sent => self.source.translator().and_then(Translator::next_event),
        };
        let change = self.message.apply(event?, place);
        self.blocks += usize::from(matches!(change, Change::Opened { .. }));
        Some((change, &self.message))
    }

    /// Reads until there is an event for the message, and returns where it is.
    fn advance(&mut self) -> Option<Ready> {
        loop {
            let limit = self.limits.blocks;
            let place = self.source.place();
            if let Some(tagger) = self.tagger.as_deref_mut() {
                if !tagger.is_drained() {
                    if !tagger.opens_next() || self.blocks < limit {
                        return Some(Ready::Tagged);
                    }
                    tagger.stop();
                    self.refuse(Error::TooManyBlocks { at: place.at, limit });
                    continue;
                }
                if let Some(event) = self.pending.pop_front() {
                    tagger.take(event, place);
                    continue;
                }
            }
            if !self.pending.is_empty() {
                return Some(Ready::Pending);
            }
            // After a refusal the decoder may still have frames of the same piece. With another cut it would
            // not.
            if self.input == Input::Over {
                return None;
            }
            if let Some(translator) = self.source.translator().filter(|translator| !translator.is_drained()) {
                let texts = self.tagger.as_ref().map_or(0, |tagger| tagger.texts());
                let opens_too_many = translator.opens_next() && self.blocks.max(texts) >= limit;
                if opens_too_many || self.message.choices().len() > limit || self.earlier.len() >= limit {
                    self.refuse(Error::TooManyBlocks { at: place.at, limit });
                    continue;
                }
                // A second message starts, so the first is over. It is cut unless the provider ended it.
                if translator.starts_next() && self.message.status() == Status::Streaming {
                    self.pending.push_back(Event::Cut);
                    continue;
                }
                // Most events add text to a block, and most of that is more prose.
                if let Some(tagger) = self.tagger.as_deref_mut()
                    && let Some((block, piece)) = translator.growth_next()
                    && let Some((block, grown)) = tagger.skim(block, piece)
                {
                    translator.next_event();
                    match grown.is_empty() {
                        true => continue,
                        false => return Some(Ready::Skimmed(block, grown)),
                    }
                }
                // The tagger only needs the growth of text blocks.
                let reads =
                    |tagger: &&mut Tagger| translator.grows_next().is_none_or(|block| tagger.reads(block));
                match self.tagger.as_deref_mut().filter(reads) {
                    Some(tagger) => tagger.take(translator.next_event()?, place),
                    None => return Some(Ready::Sent),
                }
                continue;
            }
            match (self.source.read(&mut self.pending), self.input) {
                (Err(error), _) => self.refuse(error),
                (Ok(Step::Frame), _) => {}
                (Ok(Step::Nothing), Input::Open | Input::Over) => match self.refusal.take() {
                    Some(error) => self.refuse(error),
                    None => return None,
                },
                (Ok(Step::Nothing), Input::Ending) => {
                    self.input = Input::Ended;
                    if let Err(error) = self.source.end(self.taken) {
                        self.refuse(error);
                    }
                }
                (Ok(Step::Nothing), Input::Ended) => self.end(),
            }
        }
    }

    fn refuse(&mut self, error: Error) {
        self.source.stop();
        self.pending.push_back(Event::Noticed(error.diagnostic(self.source.place())));
        self.error = Some(error);
        self.end();
    }

    fn end(&mut self) {
        self.input = Input::Over;
        if !self.message.is_over() {
            self.pending.push_back(Event::Cut);
        }
    }
}

/// Where the next event for the message is.
enum Ready {
    Pending,
    /// With the tagger.
    Tagged,
    /// With the tagger, as growth of a block by a part of its text.
    Skimmed(Slot, Range<usize>),
    /// With the translator, as the provider sent it.
    Sent,
}

/// The changes that a piece made, one at a time, each with the message after it.
///
/// Dropping this applies the changes that were not looked at.
#[derive(Debug)]
pub struct Changes<'a> {
    reply: &'a mut Reply,
    /// The part of the piece that is not decoded yet.
    rest: &'a [u8],
}

/// How much of a piece is decoded at once: small enough that its frames stay in the processor's cache, however
/// long the piece is.
const BATCH: usize = 16 << 10;

impl Changes<'_> {
    /// The next change, and the message after it.
    // An iterator cannot lend its items.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<(Change<'_>, &Message)> {
        let ready = loop {
            match self.reply.advance() {
                Some(ready) => break ready,
                None if self.rest.is_empty() => return None,
                None => self.read_on(),
            }
        };
        self.reply.change(ready)
    }

    /// Decodes some more of the piece.
    fn read_on(&mut self) {
        let (batch, rest) = self.rest.split_at(self.rest.len().min(BATCH));
        self.reply.take(batch);
        self.rest = rest;
    }
}

impl Drop for Changes<'_> {
    fn drop(&mut self) {
        while self.next().is_some() {}
    }
}
