//! Recovery: finishes an entry that was interrupted, or takes it back, by what the files contain.

use std::fmt;

use rustix::io::Errno;

use super::Error;
use super::commit::{perform, remove_directories};
use super::prepare::Preparation;
use super::replace::put_back;
use super::revert::{Now, Revert, now, reverts};
use super::step::Requested;
use crate::journal::{self, Change, Entry, EntryId, Folder, Journal, Locked, Plan, Unfinished};
use crate::root::{self, RelPath, Root};
use crate::stamp::Stamp;
use crate::system;
use crate::temporary::{self, Purpose};

/// What became of an entry that was interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// The entry.
    pub entry: EntryId,
    /// How it ended.
    pub outcome: Outcome,
}

/// How an entry that was interrupted ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// All of its files had been written: it is done.
    Finished,
    /// All of its files are as before, and the entry is gone.
    TakenBack,
    /// These files were changed by somebody since, or the journal has lost their contents, and they are left alone.
    /// The others are as before. The entry stays, so that it can be undone.
    Left(Vec<RelPath>),
}

impl fmt::Display for Recovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entry, outcome } = self;
        match outcome {
            Outcome::Finished => write!(f, "entry {entry} was interrupted after its last file: it is done"),
            Outcome::TakenBack => {
                write!(f, "entry {entry} was interrupted and is taken back: its files are as before")
            }
            Outcome::Left(paths) => {
                write!(
                    f,
                    "entry {entry} was interrupted and is taken back, except for files that changed since or that \
                     the journal has lost: "
                )?;
                for (index, path) in paths.iter().enumerate() {
                    write!(f, "{}`{path}`", if index == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
        }
    }
}

impl Journal {
    /// Finishes an entry below a root that was interrupted, or takes it back. Temporary files and directories that
    /// it left are removed.
    ///
    /// Whatever the entry is, an undo included, its files are all as before or all as after it then; files that
    /// somebody changed in the meantime are left alone. Returns `None` if there is no such entry, or if the process
    /// that writes it is still there. A write and an undo do this first.
    pub fn recover(&self, root: &Root) -> Result<Option<Recovered>, Error> {
        let Some(folder) = Folder::find(self, root)? else { return Ok(None) };
        // Without the lock first: nothing is created or waited for if there is nothing to do.
        if !folder.may_be_unfinished()? {
            return Ok(None);
        }
        match Locked::try_new(self, folder)? {
            Some(mut lock) => recover(root, &mut lock),
            None => Ok(None),
        }
    }
}

/// The same for a journal that is locked.
pub(crate) fn recover(root: &Root, lock: &mut Locked<'_>) -> Result<Option<Recovered>, Error> {
    let Some(unfinished) = lock.unfinished() else { return Ok(None) };
    let entry = unfinished.id();
    let outcome = match unfinished {
        Unfinished::Staged(id) => recover_staged(root, lock, id),
        Unfinished::Begun(id) => recover_begun(root, lock, id),
    };
    match outcome {
        Ok(outcome) => Ok(Some(Recovered { entry, outcome })),
        Err(error @ Error::Journal(journal::Error::Damaged { .. })) => Err(error),
        Err(cause) => Err(Error::Interrupted { cause: Box::new(cause), entry }),
    }
}

fn recover_staged(root: &Root, lock: &mut Locked<'_>, id: EntryId) -> Result<Outcome, Error> {
    match lock.folder.plan(id) {
        Ok(plan) => remove_staged(root, &plan)?,
        // Nothing is staged before the plan is written.
        Err(journal::Error::NoEntry { .. } | journal::Error::Damaged { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    lock.drop_entry(id)?;
    Ok(Outcome::TakenBack)
}

fn recover_begun(root: &Root, lock: &mut Locked<'_>, id: EntryId) -> Result<Outcome, Error> {
    let described = lock.folder.entry(id).and_then(|entry| Ok((entry, lock.folder.plan(id)?)));
    let (entry, plan) = match described {
        Ok(described) => described,
        Err(journal::Error::NoEntry { .. }) => {
            // It was taken back, and only that is not logged yet.
            lock.drop_entry(id)?;
            return Ok(Outcome::TakenBack);
        }
        Err(error @ journal::Error::Damaged { .. }) => {
            // Nothing is known about its files. It stays the newest entry, so that it is not passed over.
            lock.finish(id)?;
            return Err(error.into());
        }
        Err(error) => return Err(error.into()),
    };
    settle(root, &entry, &plan.token)?;
    if all_happened(root, &entry)? {
        if let Some(target) = entry.undoes.and_then(|target| lock.folder.entry(target).ok()) {
            remove_directories(root, &target.made)?;
        }
        lock.finish(id)?;
        return Ok(Outcome::Finished);
    }
    let left: Vec<RelPath> =
        take_back(root, lock, &entry, &plan.token)?.into_iter().flat_map(Left::into_paths).collect();
    if left.is_empty() {
        lock.drop_entry(id)?;
        return Ok(Outcome::TakenBack);
    }
    lock.finish(id)?;
    Ok(Outcome::Left(left))
}

/// Removes the temporary files and directories of an entry that changed nothing.
pub(super) fn remove_staged(root: &Root, plan: &Plan) -> Result<(), Error> {
    for (index, paths) in plan.paths.iter().enumerate() {
        for path in paths {
            remove_temporary(root, &path.sibling(&temporary::name(&plan.token, index, Purpose::New)))?;
        }
    }
    remove_directories(root, &plan.made)
}

/// Removes the temporary files of an entry that was begun. If one of them is what somebody saved at the wrong
/// moment, it gets its place back.
pub(super) fn settle(root: &Root, entry: &Entry, token: &str) -> Result<(), Error> {
    for (index, change) in entry.changes.iter().enumerate() {
        let name = |purpose| temporary::name(token, index, purpose);
        match change {
            Change::Create { path, after } => {
                settle_exchanged(root, path, &name(Purpose::New), after, &[*after])?;
                settle_aside(root, path, &name(Purpose::BackOld), after)?;
            }
            Change::Update { path, before, after } => {
                settle_exchanged(root, path, &name(Purpose::New), after, &[*before, *after])?;
                settle_exchanged(root, path, &name(Purpose::Back), before, &[*before, *after])?;
            }
            Change::Delete { path, before } => {
                settle_aside(root, path, &name(Purpose::Old), before)?;
                settle_exchanged(root, path, &name(Purpose::Back), before, &[*before])?;
            }
            Change::Move { path, to, before, after } => {
                settle_exchanged(root, to, &name(Purpose::New), after, &[*after])?;
                settle_aside(root, path, &name(Purpose::Old), before)?;
                settle_exchanged(root, path, &name(Purpose::Back), before, &[*before])?;
                settle_aside(root, to, &name(Purpose::BackOld), after)?;
            }
        }
    }
    Ok(())
}

/// A temporary file that was to be exchanged with the file at a path, and perhaps was. `ours` is at the path then.
fn settle_exchanged(
    root: &Root,
    path: &RelPath,
    name: &str,
    ours: &Stamp,
    known: &[Stamp],
) -> Result<(), Error> {
    let temporary = path.sibling(name);
    let found = now(root, &temporary)?;
    if found == Now::Nothing {
        return Ok(());
    }
    // What the journal does not know, and our file is where it was: it is somebody's, and came out of the exchange.
    if !known.iter().any(|stamp| found.has(stamp)) && now(root, path)?.has(ours) {
        put_back(&root.place(path)?, &root.place(&temporary)?, ours)?;
    }
    remove_temporary(root, &temporary)
}

/// A temporary file that was at a path and is to be deleted.
fn settle_aside(root: &Root, path: &RelPath, name: &str, known: &Stamp) -> Result<(), Error> {
    let temporary = path.sibling(name);
    let found = now(root, &temporary)?;
    if found != Now::Nothing && !found.has(known) && now(root, path)? == Now::Nothing {
        let (from, to) = (root.place(&temporary)?, root.place(path)?);
        return system::rename_to_vacant_at(from.at(), to.at())
            .map_err(|errno| to.io("putting it back", errno).into());
    }
    remove_temporary(root, &temporary)
}

fn remove_temporary(root: &Root, path: &RelPath) -> Result<(), Error> {
    let place = match root.place(path) {
        Ok(place) => place,
        Err(root::Error::NotFound { .. } | root::Error::Link { .. } | root::Error::NotADirectory { .. }) => {
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    match system::unlink_at(&place.directory, place.name()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(place.io("removing a temporary file", errno).into()),
    }
}

/// Whether all files of an entry are as it leaves them.
fn all_happened(root: &Root, entry: &Entry) -> Result<bool, Error> {
    for change in &entry.changes {
        if !happened(root, change)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn happened(root: &Root, change: &Change) -> Result<bool, Error> {
    Ok(match change {
        Change::Create { path, after } | Change::Update { path, after, .. } => now(root, path)?.has(after),
        Change::Delete { path, .. } => now(root, path)? == Now::Nothing,
        Change::Move { path, to, after, .. } => now(root, path)? == Now::Nothing && now(root, to)?.has(after),
    })
}

/// A change that could not be taken back.
pub(super) struct Left {
    pub(super) index: usize,
    paths: Vec<RelPath>,
    /// Whether the file is as the change left it: the journal has lost what was there before.
    pub(super) is_ours: bool,
}

impl Left {
    pub(super) fn into_paths(self) -> Vec<RelPath> {
        self.paths
    }
}

/// Takes back the changes of an entry that have happened, and returns those for which that is not possible.
///
/// Each change is taken back by itself, so that one that cannot be does not affect the others. Whatever interrupts
/// this, it can be started again.
pub(super) fn take_back(
    root: &Root,
    lock: &Locked<'_>,
    entry: &Entry,
    token: &str,
) -> Result<Vec<Left>, Error> {
    let mut left = Vec::new();
    for index in 0..entry.changes.len() {
        let mut steps = Vec::new();
        let mut is_left = false;
        for (_, revert) in reverts(root, &lock.folder, entry, index)? {
            match revert {
                Revert::Already => {}
                Revert::Restore(step) => steps.push(step),
                Revert::Overwrite(_) | Revert::Blocked | Revert::Lost => is_left = true,
            }
        }
        if is_left {
            let change = &entry.changes[index];
            let is_ours = happened(root, change)?;
            left.push(Left { index, paths: change.paths().cloned().collect(), is_ours });
        } else {
            restore(root, lock.journal, token, index, steps)?;
        }
    }
    remove_directories(root, &entry.made)?;
    Ok(left)
}

/// Performs the steps that take one change back.
fn restore(
    root: &Root,
    journal: &Journal,
    token: &str,
    index: usize,
    steps: Vec<Requested<'_>>,
) -> Result<(), Error> {
    let journal = &journal.clone().without_stop();
    let mut preparation = Preparation::new(root, journal);
    preparation.check(&steps)?;
    let opened = preparation.open(steps)?;
    let prepared = preparation.stage(opened, |_| temporary::name(token, index, Purpose::Back))?;
    let aside = |_| temporary::name(token, index, Purpose::BackOld);
    perform(root, &prepared.changes, &prepared.ready, aside).map_err(|(cause, _)| cause)
}
