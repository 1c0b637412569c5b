//! [`apply_system_event`]: where something goes that happens while no turn runs.

use super::chunk::{Chunk, SystemKind};

/// Something that happened outside of a turn, in the caller's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemEvent {
    /// What it is about.
    pub kind: SystemKind,
    /// What it says.
    pub text: String,
}

/// A message of the caller, as far as a system event has to know it.
pub trait Routed {
    /// How the caller names its messages.
    type Id: Clone;

    /// An empty message of the system.
    fn of_system(id: Self::Id) -> Self;

    /// Its name.
    fn id(&self) -> Self::Id;

    /// Whether it is one of the system.
    fn is_of_system(&self) -> bool;

    /// Adds a chunk behind its others.
    fn push(&mut self, chunk: Chunk);
}

/// Puts a system event into the last message if that is one of the system, or into a new one, and says
/// which message it was.
///
/// While a turn runs, the event belongs into its message: [`append`](super::append) does that.
///
/// ```
/// use reknit::transcript::{Chunk, Routed, SystemEvent, SystemKind, apply_system_event};
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
