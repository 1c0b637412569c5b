//! Why a draft is not written.

use crate::write;
use reknit::Hint;
use std::borrow::Cow;

/// Why a [`Draft`](super::Draft) is not written. Unless the error says otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not all of the answer can be applied; [`Draft::failures`](super::Draft::failures) says what and why.
    #[error("cannot apply the whole answer: {failures} {}", if *failures == 1 { "failure" } else { "failures" })]
    NotWhole {
        /// How many failures there are.
        failures: usize,
    },
    /// The edits change nothing, or there are none.
    #[error("nothing to write")]
    Empty,
    /// The files could not be written.
    #[error(transparent)]
    Write(#[from] write::Error),
}

impl Hint for Error {
    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::NotWhole { .. } => "fix what failed, or commit only the edits that have a place".into(),
            Self::Empty => "check that the answer contains edits".into(),
            Self::Write(error) => error.hint(),
        }
    }
}
