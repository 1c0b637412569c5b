//! [`PartialJson`]: a value while its text arrives, as the changes with which the package keeps a copy.

use reknit::Limits;
use reknit::json::{Change, Error, ErrorKind, State, Value};
use serde::Serialize;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::output::{Form, Output};
use crate::failure::Failure;
use crate::json::json;

/// A JSON value whose text arrives in pieces.
#[wasm_bindgen]
pub struct PartialJson {
    json: reknit::json::PartialJson,
    /// The path of the string that grew last.
    growing: String,
    /// Whether the error was returned.
    has_failed: bool,
}

/// A change as the package gets it; an error is the last of its push.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Step<'a> {
    Opened { path: &'a str, value: Empty },
    Grew { path: &'a str, text: &'a str },
    Scalar { path: &'a str, value: Option<&'a Value> },
    Closed { path: &'a str },
    Failed(Failure),
}

/// A string, array or object without content.
#[derive(Serialize)]
#[serde(untagged)]
enum Empty {
    String(&'static str),
    Array([(); 0]),
    Object {},
}

#[wasm_bindgen]
impl PartialJson {
    #[wasm_bindgen(constructor)]
    pub fn new(depth: Option<usize>) -> Self {
        let depth = depth.unwrap_or(Limits::default().json_depth);
        Self { json: reknit::json::PartialJson::with_depth(depth), growing: String::new(), has_failed: false }
    }

    /// Takes a piece; returns the changes as a JSON array. If all that changed is that the string grew which grew
    /// last, it is the new text alone: most pieces of a long string are like that.
    pub fn push(&mut self, piece: &str) -> String {
        let outcome = self.json.push(piece);
        let mut changes = self.json.changes();
        if let (Some(Change::StringGrew { path, text }), None) = (changes.next(), changes.next())
            && outcome.is_ok()
            && !self.growing.is_empty()
            && path == *self.growing
        {
            return json(&text);
        }
        drop(changes);
        let mut output = Output::new(Form::Array);
        for change in self.json.changes() {
            let path = change.path().to_string();
            let path = &*path;
            output.write(&match change {
                Change::Opened { path: place } => Step::Opened { path, value: self.empty(place) },
                Change::StringGrew { text, .. } => Step::Grew { path, text },
                Change::Scalar { path: place } => Step::Scalar { path, value: self.json.at(place) },
                Change::Closed { .. } => Step::Closed { path },
            });
        }
        let last = self.json.changes().last();
        self.growing = match last {
            Some(Change::StringGrew { path, .. }) => path.to_string(),
            _ => String::new(),
        };
        if let (Err(error), false) = (outcome, self.has_failed) {
            self.has_failed = true;
            output.write(&Step::Failed(failure(&error)));
        }
        output.finish()
    }

    /// How much of the value at a JSON pointer has arrived.
    pub fn state(&self, pointer: &str) -> String {
        let state = match self.json.state(pointer) {
            State::Missing => "missing",
            State::Partial => "partial",
            State::Complete => "complete",
        };
        state.to_owned()
    }

    /// Checks that the value is complete. Returns it if no change showed it: a number alone has no end that
    /// its text shows.
    pub fn finish(&self) -> Result<Option<String>, JsValue> {
        self.json.check().map_err(|error| failure(&error))?;
        if self.json.value().is_some() {
            return Ok(None);
        }
        let value = self.json.clone().finish().map_err(|error| failure(&error))?;
        Ok(Some(value.to_string()))
    }

    /// The value so far as JSON text, with every digit; nothing if there is none.
    pub fn text(&self) -> Option<String> {
        self.json.value().map(Value::to_string)
    }

    /// How many keys were repeated, and the byte of the first one.
    #[wasm_bindgen(js_name = duplicateKeys)]
    pub fn duplicate_keys(&self) -> Option<Vec<usize>> {
        self.json.duplicate_keys().map(|(count, first_at)| vec![count, first_at])
    }

    fn empty(&self, path: reknit::json::Path<'_>) -> Empty {
        match self.json.at(path) {
            Some(Value::Array(_)) => Empty::Array([]),
            Some(Value::Object(_)) => Empty::Object {},
            _ => Empty::String(""),
        }
    }
}

fn failure(error: &Error) -> Failure {
    let kind = match error.kind() {
        ErrorKind::Empty => "empty-json",
        ErrorKind::Truncated => "cut-json",
        ErrorKind::TooDeep => "limit-reached",
        _ => "malformed-json",
    };
    Failure::of(kind, error)
}
