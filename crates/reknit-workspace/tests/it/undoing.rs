//! Entries are undone, and so are undos.

use reknit::Hint;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};

use reknit_workspace::undo::{Conflicts, Error, Standing};
use reknit_workspace::{Batch, Entry, EntryId, RelPath, Root, Undo};

use crate::damage::damage_content;
use crate::fixture::{Fixture, Node, chmod, file, id, second, tree};

fn undo(fixture: &Fixture, id: EntryId) -> Entry {
    Undo::of(id).commit(&fixture.root, &fixture.journal, second(1)).unwrap().entry
}

#[test]
fn undo_and_redo_restore_everything() {
    let fixture = Fixture::new(&[("a", "one"), ("b/c", "two"), ("d", "three"), ("e", "four")]);
    chmod(&fixture.at("b/c"), 0o700);
    let before = fixture.tree();
    let mut batch = Batch::new("apply");
    batch.update(fixture.path("a"), &fixture.read("a").stamp, [&b"1\r\n\xFF\0"[..]]);
    batch.delete(fixture.path("b/c"), &fixture.read("b/c").stamp);
    batch.move_to(fixture.path("d"), &fixture.read("d").stamp, fixture.path("x/d"));
    batch.move_and_update(fixture.path("e"), &fixture.read("e").stamp, fixture.path("x/y/e"), [&b"4"[..]]);
    batch.create(fixture.path("x/z/f"), []);
    let done = fixture.commit(batch);
    let after = fixture.tree();

    let undone = undo(&fixture, done.id);
    assert_eq!(fixture.tree(), before);
    assert_eq!((undone.undoes, undone.label.as_str()), (Some(done.id), "apply"));
    let redone = undo(&fixture, undone.id);
    assert_eq!(fixture.tree(), after);
    undo(&fixture, redone.id);
    assert_eq!(fixture.tree(), before);
}

#[test]
fn a_moved_file_is_moved_back_as_the_same_file() {
    let fixture = Fixture::new(&[("a", "one")]);
    let inode = fs::metadata(fixture.at("a")).unwrap().ino();
    let mut batch = Batch::new("move");
    batch.move_to(fixture.path("a"), &fixture.read("a").stamp, fixture.path("x/a"));
    let done = fixture.commit(batch);
    undo(&fixture, done.id);
    assert_eq!(fs::metadata(fixture.at("a")).unwrap().ino(), inode);
    assert_eq!(fixture.tree(), tree(&[("a", "one")]));
}

#[test]
fn directories_are_removed_only_if_the_entry_created_them_and_they_are_empty() {
    let fixture = Fixture::new(&[("theirs/a", "one")]);
    let first = fixture.create("theirs/b", "new");
    let second_entry = fixture.create("x/y/c", "new");
    let third = fixture.create("v/w/d", "new");
    fixture.put("x/kept", "theirs");
    for entry in [first, second_entry, third] {
        undo(&fixture, entry.id);
    }
    assert_eq!(fixture.tree(), tree(&[("theirs/a", "one"), ("x/kept", "theirs")]));
}

#[test]
fn files_that_changed_since_are_not_touched_by_default() {
    let fixture = Fixture::new(&[("a", "one"), ("b", "two"), ("c", "three"), ("d", "four")]);
    let mut batch = Batch::new("apply");
    for path in ["a", "b", "c"] {
        batch.update(fixture.path(path), &fixture.read(path).stamp, [&b"new"[..]]);
    }
    batch.delete(fixture.path("d"), &fixture.read("d").stamp);
    batch.create(fixture.path("e"), [&b"new"[..]]);
    let done = fixture.commit(batch);
    fixture.put("a", "theirs");
    fs::remove_file(fixture.at("b")).unwrap();
    fixture.put("d", "theirs too");
    let theirs = fixture.tree();

    let error = Undo::of(done.id).commit(&fixture.root, &fixture.journal, second(1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "entry 1 cannot be undone: `a`: changed since, `b`: changed since, `d`: changed since"
    );
    assert_eq!(fixture.tree(), theirs);
    assert_eq!(fixture.log().entries.len(), 1);

    let skipped = Undo::of(done.id).conflicts(Conflicts::Skip);
    let skipped = skipped.commit(&fixture.root, &fixture.journal, second(2)).unwrap().entry;
    assert_eq!(fixture.tree(), tree(&[("a", "theirs"), ("c", "three"), ("d", "theirs too")]));
    undo(&fixture, skipped.id);
    assert_eq!(fixture.tree(), theirs);

    let forced = Undo::of(done.id).conflicts(Conflicts::Overwrite);
    let forced = forced.commit(&fixture.root, &fixture.journal, second(3)).unwrap().entry;
    assert_eq!(fixture.tree(), tree(&[("a", "one"), ("b", "two"), ("c", "three"), ("d", "four")]));
    // What was overwritten is not lost.
    undo(&fixture, forced.id);
    assert_eq!(fixture.tree(), theirs);
}

#[test]
fn changed_permissions_count_as_a_change() {
    let fixture = Fixture::new(&[("a", "one")]);
    let done = fixture.update("a", "two");
    chmod(&fixture.at("a"), 0o755);
    let preview = Undo::of(done.id).preview(&fixture.root, &fixture.journal).unwrap();
    assert_eq!(preview, [(fixture.path("a"), Standing::Changed)]);
    let forced = Undo::of(done.id).conflicts(Conflicts::Overwrite);
    let forced = forced.commit(&fixture.root, &fixture.journal, second(1)).unwrap().entry;
    assert_eq!(fixture.tree()["a"], file("one", 0o644));
    undo(&fixture, forced.id);
    assert_eq!(fixture.tree()["a"], file("two", 0o755));
}

#[test]
fn only_files_are_overwritten() {
    let fixture = Fixture::new(&[("a", "one"), ("b/c", "two"), ("d", "three")]);
    let mut batch = Batch::new("apply");
    for path in ["a", "b/c", "d"] {
        batch.update(fixture.path(path), &fixture.read(path).stamp, [&b"new"[..]]);
    }
    let done = fixture.commit(batch);
    let outside = fixture.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("c"), "new").unwrap();
    fs::remove_file(fixture.at("a")).unwrap();
    fs::create_dir(fixture.at("a")).unwrap();
    fs::remove_dir_all(fixture.at("b")).unwrap();
    symlink(&outside, fixture.at("b")).unwrap();

    let undo = Undo::of(done.id);
    let expected = [Standing::Blocked, Standing::Blocked, Standing::Ready];
    let preview = undo.preview(&fixture.root, &fixture.journal).unwrap();
    assert!(preview.iter().map(|(_, standing)| *standing).eq(expected), "{preview:?}");
    let forced = undo.conflicts(Conflicts::Overwrite);
    let error = forced.commit(&fixture.root, &fixture.journal, second(1)).unwrap_err();
    assert!(matches!(&error, Error::Conflicts { files, .. } if files.len() == 2), "{error}");
    assert_eq!(fixture.tree()["d"], file("new", 0o644));

    undo.conflicts(Conflicts::Skip).commit(&fixture.root, &fixture.journal, second(1)).unwrap();
    assert_eq!(fixture.tree()["a"], Node::Directory);
    assert_eq!(fixture.tree()["d"], file("three", 0o644));
    assert_eq!(fs::read(outside.join("c")).unwrap(), b"new");
}

/// If the original of a moved file cannot be restored, the moved file is not removed.
#[test]
fn a_moved_file_is_restored_completely_or_stays() {
    type Hinder = fn(&Fixture);
    let lose: Hinder = |fixture| {
        damage_content(fixture, id(1));
    };
    let block: Hinder = |fixture| fs::create_dir(fixture.at("a")).unwrap();
    let change: Hinder = |fixture| fixture.put("a", "theirs");
    let hindrances = [(lose, Standing::Lost), (block, Standing::Blocked), (change, Standing::Changed)];
    for (hinder, standing) in hindrances {
        let fixture = Fixture::new(&[("a", "one")]);
        let mut batch = Batch::new("move");
        let stamp = fixture.read("a").stamp;
        batch.move_and_update(fixture.path("a"), &stamp, fixture.path("b"), [&b"two"[..]]);
        let done = fixture.commit(batch);
        hinder(&fixture);
        let before = fixture.tree();
        let undo = Undo::of(done.id);
        let preview = undo.preview(&fixture.root, &fixture.journal).unwrap();
        assert_eq!(preview, [(RelPath::new("a").unwrap(), standing), (RelPath::new("b").unwrap(), standing)]);
        undo.conflicts(Conflicts::Skip).commit(&fixture.root, &fixture.journal, second(1)).unwrap();
        assert_eq!(fixture.tree(), before);
    }
}

#[test]
fn an_entry_is_undone_once() {
    let fixture = Fixture::new(&[("a", "one")]);
    let done = fixture.update("a", "two");
    let undone = undo(&fixture, done.id);
    let error = Undo::of(done.id).commit(&fixture.root, &fixture.journal, second(2)).unwrap_err();
    assert_eq!(error.to_string(), "entry 1 was already undone by entry 2");
    undo(&fixture, undone.id);
    undo(&fixture, done.id);
    assert_eq!(fixture.tree(), tree(&[("a", "one")]));
}

#[test]
fn an_entry_of_another_root_is_not_undone() {
    let fixture = Fixture::new(&[("a", "one"), ("sub/a", "two")]);
    let done = fixture.update("a", "new");
    let other = Root::open(fixture.at("sub")).unwrap();
    let error = Undo::of(done.id).commit(&other, &fixture.journal, second(1)).unwrap_err();
    assert!(matches!(error, Error::OtherRoot { .. }), "{error}");
    assert!(!error.hint().is_empty());
}
