//! Edits: applies a model's answer to the files under a root, all of it or nothing.
//!
//! [`reknit::edit`] parses the edits in an answer and finds their places in texts. This module does the same with
//! files: [`Edits::read`] finds the file that each edit names and reads it once, [`Edits::plan`] places the edits,
//! and [`Draft::commit`] writes the files and records them in the journal, so that [`Undo`](crate::Undo) can
//! revert them.
//!
//! An edit is refused if its path leads outside the root, if it leads into a git repository's own data, whose hooks and
//! settings git would run, or into the journal, or if it moves a file to the path of another edit. A refused edit is
//! a [`Failure`], like one that has no place in its file, and while there is a failure [`Draft::commit`] writes
//! nothing.
//!
//! ```
//! use std::time::SystemTime;
//! use reknit::Hint;
//! use reknit::edit::{Format, How, parse};
//! use reknit_workspace::{Edits, Journal, Root, Undo};
//!
//! # let folder = tempfile::tempdir()?;
//! # let (project, state) = (folder.path().join("project"), folder.path().join("state"));
//! # std::fs::create_dir(&project)?;
//! std::fs::write(project.join("a.txt"), "one\ntwo\n")?;
//! let answer = "a.txt\n```\n<<<<<<< SEARCH\ntwo\n=======\nthree\n>>>>>>> REPLACE\n```\n";
//!
//! let root = Root::open(&project)?;
//! let journal = Journal::open(&state)?; // or Journal::default_folder()?
//! let edits = Edits::read(&root, parse(Format::SearchReplace, answer));
//! let draft = edits.plan(How::Context);
//! for failure in draft.failures() {
//!     eprintln!("{failure}\nhint: {}", failure.hint());
//! }
//! let committed = draft.commit(&journal, SystemTime::now())?;
//! assert_eq!(std::fs::read_to_string(project.join("a.txt"))?, "one\nthree\n");
//!
//! Undo::of(committed.entry.id).commit(&root, &journal, SystemTime::now())?;
//! assert_eq!(std::fs::read_to_string(project.join("a.txt"))?, "one\ntwo\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;

use reknit::Limits;
use reknit::edit::{How, Parsed};

use crate::root::{RelPath, Root};
use crate::stamp::Stamp;

mod reader;
mod refusal;
mod places;
mod failure;
mod draft;
mod error;

pub use draft::Draft;
pub use error::Error;
pub use failure::Failure;
use reader::Named;
pub use refusal::{Refusal, Refused};

/// The edits of an answer, and the files that they name.
#[derive(Debug)]
pub struct Edits<'r> {
    root: &'r Root,
    answer: Parsed,
    /// `None` for a file that does not exist.
    files: BTreeMap<RelPath, Option<Named>>,
    refusals: Vec<Refusal>,
}

impl<'r> Edits<'r> {
    /// Finds the files that the edits of an answer name, and reads each once.
    ///
    /// Paths are resolved with [`Root::resolve`]. Deleting or moving a file is about the name itself, so there a
    /// symlink is refused instead of followed. If a file cannot be read, the edits that name it are refused. A
    /// file that does not exist is fine, because an edit may create it. One that is only moved is not kept in memory.
    pub fn read(root: &'r Root, answer: Parsed) -> Self {
        Self::read_with_limits(root, answer, &Limits::default())
    }

    /// The same with other limits, of which [`Limits::file_bytes`] counts.
    pub fn read_with_limits(root: &'r Root, mut answer: Parsed, limits: &Limits) -> Self {
        let (files, mut refusals) = reader::read(root, &mut answer.edits, limits);
        refusals.extend(refusal::colliding_moves(&answer.edits, &refusals));
        Self { root, answer, files, refusals }
    }

    /// The answer, with the paths of its edits relative to the root and symlinks resolved.
    ///
    /// The paths of refused edits may be unchanged.
    pub fn answer(&self) -> &Parsed {
        &self.answer
    }

    /// The edits that are refused, whatever the files contain.
    pub fn refusals(&self) -> &[Refusal] {
        &self.refusals
    }

    /// The content of a file when it was read, by its path in [`answer`](Self::answer) or a plan; `None` if the file
    /// did not exist.
    ///
    /// That of a file that is only moved is read at the first call; `None` if it has changed by then.
    pub fn content(&self, path: &str) -> Option<&[u8]> {
        let (path, file) = self.files.get_key_value(path)?;
        file.as_ref()?.bytes(self.root, path)
    }

    /// The state of a file when it was read, by the same path; `None` if the file did not exist.
    pub fn stamp(&self, path: &str) -> Option<&Stamp> {
        Some(&self.files.get(path)?.as_ref()?.stamp)
    }

    /// Finds the places of all edits that are not refused. They may differ from search texts by what `loosest` allows.
    pub fn plan(&self, loosest: How) -> Draft<'_> {
        Draft::new(self, loosest, (0..self.answer.edits.len()).collect())
    }

    fn originals(&self) -> Vec<(&str, &[u8])> {
        let existing = self.files.iter().filter_map(|(path, file)| Some((path, file.as_ref()?)));
        existing.map(|(path, file)| (path.as_str(), file.read_bytes())).collect()
    }

    /// A path in a plan, and the file that was there.
    fn file(&self, path: &str) -> (&RelPath, Option<&Named>) {
        let (path, file) = self.files.get_key_value(path).expect("the files of planned edits were read");
        (path, file.as_ref())
    }
}
