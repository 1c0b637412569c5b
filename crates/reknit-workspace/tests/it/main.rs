//! The public API on real files in real folders.
//!
//! The results do not depend on the user who runs the tests: a superuser is refused the same things.

mod fixture;
mod confinement;
mod protected;
mod writing;
mod batches;
mod undoing;
mod crashes;
mod journal;
mod damage;
mod together;
mod privileges;
mod editor;
mod moved;
mod random;
mod large;
mod edits;
mod examples;
