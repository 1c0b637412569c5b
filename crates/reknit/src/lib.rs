//! Reknit: any model provider's stream, cut or broken however you like, as the same typed message.
#![warn(missing_docs)]

pub mod diagnostic;
pub mod json;
pub mod limits;
pub mod text;
pub mod frame;

pub use diagnostic::Diagnostic;
pub use limits::Limits;
pub use text::Text;
