//! [`Staged`]: the new content of a file, on disk under a temporary name.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};

use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};

use super::step::Content;
use super::{Error, Note};
use crate::journal::{self, Journal};
use crate::root::{RelPath, Root};
use crate::stamp::{Hasher, Stamp, mode_of, read_pieces};
use crate::temporary;

/// A complete file in the same directory as the one it will replace; removed when dropped, unless it was renamed.
pub(super) struct Staged<'r> {
    root: &'r Root,
    /// Its temporary path.
    pub(super) path: RelPath,
}

impl<'r> Staged<'r> {
    /// Writes the content for `path`, with the owner and permissions of `like`.
    ///
    /// The directory must exist. The stamp is that of the staged file.
    pub(super) fn write(
        root: &'r Root,
        journal: &Journal,
        path: &RelPath,
        content: Content<'_>,
        like: Option<&fs::Metadata>,
        notes: &mut Vec<Note>,
    ) -> Result<(Self, Stamp), Error> {
        let io = |doing| move |source| Error::Io { path: path.clone(), doing, source };
        let mut mode = match &content {
            Content::Saved(stamp) => Some(stamp.mode),
            Content::Pieces(_) => like.map(mode_of),
        };
        // The umask decides about a new file. One that gets other permissions below is private until then.
        let first_mode = if mode.is_some() { 0o600 } else { 0o666 };
        let name = format!(".reknit-{}.tmp", temporary::random_digits());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = root.place(path)?.directory;
        let file = openat(&directory, &name, flags, Mode::from_raw_mode(first_mode))
            .map_err(|errno| io("creating a temporary file next to it")(errno.into()))?;
        let mut file = fs::File::from(file);
        let staged = Self { root, path: path.sibling(&name) };

        let hasher = match content {
            Content::Pieces(pieces) => write_pieces(&mut file, pieces).map_err(io("writing"))?,
            Content::Saved(stamp) => write_saved(&mut file, journal, &stamp, path)?,
        };
        if let Some(like) = like
            && !keep_owner(&file, like).map_err(io("reading its metadata"))?
        {
            notes.push(Note::OwnerNotKept { path: path.clone() });
            // The setuid and setgid bits would grant the rights of another user or group.
            mode = mode.map(|mode| mode & 0o1777);
        }
        if let Some(mode) = mode {
            // After the change of owner, which clears those bits.
            file.set_permissions(fs::Permissions::from_mode(mode)).map_err(io("setting its permissions"))?;
        }
        file.sync_all().map_err(io("syncing"))?;
        let metadata = file.metadata().map_err(io("reading its metadata"))?;
        Ok((staged, hasher.finish(mode_of(&metadata))))
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        // After the rename nothing has this name. A failure here must not hide an earlier one.
        if let Ok(place) = self.root.place(&self.path) {
            let _ = unlinkat(&place.directory, place.name(), AtFlags::empty());
        }
    }
}

/// Gives a file the owner and group of another; returns whether the system allowed both.
fn keep_owner(file: &fs::File, like: &fs::Metadata) -> io::Result<bool> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) == (like.uid(), like.gid())
        || fchown(file, Some(like.uid()), Some(like.gid())).is_ok()
    {
        return Ok(true);
    }
    // A user may give a file to another group of theirs, but not to another user.
    let _ = fchown(file, None, Some(like.gid()));
    Ok(false)
}

fn write_pieces<'a>(file: &mut fs::File, pieces: impl Iterator<Item = &'a [u8]>) -> io::Result<Hasher> {
    let mut hasher = Hasher::default();
    // Many small pieces take one system call, and a large piece is not copied.
    let mut writer = io::BufWriter::with_capacity(128 * 1024, file);
    for piece in pieces {
        hasher.update(piece);
        writer.write_all(piece)?;
    }
    writer.flush()?;
    Ok(hasher)
}

fn write_saved(
    file: &mut fs::File,
    journal: &Journal,
    stamp: &Stamp,
    path: &RelPath,
) -> Result<Hasher, Error> {
    let blob = journal.blob(stamp.hash);
    let lost = || journal::Error::Lost { hash: stamp.hash, path: blob.clone() };
    let mut saved = fs::File::open(&blob).map_err(|_| lost())?;
    let mut hasher = Hasher::default();
    let copied = read_pieces(&mut saved, |piece| {
        hasher.update(piece);
        file.write_all(piece)
    });
    copied.map_err(|source| Error::Io { path: path.clone(), doing: "writing", source })?;
    let check = hasher.clone().finish(stamp.mode);
    if check.same_content(stamp) { Ok(hasher) } else { Err(lost().into()) }
}
