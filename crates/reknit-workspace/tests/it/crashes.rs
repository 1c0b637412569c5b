//! The process crashes during a batch; the tests create the state that it leaves.
//!
//! Before its entry is written a batch has changed nothing. After that the first few of its writes, or all of
//! them, may have happened: the tests put the files into that state and undo the entry.

use std::fs;

use reknit_workspace::undo::Standing;
use reknit_workspace::{Batch, EntryId, Undo};

use crate::fixture::{Fixture, Node, Tree, chmod, second};

/// A project after a batch with every kind of write, and its trees before and after.
fn done() -> (Fixture, EntryId, Tree, Tree) {
    let fixture = Fixture::new(&[("a", "one"), ("b", "two"), ("c", "three"), ("d", "four")]);
    chmod(&fixture.at("b"), 0o600);
    let before = fixture.tree();
    let mut batch = Batch::new("apply");
    batch.update(fixture.path("a"), &fixture.read("a").stamp, [&b"1"[..]]);
    batch.create(fixture.path("n/e"), [&b"5"[..]]);
    batch.delete(fixture.path("b"), &fixture.read("b").stamp);
    batch.move_to(fixture.path("c"), &fixture.read("c").stamp, fixture.path("m"));
    batch.move_and_update(fixture.path("d"), &fixture.read("d").stamp, fixture.path("k"), [&b"4"[..]]);
    let id = fixture.commit(batch).id;
    let after = fixture.tree();
    (fixture, id, before, after)
}

/// Gives paths of the project the state that they have in a tree.
fn set(fixture: &Fixture, paths: &[&str], like: &Tree) {
    for path in paths {
        let place = fixture.at(path);
        match like.get(*path) {
            Some(Node::File { content, mode }) => {
                fs::write(&place, content).unwrap();
                chmod(&place, *mode);
            }
            Some(node) => panic!("{node:?} is not a file"),
            None => drop(fs::remove_file(&place)),
        }
    }
}

/// The paths in the order in which they are written; a rename changes two at once.
const WRITTEN: [&[&str]; 6] = [&["a"], &["n/e"], &["b"], &["c", "m"], &["k"], &["d"]];

#[test]
fn whatever_part_of_an_entry_happened_is_undone() {
    for happened in 0..=WRITTEN.len() {
        let (fixture, id, before, after) = done();
        for paths in &WRITTEN[happened..] {
            set(&fixture, paths, &before);
        }
        let crashed = fixture.tree();
        let undone = Undo::of(id).commit(&fixture.root, &fixture.journal, second(1)).unwrap().entry;
        assert_eq!(fixture.tree(), before, "after {happened} writes");
        // Undoing the undo restores the state after the crash, except for an empty directory.
        Undo::of(undone.id).commit(&fixture.root, &fixture.journal, second(2)).unwrap();
        let files =
            |tree: &Tree| tree.clone().into_iter().filter(|(path, _)| path != "n").collect::<Vec<_>>();
        assert_eq!(files(&fixture.tree()), files(&crashed), "after {happened} writes");
        assert_eq!(happened == WRITTEN.len(), files(&crashed) == files(&after));
    }
}

#[test]
fn undoing_an_entry_that_never_happened_writes_nothing() {
    let (fixture, id, before, _) = done();
    for paths in WRITTEN {
        set(&fixture, paths, &before);
    }
    let preview = Undo::of(id).preview(&fixture.root, &fixture.journal).unwrap();
    assert_eq!(preview.len(), 7);
    assert!(preview.iter().all(|(_, standing)| *standing == Standing::Already), "{preview:?}");
    let undone = Undo::of(id).commit(&fixture.root, &fixture.journal, second(1)).unwrap().entry;
    assert_eq!(undone.changes, []);
    assert_eq!(fixture.tree(), before);
    assert_eq!(fixture.journal.log().unwrap().undone_by(id), Some(undone.id));
}

#[test]
fn an_undo_that_crashed_halfway_is_done_again() {
    let (fixture, id, before, after) = done();
    let undone = Undo::of(id).commit(&fixture.root, &fixture.journal, second(1)).unwrap().entry;
    fs::create_dir(fixture.at("n")).unwrap();
    set(&fixture, &["k", "d", "c", "m", "b", "n/e"], &after);
    // The entry counts as undone, so the undo has to be undone first.
    Undo::of(undone.id).commit(&fixture.root, &fixture.journal, second(2)).unwrap();
    assert_eq!(fixture.tree(), after);
    Undo::of(id).commit(&fixture.root, &fixture.journal, second(3)).unwrap();
    assert_eq!(fixture.tree(), before);
}

#[test]
fn leftovers_of_an_unfinished_entry_do_no_harm() {
    let (fixture, id, before, _) = done();
    let folder = fixture.journal.folder();
    fs::write(folder.join("entries/unfinished-0123456789abcdef"), "{").unwrap();
    fs::write(folder.join("blobs/unfinished-0123456789abcdef"), "hal").unwrap();
    let log = fixture.journal.log().unwrap();
    assert_eq!((log.entries.len(), log.damaged.len()), (1, 0));
    Undo::of(id).commit(&fixture.root, &fixture.journal, second(1)).unwrap();
    assert_eq!(fixture.tree(), before);
    fixture.journal.prune(&Default::default(), second(1)).unwrap();
    assert!(!folder.join("entries/unfinished-0123456789abcdef").exists());
    assert!(!folder.join("blobs/unfinished-0123456789abcdef").exists());
}
