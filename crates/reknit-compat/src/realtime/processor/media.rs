//! What is shown besides the model's text: images, pages, and messages of the system.

use reknit::json::{Object, Value};

use super::{Processor, Step};
use crate::realtime::Profile;
use crate::realtime::happening::Happening;
use crate::realtime::message::{EnhancedMessage, Fields, MessageKind, MessageMetadata};

impl Processor {
    pub(super) fn render_media(&mut self, session: &str, fields: &Object, step: &mut Step) {
        let mut fields = Fields(fields.clone());
        for known in ["type", "session_id", "role", "parent_session_id", "user_session_id"] {
            fields.0.remove(known);
        }
        let stamp = self.ids.stamp(step.at);
        let content = fields.0.remove("content").filter(|content| !content.is_null());
        let media = EnhancedMessage {
            id: Some(stamp.id),
            kind: MessageKind::Media,
            format: None,
            content_type: fields.string("content_type"),
            metadata: Some(MessageMetadata {
                sent_by_class: fields.string("sent_by_class"),
                sent_by_function: fields.string("sent_by_function"),
                timestamp: Some(step.at.to_string()),
                others: fields.0,
                ..MessageMetadata::default()
            }),
            ..EnhancedMessage::new("assistant", content.unwrap_or_else(|| Value::from("")), step.at)
        };
        if self.profile == Profile::Documented {
            let owner = self.ensured(session, step);
            if let Some(owner) = self.sessions.get_mut(&owner) {
                owner.push(media.clone(), step.at);
            }
        }
        step.report(Happening::MediaAdded { session_id: session.to_owned(), media });
    }
}

/// A message of the system, unchanged; without a severity it is `info`.
pub(super) fn system_message(fields: &Object) -> Happening {
    let mut fields = fields.clone();
    let is_said =
        fields.get("severity").and_then(Value::as_text).is_some_and(|severity| !severity.is_empty());
    if !is_said {
        fields.insert("severity", "info");
    }
    Happening::SystemMessage(fields)
}
