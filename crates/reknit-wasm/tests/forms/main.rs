//! The types of the npm package, `packages/npm/src/forms.ts`: the engine's JSON as Rust types, from which they are
//! written, and which must read everything that the engine says about the corpus and say the same again.
//!
//! `REKNIT_BLESS=1 cargo test -p reknit-wasm --test forms` writes the file.

mod corpus;
mod edits;
mod message;
mod session;
mod stages;
mod typescript;

use serde::Deserialize;
use serde_json::Value;

/// A JSON value that may be `null`, for a member that may be absent.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
