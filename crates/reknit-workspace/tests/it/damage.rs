//! A damaged journal: the damage is reported, and the rest works.

use reknit::Hint;
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use reknit_workspace::journal::{self, State};
use reknit_workspace::undo::{Conflicts, Error, Standing};
use reknit_workspace::{Batch, EntryId, Hash, Undo};

use crate::fixture::{Fixture, id, second, tree};

/// Two updates of one file each, one after the other.
fn two_entries() -> (Fixture, EntryId, EntryId) {
    let fixture = Fixture::new(&[("a", "one"), ("b", "two")]);
    let first = fixture.update("a", "1").id;
    let last = fixture.update("b", "2").id;
    (fixture, first, last)
}

/// Damages the first saved content of an entry.
pub(crate) fn damage_content(fixture: &Fixture, id: EntryId) {
    let path = fixture.entry_file(id);
    let text = fs::read(&path).unwrap();
    let plan = text.iter().position(|&byte| byte == b'\n').unwrap() as u64 + 1;
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    // After the header of the compressed content.
    file.write_all_at(b"?", plan + 12).unwrap();
}

/// Damages an entry, and checks that this is reported and that the other entry can be undone.
fn check(number: u64, break_it: impl Fn(&[u8]) -> Vec<u8>, what: &str) {
    let (fixture, first, last) = two_entries();
    let (broken, other) = if number == 1 { (first, last) } else { (last, first) };
    let file = fixture.entry_file(broken);
    fs::write(&file, break_it(&fs::read(&file).unwrap())).unwrap();

    let log = fixture.log();
    assert_eq!(log.entries.len(), 1);
    let [journal::Error::Damaged { id, path, what: found }] = log.damaged.as_slice() else {
        panic!("{:?}", log.damaged)
    };
    assert_eq!((*id, path.as_path()), (broken, file.as_path()));
    assert!(found.contains(what), "`{found}`, not `…{what}…`");
    let error = Undo::of(broken).commit(&fixture.root, &fixture.journal, second(1)).unwrap_err();
    assert!(error.to_string().starts_with(&format!("entry {broken} of the journal is damaged: ")), "{error}");
    assert!(error.hint().contains("other entries"));
    // The newest entry is not passed over.
    if broken == last {
        let newest = fixture.journal.newest(&fixture.root);
        assert!(matches!(newest, Err(journal::Error::Damaged { .. })), "{newest:?}");
    }
    Undo::of(other).commit(&fixture.root, &fixture.journal, second(1)).unwrap();
    let expected = if broken == first { [("a", "1"), ("b", "two")] } else { [("a", "one"), ("b", "2")] };
    assert_eq!(fixture.tree(), tree(&expected));
    // And life goes on.
    let next = fixture.create("c", "new").id;
    assert_eq!(fixture.journal.newest(&fixture.root).unwrap().unwrap().id, next);
}

#[test]
fn a_damaged_entry_is_reported_and_the_others_can_be_undone() {
    for number in [1, 2] {
        check(number, |text| text[..text.len() - 9].into(), "the checksum does not match");
        check(number, |_| b"no line".to_vec(), "truncated");
        check(number, |_| Vec::new(), "truncated");
        check(number, |_| b"\xFF\xFE\n\xFF".to_vec(), "truncated");
        check(
            number,
            |text| {
                let text =
                    String::from_utf8_lossy(text).replace("\"label\":\"update\"", "\"label\":\"UPDATE\"");
                text.into_bytes()
            },
            "",
        );
    }
}

/// The checksums match, but the content is wrong.
#[test]
fn an_entry_with_wrong_content_is_rejected() {
    let sealed = |text: &[u8], from: &str, to: &str| {
        let start = text.windows(10).position(|part| part == b"{\"version\"").unwrap();
        let lines = String::from_utf8(text[start..].to_vec()).unwrap();
        let (description, _) = lines.split_once('\n').unwrap();
        let seal = |json: &str| format!("{json} {}\n", &Hash::of(json.as_bytes()).to_string()[..16]);
        let line = description.replace(from, to);
        let line = seal(&line[..line.len() - 17]);
        let previous = if lines.contains("\"previous\":1") { r#","previous":1"# } else { "" };
        let range = format!(r#""start":{start},"length":{}"#, line.len());
        let footer = seal(&format!(r#"{{"description":{{{range}}}{previous}}}"#));
        [&text[..start], line.as_bytes(), footer.as_bytes()].concat()
    };
    for number in [1, 2] {
        check(
            number,
            |text| sealed(text, "\"version\":2", "\"version\":9"),
            "version 9 is not supported, only version 2",
        );
        let own = format!("\"id\":{number}");
        check(number, |text| sealed(text, &own, "\"id\":7"), "it contains entry 7");
        let own = if number == 1 { "\"path\":\"a\"" } else { "\"path\":\"b\"" };
        check(number, |text| sealed(text, own, "\"path\":\"../a\""), "`../a`: contains `..`");
    }
}

#[test]
fn a_missing_or_damaged_content_is_reported_and_the_others_are_restored() {
    let fixture = Fixture::new(&[("a", "one"), ("b", "two")]);
    let mut batch = Batch::new("apply");
    batch.update(fixture.path("a"), &fixture.read("a").stamp, [&b"1"[..]]);
    batch.update(fixture.path("b"), &fixture.read("b").stamp, [&b"2"[..]]);
    let done = fixture.commit(batch);
    damage_content(&fixture, done.id);

    let content = fixture.journal.content(&done, &done.changes[0]);
    assert!(matches!(content, Err(journal::Error::Lost { .. })), "{content:?}");
    let error = Undo::of(done.id).commit(&fixture.root, &fixture.journal, second(1)).unwrap_err();
    let Error::Conflicts { files, .. } = &error else { panic!("{error:?}") };
    assert_eq!(*files, [(fixture.path("a"), Standing::Lost)]);
    assert_eq!(fixture.tree(), tree(&[("a", "1"), ("b", "2")]));
    let forced = Undo::of(done.id).conflicts(Conflicts::Overwrite);
    assert!(forced.commit(&fixture.root, &fixture.journal, second(1)).is_err());
    let skipped = Undo::of(done.id).conflicts(Conflicts::Skip);
    skipped.commit(&fixture.root, &fixture.journal, second(1)).unwrap();
    assert_eq!(fixture.tree(), tree(&[("a", "1"), ("b", "two")]));
}

/// Any byte of the log is damaged: no command panics, the damage is reported or has no consequence, and nothing older
/// is undone in place of the newest entry.
#[test]
fn a_damaged_log_is_reported() {
    let (fixture, first, last) = two_entries();
    let log = fixture.root_folder().join("log");
    let intact = fs::read(&log).unwrap();
    let lines: Vec<_> = intact.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::len).collect();
    assert_eq!(lines.len(), 6);
    for at in 0..intact.len() {
        let mut damaged = intact.clone();
        damaged[at] ^= 1;
        fs::write(&log, &damaged).unwrap();
        let newest = fixture.journal.newest(&fixture.root);
        match newest {
            Ok(newest) => assert_eq!(newest.map(|entry| entry.id), Some(last), "byte {at}"),
            Err(journal::Error::DamagedRecord { .. } | journal::Error::Unfinished { .. }) => {}
            Err(error) => panic!("byte {at}: {error}"),
        }
        let listed = fixture.log();
        let seen: Vec<_> = listed.entries.iter().map(|entry| entry.id).collect();
        assert!(seen == [last, first] || !listed.damaged.is_empty(), "byte {at}: {seen:?}");
        // The next command repairs what it needs.
        fixture.journal.recover(&fixture.root).unwrap();
        let newest = fixture.journal.newest(&fixture.root).unwrap();
        assert_eq!(newest.map(|entry| entry.id), Some(last), "byte {at}");
        assert_eq!(fixture.tree(), tree(&[("a", "1"), ("b", "2")]), "byte {at}");
    }
}

#[test]
fn a_torn_record_or_footer_never_happened() {
    let (fixture, first, last) = two_entries();
    let append = |path: &Path, text: &str| {
        let old = fs::read(path).unwrap();
        fs::write(path, [&old[..], text.as_bytes()].concat()).unwrap();
    };
    append(&fixture.root_folder().join("log"), "{\"event\":\"beg");
    append(&fixture.entry_file(last), "{\"descr");
    assert_eq!(fixture.log().entries.len(), 2);
    assert!(fixture.log().damaged.is_empty());
    assert_eq!(fixture.journal.newest(&fixture.root).unwrap().unwrap().id, last);
    for id in [last, first] {
        Undo::of(id).commit(&fixture.root, &fixture.journal, second(1)).unwrap();
    }
    assert_eq!(fixture.journal.entry(last).unwrap().state, State::Undone { by: id(3) });
    assert!(fixture.log().damaged.is_empty());
    assert_eq!(fixture.tree(), tree(&[("a", "one"), ("b", "two")]));
}

/// An entry whose file is gone is reported and not passed over, also once what came after it is undone.
#[test]
fn a_missing_entry_is_reported_and_the_others_can_be_undone() {
    let (fixture, first, last) = two_entries();
    fs::remove_file(fixture.entry_file(last)).unwrap();
    let log = fixture.log();
    assert!(matches!(&log.damaged[..], [journal::Error::Missing { id, .. }] if *id == last), "{log:?}");
    let check = || {
        let newest = fixture.journal.newest(&fixture.root);
        assert!(matches!(newest, Err(journal::Error::Missing { id, .. }) if id == last), "{newest:?}");
    };
    check();
    let next = fixture.update("a", "new").id;
    Undo::of(next).commit(&fixture.root, &fixture.journal, second(1)).unwrap();
    check();
    Undo::of(first).commit(&fixture.root, &fixture.journal, second(1)).unwrap();
    assert_eq!(fixture.tree(), tree(&[("a", "one"), ("b", "2")]));
}

#[test]
fn an_undo_is_undone_although_a_newer_entry_is_damaged() {
    let (fixture, first, last) = two_entries();
    let undone = Undo::of(first).commit(&fixture.root, &fixture.journal, second(1)).unwrap().entry.id;
    fs::write(fixture.entry_file(last), "damaged").unwrap();
    Undo::of(undone).commit(&fixture.root, &fixture.journal, second(1)).unwrap();
    assert_eq!(fixture.journal.entry(first).unwrap().state, State::Done);
    assert_eq!(fixture.tree(), tree(&[("a", "1"), ("b", "2")]));
}

#[test]
fn a_journal_that_cannot_be_written_stops_the_batch() {
    let fixture = Fixture::new(&[("a", "one")]);
    fixture.update("a", "two");
    let entries = fixture.root_folder().join("entries");
    fs::rename(&entries, fixture.folder.path().join("away")).unwrap();
    let mut batch = Batch::new("apply");
    batch.update(fixture.path("a"), &fixture.read("a").stamp, [&b"1"[..]]);
    batch.create(fixture.path("new/b"), [&b"2"[..]]);
    let error = batch.commit(&fixture.root, &fixture.journal, second(0)).unwrap_err();
    assert!(error.to_string().contains("writing an entry"), "{error}");
    assert_eq!(fixture.tree(), tree(&[("a", "two")]));
}
