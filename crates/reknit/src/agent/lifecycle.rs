//! [`Lifecycle`]: events for those who watch a session. They do not change its transcript or history.

use serde::Serialize;

use super::{Members, Misread};
use crate::json::Value;

/// Something that happened outside of the conversation. It changes neither what a person sees of it nor the
/// next request to the model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Lifecycle {
    /// The session is idle, runs or has failed, in the sender's word.
    Status {
        /// The sender's word.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<String>,
    },
    /// The current state of the files was saved.
    Checkpoint {
        /// The id of the checkpoint.
        checkpoint_id: String,
    },
    /// The list of tasks changed.
    TaskListUpdate {
        /// All tasks.
        #[serde(skip_serializing_if = "Option::is_none")]
        tasks: Option<Value>,
    },
    /// Another session was opened.
    TabCreated {},
    /// A message of the user is waiting for the end of the turn.
    MessageQueued {},
    /// Waiting messages were added to a turn.
    MessageConsumed {},
    /// A waiting message was withdrawn.
    MessageCancelled {},
    /// The history is being compacted.
    CompactionStarted {},
    /// The history was compacted.
    CompactionComplete {},
    /// The history could not be compacted.
    CompactionError {},
}

impl Lifecycle {
    /// The event of this type, if it is one of these.
    pub(super) fn of_kind(kind: &str, members: &mut Members) -> Result<Option<Self>, Misread> {
        Ok(Some(match kind {
            "status" => {
                Self::Status { status: members.if_any("status", |value| value.as_str().map(Into::into)) }
            }
            "checkpoint" => Self::Checkpoint { checkpoint_id: members.text("checkpointId")? },
            "task-list-update" => Self::TaskListUpdate { tasks: members.optional("tasks") },
            "tab-created" => Self::TabCreated {},
            "message-queued" => Self::MessageQueued {},
            "message-consumed" => Self::MessageConsumed {},
            "message-cancelled" => Self::MessageCancelled {},
            "compaction-started" => Self::CompactionStarted {},
            "compaction-complete" => Self::CompactionComplete {},
            "compaction-error" => Self::CompactionError {},
            _ => return Ok(None),
        }))
    }
}
