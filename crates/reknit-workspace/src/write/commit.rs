//! Commits a batch: checks, saves, stages, begins its entry, and only then performs the writes.

use std::collections::BTreeMap;
use std::time::SystemTime;

use rustix::io::Errno;

use super::prepare::{Preparation, Prepared, names};
use super::recover::{Left, remove_staged, settle, take_back};
use super::replace::sync_directory;
use super::step::{Ready, Requested};
use super::{Committed, Error};
use crate::journal::{Change, Entry, EntryId, Locked, Plan, State, Unsealed, to_millis};
use crate::root::{self, RelPath, Root};
use crate::system;
use crate::temporary::{self, Purpose};

/// What the journal records about a batch besides its changes.
pub(crate) struct Heading {
    pub(crate) label: String,
    pub(crate) undoes: Option<EntryId>,
    pub(crate) at: SystemTime,
    /// Directories that are removed afterwards if nothing is in them, outer ones first.
    pub(crate) emptied: Vec<RelPath>,
}

/// Performs all steps or none.
pub(crate) fn commit(
    root: &Root,
    lock: &mut Locked<'_>,
    heading: Heading,
    steps: Vec<Requested<'_>>,
) -> Result<Committed, Error> {
    let mut preparation = Preparation::new(root, lock.journal);
    preparation.check(&steps)?;
    let token = temporary::random_digits();
    let paths = steps.iter().map(|step| step.paths().cloned().collect()).collect();
    let made = preparation.missing(&steps)?;
    let plan = Plan { id: EntryId(0), token: token.clone(), paths, made };
    let (id, mut file) = lock.stage(heading.at, plan.clone())?;
    let Prepared { changes, saved, ready } = match stage(root, &mut preparation, &token, steps, &mut file) {
        Ok(prepared) => prepared,
        Err(error) => return Err(give_up(root, lock, &plan, id, error)),
    };
    let entry = Entry {
        id,
        at: to_millis(heading.at),
        root: root.path().to_owned(),
        label: heading.label,
        undoes: heading.undoes,
        changes,
        made: preparation.made,
        state: State::Done,
        saved,
    };
    if let Err(error) = lock.begin(&entry, file) {
        drop(ready);
        return Err(give_up(root, lock, &plan, id, error.into()));
    }
    if let Err((cause, count)) = perform(root, &entry.changes, &ready, names(&token, Purpose::Old)) {
        // What is staged is dropped afterwards: it may be what somebody saved at the wrong moment.
        return Err(roll_back(root, lock, &entry, &token, cause, count));
    }
    drop(ready);
    let finished = remove_directories(root, &heading.emptied).and_then(|()| Ok(lock.finish(id)?));
    match finished {
        Ok(()) => Ok(Committed { entry, notes: preparation.notes }),
        Err(cause) => Err(Error::Interrupted { cause: Box::new(cause), entry: id }),
    }
}

/// Saves and stages everything. No file is changed yet.
fn stage<'r>(
    root: &Root,
    preparation: &mut Preparation<'r>,
    token: &str,
    steps: Vec<Requested<'_>>,
    file: &mut Unsealed,
) -> Result<Prepared<'r>, Error> {
    let saved = preparation.save(steps, file)?;
    let prepared = preparation.stage(saved, names(token, Purpose::New))?;
    preparation.made.iter().try_for_each(|path| sync_directory(root, path))?;
    Ok(prepared)
}

/// Ends a batch that has changed no file.
fn give_up(root: &Root, lock: &mut Locked<'_>, plan: &Plan, id: EntryId, error: Error) -> Error {
    match remove_staged(root, plan).and_then(|()| Ok(lock.drop_entry(id)?)) {
        Ok(()) => error,
        Err(_) => Error::NotCleaned { cause: Box::new(error) },
    }
}

/// Takes back a batch: `count` of its steps were performed, and the next one perhaps in part.
fn roll_back(
    root: &Root,
    lock: &mut Locked<'_>,
    entry: &Entry,
    token: &str,
    cause: Error,
    count: usize,
) -> Error {
    let (cause, id) = (Box::new(cause), entry.id);
    let Ok(left) = settle(root, entry, token).and_then(|()| take_back(root, lock, entry, token)) else {
        return Error::Interrupted { cause, entry: id };
    };
    // What the batch did not get to is as somebody else left it.
    let left: Vec<RelPath> = left
        .into_iter()
        .filter(|left| left.index < count || left.is_ours)
        .flat_map(Left::into_paths)
        .collect();
    let ended = if left.is_empty() { lock.drop_entry(id) } else { lock.finish(id) };
    match ended {
        Err(_) => Error::Interrupted { cause, entry: id },
        Ok(()) if !left.is_empty() => Error::HalfDone { cause, entry: id, left },
        Ok(()) if count == 0 => *cause,
        Ok(()) => Error::RolledBack { cause, count },
    }
}

/// Performs the steps in order; an error comes with the number of those that were performed before it.
pub(super) fn perform(
    root: &Root,
    changes: &[Change],
    steps: &[Ready<'_>],
    aside: impl Fn(usize) -> String,
) -> Result<(), (Error, usize)> {
    for (index, step) in steps.iter().enumerate() {
        step.perform(root, &aside(index)).map_err(|cause| (cause, index))?;
    }
    let paths = changes.iter().flat_map(Change::paths);
    let directories: BTreeMap<_, _> = paths.map(|path| (path.parent(), path)).collect();
    directories.values().try_for_each(|path| sync_directory(root, path)).map_err(|cause| (cause, steps.len()))
}

/// Removes those of the directories that are empty; `made` has outer ones first.
pub(super) fn remove_directories(root: &Root, made: &[RelPath]) -> Result<(), Error> {
    for path in made.iter().rev() {
        let place = match root.place(path) {
            Ok(place) => place,
            // Somebody removed or replaced what is above it.
            Err(
                root::Error::NotFound { .. } | root::Error::Link { .. } | root::Error::NotADirectory { .. },
            ) => {
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        match system::remove_directory_at(&place.directory, place.name()) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR | Errno::BUSY) => {}
            Err(errno) => return Err(place.io("removing an empty directory", errno).into()),
        }
    }
    Ok(())
}
