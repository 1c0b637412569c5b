//! The last stage of a write: one or two system calls for each step.

use std::io;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, linkat, renameat, unlinkat};
use rustix::io::Errno;

use super::Error;
use super::step::{Ready, Step};
use crate::root::{Place, RelPath, Root};

impl Ready<'_> {
    /// Performs the step as a whole, or fails and changes nothing.
    ///
    /// The path is walked once more, so that a large batch does not have to keep directories open, and so that
    /// anything swapped in since is noticed.
    pub(super) fn perform(&self, root: &Root) -> Result<(), Error> {
        match self {
            Step::Create { path, new } => rename_to_vacant(&root.place(&new.path)?, &root.place(path)?, path),
            Step::Update { path, old, new } => {
                let place = root.place(path)?;
                old.check_again(&place, path)?;
                let from = root.place(&new.path)?;
                renameat(&from.directory, from.name(), &place.directory, place.name())
                    .map_err(|errno| place.io("replacing", errno).into())
            }
            Step::Delete { path, old } => {
                let place = root.place(path)?;
                old.check_again(&place, path)?;
                unlink(&place)
            }
            Step::Move { path, old, to } => {
                let place = root.place(path)?;
                old.check_again(&place, path)?;
                rename_to_vacant(&place, &root.place(to)?, to)
            }
            Step::MoveAndUpdate { path, old, to, new } => {
                let (place, target) = (root.place(path)?, root.place(to)?);
                old.check_again(&place, path)?;
                // In this order the file exists at every moment.
                rename_to_vacant(&root.place(&new.path)?, &target, to)?;
                unlink(&place).inspect_err(|_| {
                    // If this fails too, the new file stays next to the old one, and nothing is lost.
                    let _ = unlink(&target);
                })
            }
        }
    }
}

fn unlink(place: &Place) -> Result<(), Error> {
    unlinkat(&place.directory, place.name(), AtFlags::empty())
        .map_err(|errno| place.io("deleting", errno).into())
}

/// Makes the renames in a directory survive a power failure.
pub(super) fn sync_directory(root: &Root, path: &RelPath) -> Result<(), Error> {
    let place = root.place(path)?;
    match rustix::fs::fsync(&place.directory) {
        // Some network file systems cannot sync a directory.
        Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        Err(errno) => Err(place.io("syncing its directory", errno).into()),
    }
}

/// Renames a file to a name that is not taken.
fn rename_to_vacant(from: &Place, to: &Place, path: &RelPath) -> Result<(), Error> {
    match rename_no_replace(&from.directory, from.name(), &to.directory, to.name()) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => match to.found()? {
            Some(found) => Err(Error::Exists { path: path.clone(), found }),
            None => Err(to.io("renaming", io::Error::from(Errno::EXIST)).into()),
        },
        Err(errno) => Err(to.io("renaming", errno).into()),
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_no_replace(
    from_directory: impl AsFd,
    from: &str,
    to_directory: impl AsFd,
    to: &str,
) -> Result<(), Errno> {
    use rustix::fs::{RenameFlags, renameat_with};
    match renameat_with(&from_directory, from, &to_directory, to, RenameFlags::NOREPLACE) {
        // Not every file system supports this flag.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            link_and_unlink(from_directory, from, to_directory, to)
        }
        result => result,
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
use link_and_unlink as rename_no_replace;

/// The same in two calls: creating a hard link does not replace an existing file either.
fn link_and_unlink(
    from_directory: impl AsFd,
    from: &str,
    to_directory: impl AsFd,
    to: &str,
) -> Result<(), Errno> {
    linkat(&from_directory, from, &to_directory, to, AtFlags::empty())?;
    unlinkat(from_directory, from, AtFlags::empty()).inspect_err(|_| {
        let _ = unlinkat(to_directory, to, AtFlags::empty());
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Both ways give the same result, so the second is safe where the first is not supported.
    #[test]
    fn a_name_that_is_taken_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let directory = fs::File::open(folder.path()).unwrap();
        type Way = fn(&fs::File, &str, &fs::File, &str) -> Result<(), Errno>;
        let ways: [Way; 2] =
            [|a, b, c, d| rename_no_replace(a, b, c, d), |a, b, c, d| link_and_unlink(a, b, c, d)];
        for way in ways {
            fs::write(folder.path().join("new"), "new").unwrap();
            fs::write(folder.path().join("old"), "old").unwrap();
            assert_eq!(way(&directory, "new", &directory, "old"), Err(Errno::EXIST));
            assert_eq!(fs::read(folder.path().join("old")).unwrap(), b"old");
            assert_eq!(fs::read(folder.path().join("new")).unwrap(), b"new");
            fs::remove_file(folder.path().join("old")).unwrap();
            assert_eq!(way(&directory, "new", &directory, "old"), Ok(()));
            assert_eq!(fs::read(folder.path().join("old")).unwrap(), b"new");
            assert!(!folder.path().join("new").exists());
        }
    }
}
