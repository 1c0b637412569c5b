//! The engine for JavaScript: what `packages/npm` calls.
//!
//! Every type here is a handle to a value of the engine. Bytes and JSON text go in, and the engine's own JSON
//! text comes out, one for each call: that is less work than building JavaScript objects one by one, and what
//! crosses the border is what changed. The package turns it into objects, checks what its callers give it,
//! and frees the handles.
//!
//! The package has a module for each of the features, so that a page that reads replies does not load the rest.

mod failure;
mod json;
#[cfg(any(feature = "reply", feature = "session"))]
mod limits;
#[cfg(feature = "reply")]
mod reply;
#[cfg(feature = "edits")]
mod edits;
#[cfg(feature = "session")]
mod session;
mod panics;

#[cfg(feature = "edits")]
pub use edits::Edits;
pub use panics::{last_panic, start};
#[cfg(feature = "reply")]
pub use reply::{Frames, PartialJson, Reply, TextBlocks, detect_profile, profile_names, profile_source};
#[cfg(feature = "session")]
pub use session::{Chunks, Transcript, history_request};
