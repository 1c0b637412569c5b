//! The engine as its users see it: every case of `corpus/`, every way to cut it, and whatever is done to it.
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "tests read files, the engine does not"
)]

mod cuts;
mod corpus;
mod sources;
mod frames;
mod json;
mod events;
mod replies;
mod tags;
mod tags_limits;
mod tags_prefixes;
mod tags_detect;
mod tagged;
mod tagger;
mod chunks;
mod agent_events;
mod following;
mod transcript;
mod bridge;
mod edit_parse;
mod edit_follower;
mod edit_preview;
mod edit_corpus;
mod edit_misplaced;
mod edit_wrong;
mod edit_safety;
mod history;
mod prefixes;
mod damage;
mod limits;
mod bad_input;
mod types;
mod errors;
mod examples;
