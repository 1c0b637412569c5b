//! Joining consecutive deltas, so that a log does not need a line for each.

use super::AgentEvent;

impl AgentEvent {
    /// Appends `next` to this event if both are deltas of the same thing, and returns whether it did.
    ///
    /// The joined event shows the same as the two would. If it has no place, it is dropped once instead of
    /// twice.
    ///
    /// ```
    /// use reknit::agent::AgentEvent;
    ///
    /// let mut event = AgentEvent::TextDelta { delta: "Hel".into() };
    /// assert!(event.join(&AgentEvent::TextDelta { delta: "lo".into() }));
    /// assert_eq!(event, AgentEvent::TextDelta { delta: "Hello".into() });
    /// assert!(!event.join(&AgentEvent::ReasoningDelta { delta: "Hm".into() }));
    /// ```
    pub fn join(&mut self, next: &Self) -> bool {
        let (text, more) = match (self, next) {
            (Self::TextDelta { delta }, Self::TextDelta { delta: more })
            | (Self::ReasoningDelta { delta }, Self::ReasoningDelta { delta: more }) => (delta, more),
            (
                Self::ToolInputDelta { tool_call_id: id, delta },
                Self::ToolInputDelta { tool_call_id, delta: more },
            ) if id == tool_call_id => (delta, more),
            (
                Self::ShellOutput { data, stream: to, tool_call_id: id },
                Self::ShellOutput { data: more, stream, tool_call_id },
            ) if to == stream && id == tool_call_id => (data, more),
            (
                Self::EditPreview { tool_call_id: id, path: file, delta, .. },
                Self::EditPreview { tool_call_id, path, delta: more, restarted: false },
            ) if id == tool_call_id && file == path => (delta, more),
            (_, _) => return false,
        };
        text.push_str(more);
        true
    }
}
