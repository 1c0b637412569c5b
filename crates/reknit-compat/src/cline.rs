//! Cline's two ways to apply a diff of search and replace blocks, bugs included.
//!
//! They are here to compare with and to move away from: a program that was built on one of them gets the
//! same content, the same preview and the same error texts.
//!
//! What both do and [`plan`](reknit::edit::plan()) does not:
//!
//! - The first match is taken, however many there are, and it may begin inside a line.
//! - Three or more lines match where the first and the last do; the lines between are not compared.
//! - Line endings are ignored: a replacement brings `\n` into a file with `\r\n`, a diff with `\r\n` has no
//!   markers, and a last line that is replaced gets a line ending.
//! - A line that is a marker is always one, in any block: there is no way to write one as content.
//! - A last line that could be half a marker is dropped, even when nothing follows it.
//! - A diff without any block succeeds and changes nothing.
//!
//! What only [`Version::V1`] does:
//!
//! - A block that is left open counts as closed at the end, and is forgotten where another one begins.
//! - A second divider in a block is dropped, and the text on both sides of it is joined.
//! - A block whose text occurs further up is placed there, but only if it matches exactly and nothing further
//!   down is similar. Overlapping places are replaced one after the other.
//! - A search text that is still open when the diff ends is dropped.
//!
//! What only [`Version::V2`] does:
//!
//! - An empty search text matches the whole file.
//! - Text before a block is an error, and so is every marker in the wrong place.
//! - On the last line, only `------- SEARCH`, `=======` and `+++++++ REPLACE` are markers.
//!
//! ```
//! use reknit_compat::cline::{End, Version, construct};
//!
//! let diff = "------- SEARCH\ntotal = 1\n=======\ntotal = 2\n+++++++ REPLACE\n";
//! let constructed = construct(Version::V1, diff, "subtotal = 1\ntotal = 1\n", End::Final).unwrap();
//! assert_eq!(constructed.content, "subtotal = 2\ntotal = 1\n");
//! ```

mod error;
mod file;
mod line;
mod v1;
mod v2;

pub use error::Error;

/// One of Cline's two ways to apply a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// The forgiving one, Cline's default.
    V1,
    /// The strict one.
    V2,
}

impl Version {
    /// Both.
    pub const ALL: [Self; 2] = [Self::V1, Self::V2];

    /// The name of its profile on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::V1 => "cline-v1",
            Self::V2 => "cline-v2",
        }
    }
}

/// Whether more of a diff will follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Yes: the result is a preview, the file up to the point that the diff has reached.
    Open,
    /// No: the result is the whole file.
    Final,
}

/// The result of applying a diff to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constructed {
    /// The new content, or the part of it that is known so far.
    pub content: String,
    /// Where in the original each closed block was placed, in bytes: from the top of the file if the diff is
    /// final, otherwise in the order of the diff. [`Version::V2`] does not keep this list.
    pub match_indices: Option<Vec<usize>>,
}

/// Applies a diff to a file's content as one version of Cline does.
///
/// While the diff arrives, pass all of it each time. An error may disappear when the rest arrives, so Cline
/// only shows errors of a final diff.
pub fn construct(version: Version, diff: &str, original: &str, end: End) -> Result<Constructed, Error> {
    match version {
        Version::V1 => v1::construct(diff, original, end),
        Version::V2 => v2::construct(diff, original, end),
    }
}
