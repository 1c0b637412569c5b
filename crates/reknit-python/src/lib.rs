//! The engine as a Python module.
//!
//! `packages/python` has the package around it: what a user imports, the types, the tests. Here is only what
//! has to be close to the engine. Each class owns a value of the engine in a mutex that is only tried, so
//! that two threads at once are an error; each call of the engine is guarded, so that a panic is an exception.

use pyo3::prelude::*;

mod error;
mod value;
mod options;
mod offsets;
mod diagnostic;
mod message;
mod item;
mod change;
mod reply;
mod partial_json;
mod shadow;
mod frames;
mod tools;
mod edits;
mod session;
mod history;
mod arrow;

#[pymodule]
mod _reknit {
    #[pymodule_export]
    use crate::arrow::read_column;
    #[pymodule_export]
    use crate::diagnostic::Diagnostic;
    #[pymodule_export]
    use crate::edits::{AppliedEdits, apply_edits};
    #[pymodule_export]
    use crate::error::panic_for_tests;
    #[pymodule_export]
    use crate::frames::{Frame, FrameDecoder};
    #[pymodule_export]
    use crate::history::{Repair, Request, history};
    #[pymodule_export]
    use crate::item::{Call, End, Text, Thinking};
    #[pymodule_export]
    use crate::message::{Message, Usage};
    #[pymodule_export]
    use crate::options::profiles;
    #[pymodule_export]
    use crate::partial_json::{JsonChange, PartialJson};
    #[pymodule_export]
    use crate::reply::Reply;
    #[pymodule_export]
    use crate::session::{Chunks, Transcript};
    #[pymodule_export]
    use crate::tools::{Tools, detect_profile};
}
