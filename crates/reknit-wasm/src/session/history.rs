//! The messages of the next request.

use reknit::Dialect;
use reknit::agent::Entry;
use reknit::history::{self, Repair};
use reknit::json::Value;
use reknit::wire::UnknownName;
use serde::Serialize;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::read;
use crate::failure::{Failure, USAGE};
use crate::json::json;

#[derive(Serialize)]
struct Request<'a> {
    messages: &'a [Value],
    repairs: &'a [Repair],
}

/// The messages of the next request in a dialect, from a log as a JSON array, and what was repaired.
#[wasm_bindgen(js_name = historyRequest)]
pub fn history_request(dialect: &str, entries: &str) -> Result<String, JsValue> {
    let dialect: Dialect = dialect.parse().map_err(|error: UnknownName| Failure::of(USAGE, &error))?;
    let entries: Vec<Entry> = read("the log", entries)?;
    let request = history::request(dialect, &entries).map_err(|error| Failure::of("no-requests", &error))?;
    Ok(json(&Request { messages: &request.messages, repairs: &request.repairs }))
}
