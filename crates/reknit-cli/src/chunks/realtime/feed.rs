//! [`Feed`]: what happened in the sessions of a server, as what a person is shown of it.

use std::collections::BTreeMap;

use reknit::Text;
use reknit::json::Value;
use reknit_compat::realtime::{EnhancedMessage, Happening, MessageKind};

use crate::present::{Presenter, Shown};

/// Messages as they grow, and a note for everything else.
#[derive(Default)]
pub(super) struct Feed {
    /// How much of the message that a session builds was shown.
    shown: BTreeMap<String, usize>,
    /// The session whose message was shown last, unless something else was.
    speaking: Option<String>,
    /// The session that everything belongs to until another one is named.
    named: Option<String>,
}

impl Feed {
    pub(super) fn show(&mut self, happening: &Happening, presenter: &mut Presenter) {
        let note = match happening {
            Happening::MessageStreaming { session_id, message } => {
                return self.grow(session_id, message, presenter);
            }
            Happening::MessageComplete { session_id, message } => {
                self.grow(session_id, message, presenter);
                self.shown.remove(session_id);
                self.speaking = None;
                return;
            }
            Happening::MessageAdded { message, .. } => {
                self.speaking = None;
                let text = words(&message.content);
                return presenter.show(Shown::Said { who: &message.role, text: &text });
            }
            Happening::Error { message, .. } => {
                self.speaking = None;
                return presenter.show(Shown::Failure { code: None, message });
            }
            Happening::ToolNotification(call) => format!("[{}: {}]", call.tool_name, call.status.name()),
            Happening::MediaAdded { media, .. } => {
                format!("[{}]", media.content_type.as_deref().unwrap_or("media"))
            }
            Happening::SystemMessage(fields) => {
                format!("[{}]", fields.get("content").map(words).unwrap_or_default())
            }
            Happening::ResponseCancelled { .. } => "[cancelled]".to_owned(),
            _ => return,
        };
        self.speaking = None;
        presenter.show(Shown::Note(&note));
    }

    /// Shows the part of a message that was not shown yet.
    fn grow(&mut self, session: &str, message: &EnhancedMessage, presenter: &mut Presenter) {
        let content = match &message.content {
            Value::String(text) => text.clone(),
            other => Text::from(&*other.to_string()),
        };
        let is_new = !self.shown.contains_key(session);
        let from = self.shown.insert(session.to_owned(), content.len()).unwrap_or_default();
        let is_thought = message.kind == MessageKind::Thought || message.role.ends_with("(thought)");
        if is_thought && is_new {
            self.turn_to(session);
            presenter.show(Shown::Break);
            presenter.show(Shown::ThinkingOpened);
        }
        if from == content.len() {
            return;
        }
        if !is_thought && (is_new || self.speaking.as_deref() != Some(session)) {
            let is_another = self.turn_to(session);
            presenter.show(if is_another { Shown::Said { who: session, text: "" } } else { Shown::Break });
        }
        let mut seen = from;
        for segment in content.segments() {
            let piece = &segment[seen.min(segment.len())..];
            seen = seen.saturating_sub(segment.len());
            presenter.show(if is_thought { Shown::Thinking(piece) } else { Shown::Text(piece) });
        }
    }

    /// Returns whether it is another session than the one that was named last.
    fn turn_to(&mut self, session: &str) -> bool {
        self.speaking = Some(session.to_owned());
        self.named.replace(session.to_owned()).is_some_and(|before| before != session)
    }
}

fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), Into::into)
}
