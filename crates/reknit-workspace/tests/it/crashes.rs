//! Files in the state that a process leaves when it dies during a batch whose entry is done.
//!
//! The tests in `src/faults.rs` let it die at every call.

use std::fs;

use reknit_workspace::journal::State;
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
    assert_eq!(fixture.journal.entry(id).unwrap().state, State::Undone { by: undone.id });
}
