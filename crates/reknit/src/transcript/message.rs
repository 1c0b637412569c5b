//! [`Message`]: a message of a session, as a person sees it.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::chunk::Chunk;
use super::chunks::Chunks;
use crate::agent::{Content, EndReason, Members, Misread, tokens};
use crate::event::Usage;
use crate::json::{Value, exact};

/// A message of a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Message {
    /// Who wrote it.
    pub role: Role,
    /// Its state.
    pub status: Status,
    /// The turn that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The model that answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When it started, in milliseconds since the Unix epoch.
    pub started_at: u64,
    /// When it ended; `None` while it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<u64>,
    /// The number of tokens of all its requests.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "tokens::optional::serialize")]
    pub usage: Option<Usage>,
    /// What a user sent in addition to text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Content>,
    /// What is displayed.
    #[serde(flatten)]
    pub chunks: Chunks,
}

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
    /// The system, about what happens between turns.
    System,
}

/// The state of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Status {
    /// Nothing has arrived yet.
    Waiting,
    /// It is still arriving.
    Streaming,
    /// It is complete.
    Done,
    /// Something failed. While the message is open, the request may still be retried.
    Failed,
    /// The user stopped it.
    Cancelled,
    /// Something else began before it ended.
    Interrupted,
}

impl From<EndReason> for Status {
    fn from(reason: EndReason) -> Self {
        match reason {
            EndReason::Done => Self::Done,
            EndReason::Failed => Self::Failed,
            EndReason::Cancelled => Self::Cancelled,
            EndReason::Interrupted => Self::Interrupted,
        }
    }
}

impl Message {
    /// A message without content.
    pub(super) fn new(role: Role, turn: Option<&String>, at: u64) -> Self {
        let (status, ended_at) = match role {
            Role::Assistant => (Status::Waiting, None),
            Role::User | Role::System => (Status::Done, Some(at)),
        };
        Self {
            role,
            status,
            turn: turn.cloned(),
            model: None,
            started_at: at,
            ended_at,
            usage: None,
            attachments: Vec::new(),
            chunks: Chunks::default(),
        }
    }

    /// A message of the user.
    pub(super) fn of_user(content: &[Content], turn: Option<&String>, at: u64) -> Self {
        let mut message = Self::new(Role::User, turn, at);
        let (mut texts, mut attachments) = (Vec::new(), Vec::new());
        for piece in content {
            match piece {
                Content::Text { text } => texts.push(Chunk::Text { text: (&**text).into() }),
                Content::Image { .. } | Content::Other(_) => attachments.push(piece.clone()),
            }
        }
        message.chunks = texts.into();
        message.attachments = attachments;
        message
    }

    /// Ends it, unless it has already ended.
    pub(super) fn end(&mut self, status: Status, at: u64) {
        if self.is_open() {
            (self.status, self.ended_at) = (status, Some(at));
        }
    }

    /// Whether it has not ended yet.
    pub(super) fn is_open(&self) -> bool {
        self.ended_at.is_none()
    }

    /// Reads a message.
    pub(super) fn read(value: Value) -> Result<Self, Misread> {
        let mut members = Members::new("a message", value)?;
        let attachments = members.optional_list("attachments")?.into_iter().map(Content::read);
        let attachments = attachments.map(|read| read.map(|(content, _)| content));
        Ok(Self {
            role: members.value_as("role", "`user`, `assistant` or `system`")?,
            status: members.value_as("status", "the status of a message")?,
            turn: members.optional_text("turn")?,
            model: members.optional_text("model")?,
            started_at: members.count("startedAt")?,
            ended_at: members.optional_count("endedAt")?,
            usage: members.optional_as("usage", "counts of tokens")?.map(|tokens::Counts(usage)| usage),
            attachments: attachments.collect::<Result<_, _>>()?,
            chunks: Chunks::read(&mut members)?,
        })
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(exact(deserializer)?).map_err(D::Error::custom)
    }
}
