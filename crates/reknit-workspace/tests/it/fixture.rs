//! A project and a journal in a temporary folder.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reknit_workspace::journal::Log;
use reknit_workspace::{Batch, Entry, EntryId, File, Journal, RelPath, Root};
use tempfile::TempDir;

pub(crate) struct Fixture {
    pub(crate) root: Root,
    pub(crate) journal: Journal,
    pub(crate) folder: TempDir,
}

impl Fixture {
    /// A project with these files, each with mode 644.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self::new_in(tempfile::tempdir().expect("temporary folders can be created"), files)
    }

    /// The same in memory, if the system has a folder there.
    pub(crate) fn in_memory(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self::new_in(folder.expect("temporary folders can be created"), files)
    }

    fn new_in(folder: TempDir, files: &[(&str, &str)]) -> Self {
        fs::create_dir(folder.path().join("project")).unwrap();
        let root = Root::open(folder.path().join("project")).unwrap();
        let journal = Journal::open(folder.path().join("state/journal")).unwrap();
        let fixture = Self { root, journal, folder };
        for (path, content) in files {
            fixture.put(path, content);
        }
        fixture
    }

    /// The absolute form of a path in the project.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    /// Writes a file the way another program would.
    pub(crate) fn put(&self, path: &str, content: &str) {
        let file = self.at(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, content).unwrap();
        chmod(&file, 0o644);
    }

    pub(crate) fn path(&self, path: &str) -> RelPath {
        self.root.resolve(path).unwrap()
    }

    pub(crate) fn read(&self, path: &str) -> File {
        self.root.read(&self.path(path)).unwrap()
    }

    /// Updates one file.
    pub(crate) fn update(&self, path: &str, content: &str) -> Entry {
        let mut batch = Batch::new("update");
        batch.update(self.path(path), &self.read(path).stamp, [content.as_bytes()]);
        self.commit(batch)
    }

    /// Creates one file.
    pub(crate) fn create(&self, path: &str, content: &str) -> Entry {
        let mut batch = Batch::new("create");
        batch.create(self.path(path), [content.as_bytes()]);
        self.commit(batch)
    }

    pub(crate) fn commit(&self, batch: Batch<'_>) -> Entry {
        batch.commit(&self.root, &self.journal, second(0)).unwrap().entry
    }

    /// Everything in the project, including leftover temporary files.
    pub(crate) fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        walk(self.root.path(), "", &mut tree);
        tree
    }

    /// The same with everything around the project.
    pub(crate) fn whole_tree(&self) -> Tree {
        let mut tree = Tree::new();
        walk(self.folder.path(), "", &mut tree);
        tree
    }

    /// The newest entries.
    pub(crate) fn log(&self) -> Log {
        self.journal.log(&self.root, 1000).unwrap()
    }

    /// The folder of the root in the journal.
    pub(crate) fn root_folder(&self) -> PathBuf {
        let roots = fs::read_dir(self.journal.folder().join("roots")).unwrap();
        let [root] = roots.collect::<Vec<_>>().try_into().unwrap_or_else(|roots| panic!("{roots:?}"));
        root.unwrap().path()
    }

    /// The file of an entry in the journal.
    pub(crate) fn entry_file(&self, id: EntryId) -> PathBuf {
        self.root_folder().join("entries").join(id.to_string())
    }

    /// The number of entries that have a file in the journal.
    pub(crate) fn entry_files(&self) -> usize {
        let roots = fs::read_dir(self.journal.folder().join("roots")).unwrap();
        roots.map(|root| fs::read_dir(root.unwrap().path().join("entries")).map_or(0, Iterator::count)).sum()
    }
}

pub(crate) type Tree = BTreeMap<String, Node>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    File { content: Vec<u8>, mode: u32 },
    Directory,
    Link { to: PathBuf },
    Other,
}

pub(crate) fn file(content: &str, mode: u32) -> Node {
    Node::File { content: content.into(), mode }
}

/// A tree with these files, each with mode 644, and their directories.
pub(crate) fn tree(files: &[(&str, &str)]) -> Tree {
    let mut tree = Tree::new();
    for (path, content) in files {
        for (at, _) in path.match_indices('/') {
            tree.insert(path[..at].into(), Node::Directory);
        }
        tree.insert((*path).into(), file(content, 0o644));
    }
    tree
}

/// The entry with this number.
pub(crate) fn id(number: u64) -> EntryId {
    number.to_string().parse().unwrap()
}

/// A time, in seconds after a fixed moment.
pub(crate) fn second(count: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_700_000_000 + count)
}

pub(crate) fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub(crate) fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn walk(folder: &Path, prefix: &str, tree: &mut Tree) {
    for found in fs::read_dir(folder).unwrap() {
        let found = found.unwrap();
        let path = format!("{prefix}{}", found.file_name().to_str().unwrap());
        let kind = found.file_type().unwrap();
        let node = if kind.is_symlink() {
            Node::Link { to: fs::read_link(found.path()).unwrap() }
        } else if kind.is_dir() {
            walk(&found.path(), &format!("{path}/"), tree);
            Node::Directory
        } else if !kind.is_file() {
            Node::Other
        } else {
            Node::File { content: fs::read(found.path()).unwrap(), mode: mode(&found.path()) }
        };
        tree.insert(path, node);
    }
}
