//! [`Staged`]: the new content of a file, on disk under a temporary name.

use std::fs;
use std::io;

use super::current::Current;
use super::step::{Content, SavedFile};
use super::{Error, Note};
use crate::attributes::{Attributes, without_owner};
use crate::journal::{self, Journal};
use crate::root::{RelPath, Root};
use crate::stamp::{Hasher, Stamp, mode_of};
use crate::system;

/// A complete file in the same directory as the one it will replace.
#[derive(Debug)]
pub(super) struct Staged<'r> {
    temporary: Temporary<'r>,
    /// Its state.
    pub(super) stamp: Stamp,
}

/// A temporary file; removed when dropped, unless it was renamed.
#[derive(Debug)]
struct Temporary<'r> {
    root: &'r Root,
    path: RelPath,
}

impl<'r> Staged<'r> {
    /// Writes the content for `path` under a temporary name, with the owner, permissions and attributes of `like`.
    ///
    /// The directory must exist.
    pub(super) fn write(
        root: &'r Root,
        journal: &Journal,
        (path, name): (&RelPath, &str),
        content: Content<'_>,
        like: Option<&Current>,
        notes: &mut Vec<Note>,
    ) -> Result<Self, Error> {
        let io = |doing| move |source| Error::Io { path: path.clone(), doing, source };
        let keep = match &content {
            Content::Saved(SavedFile { stamp, attributes, .. }) => {
                let current = like.map(|current| current.attributes.clone());
                Some((attributes.clone().or(current), stamp.mode))
            }
            Content::Pieces(_) => {
                like.map(|current| (Some(current.attributes.clone()), mode_of(&current.metadata)))
            }
        };
        // The umask decides about a new file. One that gets other permissions below is private until then.
        let first_mode = if keep.is_some() { 0o600 } else { 0o666 };
        let place = root.place(path)?;
        let file = system::create_new_at(&place.directory, name, first_mode)
            .map_err(|errno| io("creating a temporary file next to it")(errno.into()))?;
        let temporary = Temporary { root, path: path.sibling(name) };

        let mut writer = Writer::new(file, journal);
        let hasher = match content {
            Content::Pieces(pieces) => {
                writer.write_pieces(pieces).map_err(|error| writer.error(path, error))?
            }
            Content::Saved(saved) => saved.contents.read(&saved.stamp, |piece| writer.write(piece))?,
        };
        let file = writer.finish().map_err(io("writing"))?;
        if let Some((attributes, mode)) = keep {
            keep_attributes(&file, path, attributes.as_ref(), mode, notes)
                .map_err(io("setting its attributes"))?;
        }
        system::sync(&file).map_err(io("syncing"))?;
        let metadata = system::metadata(&file).map_err(io("reading its metadata"))?;
        Ok(Self { temporary, stamp: hasher.finish(mode_of(&metadata)) })
    }

    /// Its temporary path.
    pub(super) fn path(&self) -> &RelPath {
        &self.temporary.path
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        // After the rename nothing has this name. A failure here must not hide an earlier one.
        if let Ok(place) = self.root.place(&self.path) {
            let _ = system::unlink_at(&place.directory, place.name());
        }
    }
}

fn keep_attributes(
    file: &fs::File,
    path: &RelPath,
    attributes: Option<&Attributes>,
    mode: u32,
    notes: &mut Vec<Note>,
) -> io::Result<()> {
    let Some(attributes) = attributes else {
        if without_owner(mode) != mode {
            notes.push(Note::OwnerNotKept { path: path.clone() });
        }
        return system::set_mode(file, without_owner(mode));
    };
    let kept = attributes.set(file, mode)?;
    if !kept.is_owned() {
        notes.push(Note::OwnerNotKept { path: path.clone() });
    }
    if !kept.lost.is_empty() {
        notes.push(Note::AttributesNotKept { path: path.clone(), names: kept.lost });
    }
    Ok(())
}

/// Writes in blocks: many small pieces take one system call, and a block of zeros none, so that it becomes a hole.
struct Writer<'j> {
    file: fs::File,
    journal: &'j Journal,
    block: Vec<u8>,
}

const BLOCK: usize = 64 * 1024;

impl<'j> Writer<'j> {
    fn new(file: fs::File, journal: &'j Journal) -> Self {
        Self { file, journal, block: Vec::with_capacity(BLOCK) }
    }

    fn write_pieces<'a>(&mut self, pieces: impl Iterator<Item = &'a [u8]>) -> io::Result<Hasher> {
        let mut hasher = Hasher::default();
        for piece in pieces {
            // In parts, so that a large piece can be stopped.
            for part in piece.chunks(BLOCK) {
                hasher.update(part);
                self.write(part)?;
            }
        }
        Ok(hasher)
    }

    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        if self.journal.is_stopped() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(BLOCK - self.block.len()));
            self.block.extend_from_slice(now);
            bytes = rest;
            if self.block.len() == BLOCK {
                self.write_block()?;
            }
        }
        Ok(())
    }

    fn write_block(&mut self) -> io::Result<()> {
        if self.block.len() == BLOCK && self.block.iter().all(|&byte| byte == 0) {
            system::skip(&mut self.file, BLOCK as u64)?;
        } else if !self.block.is_empty() {
            system::write(&mut self.file, &self.block)?;
        }
        self.block.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<fs::File> {
        self.write_block()?;
        Ok(self.file)
    }

    fn error(&self, path: &RelPath, source: io::Error) -> Error {
        if self.journal.is_stopped() {
            return journal::Error::Stopped.into();
        }
        Error::Io { path: path.clone(), doing: "writing", source }
    }
}
