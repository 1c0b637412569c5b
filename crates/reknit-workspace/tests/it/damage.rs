//! A damaged journal: the damage is reported, and the rest works.

use std::fs;

use reknit_workspace::journal::{self, Keep};
use reknit_workspace::undo::{Conflicts, Error, Standing};
use reknit_workspace::{Batch, EntryId, Hash, Undo};

use crate::fixture::{Fixture, second, tree};

/// Two updates of one file each, one after the other.
fn two_entries() -> (Fixture, EntryId, EntryId) {
    let fixture = Fixture::new(&[("a", "one"), ("b", "two")]);
    let first = fixture.update("a", "1").id;
    let last = fixture.update("b", "2").id;
    (fixture, first, last)
}

/// Damages the first entry, and checks that this is reported and that the other entry can be undone.
fn check(break_it: impl Fn(&str) -> Vec<u8>, what: &str) {
    let (fixture, first, last) = two_entries();
    let file = fixture.journal.folder().join("entries/1.json");
    fs::write(&file, break_it(&fs::read_to_string(&file).unwrap())).unwrap();

    let log = fixture.journal.log().unwrap();
    assert_eq!(log.entries.len(), 1);
    let [journal::Error::Damaged { id, path, what: found }] = log.damaged.as_slice() else {
        panic!("{:?}", log.damaged)
    };
    assert_eq!((*id, path.as_path()), (first, file.as_path()));
    assert!(found.starts_with(what), "`{found}`, not `{what}…`");
    let error = Undo::of(first).commit(&fixture.root, &fixture.journal, second(1)).unwrap_err();
    let words = format!("entry 1 of the journal is damaged: `{}`: {what}", file.display());
    assert!(error.to_string().starts_with(&words), "`{error}`, not `{words}…`");
    assert!(error.hint().contains("other entries"));
    Undo::of(last).commit(&fixture.root, &fixture.journal, second(1)).unwrap();
    assert_eq!(fixture.tree(), tree(&[("a", "1"), ("b", "two")]));

    // It is unknown which saved files it needs, so all of them stay until it is removed.
    let keep = Keep { bytes: 0, ..Keep::default() };
    assert_eq!(fixture.blobs(), 3);
    fixture.journal.prune(&Keep::default(), second(1)).unwrap();
    assert_eq!(fixture.blobs(), 3);
    assert_eq!(fixture.journal.prune(&keep, second(1)).unwrap().entries, 2);
    assert_eq!((fixture.journal.log().unwrap().damaged.len(), fixture.blobs()), (0, 1));
}

#[test]
fn a_damaged_entry_is_reported_and_the_others_can_be_undone() {
    check(|text| text.replace("\"a\"", "\"b\"").into(), "the checksum does not match");
    check(|text| text[..text.len() - 9].into(), "the checksum does not match");
    check(|_| b"no line".to_vec(), "truncated");
    check(|_| Vec::new(), "truncated");
    check(|_| b"\xFF\xFE\n\xFF".to_vec(), "the checksum does not match");
}

/// The checksum matches, but the content is wrong.
#[test]
fn an_entry_with_wrong_content_is_rejected() {
    let sealed = |text: &str, from: &str, to: &str| {
        let (_, body) = text.split_once('\n').unwrap();
        let body = body.replace(from, to);
        format!("{}\n{body}", Hash::of(body.as_bytes())).into_bytes()
    };
    check(
        |text| sealed(text, "\"version\":1", "\"version\":9"),
        "version 9 is not supported, only version 1",
    );
    check(|text| sealed(text, "\"id\":1", "\"id\":7"), "it contains entry 7");
    check(|text| sealed(text, "\"path\":\"a\"", "\"path\":\"../a\""), "`../a`: contains `..`");
}

#[test]
fn a_missing_or_damaged_blob_is_reported_and_the_others_are_restored() {
    let break_it: [fn(&std::path::Path); 3] = [
        |blob| fs::remove_file(blob).unwrap(),
        |blob| fs::write(blob, "eno").unwrap(),
        |blob| fs::write(blob, "").unwrap(),
    ];
    for break_it in break_it {
        let fixture = Fixture::new(&[("a", "one"), ("b", "two")]);
        let mut batch = Batch::new("apply");
        batch.update(fixture.path("a"), &fixture.read("a").stamp, [&b"1"[..]]);
        batch.update(fixture.path("b"), &fixture.read("b").stamp, [&b"2"[..]]);
        let done = fixture.commit(batch).id;
        let blob = fixture.journal.folder().join(format!("blobs/{}", Hash::of(b"one")));
        break_it(&blob);

        assert!(matches!(fixture.journal.content(Hash::of(b"one")), Err(journal::Error::Lost { .. })));
        let error = Undo::of(done).commit(&fixture.root, &fixture.journal, second(1)).unwrap_err();
        let Error::Conflicts { files, .. } = &error else { panic!("{error:?}") };
        assert_eq!(*files, [(fixture.path("a"), Standing::Lost)]);
        assert_eq!(fixture.tree(), tree(&[("a", "1"), ("b", "2")]));
        let forced = Undo::of(done).conflicts(Conflicts::Overwrite);
        assert!(forced.commit(&fixture.root, &fixture.journal, second(1)).is_err());
        let skipped = Undo::of(done).conflicts(Conflicts::Skip);
        skipped.commit(&fixture.root, &fixture.journal, second(1)).unwrap();
        assert_eq!(fixture.tree(), tree(&[("a", "1"), ("b", "two")]));
    }
}

#[test]
fn a_damaged_blob_is_repaired_when_the_same_content_is_saved_again() {
    let fixture = Fixture::new(&[("a", "one"), ("b", "one")]);
    let first = fixture.update("a", "1").id;
    let blob = fixture.journal.folder().join(format!("blobs/{}", Hash::of(b"one")));
    fs::write(&blob, "broken").unwrap();
    fixture.update("b", "2");
    Undo::of(first).commit(&fixture.root, &fixture.journal, second(1)).unwrap();
    assert_eq!(fixture.tree(), tree(&[("a", "one"), ("b", "2")]));
}

#[test]
fn a_journal_that_cannot_be_written_stops_the_batch() {
    let fixture = Fixture::new(&[("a", "one")]);
    fs::remove_dir(fixture.journal.folder().join("blobs")).unwrap();
    let mut batch = Batch::new("apply");
    batch.update(fixture.path("a"), &fixture.read("a").stamp, [&b"1"[..]]);
    let error = batch.commit(&fixture.root, &fixture.journal, second(0)).unwrap_err();
    assert!(error.to_string().contains("creating a file in the journal"), "{error}");
    fs::create_dir(fixture.journal.folder().join("blobs")).unwrap();
    fs::remove_dir(fixture.journal.folder().join("entries")).unwrap();
    let mut batch = Batch::new("apply");
    batch.update(fixture.path("a"), &fixture.read("a").stamp, [&b"1"[..]]);
    batch.create(fixture.path("new/b"), [&b"2"[..]]);
    batch.commit(&fixture.root, &fixture.journal, second(0)).unwrap_err();
    assert_eq!(fixture.tree(), tree(&[("a", "one")]));
    assert_eq!(fixture.blobs(), 0);
}
