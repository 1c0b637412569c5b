//! Which folder of the journal belongs to a root: found by its path, then by its device and inode.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::file::{Footer, Plan, Sealed, append_footer};
use super::lock::unfinished;
use super::records::Records;
use super::{Entry, EntryId, Error, Journal, io_error};
use crate::root::Root;
use crate::stamp::Hash;
use crate::{sealed, system};

/// The folder of one root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Folder {
    path: PathBuf,
}

/// Which directory a root is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Directory {
    path: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    identity: Option<Identity>,
}

/// A directory whatever its path. Its time of birth tells it from a later one with the same inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    device: u64,
    inode: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    born_ns: Option<u64>,
}

impl Identity {
    fn of(metadata: &fs::Metadata) -> Self {
        let born = metadata.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        let born_ns = born.and_then(|born| u64::try_from(born.as_nanos()).ok());
        Self { device: metadata.dev(), inode: metadata.ino(), born_ns }
    }

    /// The directory at a path; `None` if there is none.
    fn at(path: &Path) -> Result<Option<Self>, Error> {
        let found = system::metadata_of(path).map_err(io_error(path, "finding which directory it is"))?;
        Ok(found.filter(fs::Metadata::is_dir).map(|metadata| Self::of(&metadata)))
    }

    fn file(&self, journal: &Journal) -> PathBuf {
        journal.folder.join("inodes").join(format!("{}-{}", self.device, self.inode))
    }
}

impl Folder {
    /// The folder of a root, if there is one. A root that was moved takes its folder along.
    pub(crate) fn find(journal: &Journal, root: &Root) -> Result<Option<Self>, Error> {
        let folder = Self::named(journal, &name(root.path()));
        let identity = Identity::at(root.path())?;
        // Without `entries` it is a folder whose creation was interrupted.
        let entries = folder.path.join("entries");
        if system::metadata_of(&entries).map_err(io_error(&entries, "opening the journal"))?.is_some() {
            // The path counts, whichever directory is there now.
            folder.describe(journal, &Directory { path: root.path().to_owned(), identity })?;
            return Ok(Some(folder));
        }
        let Some(identity) = identity else { return Ok(None) };
        let file = identity.file(journal);
        let other = system::read_small(&file).map_err(io_error(&file, "opening the journal"))?;
        let Some(other) = other.and_then(|other| String::from_utf8(other).ok()) else { return Ok(None) };
        let other = Self::named(journal, &other);
        let directory = match other.directory() {
            Ok(Some(directory)) => directory,
            Ok(None) | Err(Error::DamagedRecord { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        if directory.identity != Some(identity) {
            return Ok(None);
        }
        if Identity::at(&directory.path)? == Some(identity) {
            // Two paths lead to the same directory.
            return Ok(Some(other));
        }
        other.move_to(journal, root).map(Some)
    }

    /// The folder of a root, which is created if there is none.
    pub(crate) fn of(journal: &Journal, root: &Root) -> Result<Self, Error> {
        if let Some(folder) = Self::find(journal, root)? {
            return Ok(folder);
        }
        Self::for_path(journal, root.path())
    }

    /// The folder for the root with this path, which is created if there is none.
    pub(super) fn for_path(journal: &Journal, path: &Path) -> Result<Self, Error> {
        let directory = Directory { path: path.to_owned(), identity: Identity::at(path)? };
        let folder = Self::named(journal, &name(path));
        let entries = folder.path.join("entries");
        system::make_private_directory(&entries)
            .map_err(io_error(&entries, "creating the folder of a root"))?;
        folder.describe(journal, &directory)?;
        Ok(folder)
    }

    /// Gives the folder to the root, which was moved, unless that has one of its own.
    pub(crate) fn move_to(self, journal: &Journal, root: &Root) -> Result<Self, Error> {
        let folder = Self::named(journal, &name(root.path()));
        if folder == self || folder.path.exists() {
            return Ok(self);
        }
        system::rename(&self.path, &folder.path)
            .map_err(io_error(&self.path, "renaming the folder of a root"))?;
        let directory = Directory { path: root.path().to_owned(), identity: Identity::at(root.path())? };
        folder.describe(journal, &directory)?;
        Ok(folder)
    }

    /// Whether the root that it belongs to is not at its path any more.
    pub(crate) fn is_abandoned(&self) -> Result<bool, Error> {
        let Some(directory) = self.directory()? else { return Ok(false) };
        let there = Identity::at(&directory.path)?;
        Ok(there.is_none() || directory.identity.is_some() && there != directory.identity)
    }

    /// Whether its last entry was interrupted, or is being written.
    pub(crate) fn may_be_unfinished(&self) -> Result<bool, Error> {
        let Some(records) = self.records()? else { return Ok(false) };
        let tail = records.tail()?;
        Ok(tail.damaged.is_some() || unfinished(&tail).is_some())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn entry(&self, id: EntryId) -> Result<Entry, Error> {
        let mut entry = Sealed::open(id, self.entry_file(id))?.entry()?;
        if let Ok(Some(directory)) = self.directory() {
            // Where it is now, if it was moved since.
            entry.root = directory.path;
        }
        Ok(entry)
    }

    pub(crate) fn plan(&self, id: EntryId) -> Result<Plan, Error> {
        Sealed::open(id, self.entry_file(id))?.plan()
    }

    pub(super) fn footer(&self, id: EntryId) -> Result<Footer, Error> {
        Sealed::open(id, self.entry_file(id))?.footer()
    }

    pub(super) fn set_footer(&self, id: EntryId, footer: &Footer) -> Result<u64, Error> {
        append_footer(&self.entry_file(id), footer)
    }

    pub(crate) fn entry_file(&self, id: EntryId) -> PathBuf {
        self.path.join("entries").join(id.to_string())
    }

    /// The numbers of all entries that have a file, in order.
    pub(super) fn ids(&self) -> Result<Vec<EntryId>, Error> {
        let entries = self.path.join("entries");
        let names = system::names(&entries).map_err(io_error(&entries, "listing entries"))?;
        let mut ids: Vec<EntryId> = names.iter().filter_map(|name| name.to_str()?.parse().ok()).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Its log for reading, if it has one.
    pub(super) fn records(&self) -> Result<Option<Records>, Error> {
        Records::read(self.log_file())
    }

    pub(super) fn log_file(&self) -> PathBuf {
        self.path.join("log")
    }

    fn named(journal: &Journal, name: &str) -> Self {
        Self { path: journal.roots().join(name) }
    }

    /// Which directory it is for, if that was written down.
    fn directory(&self) -> Result<Option<Directory>, Error> {
        let path = self.path.join("root");
        let line = system::read_small(&path).map_err(io_error(&path, "reading which root it is"))?;
        let directory = line.map(|line| sealed::parse(&line)).transpose();
        directory.map_err(|what| Error::DamagedRecord { path, at: 0, what })
    }

    /// Writes down which directory it is for, unless that is known.
    fn describe(&self, journal: &Journal, directory: &Directory) -> Result<(), Error> {
        if self.directory().is_ok_and(|known| known.as_ref() == Some(directory)) {
            return Ok(());
        }
        // In this order: once the second is there, nothing is written again.
        if let (Some(identity), Some(name)) = (directory.identity, self.path.file_name()) {
            let inodes = journal.folder.join("inodes");
            system::make_private_directory(&inodes).map_err(io_error(&inodes, "creating a folder"))?;
            write_small(&identity.file(journal), name.as_encoded_bytes())?;
        }
        write_small(&self.path.join("root"), sealed::line(directory).as_bytes())
    }
}

/// The folders of all roots.
pub(super) fn all(journal: &Journal) -> Result<Vec<Folder>, Error> {
    let roots = journal.roots();
    let names = system::names(&roots).map_err(io_error(&roots, "listing the journal"))?;
    Ok(names.into_iter().map(|name| Folder { path: roots.join(name) }).collect())
}

/// The name of the folder for the root with this path.
fn name(path: &Path) -> String {
    let mut name = Hash::of(path.as_os_str().as_encoded_bytes()).to_string();
    name.truncate(16);
    name
}

/// Writes a small file in place, so that nothing is left over if that is interrupted. A torn one is not recognised, and
/// written again.
fn write_small(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let written = system::create_private(path).and_then(|mut file| system::write(&mut file, bytes));
    written.map_err(io_error(path, "writing to the journal"))
}
