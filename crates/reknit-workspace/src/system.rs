//! The calls that read, create, change and remove files: all of the crate's work on a disk goes through here.
//!
//! So the tests can make any of them fail, or the first few succeed and all others fail, which is what is left of
//! a process that was killed.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, XattrFlags, linkat, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

#[cfg(test)]
pub(crate) mod faults;

/// Where a test makes a call fail.
#[cfg(test)]
fn point() -> Result<(), Errno> {
    faults::point()
}

#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps, reason = "in a test it can fail")]
fn point() -> Result<(), Errno> {
    Ok(())
}

/// A name in an open directory.
pub(crate) type At<'a> = (BorrowedFd<'a>, &'a str);

pub(crate) fn open_at(directory: impl AsFd, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    point()?;
    openat(directory, name, flags | OFlags::CLOEXEC, Mode::empty())
}

pub(crate) fn create_new_at(directory: impl AsFd, name: &str, mode: u32) -> Result<File, Errno> {
    point()?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(directory, name, flags, Mode::from_raw_mode(mode)).map(File::from)
}

pub(crate) fn stat_at(directory: impl AsFd, name: &str) -> Result<rustix::fs::Stat, Errno> {
    point()?;
    statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
}

pub(crate) fn make_directory_at(directory: impl AsFd, name: &str) -> Result<(), Errno> {
    point()?;
    mkdirat(directory, name, Mode::from_raw_mode(0o777))
}

pub(crate) fn unlink_at(directory: impl AsFd, name: &str) -> Result<(), Errno> {
    point()?;
    unlinkat(directory, name, AtFlags::empty())
}

pub(crate) fn remove_directory_at(directory: impl AsFd, name: &str) -> Result<(), Errno> {
    point()?;
    unlinkat(directory, name, AtFlags::REMOVEDIR)
}

/// Renames a file, replacing what has the other name.
pub(crate) fn rename_at(from: At<'_>, to: At<'_>) -> Result<(), Errno> {
    point()?;
    renameat(from.0, from.1, to.0, to.1)
}

/// Renames a file to a name that is not taken.
pub(crate) fn rename_to_vacant_at(from: At<'_>, to: At<'_>) -> Result<(), Errno> {
    point()?;
    match rename_with(from, to, Rename::NoReplace) {
        // Not every system and file system can do that.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => link_and_unlink(from, to),
        result => result,
    }
}

/// Lets two files change places. Fails with `INVAL`, `NOSYS` or `NOTSUP` where that is not possible.
pub(crate) fn exchange_at(one: At<'_>, other: At<'_>) -> Result<(), Errno> {
    point()?;
    rename_with(one, other, Rename::Exchange)
}

#[derive(Clone, Copy)]
enum Rename {
    NoReplace,
    Exchange,
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_with(from: At<'_>, to: At<'_>, how: Rename) -> Result<(), Errno> {
    use rustix::fs::{RenameFlags, renameat_with};
    let flags = match how {
        Rename::NoReplace => RenameFlags::NOREPLACE,
        Rename::Exchange => RenameFlags::EXCHANGE,
    };
    renameat_with(from.0, from.1, to.0, to.1, flags)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_with(_: At<'_>, _: At<'_>, _: Rename) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

/// The same in two calls: creating a hard link does not replace an existing file either.
fn link_and_unlink(from: At<'_>, to: At<'_>) -> Result<(), Errno> {
    linkat(from.0, from.1, to.0, to.1, AtFlags::empty())?;
    unlinkat(from.0, from.1, AtFlags::empty()).inspect_err(|_| {
        let _ = unlinkat(to.0, to.1, AtFlags::empty());
    })
}

/// Makes the names in a directory survive a power failure.
pub(crate) fn sync_directory(directory: impl AsFd) -> Result<(), Errno> {
    point()?;
    match rustix::fs::fsync(directory) {
        // Some network file systems cannot sync a directory.
        Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        result => result,
    }
}

pub(crate) fn write(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    point()?;
    file.write_all(bytes)
}

/// Leaves a hole in place of this many zeros.
pub(crate) fn skip(file: &mut File, count: u64) -> io::Result<()> {
    point()?;
    let end = file.stream_position()? + count;
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end)).map(drop)
}

pub(crate) fn truncate(file: &File, length: u64) -> io::Result<()> {
    point()?;
    file.set_len(length)
}

pub(crate) fn read(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    point()?;
    file.read(buffer)
}

pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
    point()?;
    file.read_exact_at(buffer, at)
}

pub(crate) fn sync(file: &File) -> io::Result<()> {
    point()?;
    file.sync_all()
}

pub(crate) fn sync_data(file: &File) -> io::Result<()> {
    point()?;
    file.sync_data()
}

pub(crate) fn metadata(file: &File) -> io::Result<fs::Metadata> {
    point()?;
    file.metadata()
}

pub(crate) fn set_owner(file: &File, user: Option<u32>, group: Option<u32>) -> io::Result<()> {
    point()?;
    std::os::unix::fs::fchown(file, user, group)
}

pub(crate) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    point()?;
    file.set_permissions(fs::Permissions::from_mode(mode))
}

/// The names of a file's extended attributes; none where the file system has no such thing.
pub(crate) fn attribute_names(file: &File) -> Result<Vec<String>, Errno> {
    point()?;
    let mut names = vec![0_u8; 64 * 1024];
    let length = match rustix::fs::flistxattr(file, &mut names[..]) {
        Ok(length) => length,
        Err(Errno::NOTSUP | Errno::NOSYS) => 0,
        Err(errno) => return Err(errno),
    };
    let names = names[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty());
    Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

/// The value of an extended attribute; `None` if the file does not have it.
pub(crate) fn attribute(file: &File, name: &str) -> Result<Option<Vec<u8>>, Errno> {
    point()?;
    let mut value = vec![0_u8; 64 * 1024];
    match rustix::fs::fgetxattr(file, name, &mut value[..]) {
        Ok(length) => Ok(Some(value[..length].to_vec())),
        Err(Errno::NODATA | Errno::NOTSUP) => Ok(None),
        Err(errno) => Err(errno),
    }
}

pub(crate) fn set_attribute(file: &File, name: &str, value: &[u8]) -> Result<(), Errno> {
    point()?;
    rustix::fs::fsetxattr(file, name, value, XattrFlags::empty())
}

pub(crate) fn remove_attribute(file: &File, name: &str) -> Result<(), Errno> {
    point()?;
    match rustix::fs::fremovexattr(file, name) {
        Err(Errno::NODATA | Errno::NOTSUP) => Ok(()),
        result => result,
    }
}

/// Creates a directory that only its owner can access, and those above it.
pub(crate) fn make_private_directory(path: &Path) -> io::Result<()> {
    point()?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Opens a file that only its owner can access, for reading and appending; created if it does not exist.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    point()?;
    OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)
}

/// Creates a file that only its owner can access; an existing one is emptied.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    point()?;
    OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// The rest of a file.
pub(crate) fn read_to_end(file: &mut File) -> io::Result<Vec<u8>> {
    point()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A whole file, which is small; `None` if it does not exist.
pub(crate) fn read_small(path: &Path) -> io::Result<Option<Vec<u8>>> {
    point()?;
    existing(fs::read(path))
}

/// What is at a path, symlinks followed; `None` if there is nothing.
pub(crate) fn metadata_of(path: &Path) -> io::Result<Option<fs::Metadata>> {
    point()?;
    existing(fs::metadata(path))
}

pub(crate) fn open(path: &Path) -> io::Result<File> {
    point()?;
    File::open(path)
}

pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    point()?;
    fs::rename(from, to)
}

/// Removes a file; one that is already gone does not have to be removed.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    point()?;
    ignore_missing(fs::remove_file(path))
}

/// Removes a directory with everything in it, if it exists.
pub(crate) fn remove_all(path: &Path) -> io::Result<()> {
    point()?;
    ignore_missing(fs::remove_dir_all(path))
}

/// The names in a directory; none if it does not exist.
pub(crate) fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    point()?;
    match existing(fs::read_dir(folder))? {
        Some(found) => found.map(|found| Ok(found?.file_name())).collect(),
        None => Ok(Vec::new()),
    }
}

fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    existing(result).map(|_| ())
}

/// `None` if what was asked for does not exist.
fn existing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways give the same result, so the second is safe where the first is not supported.
    #[test]
    fn a_name_that_is_taken_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let directory = File::open(folder.path()).unwrap();
        type Way = fn(At<'_>, At<'_>) -> Result<(), Errno>;
        let ways: [Way; 2] = [rename_to_vacant_at, link_and_unlink];
        let at = |name: &'static str| (directory.as_fd(), name);
        for way in ways {
            fs::write(folder.path().join("new"), "new").unwrap();
            fs::write(folder.path().join("old"), "old").unwrap();
            assert_eq!(way(at("new"), at("old")), Err(Errno::EXIST));
            assert_eq!(fs::read(folder.path().join("old")).unwrap(), b"old");
            assert_eq!(fs::read(folder.path().join("new")).unwrap(), b"new");
            fs::remove_file(folder.path().join("old")).unwrap();
            assert_eq!(way(at("new"), at("old")), Ok(()));
            assert_eq!(fs::read(folder.path().join("old")).unwrap(), b"new");
            assert!(!folder.path().join("new").exists());
        }
    }
}
