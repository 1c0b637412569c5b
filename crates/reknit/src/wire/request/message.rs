//! The messages of a request, in a neutral form.

use crate::json::{Object, Value};

/// A message of a request. User and model take turns, and the user is first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    User {
        /// The results of all calls of the previous message, in order.
        results: Vec<Answer>,
        content: Vec<UserPart>,
    },
    Model {
        parts: Vec<ReplyPart>,
    },
}

/// A piece of what the user says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum UserPart {
    Text(String),
    Image { media_type: String, data: String },
}

/// A part of what the model said, with the entry that it began with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ReplyPart {
    Text {
        seq: u64,
        text: String,
        /// The provider's own fields of it that must be sent back.
        fields: Object,
    },
    Thinking {
        seq: u64,
        thinking: Thinking,
    },
    Call {
        seq: u64,
        call: Call,
    },
    /// A call that the provider runs.
    ProviderCall {
        seq: u64,
        call: Call,
        /// Whether its result may still come.
        wait: Wait,
    },
    /// The result of a call that the provider ran.
    ProviderResult {
        seq: u64,
        call: ProviderCallId,
        result: Value,
    },
    /// A block of the provider that must be sent back unchanged.
    Block {
        seq: u64,
        kind: String,
        block: Object,
        /// What the user decided, if the block asks for it.
        approval: Option<Approval>,
    },
}

/// Whether the result of a call that the provider runs may still come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wait {
    No,
    /// The provider continues the reply, which is the last message.
    ForReply,
    /// The next message is nothing but the results of the client's calls, which the provider's own may need.
    ForResults,
}

/// Thinking of the provider that the request is for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Thinking {
    pub(crate) text: String,
    pub(crate) signature: Option<String>,
    pub(crate) redacted: Option<String>,
    /// The provider's own fields of it.
    pub(crate) fields: Object,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) input: Input,
    /// The provider's own fields of it; empty if another provider wrote it.
    pub(crate) fields: Object,
    /// Whether it was written by the provider that the request is for.
    pub(crate) is_own: bool,
}

/// The answer to a provider that asks whether it may run a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Approval {
    pub(crate) is_allowed: bool,
    pub(crate) reason: Option<String>,
}

/// The identity of a call that the provider ran.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProviderCallId {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The provider's own fields of the call.
    pub(crate) fields: Object,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Input {
    Object(Object),
    /// Free text, for tools that accept it.
    Plain(String),
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) output: Output,
    pub(crate) is_error: bool,
    /// Whether the arguments of the call were free text.
    pub(crate) is_plain: bool,
    /// The provider's word for the call, if it is not an ordinary one.
    pub(crate) kind: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Output {
    Value(Value),
    /// Texts and images.
    Parts(Vec<UserPart>),
}

impl UserPart {
    /// An image, if it has data and the media type of an image.
    pub(crate) fn image(media_type: &str, data: &str) -> Option<Self> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let kind = media_type.strip_prefix("image/").filter(|kind| !kind.is_empty());
        let is_image = kind.is_some_and(|kind| kind.chars().all(is_plain)) && !data.trim().is_empty();
        is_image.then(|| Self::Image { media_type: media_type.to_owned(), data: data.to_owned() })
    }
}

impl ReplyPart {
    /// Notes that the next message is nothing but results.
    pub(crate) fn wait_for_results(&mut self) {
        if let Self::ProviderCall { wait: wait @ Wait::No, .. } = self {
            *wait = Wait::ForResults;
        }
    }

    pub(crate) fn seq(&self) -> u64 {
        match self {
            Self::Text { seq, .. }
            | Self::Thinking { seq, .. }
            | Self::Call { seq, .. }
            | Self::ProviderCall { seq, .. }
            | Self::ProviderResult { seq, .. }
            | Self::Block { seq, .. } => *seq,
        }
    }
}

impl Input {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Object(object) => Value::from(object.clone()).to_string(),
            Self::Plain(text) => text.clone(),
        }
    }

    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Object(object) => object.clone().into(),
            Self::Plain(text) => (&**text).into(),
        }
    }
}

impl Call {
    /// One of the provider's own fields, if it is a string.
    pub(crate) fn field(&self, name: &str) -> Option<String> {
        text_of(&self.fields, name)
    }
}

impl Thinking {
    pub(crate) fn new(text: String, metadata: Option<&Value>) -> Self {
        let mut fields = metadata.and_then(Value::as_object).cloned().unwrap_or_default();
        let mut take = |name| fields.remove(name).and_then(|value| value.as_str().map(Into::into));
        let (signature, redacted) = (take("signature"), take("redactedData"));
        Self { text, signature, redacted, fields }
    }

    /// One of the provider's own fields, if it is a string.
    pub(crate) fn field(&self, name: &str) -> Option<String> {
        text_of(&self.fields, name)
    }

    /// Whether it has what some providers require before they take it back.
    pub(crate) fn is_signed(&self) -> bool {
        [&self.signature, &self.redacted].into_iter().flatten().any(|text| !text.is_empty())
    }

    /// Its metadata; `None` if there is none.
    pub(crate) fn metadata(&self) -> Option<Value> {
        let taken = [("signature", &self.signature), ("redactedData", &self.redacted)];
        let taken =
            taken.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text.clone()?.into())));
        let metadata: Object = taken.chain(self.fields.clone()).collect();
        (!metadata.is_empty()).then(|| metadata.into())
    }
}

fn text_of(fields: &Object, name: &str) -> Option<String> {
    fields.get(name).and_then(Value::as_str).map(Into::into)
}

impl Output {
    /// All of it as text.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Value(Value::String(text)) => text.into(),
            Self::Value(value) => value.to_string(),
            Self::Parts(parts) => {
                let texts = parts.iter().filter_map(|part| match part {
                    UserPart::Text(text) => Some(&**text),
                    UserPart::Image { .. } => None,
                });
                texts.collect::<Vec<_>>().join("\n\n")
            }
        }
    }

    pub(crate) fn images(&self) -> impl Iterator<Item = &UserPart> {
        let parts = match self {
            Self::Value(_) => &[],
            Self::Parts(parts) => &**parts,
        };
        parts.iter().filter(|part| matches!(part, UserPart::Image { .. }))
    }
}
