//! Several files at once: all of them or none.

use std::cell::Cell;
use std::fs;

use reknit_workspace::journal::Change;
use reknit_workspace::undo::Conflicts;
use reknit_workspace::write::Error;
use reknit_workspace::{Batch, RelPath, Undo};

use crate::fixture::{Fixture, Node, Tree, chmod, file, id, second, tree};

/// A project with a file for each kind of write.
fn project() -> Fixture {
    let fixture = Fixture::new(&[("old/a", "one"), ("old/b", "two"), ("c", "three"), ("d", "four")]);
    chmod(&fixture.at("old/b"), 0o755);
    fixture
}

/// Every kind of write to that project.
fn all_kinds<'a>(fixture: &Fixture) -> Batch<'a> {
    let mut batch = Batch::new("all");
    batch.create(fixture.path("new/deep/e"), [&b"created"[..]]);
    batch.update(fixture.path("old/a"), &fixture.read("old/a").stamp, [&b"updated"[..]]);
    batch.delete(fixture.path("old/b"), &fixture.read("old/b").stamp);
    batch.move_to(fixture.path("c"), &fixture.read("c").stamp, fixture.path("moved/c"));
    batch.move_and_update(
        fixture.path("d"),
        &fixture.read("d").stamp,
        fixture.path("new/d"),
        [&b"rewritten"[..]],
    );
    batch
}

#[test]
fn every_kind_of_write_in_one_batch() {
    let fixture = project();
    let entry = fixture.commit(all_kinds(&fixture));
    let mut expected = tree(&[
        ("new/deep/e", "created"),
        ("old/a", "updated"),
        ("moved/c", "three"),
        ("new/d", "rewritten"),
    ]);
    expected.insert("old".into(), Node::Directory);
    assert_eq!(fixture.tree(), expected);
    let actions: Vec<_> = entry
        .changes
        .iter()
        .map(|change| match change {
            Change::Create { path, .. } => format!("create {path}"),
            Change::Update { path, .. } => format!("update {path}"),
            Change::Delete { path, .. } => format!("delete {path}"),
            Change::Move { path, to, .. } => format!("move {path} {to}"),
            other => panic!("{other:?} is not known here"),
        })
        .collect();
    assert_eq!(
        actions,
        ["create new/deep/e", "update old/a", "delete old/b", "move c moved/c", "move d new/d"]
    );
    let made: Vec<_> = entry.made.iter().map(RelPath::as_str).collect();
    assert_eq!(made, ["new", "new/deep", "moved"]);
}

/// Commits every kind of write and one more, and interferes once all are checked and most are staged.
fn disturbed(disturb: impl Fn(&Fixture)) -> (Fixture, Tree, Error) {
    let fixture = project();
    fixture.put("last", "old");
    let before = fixture.tree();
    let ran = Cell::new(false);
    let pieces = [&b"new"[..]].into_iter().inspect(|_| {
        ran.set(true);
        disturb(&fixture);
    });
    let mut batch = all_kinds(&fixture);
    batch.update(fixture.path("last"), &fixture.read("last").stamp, pieces);
    let error = batch.commit(&fixture.root, &fixture.journal, second(0)).unwrap_err();
    assert!(ran.get());
    (fixture, before, error)
}

#[test]
fn if_the_last_write_fails_the_others_are_rolled_back() {
    let (fixture, mut expected, error) = disturbed(|fixture| fixture.put("last", "theirs"));
    let Error::RolledBack { cause, count } = &error else { panic!("{error:?}") };
    assert!(matches!(&**cause, Error::Changed { path } if path.as_str() == "last"), "{cause}");
    assert_eq!(*count, 5);
    assert_eq!(error.to_string(), "`last`: changed since it was read; files rolled back: 5");
    expected.insert("last".into(), file("theirs", 0o644));
    assert_eq!(fixture.tree(), expected);
    assert!(fixture.log().entries.is_empty());
    assert_eq!(fixture.entry_files(), 0);
}

#[test]
fn if_the_third_of_five_fails_the_first_two_are_rolled_back() {
    let (fixture, mut expected, error) = disturbed(|fixture| {
        fs::remove_file(fixture.at("old/b")).unwrap();
        fs::create_dir(fixture.at("old/b")).unwrap();
    });
    let words = "`old/b`: not a file but a directory; files rolled back: 2";
    assert_eq!(error.to_string(), words);
    expected.insert("old/b".into(), Node::Directory);
    assert_eq!(fixture.tree(), expected);
    assert!(fixture.log().entries.is_empty());
}

/// Either half of the move can fail: the source has changed, or the destination exists.
#[test]
fn a_move_with_new_content_is_all_or_nothing() {
    let (fixture, mut expected, error) = disturbed(|fixture| fixture.put("d", "theirs"));
    assert_eq!(error.to_string(), "`d`: changed since it was read; files rolled back: 4");
    expected.insert("d".into(), file("theirs", 0o644));
    assert_eq!(fixture.tree(), expected);

    let (fixture, mut expected, error) = disturbed(|fixture| fixture.put("new/d", "theirs"));
    assert_eq!(error.to_string(), "`new/d`: a file already exists; files rolled back: 4");
    expected.insert("new".into(), Node::Directory);
    expected.insert("new/d".into(), file("theirs", 0o644));
    assert_eq!(fixture.tree(), expected);
}

#[test]
fn a_path_that_is_taken_at_the_last_moment_is_not_overwritten() {
    let (fixture, mut expected, error) = disturbed(|fixture| fixture.put("moved/c", "theirs"));
    let words = "`moved/c`: a file already exists; files rolled back: 3";
    assert_eq!(error.to_string(), words);
    expected.insert("moved".into(), Node::Directory);
    expected.insert("moved/c".into(), file("theirs", 0o644));
    assert_eq!(fixture.tree(), expected);
}

/// The entry stays, so that it can be undone later.
#[test]
fn what_cannot_be_rolled_back_is_reported_and_can_be_undone() {
    let (fixture, before, error) = disturbed(|fixture| {
        fixture.put("last", "theirs");
        // The saved files are gone, so no file that existed can be restored.
        fs::rename(fixture.entry_file(id(1)), fixture.folder.path().join("hidden")).unwrap();
    });
    let Error::HalfDone { entry, left, .. } = &error else { panic!("{error:?}") };
    assert!(error.to_string().ends_with("`new/d` of entry 1"), "{error}");
    let left: Vec<_> = left.iter().map(RelPath::as_str).collect();
    assert_eq!(left, ["old/a", "old/b", "d", "new/d"]);
    // A file that was only moved needs nothing from the journal, and a created file is removed with its directory.
    let kept = [("old/a", "updated"), ("new/d", "rewritten"), ("c", "three"), ("last", "theirs")];
    assert_eq!(fixture.tree(), tree(&kept));

    fs::rename(fixture.folder.path().join("hidden"), fixture.entry_file(*entry)).unwrap();
    let undo = Undo::of(*entry).conflicts(Conflicts::Overwrite);
    undo.commit(&fixture.root, &fixture.journal, second(1)).unwrap();
    assert_eq!(fixture.tree(), before);
}
