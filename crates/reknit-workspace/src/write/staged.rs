//! [`Staged`]: the new content of a file, on the disk and under a name of its own.

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

/// A finished file beside the one that it is for; removed when this is dropped, unless it was renamed.
pub(super) struct Staged<'r> {
    root: &'r Root,
    /// Where it is.
    pub(super) path: RelPath,
}

impl<'r> Staged<'r> {
    /// Writes the content for `path`, with owner and permissions as `like` has them.
    ///
    /// The directory must be there. The stamp is of the file as it is on the disk.
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
            Content::Kept(stamp) => Some(stamp.mode),
            Content::Pieces(_) => like.map(mode_of),
        };
        // A new file gets what the user's mask gives it. One with permissions to come is closed until then.
        let first_mode = if mode.is_some() { 0o600 } else { 0o666 };
        let name = format!(".reknit-{}.tmp", temporary::unguessable());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = root.place(path)?.directory;
        let file = openat(&directory, &name, flags, Mode::from_raw_mode(first_mode))
            .map_err(|errno| io("creating a temporary file beside it")(errno.into()))?;
        let mut file = fs::File::from(file);
        let staged = Self { root, path: path.sibling(&name) };

        let hasher = match content {
            Content::Pieces(pieces) => write_pieces(&mut file, pieces).map_err(io("writing"))?,
            Content::Kept(stamp) => write_kept(&mut file, journal, &stamp, path)?,
        };
        if let Some(like) = like
            && !keep_owner(&file, like).map_err(io("looking at it"))?
        {
            notes.push(Note::OwnerNotKept { path: path.clone() });
            // The bits that lend the rights of owner and group would lend those of somebody else.
            mode = mode.map(|mode| mode & 0o1777);
        }
        if let Some(mode) = mode {
            // Behind the change of owner, which takes those bits away.
            file.set_permissions(fs::Permissions::from_mode(mode)).map_err(io("setting its permissions"))?;
        }
        file.sync_all().map_err(io("syncing"))?;
        let metadata = file.metadata().map_err(io("looking at it"))?;
        Ok((staged, hasher.finish(mode_of(&metadata))))
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        // After the rename there is nothing of this name, and a failure here must not hide the first one.
        if let Ok(place) = self.root.place(&self.path) {
            let _ = unlinkat(&place.directory, place.name(), AtFlags::empty());
        }
    }
}

/// Gives a file the owner and the group that another has; whether the system let both.
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
    // Many small pieces cost one call of the system, and a large one is not copied.
    let mut writer = io::BufWriter::with_capacity(128 * 1024, file);
    for piece in pieces {
        hasher.update(piece);
        writer.write_all(piece)?;
    }
    writer.flush()?;
    Ok(hasher)
}

fn write_kept(
    file: &mut fs::File,
    journal: &Journal,
    stamp: &Stamp,
    path: &RelPath,
) -> Result<Hasher, Error> {
    let blob = journal.blob(stamp.hash);
    let lost = || journal::Error::Lost { hash: stamp.hash, path: blob.clone() };
    let mut kept = fs::File::open(&blob).map_err(|_| lost())?;
    let mut hasher = Hasher::default();
    let copied = read_pieces(&mut kept, |piece| {
        hasher.update(piece);
        file.write_all(piece)
    });
    copied.map_err(|source| Error::Io { path: path.clone(), doing: "writing", source })?;
    let check = hasher.clone().finish(stamp.mode);
    if check.same_content(stamp) { Ok(hasher) } else { Err(lost().into()) }
}
