//! Roots that are moved, journals of the first version, and several processes at one root.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use reknit_workspace::journal::{self, State};
use reknit_workspace::undo::Error;
use reknit_workspace::{Batch, EntryId, Hash, Journal, Root, Undo, write};

use crate::fixture::{Fixture, id, second};

fn undo(root: &Root, journal: &Journal, id: EntryId) -> Result<EntryId, Error> {
    Undo::of(id).commit(root, journal, second(1)).map(|undone| undone.entry.id)
}

#[test]
fn a_root_takes_its_journal_along() {
    let fixture = Fixture::new(&[("a", "one")]);
    let first = fixture.update("a", "two").id;
    let new = fixture.folder.path().join("new name");
    fs::rename(fixture.root.path(), &new).unwrap();
    let root = Root::open(&new).unwrap();
    assert_eq!(fixture.journal.newest(&root).unwrap().unwrap().id, first);
    assert_eq!(fixture.journal.entry(first).unwrap().root, root.path());
    undo(&root, &fixture.journal, first).unwrap();
    assert_eq!(fs::read(new.join("a")).unwrap(), b"one");
    // Nothing was written into the root for that.
    assert_eq!(fs::read_dir(&new).unwrap().count(), 1);

    // Another directory at the old path is another root.
    fs::create_dir(fixture.root.path()).unwrap();
    let other = Root::open(fixture.root.path()).unwrap();
    assert!(fixture.journal.newest(&other).unwrap().is_none());
    assert!(fixture.journal.log(&other, 10).unwrap().entries.is_empty());
}

/// A copy to another file system is another directory with the same files; here it is copied.
#[test]
fn an_entry_is_undone_below_a_copy_if_the_original_is_gone_and_every_file_fits() {
    let fixture = Fixture::new(&[("a", "one"), ("b", "two")]);
    let done = fixture.update("a", "new").id;
    let copy = fixture.folder.path().join("copy");
    fs::create_dir(&copy).unwrap();
    for name in ["a", "b"] {
        fs::copy(fixture.at(name), copy.join(name)).unwrap();
    }
    let root = Root::open(&copy).unwrap();
    let error = undo(&root, &fixture.journal, done).unwrap_err();
    assert!(matches!(error, Error::OtherRoot { .. }), "{error}");
    fs::remove_dir_all(fixture.root.path()).unwrap();
    fs::write(copy.join("a"), "changed").unwrap();
    let error = undo(&root, &fixture.journal, done).unwrap_err();
    assert!(matches!(error, Error::OtherRoot { .. }), "{error}");
    fs::write(copy.join("a"), "new").unwrap();
    undo(&root, &fixture.journal, done).unwrap();
    assert_eq!(fs::read(copy.join("a")).unwrap(), b"one");
}

/// A journal as the first version wrote it.
fn write_first_version(folder: &Path, root: &Path, number: u64, rest: &str, contents: &[&str]) {
    fs::create_dir_all(folder.join("entries")).unwrap();
    fs::create_dir_all(folder.join("blobs")).unwrap();
    let body = format!(
        "{{\"version\":1,\"id\":{number},\"at_ms\":170000000000{number},\"root\":\"{}\",\"label\":\"apply\",{rest}}}\n",
        root.display()
    );
    let text = format!("{}\n{body}", Hash::of(body.as_bytes()));
    fs::write(folder.join(format!("entries/{number}.json")), text).unwrap();
    for content in contents {
        fs::write(folder.join(format!("blobs/{}", Hash::of(content.as_bytes()))), content).unwrap();
    }
}

fn stamp(content: &str) -> String {
    format!("{{\"hash\":\"{}\",\"size\":{},\"mode\":420}}", Hash::of(content.as_bytes()), content.len())
}

fn update(path: &str, before: &str, after: &str) -> String {
    format!(
        "{{\"action\":\"update\",\"path\":\"{path}\",\"before\":{},\"after\":{}}}",
        stamp(before),
        stamp(after)
    )
}

#[test]
fn a_journal_of_the_first_version_is_carried_over() {
    let fixture = Fixture::new(&[("a", "three"), ("sub/b", "new")]);
    let folder = fixture.folder.path().join("earlier");
    let root = fixture.root.path();
    let change = |before, after| format!("\"changes\":[{}]", update("a", before, after));
    write_first_version(&folder, root, 3, &change("one", "two"), &["one"]);
    write_first_version(&folder, root, 4, &change("two", "three"), &["two"]);
    write_first_version(&folder, root, 5, &format!("\"undoes\":4,{}", change("three", "two")), &["three"]);
    write_first_version(&folder, root, 6, &format!("\"undoes\":5,{}", change("two", "three")), &["two"]);
    let sub = Root::open(fixture.at("sub")).unwrap();
    let change = format!("\"changes\":[{}]", update("b", "old", "new"));
    write_first_version(&folder, sub.path(), 8, &change, &["old"]);
    fs::write(folder.join("entries/7.json"), "damaged").unwrap();

    let journal = Journal::open(&folder).unwrap();
    assert!(!folder.join("entries").exists() && !folder.join("blobs").exists());
    assert!(folder.join("damaged/7.json").exists());
    let log = journal.log(&fixture.root, 10).unwrap();
    assert_eq!(log.entries.iter().map(|entry| entry.id).collect::<Vec<_>>(), [id(6), id(5), id(4), id(3)]);
    assert_eq!(journal.entry(id(5)).unwrap().state, State::Undone { by: id(6) });
    assert_eq!(journal.entry(id(4)).unwrap().state, State::Done);
    assert_eq!(journal.newest(&sub).unwrap().unwrap().id, id(8));

    // Everything can be undone, and numbers go on.
    assert_eq!(undo(&fixture.root, &journal, id(4)).unwrap(), id(9));
    assert_eq!(undo(&fixture.root, &journal, id(3)).unwrap(), id(10));
    assert_eq!(undo(&sub, &journal, id(8)).unwrap(), id(11));
    assert_eq!((fixture.read("a").bytes, fixture.read("sub/b").bytes), (b"one".to_vec(), b"old".to_vec()));

    // The first version starts again at 1: its entry gets another number.
    write_first_version(
        &folder,
        sub.path(),
        8,
        &format!("\"changes\":[{}]", update("b", "x", "old")),
        &["x"],
    );
    let journal = Journal::open(&folder).unwrap();
    assert_eq!(journal.newest(&sub).unwrap().unwrap().id, id(12));
    undo(&sub, &journal, id(12)).unwrap();
    assert_eq!(fixture.read("sub/b").bytes, b"x");
}

/// While one process writes below a root, another one waits for it, knows which it is, and can be stopped.
#[test]
fn whoever_waits_knows_for_whom_and_can_be_stopped() {
    let fixture = Fixture::new(&[("a", "one"), ("b", "two"), ("sub/c", "three")]);
    let (at_work, is_at_work) = mpsc::channel();
    let (go_on, wait) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let fixture = &fixture;
        scope.spawn(move || {
            let pieces = [&b"1"[..]].into_iter().inspect(|_| {
                at_work.send(()).unwrap();
                wait.recv().unwrap();
            });
            let mut batch = Batch::new("slow");
            batch.update(fixture.path("a"), &fixture.read("a").stamp, pieces);
            batch.commit(&fixture.root, &fixture.journal, second(0)).unwrap();
        });
        is_at_work.recv().unwrap();
        // Another root is not concerned.
        let sub = Root::open(fixture.at("sub")).unwrap();
        let mut batch = Batch::new("other");
        batch.create(sub.resolve("d").unwrap(), [&b"x"[..]]);
        batch.commit(&sub, &fixture.journal, second(0)).unwrap();
        // Nothing is recovered that is being written.
        assert_eq!(fixture.journal.recover(&fixture.root).unwrap(), None);

        let holder = Arc::new(Mutex::new(None));
        let stop = Arc::new(AtomicBool::new(false));
        let journal = {
            let (holder, stop) = (Arc::clone(&holder), Arc::clone(&stop));
            fixture.journal.clone().stop_on(Arc::clone(&stop)).on_wait(move |found| {
                *holder.lock().unwrap() = Some(found.to_string());
                stop.store(true, Ordering::Relaxed);
            })
        };
        let mut batch = Batch::new("waits");
        batch.update(fixture.path("b"), &fixture.read("b").stamp, [&b"2"[..]]);
        let error = batch.commit(&fixture.root, &journal, second(0)).unwrap_err();
        assert!(matches!(error, write::Error::Journal(journal::Error::Stopped)), "{error}");
        let expected = format!("process {}", std::process::id());
        assert_eq!(holder.lock().unwrap().as_deref(), Some(expected.as_str()));
        go_on.send(()).unwrap();
    });
    assert_eq!((fixture.read("a").bytes, fixture.read("b").bytes), (b"1".to_vec(), b"two".to_vec()));
}

/// A write that is stopped before it changed a file leaves nothing; one that has begun is finished.
#[test]
fn a_write_is_stopped_before_its_first_file_or_not_at_all() {
    for stop_at in 0..4 {
        let fixture = Fixture::new(&[("a", "one"), ("b", "two"), ("c", "three")]);
        let stop = Arc::new(AtomicBool::new(false));
        let journal = fixture.journal.clone().stop_on(Arc::clone(&stop));
        let before = fixture.tree();
        let mut batch = Batch::new("apply");
        for (index, path) in ["a", "b", "c"].into_iter().enumerate() {
            let stop = Arc::clone(&stop);
            let pieces =
                [&b"new"[..]].into_iter().inspect(move |_| stop.store(index == stop_at, Ordering::Relaxed));
            batch.update(fixture.path(path), &fixture.read(path).stamp, pieces);
        }
        batch.create(fixture.path("d/e"), [&b"new"[..]]);
        let result = batch.commit(&fixture.root, &journal, second(0));
        if stop_at < 3 {
            let error = result.unwrap_err();
            assert!(matches!(error, write::Error::Journal(journal::Error::Stopped)), "{error}");
            assert_eq!(fixture.tree(), before);
            assert_eq!(fixture.entry_files(), 0);
        } else {
            result.unwrap();
        }
    }
}
