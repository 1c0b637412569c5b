//! The crate as its users see it: the cases of `corpus/` that belong to it, and generated events and diffs.
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "tests read files, the crate does not"
)]

mod corpus;
#[path = "../../../reknit/tests/it/sources.rs"]
mod sources;
mod reconstruct;
mod realtime;
mod realtime_sequences;
mod system_events;
mod cline;
mod types;
mod errors;
