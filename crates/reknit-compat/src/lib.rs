//! Protocols and rules of other projects, for programs that already depend on them.
//!
//! The engine, [`reknit`], does not use any of this. Like the engine, this crate does no IO: times and ids
//! are arguments.
//!
//! - [`reconstruct`]: a chat message from events that the caller has already parsed.
//! - [`realtime`]: sessions over a WebSocket: a server's events to messages, notifications and sessions.
//! - [`system_events`]: what happens between turns, added to messages that the application keeps itself.
//! - [`cline`]: Cline's two ways to apply search and replace blocks, bugs included.
#![warn(missing_docs)]

pub mod reconstruct;
pub mod realtime;
pub mod system_events;
pub mod cline;
