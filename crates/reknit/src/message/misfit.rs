//! [`Misfit`]: a change that does not fit.

use crate::diagnostic::Hint;
use std::borrow::Cow;

/// A change does not fit the message, chunks or transcript that it was applied to: an earlier change is
/// missing, it was applied twice, or it belongs to something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Misfit(String);

impl Misfit {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// The change does not continue at the end of the text.
    pub(crate) fn gap(of: &str, has: usize, at: usize) -> Self {
        Self(format!("{of} has {has} bytes, but the change continues at byte {at}"))
    }
}

impl Hint for Misfit {
    fn hint(&self) -> Cow<'static, str> {
        "apply every change in order and exactly once, or start again from a snapshot".into()
    }
}
