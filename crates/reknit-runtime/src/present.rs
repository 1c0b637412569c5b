//! [`Presenter`]: the entries of a log as a person should see them. No IO.
//!
//! A log has everything in the order in which it happened: a reply goes on while one of its calls waits for an
//! answer. A person reads one thing after the other. So what comes after a call is held back until the call has its
//! result, and only what belongs to the call is shown until then. Text is shown without the tags in which some
//! models think, and without half a tag at its end; the log keeps it as it was written.

use std::collections::{BTreeMap, VecDeque};

use reknit::agent::{AgentEvent, Body, EndReason, Entry, Stream, ToolResult};
use reknit::json::Value;

use crate::question::Question;

mod clean;

pub use clean::Cleaner;

/// Something to show.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Shown {
    /// More of the model's text.
    Text(String),
    /// More of its thinking.
    Thinking(String),
    /// A call, whose arguments are complete.
    Call {
        /// Its id.
        id: String,
        /// The tool.
        tool: String,
        /// The arguments.
        arguments: Value,
    },
    /// More of the new content of a file that a call is about to write.
    Preview {
        /// The file.
        path: String,
        /// The new text.
        text: String,
        /// Whether what was shown before has to be discarded.
        restarted: bool,
    },
    /// A command wrote something.
    Output {
        /// Where to.
        stream: Stream,
        /// What.
        text: String,
    },
    /// Somebody has to answer.
    Question {
        /// What the answer has to name.
        approval_id: String,
        /// What is asked.
        question: Question,
    },
    /// The result of a call.
    Result(ToolResult),
    /// A message for the user.
    Notice(String),
    /// Something failed.
    Error(String),
    /// The turn is over.
    End(EndReason),
}

/// Shows the entries of a log in order.
#[derive(Debug, Default)]
pub struct Presenter {
    text: Cleaner,
    /// The call that everything after it waits for.
    open: Option<String>,
    held: VecDeque<Held>,
    /// How many were held before those in `held`.
    released: u64,
    /// The newest held call with this id, counted as `released` is.
    held_calls: BTreeMap<String, u64>,
    shown: VecDeque<Shown>,
}

/// Something that is shown when its turn has come.
#[derive(Debug)]
struct Held {
    shown: Shown,
    /// If it is a call: what has happened to it since.
    since: Vec<Shown>,
}

impl Presenter {
    /// Nothing was shown yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next entry of the log.
    pub fn push(&mut self, entry: &Entry) {
        match &entry.body {
            Body::Agent(AgentEvent::ApprovalRequest { tool_call_id, .. }) => {
                if let Some((approval_id, question)) = Question::of(entry) {
                    let approval_id = approval_id.to_owned();
                    self.take(Some(tool_call_id), Shown::Question { approval_id, question });
                }
            }
            Body::Agent(event) => {
                if let Some((call, shown)) = shown_by(event) {
                    self.take(call.as_deref(), shown);
                }
            }
            Body::End { reason } => {
                // A turn that is over leaves nothing open, whatever the log says.
                self.open = None;
                self.release();
                self.show(Shown::End(*reason));
            }
            _ => {}
        }
    }

    /// What to show next.
    pub fn next_shown(&mut self) -> Option<Shown> {
        self.shown.pop_front()
    }

    /// Takes something that belongs to a call or to none.
    fn take(&mut self, call: Option<&str>, shown: Shown) {
        let is_open = self.open.is_some();
        if is_open && call != self.open.as_deref() {
            let about = call.and_then(|call| self.held_calls.get(call));
            let at = about.and_then(|at| usize::try_from(at - self.released).ok());
            match at.and_then(|at| self.held.get_mut(at)) {
                Some(held) => held.since.push(shown),
                None => {
                    if let Shown::Call { id, .. } = &shown {
                        self.held_calls.insert(id.clone(), self.released + self.held.len() as u64);
                    }
                    self.held.push_back(Held { shown, since: Vec::new() });
                }
            }
            return;
        }
        self.pass(shown);
        self.release();
    }

    /// Shows what is held back, up to the next call that has no result.
    fn release(&mut self) {
        while self.open.is_none()
            && let Some(Held { shown, since }) = self.held.pop_front()
        {
            if let Shown::Call { id, .. } = &shown
                && self.held_calls.get(id) == Some(&self.released)
            {
                self.held_calls.remove(id);
            }
            self.released += 1;
            self.pass(shown);
            since.into_iter().for_each(|shown| self.pass(shown));
        }
    }

    fn pass(&mut self, shown: Shown) {
        match &shown {
            Shown::Call { id, .. } => self.open = Some(id.clone()),
            Shown::Result(_) => self.open = None,
            _ => {}
        }
        self.show(shown);
    }

    fn show(&mut self, shown: Shown) {
        match shown {
            Shown::Text(text) => {
                let text = self.text.push(&text);
                if !text.is_empty() {
                    self.shown.push_back(Shown::Text(text));
                }
            }
            other => {
                // The text before it is over: what looked like half a tag was none.
                let rest = self.text.finish();
                if !rest.is_empty() {
                    self.shown.push_back(Shown::Text(rest));
                }
                self.shown.push_back(other);
            }
        }
    }
}

/// What an event shows, and the call that it belongs to.
fn shown_by(event: &AgentEvent) -> Option<(Option<String>, Shown)> {
    let shown = match event.clone() {
        AgentEvent::TextDelta { delta } => (None, Shown::Text(delta)),
        AgentEvent::ReasoningDelta { delta } if delta.is_empty() => return None,
        AgentEvent::ReasoningDelta { delta } => (None, Shown::Thinking(delta)),
        AgentEvent::ToolCall { tool_call } if tool_call.provider_executed => return None,
        AgentEvent::ToolCall { tool_call } => {
            let (id, tool, arguments) = (tool_call.id, tool_call.name, tool_call.arguments);
            (Some(id.clone()), Shown::Call { id, tool, arguments })
        }
        AgentEvent::EditPreview { tool_call_id, path, delta, restarted } => {
            (Some(tool_call_id), Shown::Preview { path, text: delta, restarted })
        }
        AgentEvent::ShellOutput { data, stream, tool_call_id } => {
            (tool_call_id, Shown::Output { stream, text: data })
        }
        AgentEvent::ToolResult { tool_result } => {
            (Some(tool_result.tool_call_id.clone()), Shown::Result(tool_result))
        }
        AgentEvent::Notice { message } => (None, Shown::Notice(message)),
        AgentEvent::Error { error, .. } => (None, Shown::Error(error)),
        _ => return None,
    };
    Some(shown)
}

#[cfg(test)]
mod tests {
    use reknit::agent;
    use reknit::json::Object;

    use super::*;

    fn shown(events: impl IntoIterator<Item = AgentEvent>) -> Vec<String> {
        let mut presenter = Presenter::new();
        let mut lines = Vec::new();
        for event in events {
            let entry = Entry { seq: 1, at: 0, turn: None, body: Body::Agent(event), extra: Object::new() };
            presenter.push(&entry);
            while let Some(shown) = presenter.next_shown() {
                lines.push(match shown {
                    Shown::Text(text) => text,
                    Shown::Call { id, .. } => format!("[{id}]"),
                    Shown::Output { text, .. } => format!("$ {text}"),
                    Shown::Result(result) => format!("={}", result.tool_call_id),
                    other => format!("{other:?}"),
                });
            }
        }
        lines
    }

    fn text(delta: &str) -> AgentEvent {
        AgentEvent::TextDelta { delta: delta.into() }
    }

    fn call(id: &str) -> AgentEvent {
        let arguments = Value::from(Object::new());
        let (id, name) = (id.to_owned(), "t".to_owned());
        let tool_call =
            agent::ToolCall { id, name, arguments, raw: None, provider_executed: false, metadata: None };
        AgentEvent::ToolCall { tool_call }
    }

    fn output(id: &str, data: &str) -> AgentEvent {
        let (data, tool_call_id) = (data.to_owned(), Some(id.to_owned()));
        AgentEvent::ShellOutput { data, stream: Stream::Stdout, tool_call_id }
    }

    fn result(id: &str) -> AgentEvent {
        let tool_call_id = id.to_owned();
        let tool_result = ToolResult { tool_call_id, tool_name: None, result: "x".into(), is_error: None };
        AgentEvent::ToolResult { tool_result }
    }

    #[test]
    fn what_comes_after_a_call_waits_for_its_result() {
        let events = [
            text("a"),
            call("c1"),
            text("b"),
            call("c2"),
            output("c2", "y"),
            output("c1", "x"),
            result("c1"),
            result("c2"),
        ];
        assert_eq!(shown(events), ["a", "[c1]", "$ x", "=c1", "b", "[c2]", "$ y", "=c2"]);
    }

    #[test]
    fn what_happens_to_calls_that_are_held_back_comes_with_them() {
        let events = [
            call("c1"),
            call("c2"),
            call("c3"),
            output("c3", "z"),
            result("c3"),
            result("c2"),
            text("t"),
            result("c1"),
        ];
        assert_eq!(shown(events), ["[c1]", "=c1", "[c2]", "=c2", "[c3]", "$ z", "=c3", "t"]);
    }

    #[test]
    fn the_result_of_a_call_that_was_never_whole_is_shown() {
        assert_eq!(shown([text("a"), result("c1"), text("b")]), ["a", "=c1", "b"]);
    }

    #[test]
    fn half_a_tag_is_shown_once_its_text_is_over() {
        assert_eq!(shown([text("a <b"), call("c1")]), ["a", " <b", "[c1]"]);
    }
}
