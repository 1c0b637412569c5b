//! [`Failure`]: an error on its way to JavaScript.

use std::fmt::Display;

use reknit::Hint;
use serde::Serialize;
use wasm_bindgen::JsValue;

/// The kind of a failure that is a mistake of the caller. The package throws a `TypeError` for it, and a
/// `ReknitError` for any other kind.
pub(crate) const USAGE: &str = "usage";

/// An error, thrown as its JSON text.
#[derive(Debug, Serialize)]
pub(crate) struct Failure {
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl Failure {
    pub(crate) fn new(kind: &'static str, message: impl Display, hint: impl Display) -> Self {
        Self { kind, message: message.to_string(), hint: hint.to_string() }
    }

    /// An error of the engine.
    pub(crate) fn of(kind: &'static str, error: &(impl Display + Hint)) -> Self {
        Self::new(kind, error, error.hint())
    }

    /// A mistake of the caller.
    pub(crate) fn usage(message: impl Display, hint: impl Display) -> Self {
        Self::new(USAGE, message, hint)
    }

    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).expect("three texts are JSON")
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        Self::from_str(&failure.json())
    }
}
