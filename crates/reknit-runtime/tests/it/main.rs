//! The runtime as its users see it.

mod crash;
mod example;
mod one_result;
mod session;
mod store;
mod tagged;
mod tools;
mod world;
