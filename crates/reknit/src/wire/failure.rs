//! The error that a provider reports instead of going on.

use super::fields::Raw;
use crate::event::Failure;
use crate::frame::Frame;

/// Reads an error, which is an object or just a text; `kinds` are its members that say what sort it is.
pub(super) fn failure(error: Raw<'_>, kinds: &[&str], frame: &Frame<'_>) -> Failure {
    let word = |key: &str| match error.get(key)? {
        value if value.is_null() => None,
        value if value.string_body().is_some() => value.owned_string(),
        value => Some(value.text().to_owned()),
    };
    Failure {
        // An error that is a whole event has the type of the event.
        kind: kinds.iter().find_map(|key| word(key).filter(|kind| kind != "error")),
        message: word("message")
            .or_else(|| error.owned_string())
            .unwrap_or_else(|| "the provider gives no reason".to_owned()),
        raw: Raw::new(frame.data).value(),
    }
}
