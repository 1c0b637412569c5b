//! A user's files under a root: confined paths, atomic writes, a journal, and undo.
//!
//! A model says which files to change and how. This crate is the only code that changes them, so it is where
//! the promises about a user's files are kept:
//!
//! - **Nothing outside the root is touched**, not even through a symlink that appears at the wrong moment, and
//!   nothing inside a git repository's own data or the journal: [`Root`].
//! - **A file is written as a whole or not at all**, only if it still contains what was read, and with the owner and
//!   the attributes that it had: [`Batch`].
//! - **Every change can be undone**, byte for byte, and so can the undo: [`Journal`], [`Undo`].
//! - **A batch is performed as a whole or not at all**, also if the process is killed: the next one below the root
//!   finishes it or takes it back ([`Journal::recover`]).
//! - **An answer is applied as a whole or not at all**: [`Edits`].
//!
//! [`write`](mod@write) has the limits: power failures, other writers, file systems.
//!
//! ```text
//! answer ─ Edits::read ─▶ Edits ─ plan ─▶ Draft
//!                                           │ commit
//!                                           ▼
//!       Batch { create, update, delete, move … } ─ commit ─▶ files, and an Entry in the Journal
//!                            ▲                                             │
//!                            │ the caller plans its change                 │
//! "a.rs" ─ resolve ─▶ RelPath ─ read ─▶ File { bytes, stamp }              │
//!                                                                          │
//!                                     files as before ◀─ commit ─ Undo ◀───┘
//! ```
//!
//! Most callers have a model's answer and want [`edits`], whose example shows the whole path. The lower level can
//! be used alone:
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
//! let path = root.resolve("a.txt")?; // as a model wrote it; refused if it is outside the root
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
//! - No approval: the caller decides whether a file *should* be written. Only what is protected is refused.
//! - No clock: the caller passes in times, so what is listed and pruned is predictable.
//! - No async and no threads: a call blocks on the disk, and while another process writes below the same root.
//! - No writes to symlinks, directories or devices: only files, and the directories that a new file needs.
//! - No names that are not UTF-8: a model could not have written them.
//! - No Windows: confinement relies on directory handles, and replacing a file on `rename`, as Linux and macOS
//!   have them.
#![warn(missing_docs)]

mod system;
mod stamp;
mod sealed;
mod attributes;
mod temporary;
pub mod root;
pub mod journal;
pub mod write;
pub mod undo;
pub mod edits;
#[cfg(test)]
mod faults;

pub use edits::{Draft, Edits};
pub use journal::{Entry, EntryId, Journal};
pub use root::{File, RelPath, Root};
pub use stamp::{Hash, NotAHash, Stamp};
pub use undo::Undo;
pub use write::Batch;
