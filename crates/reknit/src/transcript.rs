//! What a person sees of a session, built in the same way everywhere.
//!
//! [`append`] folds the events of a message into [`Chunks`]. [`Transcript`] folds the entries of a session's
//! log into [`Message`]s, which have chunks. Both return what changed, as a patch for copies elsewhere: a page
//! that gets the changes does not need the message again.

pub use crate::message::Misfit;

mod chunk;
mod named;
mod chunks;
mod append;
mod change;
mod message;
mod session;
mod step;

pub use append::append;
pub use change::Change;
pub use chunk::{Approval, Call, Chunk, Input, Preview, ShellOutput, SystemKind};
pub use chunks::Chunks;
pub use message::{Message, Role, Status};
pub use session::Transcript;
pub use step::{Effect, Step};
