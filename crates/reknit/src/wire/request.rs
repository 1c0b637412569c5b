//! The messages of a request, in a neutral form.
//!
//! The [`Form`] of a dialect says which messages its provider accepts, and writes and reads them in the
//! provider's form. [`history`](crate::history) turns a session's entries into such messages, and messages
//! into entries.

pub(crate) mod chat;
mod content;
mod form;
mod message;
mod name;
mod repair;
mod said;

pub use content::Content;
pub use repair::{Repair, RepairKind};

pub(crate) use form::{Around, Form, put_calls_last, refuse_all_but_words, refuse_unless};
pub(crate) use message::{
    Answer, Approval, Call, Input, Message, Output, ProviderCallId, ReplyPart, Thinking, UserPart, Wait,
};
pub(crate) use name::{Alphabet, Ids};
pub(crate) use repair::Repairs;
pub(crate) use said::{Called, Conversation, Said};
