//! JSON text in and out.

use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// The options in a JSON text.
pub(crate) fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, Failure> {
    serde_json::from_str(json).map_err(|error| {
        // The place in a text that the caller never saw would only confuse.
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message);
        Failure::usage(format!("the options are wrong: {message}"), "the README lists the options")
    })
}

/// One value as JSON.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("the engine's values are JSON")
}
