//! Reknit: any model provider's stream, cut or broken however you like, as the same typed message.
#![warn(missing_docs)]

pub mod text;
pub mod frame;
pub mod wire;
pub mod event;
pub mod json;
pub mod message;
pub mod reply;
pub mod diagnostic;
pub mod limits;

pub use diagnostic::Diagnostic;
pub use event::Event;
pub use frame::Frame;
pub use limits::Limits;
pub use message::Message;
pub use reply::Reply;
pub use text::Text;
pub use wire::Dialect;
