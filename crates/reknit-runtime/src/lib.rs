//! Acts on a model's replies: runs its tool calls with approval, writes everything into one log, and resumes.
//!
//! ```text
//! provider ─ bytes ─▶ Reply ─▶ AgentEvent ─┐
//! tools ── output, results ────────────────┤                    ┌─▶ store: the log, entry by entry
//! user ── words, answers, cancels ─────────┼─▶ session's task ──┤
//!                                          │      │   ▲         └─▶ next request ─▶ provider
//!                              what to do ◀┘      ▼   │
//!                                                 Turn: start this call, answer that one, ask, go on
//! log ─▶ Presenter ─▶ what a person sees, in order
//! ```
//!
//! - [`session`]: a conversation with a model that acts. One task owns it and is the only writer of its log.
//! - [`turn`]: what to do about the calls of a reply. No IO: a state machine that is asked for its next action.
//! - [`present`]: the log as a person should see it. No IO either.
//! - [`question`]: what a person is asked before a call runs, and the answer.
//! - [`approve`]: who decides whether there is something to ask.
//! - [`tool`]: something that a model can call; [`tools`] has those that come with a session.
//! - [`provider`]: whoever answers requests: a model over HTTP, or a recording.
//! - [`store`]: where logs are kept: in memory, in SQLite, or in a store of your own, with a suite to test it.
//! - [`testing`]: scripts and clocks, to test an agent without a model.
//!
//! `examples/own_tool` is a session with a tool of its own, on a recording, in forty lines.
//!
//! # What it promises
//!
//! - **One call, one result.** Every call gets exactly one: done, failed, denied, skipped, cut, cancelled, or
//!   interrupted because the program ended.
//! - **One log.** Everything that happened is in it, decisions before they take effect. A session that was killed
//!   at any point is resumed from its log: no decision is lost, and no call that has started runs a second time.
//! - **An approval covers exactly what was shown.** If a file changes while a question about it is open, the
//!   question is asked again.
//!
//! # Features
//!
//! - `session`: sessions, tools, providers and stores; needs tokio. On by default. Without it, [`turn`],
//!   [`present`] and [`question`] remain.
//! - `sqlite`: `store::Sqlite`. On by default.
//! - `http`: `provider::Http`, with Anthropic, OpenAI, Gemini, Ollama and what imitates them.
#![warn(missing_docs)]

mod words;
pub mod question;
pub mod tool;
pub mod turn;
pub mod present;
#[cfg(feature = "session")]
pub mod approve;
#[cfg(feature = "session")]
mod clock;
#[cfg(feature = "session")]
pub mod provider;
#[cfg(feature = "session")]
pub mod store;
#[cfg(feature = "session")]
pub mod tools;
#[cfg(feature = "session")]
pub mod session;
#[cfg(feature = "session")]
pub mod testing;

#[cfg(feature = "session")]
pub use clock::{Clock, SystemClock};
