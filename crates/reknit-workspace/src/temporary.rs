//! Names for temporary files.

use std::hash::{BuildHasher as _, RandomState};

/// Sixteen random hexadecimal digits.
///
/// Files with such a name are created with `O_EXCL`, so guessing it could make a write fail but nothing worse.
pub(crate) fn random_digits() -> String {
    // Each `RandomState` has its own keys, which come from the system's source of randomness.
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}
