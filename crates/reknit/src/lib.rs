//! A provider's streaming response, cut or broken anywhere, becomes one typed message.
//!
//! A model answers as a stream: bytes cut anywhere, in one of several wire formats, with tool calls as
//! half-written JSON or as tags in the text, and sometimes with no end at all. This crate is the code between
//! those bytes and a message that can be acted on. It does no IO: you feed it, and ask it what it has.
//!
//! # The path of a byte
//!
//! ```text
//! bytes ─ frame ─▶ Frame ─ wire ─▶ Event ─ (tagger) ─▶ Event ─ message ─▶ Message { Block … }
//!                                    │ tags: calls and thinking          │ json: arguments
//!                                    ▼ written in text become            ▼ while they arrive
//!                                      blocks like any other
//! ```
//!
//! - [`json`]: a JSON value whose text arrives in pieces, never read twice.
//! - [`event`]: the neutral vocabulary of a reply.
//! - [`frame`]: server-sent events, lines or array elements, from bytes cut anywhere.
//! - [`wire`]: a provider's frames to neutral events, one file per dialect. Only this module knows providers.
//! - [`tags`]: calls and thinking that a model writes into its text.
//! - [`message`]: the reply so far, its transitions, and the [`Change`](message::Change) that each makes.
//! - [`reply`]: all of that joined, for the common case.
//! - [`edit`]: a model's edits to files, read from its answer and located in the files.
//! - [`agent`]: what happens in a session, as events and as entries of its log.
//! - [`transcript`]: those folded into what a person sees.
//! - [`history`]: those folded into the messages of the next request.
//! - [`recording`]: a stream with its cuts and times, kept as lines of JSON.
//!
//! # One iterator
//!
//! ```
//! use reknit::{Item, Reply, message::Status};
//!
//! # let network: Vec<&[u8]> = vec![
//! #     b"data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Let me lo",
//! #     b"ok.\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"t1\",\"function\":{\"name\":\"weather\",\"arguments\":\"{\\\"city\\\": \\\"Par\"}}]}}]}\n\n",
//! #     b"data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"is\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
//! # ];
//! # let mut calls = Vec::new();
//! for item in Reply::detect().items(network) {
//!     match item {
//!         Item::Text(text) => print!("{text}"),        // as it arrives
//!         Item::Call(call) => calls.push(call),        // only calls that may be run
//!         Item::End(message) => assert_eq!(message.status(), Status::Stopped), // not Cut, not Failed
//!         _ => {}
//!     }
//! }
//! assert_eq!(calls[0].input().unwrap().to_string(), r#"{"city":"Paris"}"#);
//! ```
//!
//! [`Reply::push`] has every [`Change`](message::Change), with the message right after it: what arrived in
//! arguments, signatures, usage, diagnostics.
//!
//! # What it promises
//!
//! - **Any cut, same result**: frames, events, changes and messages do not depend on how the bytes were cut.
//! - **Linear**: a byte is looked at a bounded number of times, even if you look at the message after each
//!   delta. A text delta allocates nothing once buffers are warm.
//! - **Nothing is lost or invented in silence**: an early end is [`Status::Cut`](message::Status::Cut), what
//!   is unknown is kept, what is dropped is a [`Diagnostic`] with its place.
//! - **Bounded**: every buffer has a limit in [`Limits`].
//!
//! # Features
//!
//! - `stream`: `reply::ChangeStream`, an adapter over any `futures_core::Stream` of bytes. Off by default.
#![warn(missing_docs)]

mod text;
mod slot;
pub mod json;
pub mod event;
pub mod frame;
pub mod wire;
pub mod tags;
pub mod message;
pub mod reply;
pub mod edit;
pub mod agent;
pub mod transcript;
pub mod history;
pub mod recording;
pub mod diagnostic;
mod limits;

pub use diagnostic::{Diagnostic, Diagnostics, Hint};
pub use event::Event;
pub use frame::Frame;
pub use limits::Limits;
pub use message::Message;
pub use reply::{Item, Reply};
pub use text::Text;
pub use wire::Dialect;
