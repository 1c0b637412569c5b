//! [`Preparation`]: a batch before any file is changed.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;

use super::current::Current;
use super::staged::Staged;
use super::step::{Checked, Content, Ready, Requested, Step};
use super::{Error, Note};
use crate::journal::{self, Change, Journal, Saved, Unsealed};
use crate::root::{self, Guard, RelPath, Root};
use crate::stamp::Stamp;
use crate::temporary::{self, Purpose};

/// A batch before any file is changed.
pub(super) struct Preparation<'r> {
    root: &'r Root,
    journal: &'r Journal,
    pub(super) notes: Vec<Note>,
    /// The directories that were created.
    pub(super) made: Vec<RelPath>,
}

/// Whether the content of a file goes to the journal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Content,
    /// It stays what it is.
    Nothing,
}

impl<'r> Preparation<'r> {
    pub(super) fn new(root: &'r Root, journal: &'r Journal) -> Self {
        Self { root, journal, notes: Vec::new(), made: Vec::new() }
    }

    /// Checks whether all steps are possible. Every write of the crate passes here, and only here.
    pub(super) fn check(&self, steps: &[Requested<'_>]) -> Result<(), Error> {
        let mut paths = BTreeSet::new();
        if let Some(path) = steps.iter().flat_map(Step::paths).find(|path| !paths.insert(*path)) {
            return Err(Error::Twice { path: path.clone() });
        }
        let journals = [Some(self.journal.folder().to_owned()), Journal::default_folder().ok()];
        let created: Vec<_> = steps.iter().filter_map(Step::created).cloned().collect();
        let mut guard = Guard::new(self.root, journals.into_iter().flatten()).with_planned(&created);
        for step in steps {
            self.check_stopped()?;
            step.paths().try_for_each(|path| guard.check(path))?;
            if let Some(path) = step.created() {
                self.check_vacant(path)?;
            }
            match step {
                Step::Create { .. } => {}
                Step::Update { path, old, .. }
                | Step::Delete { path, old }
                | Step::Move { path, old, .. }
                | Step::MoveAndUpdate { path, old, .. } => drop(Current::open(self.root, path, old)?),
            }
        }
        Ok(())
    }

    /// The directories that the steps need and that do not exist, outer ones first.
    pub(super) fn missing(&self, steps: &[Requested<'_>]) -> Result<Vec<RelPath>, Error> {
        let mut missing = BTreeSet::new();
        for path in steps.iter().filter_map(Step::created) {
            self.root.add_missing(path, &mut missing)?;
        }
        Ok(missing.into_iter().collect())
    }

    /// Saves the files that will change.
    pub(super) fn save<'a>(
        &self,
        steps: Vec<Requested<'a>>,
        file: &mut Unsealed,
    ) -> Result<Vec<(Checked<'a>, Option<Saved>)>, Error> {
        steps.into_iter().map(|step| self.save_step(step, Some(&mut *file))).collect()
    }

    /// The same without saving anything: what is overwritten is in the journal already.
    pub(super) fn open<'a>(
        &self,
        steps: Vec<Requested<'a>>,
    ) -> Result<Vec<(Checked<'a>, Option<Saved>)>, Error> {
        steps.into_iter().map(|step| self.save_step(step, None)).collect()
    }

    fn save_step<'a>(
        &self,
        step: Requested<'a>,
        file: Option<&mut Unsealed>,
    ) -> Result<(Checked<'a>, Option<Saved>), Error> {
        self.check_stopped()?;
        Ok(match step {
            Step::Create { path, new } => (Step::Create { path, new }, None),
            Step::Update { path, old, new } => {
                let (old, saved) = self.save_file(&path, &old, file, Keep::Content)?;
                (Step::Update { path, old, new }, saved)
            }
            Step::Delete { path, old } => {
                let (old, saved) = self.save_file(&path, &old, file, Keep::Content)?;
                (Step::Delete { path, old }, saved)
            }
            Step::Move { path, old, to } => {
                let (old, saved) = self.save_file(&path, &old, file, Keep::Nothing)?;
                (Step::Move { path, old, to }, saved)
            }
            Step::MoveAndUpdate { path, old, to, new } => {
                let (old, saved) = self.save_file(&path, &old, file, Keep::Content)?;
                (Step::MoveAndUpdate { path, old, to, new }, saved)
            }
        })
    }

    fn save_file(
        &self,
        path: &RelPath,
        seen: &Stamp,
        file: Option<&mut Unsealed>,
        keep: Keep,
    ) -> Result<(Current, Option<Saved>), Error> {
        let (mut current_file, current) = Current::open(self.root, path, seen)?;
        let (stamp, content) = match file.filter(|_| keep == Keep::Content) {
            Some(file) => {
                let (stamp, content) = file.save(&mut current_file, || self.journal.is_stopped())?;
                (stamp, Some(content))
            }
            None => {
                let stamp = Stamp::of_file(&mut current_file);
                (stamp.map_err(|source| Error::Io { path: path.clone(), doing: "reading", source })?, None)
            }
        };
        let current = current.with_stamp(stamp, path)?;
        let saved = Saved { content, attributes: Some(current.attributes.clone()) };
        Ok((current, Some(saved)))
    }

    /// Stages the new content of each step; a change describes its step once that has been performed.
    pub(super) fn stage(
        &mut self,
        steps: Vec<(Checked<'_>, Option<Saved>)>,
        name: impl Fn(usize) -> String,
    ) -> Result<Prepared<'r>, Error> {
        let mut prepared = Prepared::default();
        for (index, (step, saved)) in steps.into_iter().enumerate() {
            self.check_stopped()?;
            let (change, ready) = self.stage_step(step, &name(index))?;
            self.note_links(&ready);
            prepared.changes.push(change);
            prepared.saved.push(saved);
            prepared.ready.push(ready);
        }
        Ok(prepared)
    }

    fn stage_step(&mut self, step: Checked<'_>, name: &str) -> Result<(Change, Ready<'r>), Error> {
        Ok(match step {
            Step::Create { path, new } => {
                let new = self.write(&path, name, new, None)?;
                (Change::Create { path: path.clone(), after: new.stamp }, Step::Create { path, new })
            }
            Step::Update { path, old, new } => {
                let new = self.write(&path, name, new, Some(&old))?;
                let change = Change::Update { path: path.clone(), before: old.stamp, after: new.stamp };
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
                let new = self.write(&to, name, new, Some(&old))?;
                let (before, after) = (old.stamp, new.stamp);
                let change = Change::Move { path: path.clone(), to: to.clone(), before, after };
                (change, Step::MoveAndUpdate { path, old, to, new })
            }
        })
    }

    fn write(
        &mut self,
        path: &RelPath,
        name: &str,
        content: Content<'_>,
        like: Option<&Current>,
    ) -> Result<Staged<'r>, Error> {
        self.root.place_creating(path, &mut self.made)?;
        Staged::write(self.root, self.journal, (path, name), content, like, &mut self.notes)
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

    fn check_stopped(&self) -> Result<(), Error> {
        if self.journal.is_stopped() { Err(journal::Error::Stopped.into()) } else { Ok(()) }
    }

    /// Notes that other hard links to a file keep the old content.
    fn note_links(&mut self, step: &Ready<'_>) {
        let (path, old) = match step {
            Step::Update { path, old, .. } | Step::MoveAndUpdate { path, old, .. } => (path, old),
            Step::Create { .. } | Step::Delete { .. } | Step::Move { .. } => return,
        };
        if let others @ 1.. = old.metadata.nlink().saturating_sub(1) {
            self.notes.push(Note::LinkBroken { path: path.clone(), others });
        }
    }
}

/// What a batch changes, what the journal has of those files, and the steps that do it.
#[derive(Default)]
pub(super) struct Prepared<'r> {
    pub(super) changes: Vec<Change>,
    pub(super) saved: Vec<Option<Saved>>,
    pub(super) ready: Vec<Ready<'r>>,
}

/// The names of staged files.
pub(super) fn names(token: &str, purpose: Purpose) -> impl Fn(usize) -> String {
    move |index| temporary::name(token, index, purpose)
}
