//! The way back: how a path comes to hold again what it held before a change.

use super::step::{Asked, Content, Step};
use crate::journal::{Change, Journal};
use crate::root::{self, RelPath, Root};
use crate::stamp::Stamp;

/// How a path comes to hold what it held before, by what it holds now.
#[derive(Debug)]
pub(crate) enum Way {
    /// It holds that: the change never happened, or was taken back.
    Already,
    /// It holds what the change left there.
    Restore(Asked<'static>),
    /// It holds something else, which this would replace.
    Overwrite(Asked<'static>),
    /// There is something that is no file.
    Blocked,
    /// The journal has lost what it held.
    Lost,
}

/// The ways back for each path of a change, in the order in which they are to be gone.
pub(crate) fn ways(
    root: &Root,
    journal: &Journal,
    change: &Change,
) -> Result<Vec<(RelPath, Way)>, root::Error> {
    let one = |path: &RelPath, before, after| {
        Ok(vec![(path.clone(), way(journal, path, now(root, path)?, before, after))])
    };
    match change {
        Change::Create { path, after } => one(path, None, Some(*after)),
        Change::Update { path, before, after } => one(path, Some(*before), Some(*after)),
        Change::Delete { path, before } => one(path, Some(*before), None),
        Change::Move { path, to, before, after } => {
            let (at_path, at_to) = (now(root, path)?, now(root, to)?);
            // A file that was moved as it is, and is still there, is moved back instead of written anew.
            if before == after && at_path == Now::Nothing && at_to == Now::File(*after) {
                let back = Step::Move { path: to.clone(), old: *after, to: path.clone() };
                return Ok(vec![(to.clone(), Way::Restore(back))]);
            }
            let origin = way(journal, path, at_path, Some(*before), None);
            let target = way(journal, to, at_to, None, Some(*after));
            // What was moved is not removed from where it is unless it comes to be where it was.
            let target = match (&origin, target) {
                (Way::Overwrite(_), Way::Restore(step)) => Way::Overwrite(step),
                (Way::Blocked, Way::Restore(_) | Way::Overwrite(_)) => Way::Blocked,
                (Way::Lost, Way::Restore(_) | Way::Overwrite(_)) => Way::Lost,
                (_, target) => target,
            };
            Ok(vec![(path.clone(), origin), (to.clone(), target)])
        }
    }
}

/// The way back for one path, by what is there now.
fn way(journal: &Journal, path: &RelPath, now: Now, before: Option<Stamp>, after: Option<Stamp>) -> Way {
    let now = match now {
        Now::Nothing => None,
        Now::File(stamp) => Some(stamp),
        Now::Other => return Way::Blocked,
    };
    let path = path.clone();
    let step = match (now, before) {
        (now, before) if now == before => return Way::Already,
        (_, Some(before)) if !journal.has(&before) => return Way::Lost,
        (Some(old), Some(before)) => Step::Update { path, old, new: Content::Kept(before) },
        (None, Some(before)) => Step::Create { path, new: Content::Kept(before) },
        (Some(old), None) => Step::Delete { path, old },
        (None, None) => return Way::Already,
    };
    if now == after { Way::Restore(step) } else { Way::Overwrite(step) }
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
