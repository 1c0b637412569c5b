//! Replaces files: the last stage of a write, a few system calls for each step.

use std::io;

use rustix::io::Errno;

use super::Error;
use super::current::Current;
use super::staged::Staged;
use super::step::{Ready, Step};
use crate::root::{Found, Place, RelPath, Root};
use crate::stamp::Stamp;
use crate::system;

impl Ready<'_> {
    /// Performs the step. `aside` is the temporary name for a file that is deleted.
    ///
    /// The path is walked once more, so that a large batch does not have to keep directories open, and so that
    /// anything swapped in since is noticed. If this fails, the step may have happened in part: what the files and
    /// the temporary files contain tells.
    pub(super) fn perform(&self, root: &Root, aside: &str) -> Result<(), Error> {
        match self {
            Step::Create { path, new } => {
                rename_to_vacant(&root.place(new.path())?, &root.place(path)?, path)
            }
            Step::Update { path, old, new } => {
                let place = root.place(path)?;
                old.check_again(&place, path)?;
                replace(&place, path, old, new, &root.place(new.path())?)
            }
            Step::Delete { path, old } => delete(&root.place(path)?, path, old, aside),
            Step::Move { path, old, to } => {
                let (place, target) = (root.place(path)?, root.place(to)?);
                old.check_again(&place, path)?;
                rename_to_vacant(&place, &target, to)?;
                if old.is(&target)? {
                    return Ok(());
                }
                rename_to_vacant(&target, &place, path)?;
                Err(Error::Changed { path: path.clone() })
            }
            Step::MoveAndUpdate { path, old, to, new } => {
                let (place, target) = (root.place(path)?, root.place(to)?);
                old.check_again(&place, path)?;
                // In this order the file exists at every moment.
                rename_to_vacant(&root.place(new.path())?, &target, to)?;
                delete(&place, path, old, aside)
            }
        }
    }
}

/// Replaces a file by a staged one. The two change places, and then it shows whether the right one came out.
fn replace(
    place: &Place,
    path: &RelPath,
    old: &Current,
    new: &Staged<'_>,
    from: &Place,
) -> Result<(), Error> {
    match system::exchange_at(from.at(), place.at()) {
        Ok(()) => {}
        // The system or the file system cannot do that: what changed since the check is lost.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            return system::rename_at(from.at(), place.at())
                .map_err(|errno| failed(place, path, "replacing", errno));
        }
        Err(errno) => return Err(failed(place, path, "replacing", errno)),
    }
    if old.is(from)? {
        return unlink(from, path);
    }
    put_back(place, from, &new.stamp)?;
    Err(Error::Changed { path: path.clone() })
}

/// Lets a file that came out of an exchange and its place change places again, until what comes out is `ours`.
///
/// Whoever replaces the file in the meantime has the last word.
pub(super) fn put_back(place: &Place, from: &Place, ours: &Stamp) -> Result<(), Error> {
    /// Nobody saves that often between two system calls.
    const TIMES: usize = 100;
    let stamp_of = |place: &Place| -> Result<Stamp, Error> {
        Ok(Stamp::of_file(&mut place.open()?).map_err(|error| place.io("reading", error))?)
    };
    let (mut expected, mut held) = (*ours, stamp_of(from)?);
    for _ in 0..TIMES {
        system::exchange_at(from.at(), place.at()).map_err(|errno| place.io("putting it back", errno))?;
        let out = stamp_of(from)?;
        if out.same_content(&expected) {
            return Ok(());
        }
        // Somebody replaced it just now, so what came out is newer than what was put back.
        (expected, held) = (held, out);
    }
    Err(place.io("putting it back", io::Error::from(Errno::BUSY)).into())
}

/// Deletes a file. It is moved aside first, and then it shows whether it is the right one.
fn delete(place: &Place, path: &RelPath, old: &Current, aside: &str) -> Result<(), Error> {
    old.check_again(place, path)?;
    let aside = place.sibling(aside)?;
    system::rename_to_vacant_at(place.at(), aside.at())
        .map_err(|errno| failed(place, path, "deleting", errno))?;
    if old.is(&aside)? {
        return unlink(&aside, path);
    }
    match system::rename_to_vacant_at(aside.at(), place.at()) {
        Ok(()) => {}
        // Somebody saved the file again, which replaces what was moved aside.
        Err(Errno::EXIST) => unlink(&aside, path)?,
        Err(errno) => return Err(failed(place, path, "putting it back", errno)),
    }
    Err(Error::Changed { path: path.clone() })
}

fn unlink(place: &Place, path: &RelPath) -> Result<(), Error> {
    system::unlink_at(&place.directory, place.name()).map_err(|errno| Error::Io {
        path: path.clone(),
        doing: "deleting",
        source: errno.into(),
    })
}

/// Renames a file to a name that is not taken.
pub(super) fn rename_to_vacant(from: &Place, to: &Place, path: &RelPath) -> Result<(), Error> {
    match system::rename_to_vacant_at(from.at(), to.at()) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => match to.found()? {
            Some(found) => Err(Error::Exists { path: path.clone(), found }),
            None => Err(Error::Exists { path: path.clone(), found: Found::Other }),
        },
        // Nothing is mounted at a vacant name.
        Err(Errno::BUSY) => Err(Error::Mounted { path: from.path().clone() }),
        Err(errno) => Err(to.io("renaming", errno).into()),
    }
}

fn failed(place: &Place, path: &RelPath, doing: &'static str, errno: Errno) -> Error {
    match errno {
        Errno::BUSY => Error::Mounted { path: path.clone() },
        errno => place.io(doing, errno).into(),
    }
}

/// Makes the renames in a directory survive a power failure.
pub(super) fn sync_directory(root: &Root, path: &RelPath) -> Result<(), Error> {
    let place = root.place(path)?;
    system::sync_directory(&place.directory).map_err(|errno| place.io("syncing its directory", errno).into())
}
