//! Recordings and `reknit replay`, from outside.

mod program;
mod corpus;
mod record;
mod play;
mod serve;
