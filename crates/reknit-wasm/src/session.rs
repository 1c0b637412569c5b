//! [`Chunks`] and [`Transcript`]: what a person sees of a session.

use reknit::agent::{AgentEvent, Entry};
use reknit::transcript::{self, Chunk, Misfit, Step, append};
use reknit::{Diagnostic, Limits};
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::failure::Failure;
use crate::json::{json, parse};
use crate::limits::LimitOptions;

mod history;

pub use history::history_request;

/// The chunks of a message.
#[wasm_bindgen]
pub struct Chunks {
    chunks: transcript::Chunks,
}

/// The JSON of `reknit chunks --json`.
#[derive(Serialize)]
struct Folded<'a> {
    chunks: &'a [Chunk],
    diagnostics: &'a [Diagnostic],
    #[serde(skip_serializing_if = "is_zero")]
    diagnostics_omitted: u64,
}

/// What is needed of it to continue: the diagnostics are about events that were taken before.
#[derive(Default, Deserialize)]
struct Saved {
    chunks: Vec<Chunk>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[wasm_bindgen]
impl Chunks {
    /// Continues from what [`json`](Self::json) returned; an empty text is no chunks.
    #[wasm_bindgen(constructor)]
    pub fn new(saved: &str, limits: &str) -> Result<Chunks, JsValue> {
        let saved: Saved = if saved.is_empty() { Saved::default() } else { read("the chunks", saved)? };
        Ok(Self { chunks: transcript::Chunks::from(saved.chunks).with_limits(&limits_of(limits)?) })
    }

    /// Takes an event; returns what it changed.
    pub fn append(&mut self, event: &str) -> Result<String, JsValue> {
        let event: AgentEvent = read("the event", event)?;
        Ok(json(&append(&mut self.chunks, &event)))
    }

    pub fn json(&self) -> String {
        json(&Folded {
            chunks: &self.chunks,
            diagnostics: self.chunks.diagnostics(),
            diagnostics_omitted: self.chunks.diagnostics().omitted(),
        })
    }
}

/// The messages of a session.
#[wasm_bindgen]
pub struct Transcript {
    transcript: transcript::Transcript,
}

#[wasm_bindgen]
impl Transcript {
    /// Continues from a saved transcript; an empty text is a new one.
    #[wasm_bindgen(constructor)]
    pub fn new(saved: &str, limits: &str) -> Result<Transcript, JsValue> {
        let transcript: transcript::Transcript =
            if saved.is_empty() { Default::default() } else { read("the transcript", saved)? };
        Ok(Self { transcript: transcript.with_limits(&limits_of(limits)?) })
    }

    /// Takes an entry of the log; returns what it changed, or nothing if it was taken before.
    pub fn append(&mut self, entry: &str) -> Result<Option<String>, JsValue> {
        let entry: Entry = read("the entry", entry)?;
        Ok(self.transcript.append(&entry).map_err(|misfit| failure(&misfit))?.map(|step| json(&step)))
    }

    /// Follows a step that another transcript returned.
    pub fn follow(&mut self, step: &str) -> Result<(), JsValue> {
        let step: Step<'_> = read("the step", step)?;
        Ok(self.transcript.follow(&step).map_err(|misfit| failure(&misfit))?)
    }

    pub fn json(&self) -> String {
        json(&self.transcript)
    }
}

fn limits_of(limits: &str) -> Result<Limits, Failure> {
    parse::<LimitOptions>(limits).map(LimitOptions::limits)
}

fn failure(misfit: &Misfit) -> Failure {
    Failure::of("misfit", misfit)
}

/// Reads a form of the engine.
fn read<'a, T: Deserialize<'a>>(what: &str, json: &'a str) -> Result<T, Failure> {
    serde_json::from_str(json).map_err(|error| {
        let hint = "docs/json.md of the project describes it, member by member";
        Failure::new("malformed-event", format!("{what} cannot be read: {error}"), hint)
    })
}
