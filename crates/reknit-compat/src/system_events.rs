//! Something that happens while no turn is running, added to the messages of an application of its own.
//!
//! Applications whose sessions are a log of entries do not need this:
//! [`Transcript`](reknit::transcript::Transcript) adds such entries by itself.

use reknit::transcript::{Chunk, SystemKind};

/// Something that happened while no turn was running, in the caller's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemEvent {
    /// What it is about.
    pub kind: SystemKind,
    /// The text.
    pub text: String,
}

/// What [`apply_system_event`] has to know about the caller's messages.
pub trait Routed {
    /// The id of a message.
    type Id: Clone;

    /// Creates an empty message of the system.
    fn of_system(id: Self::Id) -> Self;

    /// Its id.
    fn id(&self) -> Self::Id;

    /// Whether it is a message of the system.
    fn is_of_system(&self) -> bool;

    /// Adds a chunk at the end.
    fn push(&mut self, chunk: Chunk);
}

/// Adds a system event to the last message if that is a message of the system, or else to a new one, and
/// returns the id of the message.
///
/// While a turn is running, the event belongs in the message of the turn: use [`append`](reknit::transcript::append).
///
/// ```
/// use reknit::transcript::{Chunk, SystemKind};
/// use reknit_compat::system_events::{Routed, SystemEvent, apply_system_event};
///
/// #[derive(Debug, PartialEq)]
/// struct Message {
///     id: u32,
///     role: &'static str,
///     chunks: Vec<Chunk>,
/// }
///
/// impl Routed for Message {
///     type Id = u32;
///     fn of_system(id: u32) -> Self {
///         Self { id, role: "system", chunks: Vec::new() }
///     }
///     fn id(&self) -> u32 {
///         self.id
///     }
///     fn is_of_system(&self) -> bool {
///         self.role == "system"
///     }
///     fn push(&mut self, chunk: Chunk) {
///         self.chunks.push(chunk);
///     }
/// }
///
/// let mut messages = vec![Message { id: 1, role: "assistant", chunks: Vec::new() }];
/// let event = |text: &str| SystemEvent { kind: SystemKind::Notice, text: text.into() };
/// assert_eq!(apply_system_event(&mut messages, event("one"), || 2), 2);
/// assert_eq!(apply_system_event(&mut messages, event("two"), || 3), 2);
/// assert_eq!((messages.len(), messages[1].chunks.len()), (2, 2));
/// ```
pub fn apply_system_event<M: Routed>(
    messages: &mut Vec<M>,
    event: SystemEvent,
    id: impl FnOnce() -> M::Id,
) -> M::Id {
    let chunk = Chunk::System { kind: event.kind, text: event.text };
    if let Some(last) = messages.last_mut().filter(|last| last.is_of_system()) {
        last.push(chunk);
        return last.id();
    }
    let id = id();
    let mut message = M::of_system(id.clone());
    message.push(chunk);
    messages.push(message);
    id
}
