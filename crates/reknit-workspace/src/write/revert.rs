//! [`Revert`]: how to return a path to its state before a change.

use super::step::{Content, Requested, Step};
use crate::journal::{Change, Journal};
use crate::root::{self, RelPath, Root};
use crate::stamp::Stamp;

/// How to return a path to its state before a change, given its current state.
#[derive(Debug)]
pub(crate) enum Revert {
    /// Nothing to do: the change never happened, or was already reverted.
    Already,
    /// It is in the state that the change left it in.
    Restore(Requested<'static>),
    /// It has changed since, and this would overwrite that.
    Overwrite(Requested<'static>),
    /// Something that is not a file is there.
    Blocked,
    /// The journal has lost its content.
    Lost,
}

/// How to revert each path of a change, in the order in which to do it.
pub(crate) fn reverts(
    root: &Root,
    journal: &Journal,
    change: &Change,
) -> Result<Vec<(RelPath, Revert)>, root::Error> {
    let one = |path: &RelPath, before, after| {
        Ok(vec![(path.clone(), revert(journal, path, now(root, path)?, before, after))])
    };
    match change {
        Change::Create { path, after } => one(path, None, Some(*after)),
        Change::Update { path, before, after } => one(path, Some(*before), Some(*after)),
        Change::Delete { path, before } => one(path, Some(*before), None),
        Change::Move { path, to, before, after } => {
            let (at_path, at_to) = (now(root, path)?, now(root, to)?);
            // A file that was moved unchanged, and is still there, is moved back instead of being written again.
            if before == after && at_path == Now::Nothing && at_to == Now::File(*after) {
                let back = Step::Move { path: to.clone(), old: *after, to: path.clone() };
                return Ok(vec![(to.clone(), Revert::Restore(back))]);
            }
            let origin = revert(journal, path, at_path, Some(*before), None);
            let target = revert(journal, to, at_to, None, Some(*after));
            // The moved file is only removed if the original is restored.
            let target = match (&origin, target) {
                (Revert::Overwrite(_), Revert::Restore(step)) => Revert::Overwrite(step),
                (Revert::Blocked, Revert::Restore(_) | Revert::Overwrite(_)) => Revert::Blocked,
                (Revert::Lost, Revert::Restore(_) | Revert::Overwrite(_)) => Revert::Lost,
                (_, target) => target,
            };
            Ok(vec![(path.clone(), origin), (to.clone(), target)])
        }
    }
}

/// How to revert one path, given what is there now.
fn revert(
    journal: &Journal,
    path: &RelPath,
    now: Now,
    before: Option<Stamp>,
    after: Option<Stamp>,
) -> Revert {
    let now = match now {
        Now::Nothing => None,
        Now::File(stamp) => Some(stamp),
        Now::Other => return Revert::Blocked,
    };
    let path = path.clone();
    let step = match (now, before) {
        (now, before) if now == before => return Revert::Already,
        (_, Some(before)) if !journal.has(&before) => return Revert::Lost,
        (Some(old), Some(before)) => Step::Update { path, old, new: Content::Saved(before) },
        (None, Some(before)) => Step::Create { path, new: Content::Saved(before) },
        (Some(old), None) => Step::Delete { path, old },
        (None, None) => return Revert::Already,
    };
    if now == after { Revert::Restore(step) } else { Revert::Overwrite(step) }
}

/// What is at a path now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Now {
    Nothing,
    File(Stamp),
    Other,
}

fn now(root: &Root, path: &RelPath) -> Result<Now, root::Error> {
    let place = match root.place(path) {
        Ok(place) => place,
        Err(error) => return without_file(error),
    };
    match place.open() {
        Ok(mut file) => {
            let stamp = Stamp::of_file(&mut file).map_err(|error| place.io("reading", error))?;
            Ok(Now::File(stamp))
        }
        Err(error) => without_file(error),
    }
}

fn without_file(error: root::Error) -> Result<Now, root::Error> {
    match error {
        root::Error::NotFound { .. } => Ok(Now::Nothing),
        root::Error::Link { .. } | root::Error::NotADirectory { .. } | root::Error::NotAFile { .. } => {
            Ok(Now::Other)
        }
        error => Err(error),
    }
}
