//! Commits a batch: checks, saves, stages, records, and only then performs the writes.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::os::unix::fs::MetadataExt as _;
use std::time::SystemTime;

use rustix::fs::{AtFlags, unlinkat};

use super::current::Current;
use super::perform::sync_directory;
use super::revert::{self, Revert};
use super::staged::Staged;
use super::step::{Checked, Content, Ready, Requested, Step};
use super::{Committed, Error, Note};
use crate::journal::{Change, Entry, EntryId, Locked, to_millis};
use crate::root::{self, RelPath, Root};
use crate::stamp::{Hash, Stamp};

/// What the journal records about a batch besides its changes.
pub(crate) struct Heading {
    pub(crate) label: String,
    pub(crate) undoes: Option<EntryId>,
    pub(crate) at: SystemTime,
}

/// Performs all steps or none.
pub(crate) fn commit(
    root: &Root,
    lock: &Locked<'_>,
    heading: Heading,
    steps: Vec<Requested<'_>>,
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
    lock.append(&entry).inspect_err(|_| remove_entry(lock, entry.id))?;
    let Err((cause, count)) = perform(root, &entry.changes, &ready) else {
        return Ok(Committed { notes: run.finish(), entry });
    };
    drop(ready);
    let left = roll_back(root, lock, &entry.changes[..count]);
    if !left.is_empty() {
        run.finish();
        remove_directories(root, &entry.made);
        return Err(Error::HalfDone { cause: Box::new(cause), entry: entry.id, left });
    }
    remove_entry(lock, entry.id);
    Err(if count == 0 { cause } else { Error::RolledBack { cause: Box::new(cause), count } })
}

/// Removes an entry if none of its changes happened, or all were rolled back.
fn remove_entry(lock: &Locked<'_>, id: EntryId) {
    // A failure here is harmless, and must not hide why the batch failed.
    let _ = lock.remove_entry(id);
}

/// Performs the steps in order; an error comes with the number of changes that have happened.
fn perform(root: &Root, changes: &[Change], steps: &[Ready<'_>]) -> Result<(), (Error, usize)> {
    for (count, step) in steps.iter().enumerate() {
        step.perform(root).map_err(|cause| (cause, count))?;
    }
    let paths = changes.iter().flat_map(Change::paths);
    let directories: BTreeMap<_, _> = paths.map(|path| (path.parent(), path)).collect();
    directories.values().try_for_each(|path| sync_directory(root, path)).map_err(|cause| (cause, steps.len()))
}

/// Rolls back changes that have happened, and returns the paths for which that failed.
///
/// Each change is rolled back by itself, so that one failure does not affect the others.
fn roll_back(root: &Root, lock: &Locked<'_>, changes: &[Change]) -> Vec<RelPath> {
    let roll_back = |change: &&Change| {
        let mut steps = Vec::new();
        for (_, revert) in revert::reverts(root, lock.journal, change).ok()? {
            match revert {
                Revert::Already => {}
                Revert::Restore(step) => steps.push(step),
                Revert::Overwrite(_) | Revert::Blocked | Revert::Lost => return None,
            }
        }
        // Dropping this run leaves the restored files alone and removes everything else that it created.
        let mut run = Run::new(root, lock);
        let (changes, ready) = run.prepare(steps).ok()?;
        perform(root, &changes, &ready).ok()
    };
    let left = changes.iter().filter(|change| roll_back(change).is_none());
    left.flat_map(Change::paths).cloned().collect()
}

/// A batch in progress. Unless it is finished, everything that it created is removed when it is dropped.
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

    /// Checks all steps, then stages the new contents. No file is changed yet.
    fn prepare(&mut self, steps: Vec<Requested<'_>>) -> Result<(Vec<Change>, Vec<Ready<'r>>), Error> {
        let mut paths = BTreeSet::new();
        if let Some(path) = steps.iter().flat_map(Step::paths).find(|path| !paths.insert(*path)) {
            return Err(Error::Twice { path: path.clone() });
        }
        let checked = steps.into_iter().map(|step| self.check(step)).collect::<Result<Vec<_>, _>>()?;
        checked.into_iter().map(|step| self.stage(step)).collect()
    }

    /// Checks whether a step is possible, and saves the file that it would change.
    fn check<'a>(&mut self, step: Requested<'a>) -> Result<Checked<'a>, Error> {
        Ok(match step {
            Step::Create { path, new } => {
                self.check_vacant(&path)?;
                Step::Create { path, new }
            }
            Step::Update { path, old, new } => {
                let old = self.save(&path, &old)?;
                Step::Update { path, old, new }
            }
            Step::Delete { path, old } => {
                let old = self.save(&path, &old)?;
                Step::Delete { path, old }
            }
            Step::Move { path, old, to } => {
                self.check_vacant(&to)?;
                let old = self.save(&path, &old)?;
                Step::Move { path, old, to }
            }
            Step::MoveAndUpdate { path, old, to, new } => {
                self.check_vacant(&to)?;
                let old = self.save(&path, &old)?;
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

    fn save(&mut self, path: &RelPath, seen: &Stamp) -> Result<Current, Error> {
        let current = Current::save(self.root, self.lock, path, seen)?;
        if current.new_in_journal {
            self.new_in_journal.push(current.stamp.hash);
        }
        Ok(current)
    }

    /// Stages the new content of a step; the change describes the step once it has been performed.
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
                self.root.place_creating(&to, &mut self.made)?;
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
        self.root.place_creating(path, &mut self.made)?;
        let like = like.map(|current| &current.metadata);
        if let Some(like) = like
            && like.nlink() > 1
        {
            self.notes.push(Note::LinkBroken { path: path.clone(), others: like.nlink() - 1 });
        }
        Staged::write(self.root, self.lock.journal, path, content, like, &mut self.notes)
    }

    /// Finishes the batch: everything that it created stays.
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
            // If the removal fails, pruning removes it later.
            let _ = self.lock.remove_blob(*hash);
        }
    }
}

/// Removes those of the directories that are empty; `made` has outer ones first.
pub(crate) fn remove_directories(root: &Root, made: &[RelPath]) {
    for path in made.iter().rev() {
        if let Ok(place) = root.place(path) {
            let _ = unlinkat(&place.directory, place.name(), AtFlags::REMOVEDIR);
        }
    }
}
