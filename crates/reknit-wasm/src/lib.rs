//! The engine for JavaScript: what `packages/npm` calls.
//!
//! Every type here is a handle to a value of the engine. Bytes and JSON text go in, and the engine's own JSON
//! text comes out, one for each call: that is less work than building JavaScript objects one by one, and what
//! crosses the border is what changed. The package turns it into objects, checks what its callers give it,
//! and frees the handles.

mod failure;
mod options;
mod output;
mod reply;
mod partial_json;
mod text_blocks;
mod edits;
mod session;
mod history;
mod frames;
mod panics;

pub use edits::Edits;
pub use frames::Frames;
pub use history::history_request;
pub use panics::{last_panic, start};
pub use partial_json::PartialJson;
pub use reply::Reply;
pub use session::{Chunks, Transcript};
pub use text_blocks::{TextBlocks, detect_profile, profile_names, profile_source};
