//! The runtime as its users see it.

mod crash;
mod example;
#[cfg(feature = "http")]
mod http;
mod one_result;
mod session;
mod store;
mod tagged;
mod tools;
mod world;
