//! The messages of a request, before they are any provider's, and what each dialect does with them.
//!
//! A dialect's [`Form`] writes neutral [`Message`]s as the provider wants them, and reads such messages back.

mod content;
mod form;
mod message;
mod name;
mod repair;
mod said;

pub use content::Content;
pub use repair::{Repair, RepairKind};

pub(crate) use form::{Form, refuse_unless};
pub(crate) use message::{
    Answer, Call, Input, Message, Output, ProviderCallId, ReplyPart, Thinking, UserPart,
};
pub(crate) use name::{Alphabet, Ids};
pub(crate) use repair::Repairs;
pub(crate) use said::{Called, Conversation, Said};
