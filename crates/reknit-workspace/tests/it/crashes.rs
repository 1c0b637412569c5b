//! The process ends at some moment of a batch; what it leaves behind is made by hand.
//!
//! Before its entry is there a batch has changed nothing. Behind that any first few of its writes may have
//! happened: the files are put into that state, and the entry is undone.

use std::fs;

use reknit_workspace::undo::Standing;
use reknit_workspace::{Batch, EntryId, Undo};

use crate::fixture::{Fixture, Node, Tree, chmod, second};

/// A batch of every kind is done, and its project before and after.
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

/// Makes paths of the project what they are in a tree.
fn set(fixture: &Fixture, paths: &[&str], like: &Tree) {
    for path in paths {
        let place = fixture.at(path);
        match like.get(*path) {
            Some(Node::File { content, mode }) => {
                fs::write(&place, content).unwrap();
                chmod(&place, *mode);
            }
            Some(node) => panic!("{node:?} is no file"),
            None => drop(fs::remove_file(&place)),
        }
    }
}

/// The paths in the order in which they are written; those of a rename go together.
const WRITTEN: [&[&str]; 6] = [&["a"], &["n/e"], &["b"], &["c", "m"], &["k"], &["d"]];

#[test]
fn whatever_part_of_an_entry_happened_is_taken_back() {
    for happened in 0..=WRITTEN.len() {
        let (fixture, id, before, after) = done();
        for paths in &WRITTEN[happened..] {
            set(&fixture, paths, &before);
        }
        let crashed = fixture.tree();
        let undone = Undo::of(id).commit(&fixture.root, &fixture.journal, second(1)).unwrap().entry;
        assert_eq!(fixture.tree(), before, "behind {happened} writes");
        // To take that back is to be where the crash left things, save for a directory with nothing in it.
        Undo::of(undone.id).commit(&fixture.root, &fixture.journal, second(2)).unwrap();
        let files =
            |tree: &Tree| tree.clone().into_iter().filter(|(path, _)| path != "n").collect::<Vec<_>>();
        assert_eq!(files(&fixture.tree()), files(&crashed), "behind {happened} writes");
        assert_eq!(happened == WRITTEN.len(), files(&crashed) == files(&after));
    }
}

#[test]
fn an_entry_of_which_nothing_happened_is_undone_without_a_write() {
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
    // The entry says that it is undone, so what the undo left is taken back first.
    Undo::of(undone.id).commit(&fixture.root, &fixture.journal, second(2)).unwrap();
    assert_eq!(fixture.tree(), after);
    Undo::of(id).commit(&fixture.root, &fixture.journal, second(3)).unwrap();
    assert_eq!(fixture.tree(), before);
}

#[test]
fn what_an_unfinished_entry_left_in_the_journal_does_no_harm() {
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
