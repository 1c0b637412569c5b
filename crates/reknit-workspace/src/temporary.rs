//! Names for files that are not finished.

use std::hash::{BuildHasher as _, RandomState};

/// Sixteen hexadecimal digits that nobody can foresee.
///
/// The names are used with `O_EXCL`, so to foresee one is to hinder a write and no more.
pub(crate) fn unguessable() -> String {
    // Each state has keys of its own, which come from the system's source of randomness.
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}
