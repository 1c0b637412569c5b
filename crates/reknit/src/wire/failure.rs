//! The error that a provider reports instead of going on.

use super::events::Events;
use super::fields::Raw;
use crate::event::{Event, Failure};
use crate::frame::Frame;
use crate::json::Value;

/// Reports an error, an object or just a text. `kinds` are the members that may name its kind.
pub(super) fn fail(error: Raw<'_>, kinds: &[&str], frame: &Frame<'_>, events: &mut Events) {
    let word = |key: &str| match error.get(key)? {
        value if value.is_null() => None,
        value if value.string_body().is_some() => value.owned_string(),
        value => Some(value.text().to_owned()),
    };
    // If the event itself is the error, its type only says that.
    let kind = kinds.iter().find_map(|key| word(key).filter(|kind| kind != "error"));
    let message = word("message").or_else(|| error.owned_string());
    let raw = events.value("error", Raw::new(frame.data));
    failed(kind, message, raw, events);
}

pub(super) fn failed(kind: Option<String>, message: Option<String>, raw: Value, events: &mut Events) {
    let message = message.unwrap_or_else(|| "the provider gave no reason".to_owned());
    events.push(Event::Failed(Failure { kind, message, raw }));
}
