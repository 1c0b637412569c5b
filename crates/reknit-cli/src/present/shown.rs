//! [`Shown`]: one thing that a person is shown.

use std::borrow::Cow;

use reknit::Text;
use reknit::agent::Stream;
use reknit::event::{Notation, Runner, Slot};
use reknit::json::Value;

use crate::view::End;

/// One thing that a person is shown of a reply, a text or a session.
pub(crate) enum Shown<'a> {
    /// Who answers, and how many tokens were counted so far.
    About {
        model: Option<&'a str>,
        input: Option<u64>,
        output: Option<u64>,
        /// Whether nothing came since they were counted.
        is_final: bool,
    },
    /// What follows is not part of the text before.
    Break,
    /// Text for the reader.
    Text(&'a str),
    /// Somebody's words, or the beginning of them.
    Said {
        who: &'a str,
        text: &'a str,
    },
    /// Thinking begins. Only a terminal shows it apart from the text, so elsewhere this is all of it.
    ThinkingOpened,
    Thinking(&'a str),
    /// The provider does not show what the model thought.
    ThinkingHidden,
    /// The arguments of a call grew; `at` is how many bytes there were.
    CallGrew {
        call: Call<'a>,
        notation: Notation,
        at: usize,
        text: &'a str,
    },
    /// The arguments of a call are over.
    CallEnded {
        call: Call<'a>,
        ended: Ended<'a>,
    },
    /// The command of a call wrote something.
    Wrote {
        call: Call<'a>,
        stream: Stream,
        text: &'a str,
    },
    /// A call has its result.
    Answered {
        call: Call<'a>,
        result: &'a Value,
        failed: bool,
    },
    /// Words of this program.
    Note(&'a str),
    /// Words of this program that only a terminal has room for.
    Remark(&'a str),
    /// Something failed.
    Failure {
        code: Option<&'a str>,
        message: &'a str,
    },
    /// The message or the input is over. Another message may follow.
    Over {
        end: End,
        words: &'a str,
    },
}

/// Which call something is about.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) key: CallKey,
    pub(crate) name: &'a str,
    pub(crate) runner: Runner,
}

/// Identifies a call in a message or a session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallKey(usize, usize);

impl CallKey {
    /// A call of a session, by its chunk and its number in it.
    pub(crate) fn in_chunk(chunk: usize, call: usize) -> Self {
        Self(chunk, call)
    }
}

impl From<Slot> for CallKey {
    fn from(slot: Slot) -> Self {
        let (number, below) = slot.numbers();
        Self(number as usize, below.map_or(0, |below| below as usize + 1))
    }
}

/// How the arguments of a call ended.
pub(crate) enum Ended<'a> {
    Whole(Cow<'a, Value>),
    Broken {
        flaw: Flaw,
        /// What came.
        raw: Text,
        /// The value so far, where it is clearer than the text.
        so_far: Option<Cow<'a, Value>>,
    },
}

impl Ended<'_> {
    pub(crate) fn into_owned(self) -> Ended<'static> {
        let owned = |value: Cow<'_, Value>| Cow::Owned(value.into_owned());
        match self {
            Self::Whole(value) => Ended::Whole(owned(value)),
            Self::Broken { flaw, raw, so_far } => Ended::Broken { flaw, raw, so_far: so_far.map(owned) },
        }
    }
}

/// What is wrong with the arguments of a call.
pub(crate) enum Flaw {
    Cut,
    /// With the error, if the arguments themselves are wrong and not what is around them.
    Malformed(Option<String>),
    /// In the words of the events.
    Other(String),
}

impl Flaw {
    pub(crate) fn words(&self) -> Cow<'_, str> {
        match self {
            Self::Cut => "cut".into(),
            Self::Malformed(None) => "malformed".into(),
            Self::Malformed(Some(error)) => format!("malformed: {error}").into(),
            Self::Other(words) => words.into(),
        }
    }
}
