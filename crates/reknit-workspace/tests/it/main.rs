//! The crate as its users see it, on real files in real folders.
//!
//! Nothing here depends on who runs it: what is refused is refused to a superuser too.

mod fixture;
mod confinement;
mod writing;
mod batches;
mod undoing;
mod crashes;
mod journal;
mod damage;
mod together;
mod random;
mod large;
