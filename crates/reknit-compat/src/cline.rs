//! Cline's two ways to apply a diff of search and replace blocks, bugs included.
//!
//! They are here to compare with and to move away from: a program that was built on one of them gets the
//! same content, the same preview and the same error texts.
//!
//! What both do and [`plan`](reknit::edit::plan()) does not:
//!
//! - The first place that fits is taken, however many there are, and it may begin inside a line.
//! - Three lines or more fit where the first and the last do; what stands between is not compared.
//! - Line ends are not looked at: a replacement brings `\n` into a file of `\r\n`, a diff of `\r\n` has no
//!   markers, and a last line that is replaced gets a line end.
//! - Markers stand alone on their line, whatever block they are in: there is no way to write one as content.
//! - A last line that may be half a marker is dropped, also when nothing will follow it.
//! - A diff without any block succeeds and changes nothing.
//!
//! What [`Version::V1`] does besides:
//!
//! - A block that is left open counts as closed at the end, and is forgotten where another one begins.
//! - A second divider in a block is dropped, and what stands on both sides of it is joined.
//! - A block whose text stands further up is placed there, but only if it is there to the letter and nothing
//!   further down resembles it. Places that overlap are replaced one after the other.
//! - A search text that the diff ends in is dropped.
//!
//! What [`Version::V2`] does besides:
//!
//! - An empty search text stands for the whole file.
//! - Text before a block is an error, and so is every marker out of turn.
//! - On the last line, only `------- SEARCH`, `=======` and `+++++++ REPLACE` are known as markers.
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

pub use error::ClineError;

/// Which of the two is meant.
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

    /// Its name as a profile of the command line.
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
    /// It will: what is asked for is a preview, the file up to where the diff has come.
    Open,
    /// It will not: what is asked for is the whole file.
    Final,
}

/// What a diff makes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constructed {
    /// The new content, or the part of it that is known.
    pub content: String,
    /// Where in the original each closed block was placed, in bytes: from the top of the file if the diff is
    /// final, else in the order of the diff. [`Version::V2`] keeps no such list.
    pub match_indices: Option<Vec<usize>>,
}

/// Applies a diff to a file's content as one version of Cline does.
///
/// While the diff arrives, it is given again as a whole each time. An error may then go away with the rest
/// of it, so Cline shows errors of a final diff only.
pub fn construct(version: Version, diff: &str, original: &str, end: End) -> Result<Constructed, ClineError> {
    match version {
        Version::V1 => v1::construct(diff, original, end),
        Version::V2 => v2::construct(diff, original, end),
    }
}
