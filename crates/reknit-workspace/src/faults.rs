//! Whatever call fails, and wherever a process dies: after the next command every batch happened or did not.
//!
//! A process that dies before a call is the same, for the files, as one all of whose calls fail from there on: those
//! that clean up included. So nothing has to be killed, and every call gets its turn.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;

use crate::journal::State;
use crate::system::faults::{Faults, with};
use crate::{Batch, EntryId, Journal, Root, Undo};

/// A project and its journal.
struct Project {
    folder: TempDir,
}

/// Each path with what is there: the mode of a file and its content, or a directory.
type Tree = BTreeMap<String, Option<(u32, Vec<u8>)>>;

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

impl Project {
    fn new() -> Self {
        // In memory if possible: nothing here is about power failures, and a disk takes its time to sync.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let project = Self { folder };
        fs::create_dir_all(project.folder.path().join("project/d")).unwrap();
        for (path, content) in [("a", "one"), ("b", "two"), ("c", "three"), ("d/e", "four"), ("f", "five")] {
            let path = project.folder.path().join("project").join(path);
            fs::write(&path, content).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o640)).unwrap();
        }
        project
    }

    fn root(&self) -> Root {
        Root::open(self.folder.path().join("project")).unwrap()
    }

    fn journal(&self) -> Result<Journal, crate::journal::Error> {
        Journal::open(self.folder.path().join("state"))
    }

    fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        walk(&self.folder.path().join("project"), "", &mut tree);
        tree
    }

    /// A batch with every kind of write.
    fn write(&self) -> Result<EntryId, crate::write::Error> {
        let (root, journal) = (self.root(), self.journal()?);
        let mut batch = Batch::new("apply");
        let read = |path: &str| -> Result<_, crate::write::Error> {
            let path = root.resolve(path)?;
            let stamp = root.read(&path)?.stamp;
            Ok((path, stamp))
        };
        let (path, stamp) = read("a")?;
        batch.update(path, &stamp, [&b"1"[..]]);
        batch.create(root.resolve("n/m/g")?, [&b"6"[..]]);
        let (path, stamp) = read("b")?;
        batch.delete(path, &stamp);
        let (path, stamp) = read("c")?;
        batch.move_to(path, &stamp, root.resolve("o/c")?);
        let (path, stamp) = read("d/e")?;
        batch.move_and_update(path, &stamp, root.resolve("d/h")?, [&b"4"[..]]);
        let (path, stamp) = read("f")?;
        batch.update(path, &stamp, [&b"5"[..]]);
        Ok(batch.commit(&root, &journal, now())?.entry.id)
    }

    fn undo(&self, id: EntryId) -> Result<EntryId, crate::undo::Error> {
        Ok(Undo::of(id).commit(&self.root(), &self.journal()?, now())?.entry.id)
    }

    fn recover(&self) -> Result<(), crate::write::Error> {
        self.journal()?.recover(&self.root()).map(drop)
    }

    /// After the next command nothing is unfinished.
    fn check_settled(&self, old: &Tree, new: &Tree, what: &str) -> bool {
        self.recover().unwrap();
        let tree = self.tree();
        assert!(tree == *old || tree == *new, "{what}: neither old nor new: {tree:?}");
        let log = self.journal().unwrap().log(&self.root(), 100).unwrap();
        assert!(log.damaged.is_empty(), "{what}: {:?}", log.damaged);
        assert!(log.entries.iter().all(|entry| entry.state != State::Unfinished), "{what}");
        tree == *new
    }

    /// The newest entry that can be undone.
    fn newest(&self) -> Option<EntryId> {
        self.journal().unwrap().newest(&self.root()).unwrap().map(|entry| entry.id)
    }
}

fn walk(folder: &Path, prefix: &str, tree: &mut Tree) {
    for found in fs::read_dir(folder).unwrap() {
        let found = found.unwrap();
        let path = format!("{prefix}{}", found.file_name().to_str().unwrap());
        if found.file_type().unwrap().is_dir() {
            walk(&found.path(), &format!("{path}/"), tree);
            tree.insert(path, None);
        } else {
            let mode = found.metadata().unwrap().permissions().mode() & 0o7777;
            tree.insert(path, Some((mode, fs::read(found.path()).unwrap())));
        }
    }
}

/// The trees before and after the batch, and how many calls the batch, its undo and the latter's undo make.
fn normal() -> (Tree, Tree, [usize; 3]) {
    let project = Project::new();
    let old = project.tree();
    let (entry, calls) = with(Faults::None, || project.write().unwrap());
    let new = project.tree();
    let (undone, undo_calls) = with(Faults::None, || project.undo(entry).unwrap());
    assert_eq!(project.tree(), old);
    let (_, redo_calls) = with(Faults::None, || project.undo(undone).unwrap());
    assert_eq!(project.tree(), new);
    (old, new, [calls, undo_calls, redo_calls])
}

/// An error says so if the files are not as before.
fn check_honest(error: &crate::write::Error, tree: &Tree, before: &Tree, what: &str) {
    use crate::write::Error;
    let says_so = matches!(error, Error::Interrupted { .. } | Error::NotCleaned { .. });
    assert!(says_so || tree == before, "{what}: {error}");
}

#[test]
fn a_batch_that_dies_anywhere_happened_or_did_not() {
    let (old, new, [calls, ..]) = normal();
    let mut outcomes = [0; 2];
    for at in 0..calls {
        let project = Project::new();
        let (result, _) = with(Faults::From(at), || project.write());
        check_honest(&result.expect_err("all calls fail"), &project.tree(), &old, &format!("call {at}"));
        let happened = project.check_settled(&old, &new, &format!("call {at}"));
        outcomes[usize::from(happened)] += 1;
        // The obvious command goes on from there.
        let entry = if happened { project.newest().unwrap() } else { project.write().unwrap() };
        assert_eq!(project.tree(), new, "call {at}");
        assert_eq!(project.newest(), Some(entry));
        project.undo(entry).unwrap();
        assert_eq!(project.tree(), old, "call {at}");
        assert_eq!(project.newest(), None);
    }
    assert!(outcomes[0] > 200 && outcomes[1] > 3, "{outcomes:?} of {calls}");
}

#[test]
fn an_undo_that_dies_anywhere_happened_or_did_not() {
    let (old, new, [_, calls, redo_calls]) = normal();
    for at in 0..calls {
        let project = Project::new();
        let entry = project.write().unwrap();
        let (result, _) = with(Faults::From(at), || project.undo(entry));
        match result.expect_err("all calls fail") {
            crate::undo::Error::Write(error) => {
                check_honest(&error, &project.tree(), &new, &format!("call {at}"));
            }
            error => assert_eq!(project.tree(), new, "call {at}: {error}"),
        }
        let happened = project.check_settled(&new, &old, &format!("call {at}"));
        assert_eq!(project.newest(), if happened { None } else { Some(entry) }, "call {at}");
        if !happened {
            project.undo(entry).unwrap();
        }
        assert_eq!(project.tree(), old, "call {at}");
    }
    for at in 0..redo_calls {
        let project = Project::new();
        let entry = project.write().unwrap();
        let undone = project.undo(entry).unwrap();
        let (result, _) = with(Faults::From(at), || project.undo(undone));
        assert!(result.is_err(), "call {at}");
        let happened = project.check_settled(&old, &new, &format!("redo, call {at}"));
        assert_eq!(project.newest(), happened.then_some(entry), "redo, call {at}");
    }
}

/// Recovery dies too, at each of its calls, after a batch that died in the middle of its writes.
#[test]
fn a_recovery_that_dies_anywhere_can_be_started_again() {
    let (old, new, [calls, ..]) = normal();
    let mut points = 0;
    // The interesting deaths are those while files are changed: the last part of the calls.
    for death in (calls / 2..calls).step_by(7) {
        let mut at = 0;
        loop {
            let project = Project::new();
            let (result, _) = with(Faults::From(death), || project.write());
            assert!(result.is_err());
            let (recovered, count) = with(Faults::From(at), || project.recover());
            project.check_settled(&old, &new, &format!("death at {death}, recovery at {at}"));
            points += 1;
            if recovered.is_ok() && count <= at {
                break;
            }
            at += 1;
        }
    }
    assert!(points > 1000, "{points}");
}

/// One call of a recovery fails: what it could not do, the next one does.
#[test]
fn a_recovery_of_which_a_call_fails_can_be_started_again() {
    let (old, new, [calls, ..]) = normal();
    for death in (calls / 2..calls).step_by(23) {
        let mut at = 0;
        loop {
            let project = Project::new();
            let (result, _) = with(Faults::From(death), || project.write());
            assert!(result.is_err());
            let (recovered, count) = with(Faults::One(at), || project.recover());
            let (what, tree) = (format!("death at {death}, recovery at {at}"), project.tree());
            assert!(recovered.is_err() || tree == old || tree == new, "{what}: {tree:?}");
            project.check_settled(&old, &new, &what);
            if count <= at {
                break;
            }
            at += 1;
        }
    }
}

/// One call fails, and the process lives: the error is returned, and all files are as before, or all are written.
#[test]
fn a_call_that_fails_is_reported_and_leaves_a_whole_state() {
    let (old, new, [calls, undo_calls, _]) = normal();
    let mut reported = 0;
    for at in 0..calls {
        let project = Project::new();
        let (result, _) = with(Faults::One(at), || project.write());
        let tree = project.tree();
        match &result {
            Ok(_) => assert_eq!(tree, new, "call {at}"),
            Err(error) => check_honest(error, &tree, &old, &format!("call {at}")),
        }
        reported += usize::from(result.is_err());
        project.check_settled(&old, &new, &format!("call {at}"));
    }
    assert!(reported * 10 > calls * 9, "{reported} of {calls}");
    for at in 0..undo_calls {
        let project = Project::new();
        let entry = project.write().unwrap();
        let (result, _) = with(Faults::One(at), || project.undo(entry));
        let tree = project.tree();
        match &result {
            Ok(_) => assert_eq!(tree, old, "undo, call {at}"),
            Err(crate::undo::Error::Write(error)) => {
                check_honest(error, &tree, &new, &format!("undo, call {at}"));
            }
            Err(error) => assert_eq!(tree, new, "undo, call {at}: {error}"),
        }
        project.check_settled(&old, &new, &format!("undo, call {at}"));
    }
}
