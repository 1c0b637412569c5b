//! What a person sees of a session, folded the same way wherever that is done.
//!
//! [`append`] folds the events of one message into [`Chunks`]. [`Transcript`] folds the entries of a session's
//! log into [`Message`]s, each with its chunks. Both answer with what changed, and that is enough for a copy
//! elsewhere to follow: a page that has the changes need not be sent the message again.

mod chunk;
mod named;
mod chunks;
mod append;
mod change;
mod message;
mod session;
mod step;
mod system;

pub use append::append;
pub use change::{Change, Diagnostic, Misfit};
pub use chunk::{Approval, Call, Chunk, Input, Preview, ShellOutput, SystemKind};
pub use chunks::Chunks;
pub use message::{Message, Role, Status};
pub use session::Transcript;
pub use step::{Effect, OutOfOrder, Step};
pub use system::{Routed, SystemEvent, apply_system_event};
