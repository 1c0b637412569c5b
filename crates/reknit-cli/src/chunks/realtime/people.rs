//! [`People`]: what happened in the sessions of a server, for people.

use std::collections::BTreeMap;
use std::time::Duration;

use reknit::Text;
use reknit::json::Value;
use reknit_compat::realtime::{EnhancedMessage, Happening, MessageKind};

use super::page::Page;

/// Messages as they grow, and a paragraph for all else.
pub(super) struct People {
    pub(super) page: Page,
    /// How much of the message that a session builds is shown.
    shown: BTreeMap<String, usize>,
    /// The session whose message was shown last; none if it was something else.
    speaking: Option<String>,
    /// The session that all is of until another one is named.
    named: Option<String>,
}

impl People {
    pub(super) fn new(page: Page) -> Self {
        Self { page, shown: BTreeMap::new(), speaking: None, named: None }
    }

    /// Shows something that happened at a time.
    pub(super) fn show(&mut self, happening: &Happening, at: Option<Duration>) {
        match happening {
            Happening::MessageStreaming { session_id, message } => self.grow(session_id, message, at),
            Happening::MessageComplete { session_id, message } => {
                self.grow(session_id, message, at);
                self.shown.remove(session_id);
                self.speaking = None;
            }
            Happening::MessageAdded { message, .. } => {
                self.speaking = None;
                self.page.begin(Some(&message.role));
                self.page.text(&words(&message.content));
            }
            Happening::ToolNotification(call) => {
                self.note(&format!("[{}: {}]", call.tool_name, call.status.name()));
            }
            Happening::MediaAdded { media, .. } => {
                self.note(&format!("[{}]", media.content_type.as_deref().unwrap_or("media")));
            }
            Happening::SystemMessage(fields) => {
                self.note(&format!("[{}]", fields.get("content").map(words).unwrap_or_default()));
            }
            Happening::Error { message, .. } => {
                self.speaking = None;
                self.page.failure(message);
            }
            Happening::ResponseCancelled { .. } => self.note("[cancelled]"),
            _ => {}
        }
    }

    /// What of a message was not shown yet.
    fn grow(&mut self, session: &str, message: &EnhancedMessage, at: Option<Duration>) {
        let content = match &message.content {
            Value::String(text) => text.clone(),
            other => Text::from(&*other.to_string()),
        };
        let is_new = !self.shown.contains_key(session);
        let from = self.shown.insert(session.to_owned(), content.len()).unwrap_or_default();
        let is_thought = message.kind == MessageKind::Thought || message.role.ends_with("(thought)");
        if is_thought && is_new {
            self.turn_to(session);
            self.page.begin_thinking();
        }
        if from == content.len() {
            return;
        }
        if !is_thought && (is_new || self.speaking.as_deref() != Some(session)) {
            let is_another = self.turn_to(session);
            self.page.begin(is_another.then_some(session));
        }
        let mut seen = from;
        for segment in content.segments() {
            let piece = &segment[seen.min(segment.len())..];
            seen = seen.saturating_sub(segment.len());
            self.page.count(piece, at);
            if is_thought {
                self.page.thinking(piece);
            } else {
                self.page.text(piece);
            }
        }
    }

    /// Says whether it is another session than the one that was named last.
    fn turn_to(&mut self, session: &str) -> bool {
        self.speaking = Some(session.to_owned());
        self.named.replace(session.to_owned()).is_some_and(|before| before != session)
    }

    fn note(&mut self, words: &str) {
        self.speaking = None;
        self.page.note(words);
    }
}

fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), Into::into)
}
