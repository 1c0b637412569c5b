//! Reads JSON while it arrives, and keeps it exactly as it was written.
//!
//! [`PartialJson`] takes the text of a value in pieces, cut anywhere. After each piece it has the value so
//! far, which parts of it are complete, and what the piece changed. The result is a [`Value`], in which
//! numbers keep their digits and objects the order of their members. [`from_value`] reads a [`Value`] into a
//! type of your own.
//!
//! ```
//! use reknit::json::{Change, PartialJson, State};
//!
//! let mut arguments = PartialJson::new();
//! arguments.push(r#"{"path": "a.rs", "content": "fn ma"#)?;
//! assert_eq!(arguments.state("/path"), State::Complete);
//! assert_eq!(arguments.state("/content"), State::Partial);
//!
//! arguments.push(r"in() {}\n")?;
//! let changes: Vec<_> = arguments.changes().collect();
//! assert!(matches!(&changes[..], [Change::StringGrew { path, text: "in() {}\n" }] if *path == "/content"));
//!
//! arguments.push(r#"", "lines": 1.10}"#)?;
//! let value = arguments.finish()?;
//! assert_eq!(value.to_string(), r#"{"path":"a.rs","content":"fn main() {}\n","lines":1.10}"#);
//! # Ok::<(), reknit::json::Error>(())
//! ```

mod error;
mod end;
mod string;
mod parser;
mod tree;
mod path;
mod partial;
mod value;
mod array;
mod object;
mod number;
mod convert;
mod members;
mod de;
#[cfg(test)]
mod tests;

pub use array::Array;
pub use convert::exact;
pub use de::{DeserializeError, from_value};
pub use error::{Error, ErrorKind};
pub use number::Number;
pub use object::Object;
pub use partial::{Change, PartialJson, State};
pub use path::{Path, Step};
pub use value::Value;

pub(crate) use end::EndFinder;
pub(crate) use members::Members;
pub use members::Misread;
pub(crate) use string::plain_end;
pub(crate) use value::write_escaped;
