//! Names for temporary files.

use std::hash::{BuildHasher as _, RandomState};

/// Sixteen random hexadecimal digits.
///
/// Files with such a name are created with `O_EXCL`, so guessing it could make a write fail but nothing worse.
pub(crate) fn random_digits() -> String {
    // Each `RandomState` has its own keys, which come from the system's source of randomness.
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}

/// What a temporary file next to a user's file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The new content; once it has changed places with the old file, that one.
    New,
    /// A file that is being deleted.
    Old,
    /// The same two while an entry is taken back.
    Back,
    BackOld,
}

/// The name of a temporary file of an entry, for the step with this index.
pub(crate) fn name(token: &str, index: usize, purpose: Purpose) -> String {
    let extension = match purpose {
        Purpose::New => "new",
        Purpose::Old => "old",
        Purpose::Back => "back",
        Purpose::BackOld => "gone",
    };
    format!(".reknit-{token}-{index}.{extension}")
}
