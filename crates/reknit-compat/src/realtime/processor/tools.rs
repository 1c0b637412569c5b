//! The stages of calls: chosen, running, finished, and attached to the message they belong to.

use super::{Processor, Step};
use crate::realtime::Profile;
use crate::realtime::book::THINK;
use crate::realtime::call::{CompletedCall, ToolCall, ToolResult};
use crate::realtime::happening::Happening;

impl Processor {
    pub(super) fn select_tools(&mut self, session: &str, calls: &[ToolCall], step: &mut Step) {
        // An event without calls is malformed and never gets here.
        let notifications = self.tools.select(session, calls, step.at).unwrap_or_default();
        step.happenings.extend(notifications.into_iter().map(Happening::ToolNotification));
    }

    pub(super) fn activate_tools(&mut self, session: &str, calls: &[ToolCall], step: &mut Step) {
        let calls = self.without_thinking(session, calls, step);
        let notifications = self.tools.activate(session, &calls, step.at);
        step.happenings.extend(notifications.into_iter().map(Happening::ToolNotification));
    }

    pub(super) fn complete_tools(
        &mut self,
        session: &str,
        calls: &[ToolCall],
        results: Option<&[ToolResult]>,
        step: &mut Step,
    ) {
        let calls = self.without_thinking(session, calls, step);
        if calls.is_empty() {
            return;
        }
        let completed = self.tools.complete(session, &calls, results.unwrap_or_default());
        step.report(Happening::ToolCallComplete {
            session_id: session.to_owned(),
            tool_calls: calls.clone(),
            tool_results: results.map(<[_]>::to_vec),
        });
        calls.iter().for_each(|call| step.report_removed(session, call.id()));
        self.attach(session, completed, step);
    }

    /// A thought starts: it is shown in place of the call that announced it.
    pub(super) fn forget_thinking(&mut self, session: &str, step: &mut Step) {
        let thinking = self.tools.thinking_in(session);
        let calls: Vec<_> = thinking.into_iter().map(|notification| notification.id.clone()).collect();
        for call in calls {
            step.report_removed(session, &call);
            if self.profile == Profile::Documented {
                self.tools.remove(session, &call);
            }
        }
    }

    /// The calls without those that are shown as thoughts, whose notifications are removed.
    fn without_thinking(&mut self, session: &str, calls: &[ToolCall], step: &mut Step) -> Vec<ToolCall> {
        if self.profile == Profile::AgentC {
            // The first call decides for all.
            return match calls {
                [first, ..] if first.name() == THINK => {
                    step.report_removed(session, first.id());
                    Vec::new()
                }
                calls => calls.to_vec(),
            };
        }
        let (thinking, others): (Vec<_>, Vec<_>) =
            calls.iter().cloned().partition(|call| call.name() == THINK);
        for call in thinking {
            if self.tools.remove(session, call.id()).is_some() {
                step.report_removed(session, call.id());
            }
        }
        others
    }

    /// Attaches calls to the model's last message; without one, or while one is being built, they wait for the
    /// next finished one.
    fn attach(&mut self, session: &str, completed: Vec<CompletedCall>, step: &mut Step) {
        let is_building = self.profile == Profile::Documented && self.open.contains_key(session);
        let attached = self.sessions.get_mut(session).filter(|_| !is_building);
        match attached.and_then(|session| session.attach(&completed)).cloned() {
            Some(message) => {
                if let Some(message_id) = message.id.clone() {
                    let session_id = session.to_owned();
                    step.report(Happening::MessageUpdated { session_id, message_id, message });
                }
            }
            None => self.sessions.buffer_pending(session, completed),
        }
    }
}

impl Step {
    fn report_removed(&mut self, session: &str, call: &str) {
        let (session_id, id) = (session.to_owned(), call.to_owned());
        self.report(Happening::ToolNotificationRemoved { session_id, id });
    }
}
