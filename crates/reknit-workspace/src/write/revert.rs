//! [`Revert`]: how to return a path to its state before a change.

use super::Error;
use super::step::{Content, Requested, SavedFile, Step};
use crate::journal::{Change, Contents, Entry, Folder};
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

/// How to revert each path of a change of an entry, in the order in which to do it.
pub(crate) fn reverts(
    root: &Root,
    folder: &Folder,
    entry: &Entry,
    index: usize,
) -> Result<Vec<(RelPath, Revert)>, Error> {
    let saved = saved(folder, entry, index);
    let saved = saved.as_ref();
    let one = |path: &RelPath, before, after| {
        Ok(vec![(path.clone(), revert(path, now(root, path)?, before, after, saved)?)])
    };
    match &entry.changes[index] {
        Change::Create { path, after } => one(path, None, Some(*after)),
        Change::Update { path, before, after } => one(path, Some(*before), Some(*after)),
        Change::Delete { path, before } => one(path, Some(*before), None),
        Change::Move { path, to, before, after } => {
            let (at_path, at_to) = (now(root, path)?, now(root, to)?);
            // A file that was moved unchanged is moved back, whatever it contains now. If the journal does not have
            // its content, it was only moved.
            if let (Now::Nothing, Now::File(stamp)) = (at_path, at_to)
                && (before == after || saved.is_none())
            {
                let back = Step::Move { path: to.clone(), old: stamp, to: path.clone() };
                let is_same = stamp == *after;
                let back = if is_same { Revert::Restore(back) } else { Revert::Overwrite(back) };
                return Ok(vec![(to.clone(), back)]);
            }
            let origin = revert(path, at_path, Some(*before), None, saved)?;
            let target = revert(to, at_to, None, Some(*after), None)?;
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

/// What the journal has of the file of a change.
fn saved(folder: &Folder, entry: &Entry, index: usize) -> Option<SavedFile> {
    let (range, stamp) = entry.saved_before(index)?;
    let contents = Contents::new(folder.entry_file(entry.id), range);
    let attributes = entry.saved[index].as_ref()?.attributes.clone();
    Some(SavedFile { stamp, contents, attributes })
}

/// How to revert one path, given what is there now.
fn revert(
    path: &RelPath,
    now: Now,
    before: Option<Stamp>,
    after: Option<Stamp>,
    saved: Option<&SavedFile>,
) -> Result<Revert, Error> {
    let now = match now {
        Now::Nothing => None,
        Now::File(stamp) => Some(stamp),
        Now::Other => return Ok(Revert::Blocked),
    };
    let path = path.clone();
    let step = match (now, before) {
        (now, before) if now == before => return Ok(Revert::Already),
        (Some(old), None) => Step::Delete { path, old },
        (None, None) => return Ok(Revert::Already),
        (now, Some(before)) => {
            let Some(saved) = saved.cloned() else { return Ok(Revert::Lost) };
            if !saved.contents.is_intact(&before)? {
                return Ok(Revert::Lost);
            }
            match now {
                Some(old) => Step::Update { path, old, new: Content::Saved(saved) },
                None => Step::Create { path, new: Content::Saved(saved) },
            }
        }
    };
    Ok(if now == after { Revert::Restore(step) } else { Revert::Overwrite(step) })
}

/// What is at a path now.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Now {
    Nothing,
    File(Stamp),
    Other,
}

impl Now {
    /// Whether it is a file with this content.
    pub(super) fn has(self, stamp: &Stamp) -> bool {
        matches!(self, Self::File(there) if there.same_content(stamp))
    }
}

pub(super) fn now(root: &Root, path: &RelPath) -> Result<Now, root::Error> {
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
