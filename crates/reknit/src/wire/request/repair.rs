//! [`Repair`]: what a provider would have refused, and what was done about it.

use crate::diagnostic::Hint;
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use std::borrow::Cow;

/// Something in a history that a provider would have refused, and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// The kind of repair; callers match on this.
    pub kind: RepairKind,
    /// The entry that it is about.
    pub seq: u64,
    /// What was done, in words.
    pub message: String,
}

impl Hint for Repair {
    fn hint(&self) -> Cow<'static, str> {
        self.kind.hint().into()
    }
}

impl Serialize for Repair {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut repair = serializer.serialize_struct("Repair", 4)?;
        repair.serialize_field("kind", self.kind.name())?;
        repair.serialize_field("seq", &self.seq)?;
        repair.serialize_field("message", &self.message)?;
        repair.serialize_field("hint", &self.hint())?;
        repair.end()
    }
}

/// Defines [`RepairKind`], so that no kind lacks its name or its hint.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal => $hint:literal;)+) => {
        /// The kinds of [`Repair`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum RepairKind {
            $($(#[doc = $doc])+ $kind,)+
        }

        impl RepairKind {
            /// Its name in JSON.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }

            /// What to do about a repair of this kind.
            fn hint(self) -> &'static str {
                match self {
                    $(Self::$kind => $hint,)+
                }
            }
        }
    };
}

kinds! {
    /// A call has no result, and nothing says that it ran.
    CallNotRun = "call-not-run" =>
        "write a result for every call, including those that do not run";
    /// A call has no result because it was denied.
    CallDenied = "call-denied" =>
        "write a result that says so when a call is denied";
    /// A call has no result because the turn was cancelled.
    CallCancelled = "call-cancelled" =>
        "write a result that says so for every call of a cancelled turn";
    /// A call began to run and has no result.
    CallInterrupted = "call-interrupted" =>
        "check what the call may have done, and write its result";
    /// The arguments of a call were never complete; it is left out, and its result is sent as text.
    CallCut = "call-cut" =>
        "no action needed; the model can write the call again";
    /// A result names a call that does not exist.
    ResultWithoutCall = "result-without-call" =>
        "check what wrote the result; after a condensation this is expected";
    /// A call has a second result, which is left out.
    SecondResult = "second-result" =>
        "write one result for each call";
    /// Thinking is left out because another provider wrote it, or because it is not known who did.
    ThinkingOfAnother = "thinking-of-another" =>
        "no action needed; only the provider that wrote thinking can read it";
    /// Thinking is left out because its provider does not accept it as it is, for example without a signature.
    ThinkingRefused = "thinking-refused" =>
        "keep what the provider sends with thinking, such as a signature; if it sends nothing, it needs nothing";
    /// Thinking is left out because nothing came after it.
    ThinkingUnfinished = "thinking-unfinished" =>
        "no action needed; the model thinks again";
    /// A block, or a call that the provider runs, is left out because another provider wrote it.
    BlockOfAnother = "block-of-another" =>
        "no action needed; only the provider that wrote such a block can read it";
    /// A block, or a call that the provider runs, is left out because it cannot be sent back as it is.
    BlockRefused = "block-refused" =>
        "no action needed if the reply was cut there; otherwise check what wrote the block";
    /// A reply is left out because nothing of it can be sent back.
    ReplyEmpty = "reply-empty" =>
        "no action needed; the model answers what was said before it";
    /// Two user messages in a row are sent as one.
    UsersJoined = "users-joined" =>
        "no action needed; nothing of either is lost";
    /// The history begins with the model; a user message is added before it.
    NoBeginning = "no-beginning" =>
        "begin a log with what the user said";
    /// The history ends with the model; a user message is added after it.
    NoQuestion = "no-question" =>
        "write what the user says before the next request";
    /// A text that is only whitespace is left out.
    TextBlank = "text-blank" =>
        "no action needed; providers refuse blank texts";
    /// Content of the user is left out because its type is unknown, or because it is not a valid image.
    ContentUnknown = "content-unknown" =>
        "read the log with a version that knows it; for an image, check its type and its data";
    /// A call has an id that the provider refuses or that is already taken.
    IdChanged = "id-changed" =>
        "no action needed; the call and its result have the same new id";
    /// A tool has a name that the provider refuses.
    ToolRenamed = "tool-renamed" =>
        "use only letters, digits, dashes and underscores in the names of tools";
    /// The arguments of a call are not an object; they are sent as the member `input` of one.
    ArgumentsWrapped = "arguments-wrapped" =>
        "no action needed; the model sees what it wrote";
    /// A call lacks the signature that the provider requires; its documented replacement is sent.
    CallUnsigned = "call-unsigned" =>
        "no action needed; the call came from another provider";
    /// A call of a special kind is sent as a call of a function, because its provider would refuse it as it is,
    /// or with its result.
    CallConverted = "call-converted" =>
        "no action needed; for the special kind, keep its reasoning and give it the result that it expects";
    /// A call is sent without the call that made it, which is not sent.
    CallerLeftOut = "caller-left-out" =>
        "write only results after calls that the provider's code makes, and no text";
    /// What the model said after its calls is sent before them.
    CallsLast = "calls-last" =>
        "no action needed; the provider requires calls to be last in a message";
}

#[derive(Debug, Default)]
pub(crate) struct Repairs {
    list: Vec<Repair>,
}

impl Repairs {
    pub(crate) fn push(&mut self, kind: RepairKind, seq: u64, message: impl Into<String>) {
        self.list.push(Repair { kind, seq, message: message.into() });
    }

    pub(crate) fn into_list(self) -> Vec<Repair> {
        self.list
    }
}
