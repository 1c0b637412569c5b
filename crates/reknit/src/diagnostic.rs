//! [`Diagnostic`]: what was odd in a stream, and where.

use serde::{Deserialize, Serialize};

/// Something in the stream that was dropped, repaired or not understood.
///
/// A diagnostic never stops the reading; what does is an error of the stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Plain", into = "Plain")]
pub struct Diagnostic {
    /// What sort of thing it is; callers match on this.
    pub kind: Kind,
    /// The byte of the whole input at which it stands.
    pub at: u64,
    /// The number of the frame it is in, counted from 0.
    pub frame: u64,
    /// What happened, for people.
    pub message: String,
}

impl Diagnostic {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        self.kind.hint()
    }
}

/// Where in the input something stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The byte of the whole input.
    pub at: u64,
    /// The number of the frame, counted from 0.
    pub frame: u64,
}

impl Place {
    /// A diagnostic of something that stands here.
    pub fn notice(self, kind: Kind, message: impl Into<String>) -> Diagnostic {
        Diagnostic { kind, at: self.at, frame: self.frame, message: message.into() }
    }
}

/// Defines [`Kind`]: a kind is its name and what to do about it, and none of them may be forgotten.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal => $hint:literal;)+) => {
        /// The sorts of [`Diagnostic`], and of the errors that end the reading of a stream.
        ///
        /// `docs/errors.md` and `reknit explain` have an entry for each, under its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Kind {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $kind,)+
        }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// Its name, as it stands in JSON.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }

            /// What to do about a diagnostic of this kind.
            pub fn hint(self) -> &'static str {
                match self {
                    $(Self::$kind => $hint,)+
                }
            }
        }
    };
}

kinds! {
    /// Bytes that are not UTF-8 were read as U+FFFD.
    InvalidUtf8 = "invalid-utf8" =>
        "check whether something between provider and reader re-encodes the stream";
    /// A server-sent event held lines that no rule of the format reads.
    IgnoredLine = "ignored-line" =>
        "check that the input is the body of the response, without headers";
    /// The input ended before the blank line, bracket or line end that closes a frame; the frame was read.
    UnterminatedFrame = "unterminated-frame" =>
        "the input lacks its last line end; if the frame is whole, nothing was lost";
    /// The input ended inside a line or a value; what was there of the frame was dropped.
    DroppedFrame = "dropped-frame" =>
        "the connection ended early; ask for the reply again";
    /// Bytes behind the end of a JSON array were dropped.
    TrailingBytes = "trailing-bytes" =>
        "check that the input is one response, not several joined";
    /// A frame is not what the dialect sends; it was dropped.
    MalformedFrame = "malformed-frame" =>
        "check that the input is the provider's stream and nothing is mixed into it";
    /// A field is nested too deep or is no JSON; it was kept as its text.
    FieldAsText = "field-as-text" =>
        "read the text yourself if the field matters; nothing of it is lost";
    /// A text has an escape that JSON does not; what stands behind the backslash was read as it is.
    MalformedEscape = "malformed-escape" =>
        "check what writes the stream's JSON; the character may not be the one that was meant";
    /// An event that the dialect does not name was kept as it came.
    UnknownEvent = "unknown-event" =>
        "the provider sends something newer than this version knows; look at the message's extra fields";
    /// The message began without its start event.
    MissingStart = "missing-start" =>
        "check that the recording has its beginning";
    /// The same message was started twice; the second start was ignored.
    DuplicateStart = "duplicate-start" =>
        "nothing to do; the provider or a proxy repeats itself";
    /// A block was opened at an index that is taken; it was read as a block of its own.
    DuplicateBlock = "duplicate-block" =>
        "check whether two streams were joined";
    /// Something came for a block that is not open; it was kept beside the message.
    OrphanDelta = "orphan-delta" =>
        "check that the recording has its beginning";
    /// A piece of a tool call came that belongs to no call.
    OrphanFragment = "orphan-fragment" =>
        "the server sends calls without a name; check its tool-call settings";
    /// The provider's last word on a block is not what was shown of it; it was kept beside the block.
    DifferentEnd = "different-end" =>
        "take the value in the block's `final` field; do not run a call whose arguments differ";
    /// The numbers of the events have a gap: some did not come.
    MissingEvents = "missing-events" =>
        "ask for the reply again, or for its events from the last number on";
    /// An event came a second time and was ignored.
    DuplicateEvent = "duplicate-event" =>
        "nothing to do; the provider or a proxy repeats itself";
    /// Two events have the same number; numbers were ignored from there on.
    MisnumberedEvent = "misnumbered-event" =>
        "nothing to do; the server does not number its events";
    /// Something is named by another id than before; its place was taken instead.
    ChangedId = "changed-id" =>
        "nothing to do; go by the ids of calls, the gateway makes up the others";
    /// The message ended while a block was open; the block was read as closed.
    UnclosedBlock = "unclosed-block" =>
        "nothing to do; the provider leaves out the end of a block";
    /// Something came behind the end of the message and was ignored.
    AfterEnd = "after-end" =>
        "check that the input is one response, not several joined";
    /// The message ended without a reason to stop.
    NoStopReason = "no-stop-reason" =>
        "treat the reply with care: the provider did not say that it is whole";
    /// The model stopped for tool calls and made none.
    CallsMissing = "calls-missing" =>
        "ask the model again; its call was lost or written into the text";
    /// A tool call came without an id and was given one.
    MissingId = "missing-id" =>
        "nothing to do; the server leaves ids out";
    /// The arguments of a tool call are not JSON.
    MalformedArguments = "malformed-arguments" =>
        "do not run the call; tell the model what is wrong with its arguments";
    /// The arguments of a tool call end too early.
    CutArguments = "cut-arguments" =>
        "do not run the call; ask for the reply again with a larger limit on its length";
    /// The arguments of a tool call came out of order; what came late stands behind the rest.
    ScatteredArguments = "scattered-arguments" =>
        "nothing to do; the arguments have all values, in another order";
    /// The arguments of a tool call give a key twice.
    DuplicateKey = "duplicate-key" =>
        "check which of the two values the model meant";
    /// Half of a surrogate pair was read as U+FFFD.
    LoneSurrogate = "lone-surrogate" =>
        "the provider cuts characters in two; the text lacks one";
    /// A limit was reached; the rest of the stream was refused.
    LimitReached = "limit-reached" =>
        "raise the limit if the stream is meant to be that large";
    /// A recording ends inside a line; the read that stood there was dropped.
    CutRecording = "cut-recording" =>
        "whoever recorded was interrupted; the reads before it are whole";
    /// A line of a recording is not what it must be; it was read up to there.
    BrokenRecording = "broken-recording" =>
        "restore the line, or delete it with all below it";
    /// The input does not begin as a recording does.
    NotARecording = "not-a-recording" =>
        "a recording is what `reknit read --record FILE` writes";
    /// A recording is of a version that this one does not read.
    UnknownVersion = "unknown-version" =>
        "read it with the version of reknit that wrote it";
    /// Text inside a call that belongs to no parameter was dropped.
    StrayText = "stray-text" =>
        "tell the model which parameters the tool has; the text is in the input, from this byte on";
    /// Text or thinking that the profile does not show was dropped.
    DroppedText = "dropped-text" =>
        "nothing to do; the text is in the input, from this byte on";
    /// A parameter of a call came twice; the last one stands.
    RepeatedParameter = "repeated-parameter" =>
        "check which of the two values the model meant";
    /// The marker that closes a call or a value did not come, and was not needed.
    MissingCloser = "missing-closer" =>
        "nothing to do; the call is whole without it";
    /// A call names a tool that was not given.
    UnknownTool = "unknown-tool" =>
        "answer the call with an error that names the tools there are";
    /// An event of a session names something that is not there; it was dropped.
    OrphanAgentEvent = "orphan-agent-event" =>
        "check that the events have their beginning, and that results name the calls they are of";
    /// An event of a session is of a type that this version does not know.
    UnknownAgentEvent = "unknown-agent-event" =>
        "whoever writes the events is newer than this version; the event itself is kept";
    /// No dialect that this version reads was found in the input.
    UnknownDialect = "unknown-dialect" =>
        "name the dialect, and check that the input is the body of a streamed response";
    /// The input is of another dialect than the one named.
    WrongDialect = "wrong-dialect" =>
        "name the dialect that it looks like, or let it be found";
}

/// The form on the wire: with the hint, which reading back derives from the kind.
#[derive(Serialize, Deserialize)]
struct Plain {
    kind: Kind,
    at: u64,
    frame: u64,
    message: String,
    #[serde(skip_deserializing)]
    hint: &'static str,
}

impl From<Diagnostic> for Plain {
    fn from(d: Diagnostic) -> Self {
        Self { hint: d.kind.hint(), kind: d.kind, at: d.at, frame: d.frame, message: d.message }
    }
}

impl From<Plain> for Diagnostic {
    fn from(p: Plain) -> Self {
        Self { kind: p.kind, at: p.at, frame: p.frame, message: p.message }
    }
}
