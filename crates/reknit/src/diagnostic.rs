//! [`Diagnostic`]: something unexpected in a stream, a text or a session, and where it is.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Deref;
use std::slice;

use crate::slot::Slot;

/// What to do about a problem. All errors of this crate and its diagnostics say it.
///
/// ```
/// use reknit::{Dialect, Hint};
///
/// let error = "openai".parse::<Dialect>().expect_err("there are two of them");
/// assert!(error.hint().starts_with("use one of: anthropic, openai-responses, gemini"));
/// ```
pub trait Hint {
    /// What to do about it, in a sentence without a full stop.
    fn hint(&self) -> Cow<'static, str>;
}

/// Something in a stream, a text or a session that was dropped, repaired or not understood.
///
/// Reading continues after a diagnostic. What ends it is an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Plain", into = "Plain")]
#[non_exhaustive]
pub struct Diagnostic {
    /// What it is about; match on this.
    pub kind: Kind,
    /// Where it is.
    pub location: Location,
    /// What happened, in words.
    pub message: String,
}

impl Diagnostic {
    /// The byte of the input, or where the frame begins with which it was noticed, and the number of the frame;
    /// `None` for an event of a session.
    pub fn place(&self) -> Option<Place> {
        match self.location {
            Location::Input(place) | Location::Text { place, .. } => Some(place),
            Location::Event(_) => None,
        }
    }

    /// A diagnostic about the event with this number.
    pub(crate) fn of_event(kind: Kind, number: u64, message: impl Into<String>) -> Self {
        Self { kind, location: Location::Event(number), message: message.into() }
    }
}

impl Hint for Diagnostic {
    fn hint(&self) -> Cow<'static, str> {
        self.kind.hint()
    }
}

/// What a [`Diagnostic`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// A place in the input.
    Input(Place),
    /// A place in the text of a message.
    Text {
        /// Where the frame begins with which it was noticed.
        place: Place,
        /// The block of the provider that has the text.
        block: Slot,
        /// The byte in the text of that block.
        offset: u64,
    },
    /// An event of a session, by its number, counted from 0.
    Event(u64),
}

/// A place in the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The byte, counted from the beginning of the input.
    pub at: u64,
    /// The number of the frame, counted from 0.
    pub frame: u64,
}

impl Place {
    /// A diagnostic about this place.
    pub(crate) fn notice(self, kind: Kind, message: impl Into<String>) -> Diagnostic {
        Diagnostic { kind, location: Location::Input(self), message: message.into() }
    }
}

/// The diagnostics of a message, a text or a session, up to [`Limits::diagnostics`](crate::Limits), and how many
/// more there were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    omitted: u64,
}

impl Diagnostics {
    /// How many more there were than are kept.
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    pub(crate) fn new(kept: Vec<Diagnostic>, omitted: u64) -> Self {
        Self { kept, omitted }
    }

    /// Keeps one more, which is made only if there is room for it.
    pub(crate) fn add(&mut self, limit: usize, diagnostic: impl FnOnce() -> Diagnostic) {
        if self.kept.len() < limit {
            self.kept.push(diagnostic());
        } else {
            self.omitted += 1;
        }
    }
}

impl Deref for Diagnostics {
    type Target = [Diagnostic];

    fn deref(&self) -> &[Diagnostic] {
        &self.kept
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.kept.iter()
    }
}

/// A number and a noun, which is in the plural unless the number is 1.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Defines [`Kind`]. Each kind is listed once, with its name and its hint.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal => $hint:literal;)+) => {
        /// The kinds of [`Diagnostic`], and of the errors that end a stream.
        ///
        /// `docs/errors.md` and `reknit explain` explain each of them, by its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Kind {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $kind,)+
        }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// Its name, as in JSON.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }
        }

        impl Hint for Kind {
            fn hint(&self) -> Cow<'static, str> {
                Cow::Borrowed(match self {
                    $(Self::$kind => $hint,)+
                })
            }
        }
    };
}

kinds! {
    /// Bytes that are not UTF-8 were replaced with U+FFFD.
    InvalidUtf8 = "invalid-utf8" =>
        "check whether something between the provider and the reader re-encodes the stream";
    /// A server-sent event contained lines that are not part of the format.
    IgnoredLine = "ignored-line" =>
        "check that the input is only the body of the response, without headers";
    /// The input ended before the blank line, bracket or line end that closes a frame; the frame was read.
    UnterminatedFrame = "unterminated-frame" =>
        "the last line end is missing; if the frame is complete, nothing was lost";
    /// The input ended inside a line or a value; the incomplete frame was dropped.
    DroppedFrame = "dropped-frame" =>
        "the connection was closed early; request the reply again";
    /// The checksum or a length of a frame is wrong; the rest of the stream was refused.
    DamagedFrame = "damaged-frame" =>
        "read the bytes exactly as the connection delivers them; if they are, request the reply again";
    /// Bytes after the end of a JSON array were dropped.
    TrailingBytes = "trailing-bytes" =>
        "check that the input is a single response, not several joined together";
    /// A frame is not valid in the dialect; it was dropped.
    MalformedFrame = "malformed-frame" =>
        "check that the input is the provider's stream, with nothing mixed into it";
    /// A field is nested too deeply or is not valid JSON; its text was kept.
    FieldAsText = "field-as-text" =>
        "parse the text yourself if you need the field; nothing of it was lost";
    /// A string contains an escape that JSON does not have; the character after the backslash was read as it
    /// is.
    MalformedEscape = "malformed-escape" =>
        "check what writes the JSON of the stream; the character may not be the intended one";
    /// An event that the dialect does not define was kept as it came.
    UnknownEvent = "unknown-event" =>
        "the provider sent something that this version does not know; look at the message's `extra` fields";
    /// The message began without its start event.
    MissingStart = "missing-start" =>
        "check that the beginning of the stream is not missing";
    /// A message was started twice; the second start was ignored.
    DuplicateStart = "duplicate-start" =>
        "no action needed; the provider or a proxy repeated itself";
    /// A block was opened at an index that is already in use; it was read as a separate block.
    DuplicateBlock = "duplicate-block" =>
        "check whether two streams were joined together";
    /// Something arrived for a block that is not open; it was kept outside of any block.
    OrphanDelta = "orphan-delta" =>
        "check that the beginning of the stream is not missing";
    /// A piece of a tool call arrived that belongs to no call.
    OrphanFragment = "orphan-fragment" =>
        "the server sends calls without a name; check its tool-call settings";
    /// The final value of a block differs from what was streamed; it was kept next to the block.
    DifferentEnd = "different-end" =>
        "use the value in the block's `final` field; do not run a call whose arguments differ";
    /// The numbers of the events have a gap: some events did not arrive.
    MissingEvents = "missing-events" =>
        "request the reply again, or the events after the last number received";
    /// An event arrived a second time and was ignored.
    DuplicateEvent = "duplicate-event" =>
        "no action needed; the provider or a proxy repeated itself";
    /// Two events have the same number; numbers were ignored from there on.
    MisnumberedEvent = "misnumbered-event" =>
        "no action needed; the server does not number its events";
    /// Something has a different id than before; it was recognised by its position instead.
    ChangedId = "changed-id" =>
        "no action needed; only the ids of calls are reliable, the gateway makes up the others";
    /// The message ended while a block was open; the block was treated as closed.
    UnclosedBlock = "unclosed-block" =>
        "no action needed; the provider leaves out the end of a block";
    /// Something arrived after the end of the message and was ignored.
    AfterEnd = "after-end" =>
        "check that the input is a single response, not several joined together";
    /// The role of a reply came again after its finish reason, and then more content; all of it was read as one
    /// reply.
    RestartedReply = "restarted-reply" =>
        "check whether the server sent two replies; only the finish reason shows where the second one begins";
    /// The message ended without a stop reason.
    NoStopReason = "no-stop-reason" =>
        "be careful with the reply: the provider did not say that it is complete";
    /// The model stopped to call tools, but called none.
    CallsMissing = "calls-missing" =>
        "ask the model again; its call was lost or is in the text";
    /// A tool call arrived without an id, or with that of another call, and was given one.
    MissingId = "missing-id" =>
        "no action needed; the server leaves out ids";
    /// The arguments of a tool call are not valid JSON.
    MalformedArguments = "malformed-arguments" =>
        "do not run the call; tell the model what is wrong with its arguments";
    /// The arguments of a tool call are incomplete.
    CutArguments = "cut-arguments" =>
        "do not run the call; request the reply again with a higher limit on its length";
    /// The arguments of a tool call arrived out of order; what came late was appended.
    ScatteredArguments = "scattered-arguments" =>
        "no action needed; the arguments have all values, in a different order";
    /// The arguments of a tool call contain a key twice.
    DuplicateKey = "duplicate-key" =>
        "check which of the two values the model meant";
    /// Half of a surrogate pair was replaced with U+FFFD.
    LoneSurrogate = "lone-surrogate" =>
        "the provider cut a character in two; it is missing from the text";
    /// A limit was reached; the rest of the stream was refused.
    LimitReached = "limit-reached" =>
        "raise the limit if you expect streams of this size";
    /// A recording ends inside a line; the incomplete line was dropped.
    CutRecording = "cut-recording" =>
        "the recording was interrupted; everything before the last line is complete";
    /// A line of a recording is not valid; the recording was read up to there.
    BrokenRecording = "broken-recording" =>
        "restore the line, or delete it and everything after it";
    /// The input does not begin like a recording.
    NotARecording = "not-a-recording" =>
        "use a file that `reknit read --record FILE` wrote";
    /// A recording has a version that this version of reknit cannot read.
    UnknownVersion = "unknown-version" =>
        "read it with the version of reknit that wrote it";
    /// Text inside a call that belongs to no parameter was dropped.
    StrayText = "stray-text" =>
        "tell the model which parameters the tool has; the input still has the text, at this place";
    /// Text or thinking that the profile does not show was dropped.
    DroppedText = "dropped-text" =>
        "no action needed; the input still has the text, at this place";
    /// A parameter of a call was given twice; the last value is used.
    RepeatedParameter = "repeated-parameter" =>
        "check which of the two values the model meant";
    /// The value of a parameter does not have the type that the tool's schema asks for; it was kept as a string.
    WrongType = "wrong-type" =>
        "answer the call with an error that names the type, or convert the value yourself";
    /// The marker that closes a call or a value is missing; what follows shows where the call ends.
    MissingCloser = "missing-closer" =>
        "no action needed, unless the last value looks too short or too long";
    /// A call names a tool that is not in the list of tools.
    UnknownTool = "unknown-tool" =>
        "answer the call with an error that lists the available tools";
    /// An event of a session refers to something that does not exist; it was dropped.
    OrphanAgentEvent = "orphan-agent-event" =>
        "check that the first events are not missing, and that each result names the id of its call";
    /// An event of a session has a type that this version does not know.
    UnknownAgentEvent = "unknown-agent-event" =>
        "the event was written by a newer version or another program; it is kept as it is";
    /// The input is not in a dialect that this version reads.
    UnknownDialect = "unknown-dialect" =>
        "name the dialect, and check that the input is the body of a streamed response";
    /// The input is in another dialect than the one named.
    WrongDialect = "wrong-dialect" =>
        "name the dialect that it looks like, or let it be detected";
}

/// The JSON form. It includes the hint, which is ignored when it is read back.
#[derive(Serialize, Deserialize)]
struct Plain {
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    frame: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    block: Option<Slot>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    event: Option<u64>,
    message: String,
    #[serde(skip_deserializing)]
    hint: Cow<'static, str>,
}

impl From<Diagnostic> for Plain {
    fn from(Diagnostic { kind, location, message }: Diagnostic) -> Self {
        let plain = Self {
            kind,
            at: None,
            frame: None,
            block: None,
            offset: None,
            event: None,
            message,
            hint: kind.hint(),
        };
        match location {
            Location::Input(Place { at, frame }) => Self { at: Some(at), frame: Some(frame), ..plain },
            Location::Text { place: Place { at, frame }, block, offset } => {
                Self { at: Some(at), frame: Some(frame), block: Some(block), offset: Some(offset), ..plain }
            }
            Location::Event(number) => Self { event: Some(number), ..plain },
        }
    }
}

impl From<Plain> for Diagnostic {
    fn from(plain: Plain) -> Self {
        let place = Place { at: plain.at.unwrap_or_default(), frame: plain.frame.unwrap_or_default() };
        let location = match (plain.event, plain.block) {
            (Some(number), _) => Location::Event(number),
            (None, Some(block)) => Location::Text { place, block, offset: plain.offset.unwrap_or_default() },
            (None, None) => Location::Input(place),
        };
        Self { kind: plain.kind, location, message: plain.message }
    }
}
