//! [`ToolCallBook`]: which calls are prepared, executing or finished, by session.

use reknit::Hint;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Time;
use super::call::{CompletedCall, ToolCall, ToolResult};

/// The tool with which a model thinks aloud; its call is shown as a thought.
pub(super) const THINK: &str = "think";

/// The calls of every session: a notification for each unfinished one, and the finished ones.
///
/// ```
/// use reknit_compat::realtime::{Time, ToolCall, ToolCallBook, ToolStatus};
///
/// let call = ToolCall::new([("id", "c1"), ("name", "count")].into_iter().collect()).unwrap();
/// let mut book = ToolCallBook::default();
/// book.select("s1", &[call.clone()], Time(0))?;
/// assert_eq!(book.active()[0].status, ToolStatus::Preparing);
/// book.complete("s1", &[call], &[]);
/// assert_eq!(book.statistics().completed_count, 1);
/// # Ok::<(), reknit_compat::realtime::NoToolCalls>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolCallBook {
    /// By session. Those that have none are left out, so that clearing all costs only what there is to clear.
    unfinished: BTreeMap<String, Unfinished>,
    /// By session.
    completed: BTreeMap<String, Vec<CompletedCall>>,
    /// How many notifications there were; each has a number, by which they are ordered.
    count: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Unfinished {
    active: BTreeMap<String, Active>,
    /// Those for calls of the think tool, since every thought looks them up.
    thinking: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Active {
    number: u64,
    notification: ToolNotification,
}

/// What a page shows of an unfinished call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolNotification {
    /// The id of the call.
    pub id: String,
    /// Its session.
    pub session_id: String,
    /// The tool.
    pub tool_name: String,
    /// Its stage.
    pub status: ToolStatus,
    /// When it was first seen.
    pub timestamp: String,
    /// Its arguments as JSON, if the server sent any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
}

/// The stage of an unfinished call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolStatus {
    /// The model has chosen it.
    Preparing,
    /// It is running.
    Executing,
}

impl ToolStatus {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Preparing => "preparing",
            Self::Executing => "executing",
        }
    }
}

/// How many calls there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Statistics {
    /// Unfinished calls.
    pub active_count: usize,
    /// Finished calls.
    pub completed_count: usize,
    /// Both.
    pub total_count: usize,
}

/// A selection of tools is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ToolSelectDeltaEvent has no tool calls")]
pub struct NoToolCalls;

impl Hint for NoToolCalls {
    fn hint(&self) -> Cow<'static, str> {
        "check what the server sends as `tool_calls`; the event changed nothing".into()
    }
}

impl ToolCallBook {
    /// The model has chosen these calls. A new notification for each replaces an existing one.
    pub fn select(
        &mut self,
        session: &str,
        calls: &[ToolCall],
        at: Time,
    ) -> Result<Vec<ToolNotification>, NoToolCalls> {
        if calls.is_empty() {
            return Err(NoToolCalls);
        }
        Ok(calls.iter().map(|call| self.enter(session, call, ToolStatus::Preparing, at)).collect())
    }

    /// These calls are running, whether they were chosen before or not.
    pub fn activate(&mut self, session: &str, calls: &[ToolCall], at: Time) -> Vec<ToolNotification> {
        let notifications = calls.iter().map(|call| {
            let known = self.unfinished.get_mut(session).and_then(|calls| calls.active.get_mut(call.id()));
            match known {
                Some(Active { notification, .. }) => {
                    notification.status = ToolStatus::Executing;
                    notification.clone()
                }
                None => self.enter(session, call, ToolStatus::Executing, at),
            }
        });
        notifications.collect()
    }

    /// These calls are finished. Each is paired with the first result that names it.
    pub fn complete(
        &mut self,
        session: &str,
        calls: &[ToolCall],
        results: &[ToolResult],
    ) -> Vec<CompletedCall> {
        let mut by_call = BTreeMap::new();
        for result in results {
            by_call.entry(result.tool_use_id()).or_insert(result);
        }
        let completed: Vec<_> = calls
            .iter()
            .map(|call| {
                self.remove(session, call.id());
                let result = by_call.get(call.id()).map(|result| (*result).clone());
                CompletedCall { call: call.clone(), result }
            })
            .collect();
        self.completed.entry(session.to_owned()).or_default().extend(completed.iter().cloned());
        completed
    }

    /// Forgets the notification of a call, if it has one.
    pub fn remove(&mut self, session: &str, call: &str) -> Option<ToolNotification> {
        let calls = self.unfinished.get_mut(session)?;
        calls.thinking.remove(call);
        let removed = calls.active.remove(call)?;
        if calls.active.is_empty() {
            self.unfinished.remove(session);
        }
        Some(removed.notification)
    }

    /// The notification of an unfinished call.
    pub fn notification(&self, session: &str, call: &str) -> Option<&ToolNotification> {
        Some(&self.unfinished.get(session)?.active.get(call)?.notification)
    }

    /// Whether a call is unfinished.
    pub fn is_active(&self, session: &str, call: &str) -> bool {
        self.notification(session, call).is_some()
    }

    /// The notifications of all sessions, in order of arrival.
    pub fn active(&self) -> Vec<&ToolNotification> {
        in_order(self.unfinished.values().flat_map(|calls| calls.active.values()))
    }

    /// The notifications of a session, in order of arrival.
    pub fn active_in(&self, session: &str) -> Vec<&ToolNotification> {
        in_order(self.unfinished.get(session).into_iter().flat_map(|calls| calls.active.values()))
    }

    /// The notifications of a session's think tool, in order of arrival.
    pub(super) fn thinking_in(&self, session: &str) -> Vec<&ToolNotification> {
        let calls = self.unfinished.get(session);
        in_order(
            calls
                .into_iter()
                .flat_map(|calls| calls.thinking.iter().filter_map(|call| calls.active.get(call))),
        )
    }

    /// The finished calls of all sessions.
    pub fn completed(&self) -> impl Iterator<Item = &CompletedCall> {
        self.completed.values().flatten()
    }

    /// Forgets the notifications of a session, and returns how many there were.
    pub fn clear_session(&mut self, session: &str) -> usize {
        self.unfinished.remove(session).map_or(0, |calls| calls.active.len())
    }

    /// Forgets the notifications of all sessions.
    pub fn clear_active(&mut self) {
        self.unfinished.clear();
    }

    /// Forgets the finished calls.
    pub fn clear_completed(&mut self) {
        self.completed.clear();
    }

    /// Forgets all of a session.
    pub fn reset_session(&mut self, session: &str) {
        self.unfinished.remove(session);
        self.completed.remove(session);
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.unfinished.clear();
        self.completed.clear();
    }

    /// How many calls there are.
    pub fn statistics(&self) -> Statistics {
        let active_count = self.unfinished.values().map(|calls| calls.active.len()).sum();
        let completed_count = self.completed.values().map(Vec::len).sum();
        Statistics { active_count, completed_count, total_count: active_count + completed_count }
    }

    fn enter(&mut self, session: &str, call: &ToolCall, status: ToolStatus, at: Time) -> ToolNotification {
        let notification = ToolNotification {
            id: call.id().to_owned(),
            session_id: session.to_owned(),
            tool_name: call.name().to_owned(),
            status,
            timestamp: at.to_string(),
            arguments: call.input().map(ToString::to_string),
        };
        self.remove(session, call.id());
        let calls = self.unfinished.entry(session.to_owned()).or_default();
        if call.name() == THINK {
            calls.thinking.insert(call.id().to_owned());
        }
        let active = Active { number: self.count, notification: notification.clone() };
        calls.active.insert(call.id().to_owned(), active);
        self.count += 1;
        notification
    }
}

fn in_order<'a>(active: impl Iterator<Item = &'a Active>) -> Vec<&'a ToolNotification> {
    let mut active: Vec<_> = active.collect();
    active.sort_unstable_by_key(|active| active.number);
    active.into_iter().map(|active| &active.notification).collect()
}
