//! [`Failure`]: a part of an answer that cannot be applied.

use reknit::Hint;
use std::borrow::Cow;
use std::fmt;

use reknit::edit::{FilePlan, Problem, Rejection};

use super::Refusal;

/// A part of an answer that cannot be applied, and why.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Failure<'a> {
    /// Something looks like an edit and cannot be parsed as one.
    Problem(&'a Problem),
    /// An edit is refused, whatever the files contain.
    Refused(&'a Refusal),
    /// An edit has no place in its file.
    Rejected {
        /// The file.
        file: &'a FilePlan,
        /// The index of the edit in the answer.
        index: usize,
        /// Why, and the closest place.
        rejection: &'a Rejection,
    },
}

impl Hint for Failure<'_> {
    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Problem(problem) => problem.kind.hint(),
            Self::Refused(refusal) => refusal.why.hint(),
            Self::Rejected { rejection, .. } => rejection.reason.hint(),
        }
    }
}

impl fmt::Display for Failure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Problem(problem) => problem.fmt(f),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Rejected { file, index, rejection } if file.path.is_empty() => {
                write!(f, "edit {}: {}", index + 1, rejection.reason)
            }
            Self::Rejected { file, index, rejection } => {
                write!(f, "edit {} of `{}`: {}", index + 1, file.path, rejection.reason)
            }
        }
    }
}
