//! A user's files under a root: confined paths, whole writes, a journal, and undo.
//!
//! A model says which files to change and how. This crate is the only code that does it, so it is where the
//! promises about a user's files are kept:
//!
//! - **Nothing outside of the root is touched**, through no link, however it is swapped in: [`Root`].
//! - **A file is written whole or not at all**, and only if it still holds what was read: [`Batch`].
//! - **Everything can be taken back**, byte for byte, also after a crash, and so can the taking back:
//!   [`Journal`], [`Undo`].
//!
//! ```text
//! "src/lib.rs" ─ resolve ─▶ RelPath ─ read ─▶ File { bytes, stamp }
//!                                                      │ the caller plans its change
//!       Batch { create, update, delete, move … } ─ commit ─▶ files, and an Entry in the Journal
//!                                                                          │
//!                                     files as before ◀─ commit ─ Undo ◀───┘
//! ```
//!
//! ```
//! use std::time::SystemTime;
//! use reknit_workspace::{Batch, Journal, Root, Undo};
//!
//! # let folder = tempfile::tempdir()?;
//! # let (project, state) = (folder.path().join("project"), folder.path().join("state"));
//! # std::fs::create_dir(&project)?;
//! # std::fs::write(project.join("a.txt"), "one\ntwo\n")?;
//! let root = Root::open(&project)?;
//! let journal = Journal::open(&state)?; // or Journal::default_folder()?
//!
//! let path = root.resolve("a.txt")?; // what a model wrote: refused if it leads out of the root
//! let file = root.read(&path)?;
//! let mut batch = Batch::new("apply");
//! batch.update(path, &file.stamp, [&file.bytes[..4], b"three\n"]);
//! let committed = batch.commit(&root, &journal, SystemTime::now())?;
//! assert_eq!(std::fs::read_to_string(project.join("a.txt"))?, "one\nthree\n");
//!
//! Undo::of(committed.entry.id).commit(&root, &journal, SystemTime::now())?;
//! assert_eq!(std::fs::read_to_string(project.join("a.txt"))?, "one\ntwo\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is absent
//!
//! - No approval: whether a file *should* be written, `.git` and secrets included, is decided before.
//! - No clock: times are given, so that what is pruned and listed can be foreseen.
//! - No async, no thread. A call waits for the disk, and while another process writes.
//! - No link, directory or device is ever written: files only, and directories that a new file needs.
//! - No names that are not UTF-8: a model could not have written them.
//! - No Windows: confinement is built on directory handles, and replacement on the rename, of Linux and macOS.
#![warn(missing_docs)]

mod stamp;
mod temporary;
pub mod root;
pub mod journal;
pub mod write;
pub mod undo;

pub use journal::{Entry, EntryId, Journal};
pub use root::{File, RelPath, Root};
pub use stamp::{Hash, NotAHash, Stamp};
pub use undo::Undo;
pub use write::Batch;
