//! Helps to test tools and sessions without a model.

mod caller;
mod clock;
mod script;

pub use caller::{Caller, arguments};
pub use clock::ManualClock;
pub use script::{Reply, Script};
