//! One file at a time: what is preserved and what is refused.

use reknit::Hint;
use std::fs::{self, FileTimes};
use std::os::unix::fs::{MetadataExt as _, symlink};

use reknit_workspace::write::{Error, Note};
use reknit_workspace::{Batch, RelPath};

use crate::fixture::{Fixture, Node, chmod, file, second, tree};

/// Commits a batch that must be refused, and checks that nothing changed.
fn refused(fixture: &Fixture, batch: Batch<'_>) -> Error {
    let before = fixture.tree();
    let error = batch.commit(&fixture.root, &fixture.journal, second(0)).unwrap_err();
    assert_eq!(fixture.tree(), before);
    assert!(fixture.log().entries.is_empty());
    assert_eq!(fixture.entry_files(), 0, "the journal contains files that no entry needs");
    assert!(!error.hint().is_empty());
    error
}

#[test]
fn an_update_is_the_concatenation_of_its_pieces() {
    let fixture = Fixture::new(&[("a.txt", "one\ntwo\nthree\n")]);
    let old = fixture.read("a.txt");
    let mut batch = Batch::new("update");
    batch.update(fixture.path("a.txt"), &old.stamp, [&old.bytes[..4], b"", b"2\n", &old.bytes[8..]]);
    fixture.commit(batch);
    assert_eq!(fixture.tree(), tree(&[("a.txt", "one\n2\nthree\n")]));
}

#[test]
fn permissions_stay() {
    for mode in [0o600, 0o644, 0o755, 0o664, 0o4755, 0o200] {
        let fixture = Fixture::new(&[("a", "one")]);
        let stamp = fixture.read("a").stamp;
        chmod(&fixture.at("a"), mode);
        let mut batch = Batch::new("update");
        batch.update(fixture.path("a"), &stamp, [&b"two"[..]]);
        match batch.commit(&fixture.root, &fixture.journal, second(0)) {
            Ok(_) => assert_eq!(fixture.tree()["a"], file("two", mode)),
            // Only a superuser can read, and so save, a file that nobody may read.
            Err(error) => {
                assert_eq!(mode, 0o200, "{error}");
            }
        }
    }
}

#[test]
fn owner_and_group_stay_or_a_note_says_so() {
    let fixture = Fixture::new(&[("a", "one")]);
    let given_away = std::os::unix::fs::chown(fixture.at("a"), Some(12345), Some(54321)).is_ok();
    let before = fs::metadata(fixture.at("a")).unwrap();
    let mut batch = Batch::new("update");
    batch.update(fixture.path("a"), &fixture.read("a").stamp, [&b"two"[..]]);
    let committed = batch.commit(&fixture.root, &fixture.journal, second(0)).unwrap();
    let after = fs::metadata(fixture.at("a")).unwrap();
    assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
    assert_eq!(after.uid() == 12345, given_away);
    assert_eq!(committed.notes, []);
}

#[test]
fn a_new_file_has_the_default_permissions() {
    let fixture = Fixture::new(&[]);
    fs::write(fixture.at("other"), "").unwrap();
    fixture.create("some/where/new", "one");
    let usual = fs::metadata(fixture.at("other")).unwrap().mode();
    assert_eq!(fs::metadata(fixture.at("some/where/new")).unwrap().mode(), usual);
    assert_eq!(fs::read(fixture.at("some/where/new")).unwrap(), b"one");
}

#[test]
fn a_file_that_changed_since_it_was_read_is_left_alone() {
    let fixture = Fixture::new(&[("a", "one"), ("b/c", "two")]);
    let (a, c) = (fixture.read("a").stamp, fixture.read("b/c").stamp);
    // Once with the same length, once with another.
    for theirs in ["eno", "longer"] {
        fixture.put("a", theirs);
        let mut update = Batch::new("update");
        update.update(fixture.path("a"), &a, [&b"mine"[..]]);
        let mut delete = Batch::new("delete");
        delete.delete(fixture.path("a"), &a);
        let mut moved = Batch::new("move");
        moved.move_to(fixture.path("a"), &a, fixture.path("z"));
        let mut rewritten = Batch::new("move");
        rewritten.move_and_update(fixture.path("a"), &a, fixture.path("new/z"), [&b"mine"[..]]);
        for batch in [update, delete, moved, rewritten] {
            let error = refused(&fixture, batch);
            assert!(matches!(&error, Error::Changed { path } if path.as_str() == "a"), "{error}");
        }
    }
    fs::remove_file(fixture.at("b/c")).unwrap();
    let mut batch = Batch::new("update");
    batch.update(fixture.path("b/c"), &c, [&b"mine"[..]]);
    assert_eq!(refused(&fixture, batch).to_string(), "`b/c`: no such file");
}

#[test]
fn a_file_that_was_only_touched_has_not_changed() {
    let fixture = Fixture::new(&[("a", "one")]);
    let stamp = fixture.read("a").stamp;
    fs::remove_file(fixture.at("a")).unwrap();
    fixture.put("a", "one");
    let times = FileTimes::new().set_modified(second(5));
    fs::File::options().append(true).open(fixture.at("a")).unwrap().set_times(times).unwrap();
    let mut batch = Batch::new("update");
    batch.update(fixture.path("a"), &stamp, [&b"two"[..]]);
    fixture.commit(batch);
    assert_eq!(fixture.tree(), tree(&[("a", "two")]));
}

#[test]
fn nothing_is_overwritten_by_creating_or_moving() {
    let fixture = Fixture::new(&[("a", "one"), ("d/e", "two")]);
    symlink("nowhere", fixture.at("link")).unwrap();
    let stamp = fixture.read("a").stamp;
    for (target, found) in [("d/e", "a file"), ("d", "a directory"), ("link", "a symlink")] {
        let target = RelPath::new(target).unwrap();
        let expected = format!("`{target}`: {found} already exists");
        let mut create = Batch::new("create");
        create.create(target.clone(), [&b"mine"[..]]);
        assert_eq!(refused(&fixture, create).to_string(), expected);
        let mut moved = Batch::new("move");
        moved.move_to(fixture.path("a"), &stamp, target.clone());
        assert_eq!(refused(&fixture, moved).to_string(), expected);
        let mut rewritten = Batch::new("move");
        rewritten.move_and_update(fixture.path("a"), &stamp, target, [&b"mine"[..]]);
        assert_eq!(refused(&fixture, rewritten).to_string(), expected);
    }
    let mut below = Batch::new("create");
    below.create(RelPath::new("a/b").unwrap(), [&b"mine"[..]]);
    assert_eq!(refused(&fixture, below).to_string(), "`a/b`: `a` is not a directory");
}

#[test]
fn a_read_only_file_stays_as_it_is() {
    let fixture = Fixture::new(&[("a", "one")]);
    chmod(&fixture.at("a"), 0o444);
    let stamp = fixture.read("a").stamp;
    let mut update = Batch::new("update");
    update.update(fixture.path("a"), &stamp, [&b"two"[..]]);
    let mut delete = Batch::new("delete");
    delete.delete(fixture.path("a"), &stamp);
    let mut moved = Batch::new("move");
    moved.move_to(fixture.path("a"), &stamp, fixture.path("b"));
    for batch in [update, delete, moved] {
        let error = refused(&fixture, batch);
        assert_eq!(error.to_string(), "`a`: read-only");
        assert!(error.hint().contains("chmod"));
    }
}

#[test]
fn the_target_of_a_symlink_is_replaced_and_the_symlink_stays() {
    let fixture = Fixture::new(&[("real/a", "one")]);
    symlink("real/a", fixture.at("link")).unwrap();
    fixture.update("link", "two");
    let mut expected = tree(&[("real/a", "two")]);
    expected.insert("link".into(), Node::Link { to: "real/a".into() });
    assert_eq!(fixture.tree(), expected);
}

#[test]
fn other_hard_links_keep_the_old_content_and_a_note_says_so() {
    let fixture = Fixture::new(&[("a", "one")]);
    let outside = fixture.folder.path().join("snapshot");
    fs::hard_link(fixture.at("a"), &outside).unwrap();
    let mut batch = Batch::new("update");
    batch.update(fixture.path("a"), &fixture.read("a").stamp, [&b"two"[..]]);
    let committed = batch.commit(&fixture.root, &fixture.journal, second(0)).unwrap();
    assert_eq!(committed.notes, [Note::LinkBroken { path: fixture.path("a"), others: 1 }]);
    assert_eq!(committed.notes[0].to_string(), "`a`: other hard links keep the old content: 1");
    assert_eq!(fs::read(outside).unwrap(), b"one");
    assert_eq!(fixture.tree(), tree(&[("a", "two")]));
}

#[test]
fn a_moved_file_is_the_same_file() {
    let fixture = Fixture::new(&[("a", "one"), ("b", "two")]);
    chmod(&fixture.at("a"), 0o750);
    let inode = fs::metadata(fixture.at("a")).unwrap().ino();
    let mut batch = Batch::new("move");
    batch.move_to(fixture.path("a"), &fixture.read("a").stamp, fixture.path("new/place/a"));
    batch.move_and_update(fixture.path("b"), &fixture.read("b").stamp, fixture.path("c"), [&b"2"[..]]);
    fixture.commit(batch);
    let mut expected = tree(&[("new/place/a", "one"), ("c", "2")]);
    expected.insert("new/place/a".into(), file("one", 0o750));
    assert_eq!(fixture.tree(), expected);
    assert_eq!(fs::metadata(fixture.at("new/place/a")).unwrap().ino(), inode);
}

#[test]
fn a_batch_may_not_write_a_path_twice() {
    let fixture = Fixture::new(&[("a", "one"), ("b", "two")]);
    let stamp = fixture.read("a").stamp;
    let mut batch = Batch::new("twice");
    batch.move_to(fixture.path("a"), &stamp, fixture.path("c"));
    batch.create(fixture.path("c"), [&b"x"[..]]);
    assert_eq!(refused(&fixture, batch).to_string(), "`c`: written twice in one batch");
}
