//! Any model provider's stream, cut or broken however you like, becomes the same typed message.
//!
//! A model answers as a stream: bytes cut anywhere, in one of several wire formats, with tool calls as
//! half-written JSON, and sometimes with no end at all. This crate is the code between those bytes and a
//! message that can be acted on. It does no IO: it is fed, and asked.
//!
//! # The path of a byte
//!
//! ```text
//! bytes ─ frame ─▶ Frame ─ wire ─▶ Event ─ message ─▶ Message { Block … } ─ parts ─▶ List { Part … }
//!                                             │                               │
//!                                             └─ json: arguments              └─ tags: calls and thinking
//!                                                while they arrive               written into text
//! ```
//!
//! - [`frame`]: server-sent events, lines or array elements, out of bytes cut anywhere.
//! - [`wire`]: one dialect a file: a provider's frames to neutral events. Only there has a provider a name.
//! - [`event`]: that neutral vocabulary.
//! - [`json`]: a JSON value whose text arrives in pieces, never read twice.
//! - [`message`]: the reply so far, its transitions, and the [`Change`](message::Change) that each makes.
//! - [`reply`]: all of it joined, for the common case.
//! - [`tags`]: calls and thinking that a model writes into its text.
//! - [`parts`]: a message and a grammar joined: text, thinking and calls, native or in tags.
//! - [`agent`]: what happens in a session, as events and as entries of its log.
//! - [`transcript`]: those folded into what a person sees.
//! - [`history`]: what the model is told of them next.
//! - [`recording`]: a stream with its cuts and times, kept as lines of JSON.
//!
//! # Four calls
//!
//! ```
//! use reknit::message::{Args, Body, Change, Status};
//! use reknit::{Reply, event::StopReason};
//!
//! # let network: Vec<&[u8]> = vec![
//! #     b"data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Let me lo",
//! #     b"ok.\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"t1\",\"function\":{\"name\":\"weather\",\"arguments\":\"{\\\"city\\\": \\\"Par\"}}]}}]}\n\n",
//! #     b"data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"is\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
//! # ];
//! let mut reply = Reply::detect(); // or Reply::new(Dialect::OpenAiChat)
//! for piece in network {
//!     let mut changes = reply.push(piece);
//!     while let Some((change, message)) = changes.next() {
//!         // Live: what came, and the message right behind it. Thinking and arguments grow in the same way.
//!         if let Change::Grew { block, text, .. } = change
//!             && let Some(Body::Text { .. }) = message.block(block).map(|block| block.body())
//!         {
//!             print!("{text}");
//!         }
//!     }
//! }
//! reply.finish();
//!
//! let message = reply.message();
//! assert_eq!(message.status(), Status::Stopped); // not Cut, not Failed
//! assert_eq!(message.stop().unwrap().reason, StopReason::Tool);
//! let call = message.client_calls().next().unwrap(); // not those that the provider runs itself
//! let Args::Complete(input) = &call.args else { panic!("cut or malformed: never run") };
//! assert_eq!(input.to_string(), r#"{"city":"Paris"}"#);
//! ```
//!
//! # What it promises
//!
//! - **Any cut, same result**: frames, events, changes and messages do not depend on how the bytes were cut.
//! - **Linear**: a byte is looked at a bounded number of times, also with a look at the message after each
//!   delta. A text delta allocates nothing once buffers are warm.
//! - **Nothing is lost or invented in silence**: an early end is [`Status::Cut`](message::Status::Cut), what
//!   is not known is kept, what is dropped is a [`Diagnostic`] with its place.
//! - **Bounded**: every buffer has a place in [`Limits`].
//!
//! # Features
//!
//! - `stream`: `reply::ChangeStream`, an adapter over any `futures_core::Stream` of bytes. Off by default.
#![warn(missing_docs)]

pub mod text;
pub mod frame;
pub mod wire;
pub mod event;
pub mod json;
pub mod message;
pub mod reply;
pub mod tags;
pub mod parts;
pub mod edit;
pub mod agent;
pub mod transcript;
pub mod history;
pub mod recording;
pub mod diagnostic;
pub mod limits;

pub use diagnostic::Diagnostic;
pub use event::Event;
pub use frame::Frame;
pub use limits::Limits;
pub use message::Message;
pub use parts::Parts;
pub use reply::Reply;
pub use text::Text;
pub use wire::Dialect;
