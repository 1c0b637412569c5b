//! [`Repair`]: what a provider would have refused, and what was done about it.

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

/// Something in a history that a provider would have refused, and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// What sort of thing it is; callers match on this.
    pub kind: RepairKind,
    /// The entry that it is about.
    pub seq: u64,
    /// What was done, for people.
    pub message: String,
}

impl Repair {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        self.kind.hint()
    }
}

impl Serialize for Repair {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut repair = serializer.serialize_struct("Repair", 4)?;
        repair.serialize_field("kind", self.kind.name())?;
        repair.serialize_field("seq", &self.seq)?;
        repair.serialize_field("message", &self.message)?;
        repair.serialize_field("hint", self.hint())?;
        repair.end()
    }
}

/// Defines [`RepairKind`]: a kind is its name and what to do about it, and none of them may be forgotten.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal => $hint:literal;)+) => {
        /// The sorts of [`Repair`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum RepairKind {
            $($(#[doc = $doc])+ $kind,)+
        }

        impl RepairKind {
            /// Its name, as it stands in JSON.
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
        "write a result for every call, also for those that do not run";
    /// A call has no result because it was denied.
    CallDenied = "call-denied" =>
        "write a result that says so when a call is denied";
    /// A call has no result because the turn was cancelled.
    CallCancelled = "call-cancelled" =>
        "write a result that says so for every call of a cancelled turn";
    /// A call began to run and has no result.
    CallInterrupted = "call-interrupted" =>
        "look at what the call may have done, and write its result";
    /// The arguments of a call never were whole; it is left out, and a result of it is told as text.
    CallCut = "call-cut" =>
        "nothing: what the model did not finish it can write again";
    /// A result names no call that is there.
    ResultWithoutCall = "result-without-call" =>
        "check who wrote the result; behind a condensation it is to be expected";
    /// A call has a second result, which is left out.
    SecondResult = "second-result" =>
        "write one result for each call";
    /// Thinking is left out because another provider wrote it, or nobody knows which.
    ThinkingOfAnother = "thinking-of-another" =>
        "nothing: only who wrote thinking can read it back";
    /// Thinking is left out because its provider does not take it back as it is, for want of a signature.
    ThinkingRefused = "thinking-refused" =>
        "keep what the provider sends with thinking, such as a signature; if it sends nothing, it wants none";
    /// Thinking is left out because nothing came behind it.
    ThinkingUnfinished = "thinking-unfinished" =>
        "nothing: the model thinks again";
    /// A block or a call that the provider runs is left out because it is another provider's.
    BlockOfAnother = "block-of-another" =>
        "nothing: only who wrote such a block can read it back";
    /// A block or a call that the provider runs is left out because it cannot go back as it is.
    BlockRefused = "block-refused" =>
        "nothing, if the reply was cut there; otherwise check who wrote the block";
    /// Nothing of a reply is left to go back.
    ReplyEmpty = "reply-empty" =>
        "nothing: the model answers what was said before it";
    /// Two messages of the user follow each other and are sent as one.
    UsersJoined = "users-joined" =>
        "nothing: every word of both is there";
    /// The history begins with the model's words; a user's are put before them.
    NoBeginning = "no-beginning" =>
        "begin a log with what the user said";
    /// The model's words are followed by no one's; a user's are put behind them.
    NoQuestion = "no-question" =>
        "write what the user says before the next request";
    /// A text without a visible character is left out.
    TextBlank = "text-blank" =>
        "nothing: providers refuse blank texts";
    /// A piece of what the user said is of a kind that is not known, or no image though it says so, and left
    /// out.
    ContentUnknown = "content-unknown" =>
        "read the log with a version that knows it; of an image, check its type and its data";
    /// A call has an id that the provider refuses, or one that is taken.
    IdChanged = "id-changed" =>
        "nothing: the call and its result have the same new one";
    /// A tool has a name that the provider refuses.
    ToolRenamed = "tool-renamed" =>
        "name tools with letters, digits, dashes and underscores only";
    /// The arguments of a call are no object; they are sent as the member `input` of one.
    ArgumentsWrapped = "arguments-wrapped" =>
        "nothing: the model sees what it wrote";
    /// A call came without the signature that the provider wants; what it takes in its place is sent.
    CallUnsigned = "call-unsigned" =>
        "nothing: the call came from another provider";
    /// What the model said behind its calls is sent before them.
    CallsLast = "calls-last" =>
        "nothing: the provider wants calls to be the last of a message";
}

/// Collects repairs.
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
