//! The groups of rows, one module each.

use anyhow::Result;

use crate::measure::{Effort, Measured};
use crate::node::Node;
use crate::report::Target;

pub(crate) mod chunks;
pub(crate) mod edit;
pub(crate) mod files;
pub(crate) mod growth;
pub(crate) mod http;
pub(crate) mod journal;
pub(crate) mod look;
pub(crate) mod memory;
pub(crate) mod message;
pub(crate) mod npm;
pub(crate) mod session;
pub(crate) mod sse;
pub(crate) mod tags;

/// What a group needs to be measured.
pub(crate) struct Bench {
    pub(crate) effort: Effort,
    pub(crate) scale: Scale,
    /// Without it the JavaScript peers are left out.
    pub(crate) node: Option<Node>,
}

/// How large the inputs are.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    Full,
    /// The largest are left out.
    Quick,
}

/// What came of a group.
pub(crate) struct Group {
    pub(crate) table: String,
    pub(crate) targets: Vec<Target>,
    pub(crate) rows: Vec<Measured>,
}

/// Measures a group.
type Run = fn(&Bench) -> Result<Group>;

/// All groups by their names, in the order of the table.
pub(crate) const ALL: [(&str, Run); 15] = [
    ("sse", sse::run),
    ("look", look::run),
    ("message", message::run),
    ("tags", tags::run),
    ("edit", edit::run),
    ("chunks", chunks::run),
    ("npm", npm::run),
    ("growth", growth::run),
    ("many", growth::run_many),
    ("markers", growth::run_markers),
    ("memory", memory::run),
    ("journal", journal::run),
    ("files", files::run),
    ("session", session::run),
    ("http", http::run),
];
