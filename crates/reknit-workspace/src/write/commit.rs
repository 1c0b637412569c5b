//! A batch is written: checked, kept, staged, entered, and only then done.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::os::unix::fs::MetadataExt as _;
use std::time::SystemTime;

use rustix::fs::{AtFlags, unlinkat};

use super::back::{self, Way};
use super::current::Current;
use super::perform::sync_directory;
use super::staged::Staged;
use super::step::{Asked, Checked, Content, Ready, Step};
use super::{Committed, Error, Note};
use crate::journal::{Change, Entry, EntryId, Locked, to_millis};
use crate::root::{self, RelPath, Root};
use crate::stamp::{Hash, Stamp};

/// What the journal says of a batch beside its changes.
pub(crate) struct Heading {
    pub(crate) label: String,
    pub(crate) undoes: Option<EntryId>,
    pub(crate) at: SystemTime,
}

/// Writes the steps, all or none.
pub(crate) fn commit(
    root: &Root,
    lock: &Locked<'_>,
    heading: Heading,
    steps: Vec<Asked<'_>>,
) -> Result<Committed, Error> {
    let mut run = Run::new(root, lock);
    let (changes, ready) = run.prepare(steps)?;
    run.made.iter().try_for_each(|path| sync_directory(root, path))?;
    lock.sync_blobs()?;
    let entry = Entry {
        id: lock.next_id()?,
        at: to_millis(heading.at),
        root: root.path().to_owned(),
        label: heading.label,
        undoes: heading.undoes,
        changes,
        made: run.made.clone(),
    };
    lock.append(&entry).inspect_err(|_| forget_entry(lock, entry.id))?;
    let Err((cause, count)) = perform(root, &entry.changes, &ready) else {
        return Ok(Committed { notes: run.finish(), entry });
    };
    drop(ready);
    let left = put_back(root, lock, &entry.changes[..count]);
    if !left.is_empty() {
        run.finish();
        remove_directories(root, &entry.made);
        return Err(Error::HalfDone { cause: Box::new(cause), entry: entry.id, left });
    }
    forget_entry(lock, entry.id);
    Err(if count == 0 { cause } else { Error::PutBack { cause: Box::new(cause), count } })
}

/// Removes an entry of which nothing happened, or nothing is left.
fn forget_entry(lock: &Locked<'_>, id: EntryId) {
    // Should that fail too it does no harm, and must not hide why the batch failed.
    let _ = lock.remove(id);
}

/// Does the steps in their order; an error comes with the number of changes that have happened.
fn perform(root: &Root, changes: &[Change], steps: &[Ready<'_>]) -> Result<(), (Error, usize)> {
    for (count, step) in steps.iter().enumerate() {
        step.perform(root).map_err(|cause| (cause, count))?;
    }
    let paths = changes.iter().flat_map(Change::paths);
    let directories: BTreeMap<_, _> = paths.map(|path| (path.parent(), path)).collect();
    directories.values().try_for_each(|path| sync_directory(root, path)).map_err(|cause| (cause, steps.len()))
}

/// Takes back changes that have happened, and gives the paths of those with which that failed.
///
/// Each by itself: one that cannot be put back does not hinder the others.
fn put_back(root: &Root, lock: &Locked<'_>, changes: &[Change]) -> Vec<RelPath> {
    let put_back = |change: &&Change| {
        let mut steps = Vec::new();
        for (_, way) in back::ways(root, lock.journal, change).ok()? {
            match way {
                Way::Already => {}
                Way::Restore(step) => steps.push(step),
                Way::Overwrite(_) | Way::Blocked | Way::Lost => return None,
            }
        }
        // What was put back needs nothing of the run: it is the run that must leave no traces.
        let mut run = Run::new(root, lock);
        let (changes, ready) = run.prepare(steps).ok()?;
        perform(root, &changes, &ready).ok()
    };
    let left = changes.iter().filter(|change| put_back(change).is_none());
    left.flat_map(Change::paths).cloned().collect()
}

/// A batch on its way. Unless it is finished, the traces that it left are removed.
struct Run<'r> {
    root: &'r Root,
    lock: &'r Locked<'r>,
    notes: Vec<Note>,
    made: Vec<RelPath>,
    new_in_journal: Vec<Hash>,
}

impl<'r> Run<'r> {
    fn new(root: &'r Root, lock: &'r Locked<'r>) -> Self {
        Self { root, lock, notes: Vec::new(), made: Vec::new(), new_in_journal: Vec::new() }
    }

    /// Checks every step, and then brings what is to be written to the disk; no file is changed by that.
    fn prepare(&mut self, steps: Vec<Asked<'_>>) -> Result<(Vec<Change>, Vec<Ready<'r>>), Error> {
        let mut paths = BTreeSet::new();
        if let Some(path) = steps.iter().flat_map(Step::paths).find(|path| !paths.insert(*path)) {
            return Err(Error::Twice { path: path.clone() });
        }
        let checked = steps.into_iter().map(|step| self.check(step)).collect::<Result<Vec<_>, _>>()?;
        checked.into_iter().map(|step| self.stage(step)).collect()
    }

    /// Looks whether a step can be done, and keeps the file that it would change.
    fn check<'a>(&mut self, step: Asked<'a>) -> Result<Checked<'a>, Error> {
        Ok(match step {
            Step::Create { path, new } => {
                self.check_vacant(&path)?;
                Step::Create { path, new }
            }
            Step::Update { path, old, new } => {
                let old = self.keep(&path, &old)?;
                Step::Update { path, old, new }
            }
            Step::Delete { path, old } => {
                let old = self.keep(&path, &old)?;
                Step::Delete { path, old }
            }
            Step::Move { path, old, to } => {
                self.check_vacant(&to)?;
                let old = self.keep(&path, &old)?;
                Step::Move { path, old, to }
            }
            Step::MoveAndUpdate { path, old, to, new } => {
                self.check_vacant(&to)?;
                let old = self.keep(&path, &old)?;
                Step::MoveAndUpdate { path, old, to, new }
            }
        })
    }

    fn check_vacant(&self, path: &RelPath) -> Result<(), Error> {
        let found = match self.root.place(path) {
            Ok(place) => place.found()?,
            Err(root::Error::NotFound { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        match found {
            None => Ok(()),
            Some(found) => Err(Error::Exists { path: path.clone(), found }),
        }
    }

    fn keep(&mut self, path: &RelPath, seen: &Stamp) -> Result<Current, Error> {
        let current = Current::keep(self.root, self.lock, path, seen)?;
        if current.new_in_journal {
            self.new_in_journal.push(current.stamp.hash);
        }
        Ok(current)
    }

    /// Writes what a step needs beside its file; the change is what it will have made once it is done.
    fn stage(&mut self, step: Checked<'_>) -> Result<(Change, Ready<'r>), Error> {
        Ok(match step {
            Step::Create { path, new } => {
                let (new, after) = self.write(&path, new, None)?;
                (Change::Create { path: path.clone(), after }, Step::Create { path, new })
            }
            Step::Update { path, old, new } => {
                let (new, after) = self.write(&path, new, Some(&old))?;
                let change = Change::Update { path: path.clone(), before: old.stamp, after };
                (change, Step::Update { path, old, new })
            }
            Step::Delete { path, old } => {
                let change = Change::Delete { path: path.clone(), before: old.stamp };
                (change, Step::Delete { path, old })
            }
            Step::Move { path, old, to } => {
                self.root.place_making(&to, &mut self.made)?;
                let (before, after) = (old.stamp, old.stamp);
                let change = Change::Move { path: path.clone(), to: to.clone(), before, after };
                (change, Step::Move { path, old, to })
            }
            Step::MoveAndUpdate { path, old, to, new } => {
                let (new, after) = self.write(&to, new, Some(&old))?;
                let before = old.stamp;
                let change = Change::Move { path: path.clone(), to: to.clone(), before, after };
                (change, Step::MoveAndUpdate { path, old, to, new })
            }
        })
    }

    fn write(
        &mut self,
        path: &RelPath,
        content: Content<'_>,
        like: Option<&Current>,
    ) -> Result<(Staged<'r>, Stamp), Error> {
        self.root.place_making(path, &mut self.made)?;
        let like = like.map(|current| &current.metadata);
        if let Some(like) = like
            && like.nlink() > 1
        {
            self.notes.push(Note::LinkBroken { path: path.clone(), others: like.nlink() - 1 });
        }
        Staged::write(self.root, self.lock.journal, path, content, like, &mut self.notes)
    }

    /// The batch is done: what was made for it stays.
    fn finish(mut self) -> Vec<Note> {
        self.made.clear();
        self.new_in_journal.clear();
        mem::take(&mut self.notes)
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        remove_directories(self.root, &self.made);
        for hash in &self.new_in_journal {
            // What cannot be removed now is removed when the journal is pruned.
            let _ = self.lock.forget(*hash);
        }
    }
}

/// Removes directories as far as they are empty; `made` has outer ones first.
pub(crate) fn remove_directories(root: &Root, made: &[RelPath]) {
    for path in made.iter().rev() {
        if let Ok(place) = root.place(path) {
            let _ = unlinkat(&place.directory, place.name(), AtFlags::REMOVEDIR);
        }
    }
}
