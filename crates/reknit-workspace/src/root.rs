//! The root: which paths may be touched, and the only way to the files there.
//!
//! A path is confined twice. [`Root::resolve`] turns what a model wrote into canonical form, following symlinks,
//! and refuses anything outside the root. Every access then starts at the root's open handle and walks the
//! canonical form name by name without following symlinks. So a symlink that is swapped in between is refused,
//! however well it is timed.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::stamp::{Hash, Stamp, mode_of};
use crate::system;

mod error;
mod path;
mod place;
mod protected;
mod git;

pub use error::{Error, Found};
pub use path::RelPath;
pub(crate) use place::Place;
pub(crate) use protected::Guard;
pub use protected::Protected;

/// A directory of the user's. Everything that is read and written is inside it.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// std::fs::write(folder.join("notes.txt"), "one\n")?;
///
/// let root = reknit_workspace::Root::open(folder)?;
/// let path = root.resolve("notes.txt")?;
/// let file = root.read(&path)?;
/// assert_eq!(file.bytes, b"one\n");
/// assert_eq!(file.stamp.size, 4);
///
/// let error = root.resolve("../secrets").unwrap_err();
/// assert_eq!(error.to_string(), "`../secrets`: contains `..`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Root {
    path: String,
    directory: OwnedFd,
}

impl Root {
    /// Opens a directory, following symlinks.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, Error> {
        let given = directory.as_ref().to_string_lossy().into_owned();
        let io = |source| Error::Io { path: given.clone(), doing: "opening the root", source };
        let path = match fs::canonicalize(&directory) {
            Ok(path) if path.is_dir() => path,
            Ok(_) => return Err(Error::NoRoot { path: given }),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Err(Error::NoRoot { path: given });
            }
            Err(error) => return Err(io(error)),
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory =
            rustix::fs::open(&path, flags, Mode::empty()).map_err(|errno| io(io::Error::from(errno)))?;
        Ok(Self { path: utf8(path)?, directory })
    }

    /// The root's path in canonical form.
    pub fn path(&self) -> &Path {
        Path::new(&self.path)
    }

    /// Resolves a path, following symlinks.
    ///
    /// The path may be relative to the root, or absolute and inside it. It does not have to exist. If a symlink
    /// points to another place inside the root, the result is that place: an update then replaces the symlink's
    /// target, and the symlink stays. A symlink that points outside the root, or to nothing, is an error.
    pub fn resolve(&self, path: &str) -> Result<RelPath, Error> {
        let joined = self.join(path)?;
        self.relative(path, &canonical(path, &joined)?)
    }

    /// Resolves a path, following symlinks except for the last name.
    ///
    /// Deleting or moving a symlink is about the symlink and not about its target. Symlinks are never changed
    /// here, so a path from this function whose last name is a symlink is refused wherever it is used.
    pub fn resolve_name(&self, path: &str) -> Result<RelPath, Error> {
        let joined = self.join(path)?;
        match (joined.parent(), joined.file_name()) {
            (Some(parent), Some(name)) if joined != self.path() => {
                self.relative(path, &canonical(path, parent)?.join(name))
            }
            _ => Err(Error::NotAFile { path: path.into(), found: Found::Directory }),
        }
    }

    /// Opens a file for reading, for callers that do not want all of it in memory.
    pub fn open_file(&self, path: &RelPath) -> Result<fs::File, Error> {
        self.place(path)?.open()
    }

    /// Reads a whole file and takes its stamp.
    pub fn read(&self, path: &RelPath) -> Result<File, Error> {
        self.read_up_to(path, u64::MAX)
    }

    /// The same for a file that has at most so many bytes.
    pub(crate) fn read_up_to(&self, path: &RelPath, max: u64) -> Result<File, Error> {
        let place = self.place(path)?;
        let mut file = place.open()?;
        let metadata = file.metadata().map_err(|error| place.io("reading its metadata", error))?;
        if metadata.len() > max {
            return Err(Error::TooLarge { path: path.to_string(), size: metadata.len(), max });
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| place.io("reading", error))?;
        let stamp = Stamp { hash: Hash::of(&bytes), size: bytes.len() as u64, mode: mode_of(&metadata) };
        Ok(File { bytes, stamp })
    }

    /// The stamp of a file, without keeping the file in memory.
    pub(crate) fn stamp(&self, path: &RelPath) -> Result<Stamp, Error> {
        let place = self.place(path)?;
        Stamp::of_file(&mut place.open()?).map_err(|error| place.io("reading", error))
    }

    /// The place that a path leads to. Its directory must exist.
    pub(crate) fn place(&self, path: &RelPath) -> Result<Place, Error> {
        let missing = |_: &OwnedFd, _: &str, _: &str| Err(Error::NotFound { path: path.to_string() });
        Ok(Place::new(self.walk(path, missing)?, path.clone()))
    }

    /// The same, but creates missing directories and adds their paths to `made`.
    pub(crate) fn place_creating(&self, path: &RelPath, made: &mut Vec<RelPath>) -> Result<Place, Error> {
        let directory = self.walk(path, |parent, name, walked| {
            match system::make_directory_at(parent, name) {
                Ok(()) => made.push(RelPath::new(walked)?),
                // Another process was faster.
                Err(Errno::EXIST) => {}
                Err(errno) => {
                    let doing = "creating a parent directory";
                    return Err(Error::Io { path: path.to_string(), doing, source: errno.into() });
                }
            }
            Ok(())
        })?;
        Ok(Place::new(directory, path.clone()))
    }

    /// Adds the paths of the directories that a path needs and that do not exist. In order, outer ones come first.
    pub(crate) fn add_missing(&self, path: &RelPath, missing: &mut BTreeSet<RelPath>) -> Result<(), Error> {
        let Some(parent) = path.parent() else { return Ok(()) };
        if missing.contains(&parent) {
            return Ok(());
        }
        match self.place(&parent).and_then(|place| place.found()) {
            Ok(Some(_)) => Ok(()),
            Ok(None) | Err(Error::NotFound { .. }) => {
                self.add_missing(&parent, missing)?;
                missing.insert(parent);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Walks to the directory of a path. `missing` is called for each directory that does not exist, and may
    /// create it.
    fn walk(
        &self,
        path: &RelPath,
        mut missing: impl FnMut(&OwnedFd, &str, &str) -> Result<(), Error>,
    ) -> Result<OwnedFd, Error> {
        let io = |source| Error::Io { path: path.to_string(), doing: "reopening the root", source };
        let mut directory = self.directory.try_clone().map_err(io)?;
        let Some(parent) = path.parent() else { return Ok(directory) };
        let mut end = 0;
        for name in parent.names() {
            end += name.len();
            let walked = &parent.as_str()[..end];
            directory = match place::open_directory(&directory, name, walked, path) {
                Err(Error::NotFound { .. }) => {
                    missing(&directory, name, walked)?;
                    place::open_directory(&directory, name, walked, path)?
                }
                opened => opened?,
            };
            end += 1;
        }
        Ok(directory)
    }

    /// The path for the system, once it is known not to contain `..`.
    fn join(&self, path: &str) -> Result<PathBuf, Error> {
        if path.starts_with('/') {
            path::check_text(path)?;
            return self.check_length(path, PathBuf::from(path));
        }
        let inside = RelPath::new(path)?;
        // Unless there is a directory of that name, a shell was meant to replace it.
        if inside.names().next() == Some("~") && !self.path().join("~").exists() {
            return Err(Error::Home { path: path.into() });
        }
        self.check_length(path, self.path().join(inside.as_str()))
    }

    /// Refuses what could be created name by name, and then used by no program.
    fn check_length(&self, given: &str, joined: PathBuf) -> Result<PathBuf, Error> {
        /// The system's limit with the NUL at the end, and room for the names of temporary files.
        const MAX: usize = 4096 - 1 - 64;
        let length = joined.as_os_str().len();
        if length <= MAX { Ok(joined) } else { Err(Error::TooLong { path: given.into(), length, max: MAX }) }
    }

    /// A canonical path relative to the root.
    fn relative(&self, given: &str, canonical: &Path) -> Result<RelPath, Error> {
        let inside = match canonical.strip_prefix(self.path()) {
            Ok(inside) => inside.to_path_buf(),
            Err(_) if Path::new(given).starts_with(self.path()) || !given.starts_with('/') => {
                let to = canonical.to_string_lossy().into_owned();
                return Err(Error::LeadsOutside { path: given.into(), to });
            }
            Err(_) => return Err(Error::Outside { path: given.into() }),
        };
        if inside.as_os_str().is_empty() {
            return Err(Error::NotAFile { path: given.into(), found: Found::Directory });
        }
        RelPath::new(&utf8(inside)?)
    }
}

/// A file as it was when it was read.
#[derive(Clone, Debug)]
pub struct File {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What a later write compares the file with.
    pub stamp: Stamp,
}

/// The canonical form of a path: that of the part that exists, followed by the rest.
fn canonical(given: &str, path: &Path) -> Result<PathBuf, Error> {
    for ancestor in path.ancestors() {
        match fs::canonicalize(ancestor) {
            Ok(canonical) => {
                let missing = path.strip_prefix(ancestor).expect("it is an ancestor");
                if missing.as_os_str().is_empty() {
                    return Ok(canonical);
                }
                if !canonical.is_dir() {
                    let file = ancestor.to_string_lossy().into_owned();
                    return Err(Error::NotADirectory { path: given.into(), file });
                }
                return Ok(canonical.join(missing));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // What is missing may be the target of a symlink, and writing there would follow it.
                if fs::symlink_metadata(ancestor).is_ok() {
                    let link = ancestor.to_string_lossy().into_owned();
                    return Err(Error::Dangling { path: given.into(), link });
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {}
            Err(source) => {
                return Err(Error::Io { path: given.into(), doing: "resolving symlinks", source });
            }
        }
    }
    Err(Error::NotFound { path: given.into() })
}

fn utf8(path: PathBuf) -> Result<String, Error> {
    path.into_os_string()
        .into_string()
        .map_err(|path| Error::NotUtf8 { path: path.to_string_lossy().into_owned() })
}
