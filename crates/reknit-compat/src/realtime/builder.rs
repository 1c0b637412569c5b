//! [`MessageBuilder`]: one message from the pieces of its text.

use reknit::Hint;
use reknit::Text;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

use super::message::{EnhancedMessage, MessageKind, MessageMetadata, MessageStatus};
use super::{Profile, Time};

/// Builds one message at a time: started, appended to, finalised, reset.
///
/// ```
/// use reknit_compat::realtime::{MessageBuilder, MessageMetadata, MessageType, Stamp, Time};
///
/// let mut builder = MessageBuilder::default();
/// let stamp = || Stamp { id: "msg_1".to_owned(), at: Time(1_767_323_045_000) };
/// builder.start_message(MessageType::Assistant, stamp());
/// builder.append_text("Hello", stamp);
/// builder.append_text(" world", stamp);
/// assert!(builder.is_streaming());
///
/// let message = builder.finalize(MessageMetadata { output_tokens: Some(2), ..Default::default() })?;
/// assert_eq!(message.content, "Hello world".into());
/// builder.reset();
/// assert!(builder.finalize(MessageMetadata::default()).is_err());
/// # Ok::<(), reknit_compat::realtime::NoMessage>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageBuilder {
    profile: Profile,
    state: State,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
enum State {
    #[default]
    Empty,
    Streaming(Draft),
    Complete {
        of: MessageType,
        length: usize,
        message: Box<EnhancedMessage>,
    },
}

/// A message whose text is still growing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Draft {
    of: MessageType,
    stamp: Stamp,
    content: Text,
    /// The length of the content in UTF-16 units.
    length: usize,
}

/// What a message is built as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageType {
    /// The model's words.
    Assistant,
    /// The model's thinking, collapsed when it is complete.
    Thought,
    /// The user's words.
    User,
}

/// The id of a message and the time at which it started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// The id, which must be unique.
    pub id: String,
    /// The time.
    pub at: Time,
}

/// There is no message to finalise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("No message to finalize")]
pub struct NoMessage;

impl Hint for NoMessage {
    fn hint(&self) -> Cow<'static, str> {
        "ask `has_current_message` first, or start one".into()
    }
}

impl MessageBuilder {
    /// A builder without a message.
    pub fn new(profile: Profile) -> Self {
        Self { profile, state: State::Empty }
    }

    /// Starts a message.
    ///
    /// A message that is still streaming is returned as interrupted: as far as it arrived, with the status `error`.
    #[must_use = "a message that was streaming is returned, not kept"]
    pub fn start_message(&mut self, of: MessageType, stamp: Stamp) -> Option<EnhancedMessage> {
        let draft = Draft { of, stamp, content: Text::new(), length: 0 };
        match std::mem::replace(&mut self.state, State::Streaming(draft)) {
            State::Streaming(draft) => {
                let mut message = draft.complete(self.profile, MessageMetadata::default());
                message.status = MessageStatus::Error;
                Some(message)
            }
            State::Empty | State::Complete { .. } => None,
        }
    }

    /// Appends to the message that is streaming; without one, starts a message of the assistant.
    pub fn append_text(&mut self, delta: &str, stamp: impl FnOnce() -> Stamp) {
        if !self.is_streaming() {
            let interrupted = self.start_message(MessageType::Assistant, stamp());
            debug_assert!(interrupted.is_none(), "nothing is streaming");
        }
        if let State::Streaming(draft) = &mut self.state {
            draft.content.push_str(delta);
            draft.length += delta.chars().map(char::len_utf16).sum::<usize>();
        }
    }

    /// Completes the message and returns it; until a start or a reset, another call returns the same.
    pub fn finalize(&mut self, metadata: MessageMetadata) -> Result<EnhancedMessage, NoMessage> {
        match &self.state {
            State::Empty => Err(NoMessage),
            State::Complete { message, .. } => Ok((**message).clone()),
            State::Streaming(draft) => {
                let message = draft.complete(self.profile, metadata);
                // Agent C's client returns a copy and continues with the message as if nothing had happened.
                if self.profile == Profile::Documented {
                    let (of, length) = (draft.of, draft.length);
                    self.state = State::Complete { of, length, message: Box::new(message.clone()) };
                }
                Ok(message)
            }
        }
    }

    /// The message so far. Its text is shared, not copied.
    pub fn current_message(&self) -> Option<EnhancedMessage> {
        match &self.state {
            State::Empty => None,
            State::Streaming(draft) => Some(draft.message(self.profile)),
            State::Complete { message, .. } => Some((**message).clone()),
        }
    }

    /// Whether there is a message, streaming or complete.
    pub fn has_current_message(&self) -> bool {
        !matches!(self.state, State::Empty)
    }

    /// What the message is built as.
    pub fn current_message_type(&self) -> Option<MessageType> {
        match &self.state {
            State::Empty => None,
            State::Streaming(Draft { of, .. }) | State::Complete { of, .. } => Some(*of),
        }
    }

    /// The length of the text in UTF-16 units, as JavaScript counts it.
    pub fn content_length(&self) -> usize {
        match &self.state {
            State::Empty => 0,
            State::Streaming(Draft { length, .. }) | State::Complete { length, .. } => *length,
        }
    }

    /// Whether more of the message may arrive.
    pub fn is_streaming(&self) -> bool {
        matches!(self.state, State::Streaming(_))
    }

    /// Forgets the message.
    pub fn reset(&mut self) {
        self.state = State::Empty;
    }
}

impl Draft {
    fn message(&self, profile: Profile) -> EnhancedMessage {
        let role = match (self.of, profile) {
            (MessageType::User, _) => "user",
            (MessageType::Thought, Profile::AgentC) => "assistant (thought)",
            (MessageType::Thought, Profile::Documented) | (MessageType::Assistant, _) => "assistant",
        };
        let kind = match (self.of, profile) {
            (MessageType::Thought, Profile::Documented) => MessageKind::Thought,
            _ => MessageKind::Message,
        };
        EnhancedMessage {
            id: Some(self.stamp.id.clone()),
            kind,
            status: MessageStatus::Streaming,
            ..EnhancedMessage::new(role, self.content.clone(), self.stamp.at)
        }
    }

    fn complete(&self, profile: Profile, metadata: MessageMetadata) -> EnhancedMessage {
        EnhancedMessage {
            status: MessageStatus::Complete,
            tool_calls: metadata.tool_calls.iter().cloned().collect(),
            tool_results: metadata.tool_results.iter().cloned().collect(),
            metadata: Some(metadata),
            is_collapsed: (self.of == MessageType::Thought).then_some(true),
            ..self.message(profile)
        }
    }
}
