//! What the journal contains, for how long, and who can access it.

use std::fs;
use std::time::{Duration, SystemTime};

use reknit_workspace::journal::{Change, Error, Keep, Pruned};
use reknit_workspace::{Batch, EntryId, Hash, Journal, Undo};

use crate::fixture::{Fixture, mode, second};

fn update_at(fixture: &Fixture, content: &str, at: SystemTime) -> EntryId {
    let mut batch = Batch::new("update");
    batch.update(fixture.path("a"), &fixture.read("a").stamp, [content.as_bytes()]);
    batch.commit(&fixture.root, &fixture.journal, at).unwrap().entry.id
}

fn ids(journal: &Journal) -> Vec<String> {
    journal.log().unwrap().entries.iter().map(|entry| entry.id.to_string()).collect()
}

#[test]
fn the_log_is_newest_first_and_says_what_is_undone() {
    let fixture = Fixture::new(&[("a", "0")]);
    let first = update_at(&fixture, "1", second(1));
    let other = update_at(&fixture, "2", second(2) + Duration::from_micros(1500));
    let undo = |id| Undo::of(id).commit(&fixture.root, &fixture.journal, second(3)).unwrap().entry.id;
    let third = undo(other);
    let fourth = undo(third);
    let fifth = undo(other);

    let log = fixture.journal.log().unwrap();
    assert_eq!(ids(&fixture.journal), ["5", "4", "3", "2", "1"]);
    assert_eq!(log.undone_by(first), None);
    assert_eq!(log.undone_by(other), Some(fifth));
    assert_eq!(log.undone_by(third), Some(fourth));
    assert_eq!(log.undone_by(fourth), None);
    let entry = &log.entries[3];
    assert_eq!(entry.id, other);
    assert_eq!(entry.at, second(2) + Duration::from_millis(1));
    assert_eq!(entry.root, fixture.root.path());
    assert_eq!((entry.label.as_str(), entry.undoes), ("update", None));
    let [Change::Update { path, before, after }] = entry.changes.as_slice() else { panic!("{entry:?}") };
    assert_eq!(path.as_str(), "a");
    assert_eq!((before.hash, before.size, before.mode), (Hash::of(b"1"), 1, 0o644));
    assert_eq!((after.hash, after.size, after.mode), (Hash::of(b"2"), 1, 0o644));
    assert_eq!(fixture.journal.content(before.hash).unwrap(), b"1");
    assert_eq!(fixture.journal.entry(other).unwrap(), *entry);
}

/// The file format is a promise: a later version must read what this one wrote.
#[test]
fn an_entry_is_a_hash_and_a_line_of_json() {
    let fixture = Fixture::new(&[("a", "one")]);
    let mut batch = Batch::new("apply");
    batch.move_to(fixture.path("a"), &fixture.read("a").stamp, fixture.path("d/b"));
    let moved = fixture.commit(batch);
    Undo::of(moved.id).commit(&fixture.root, &fixture.journal, second(1)).unwrap();
    let root = fixture.root.path().to_str().unwrap();
    let hash = Hash::of(b"one");
    let stamp = format!(r#"{{"hash":"{hash}","size":3,"mode":420}}"#);
    let expect = |id: u64, json: String| {
        let text = fs::read_to_string(fixture.journal.folder().join(format!("entries/{id}.json"))).unwrap();
        assert_eq!(text, format!("{}\n{json}\n", Hash::of(format!("{json}\n").as_bytes())));
    };
    expect(
        1,
        format!(
            r#"{{"version":1,"id":1,"at_ms":1700000000000,"root":"{root}","label":"apply","changes":[{{"action":"move","path":"a","to":"d/b","before":{stamp},"after":{stamp}}}],"made":["d"]}}"#
        ),
    );
    expect(
        2,
        format!(
            r#"{{"version":1,"id":2,"at_ms":1700000001000,"root":"{root}","label":"apply","undoes":1,"changes":[{{"action":"move","path":"d/b","to":"a","before":{stamp},"after":{stamp}}}]}}"#
        ),
    );
}

#[test]
fn only_the_owner_can_access_it() {
    let fixture = Fixture::new(&[("a", "secret")]);
    update_at(&fixture, "other", second(0));
    let folder = fixture.journal.folder();
    for name in ["", "entries", "blobs"] {
        assert_eq!(mode(&folder.join(name)), 0o700);
    }
    assert_eq!(mode(&folder.join("lock")), 0o600);
    assert_eq!(mode(&folder.join("entries/1.json")), 0o600);
    assert_eq!(mode(&folder.join(format!("blobs/{}", Hash::of(b"secret")))), 0o600);
}

#[test]
fn old_entries_are_pruned() {
    let fixture = Fixture::new(&[("a", "0")]);
    for day in 0..5 {
        update_at(&fixture, &format!("{}", day + 1), second(day * 100));
    }
    let keep = Keep { age: Duration::from_secs(250), ..Keep::default() };
    let pruned = fixture.journal.prune(&keep, second(401)).unwrap();
    assert_eq!(ids(&fixture.journal), ["5", "4", "3"]);
    assert_eq!((pruned.entries, pruned.bytes), (2, 2));
    assert_eq!(fixture.blobs(), 3);
    assert!(matches!(fixture.journal.content(Hash::of(b"1")), Err(Error::Lost { .. })));
    assert!(matches!(fixture.journal.entry("2".parse().unwrap()), Err(Error::NoEntry { .. })));
    // The remaining entries can be undone.
    for id in ["5", "4", "3"] {
        let undo = Undo::of(id.parse().unwrap());
        undo.commit(&fixture.root, &fixture.journal, second(402)).unwrap();
    }
    assert_eq!(fixture.read("a").bytes, b"2");
    assert_eq!(fixture.journal.prune(&keep, second(402)).unwrap(), Pruned::default());
}

#[test]
fn large_journals_are_pruned_oldest_first_but_not_the_last_entry() {
    let fixture = Fixture::new(&[("a", &"0".repeat(100))]);
    for content in ["1", "2", "3", "4"] {
        update_at(&fixture, &content.repeat(100), second(0));
    }
    let keep = |bytes| Keep { bytes, ..Keep::default() };
    assert_eq!(fixture.journal.prune(&keep(400), second(0)).unwrap(), Pruned::default());
    let pruned = fixture.journal.prune(&keep(399), second(0)).unwrap();
    assert_eq!((pruned.entries, pruned.bytes), (1, 100));
    let pruned = fixture.journal.prune(&keep(0), second(0)).unwrap();
    assert_eq!((pruned.entries, pruned.bytes), (2, 200));
    assert_eq!(ids(&fixture.journal), ["4"]);
    // Numbers continue where they left off.
    assert_eq!(update_at(&fixture, "5", second(0)).to_string(), "5");
}

#[test]
fn a_blob_that_two_entries_need_stays_until_both_are_gone() {
    let fixture = Fixture::new(&[("a", "same")]);
    update_at(&fixture, "other", second(0));
    update_at(&fixture, "same", second(100));
    update_at(&fixture, "third", second(200));
    let keep = Keep { age: Duration::from_secs(50), ..Keep::default() };
    fixture.journal.prune(&keep, second(120)).unwrap();
    assert_eq!(fixture.journal.content(Hash::of(b"same")).unwrap(), b"same");
    assert_eq!(fixture.journal.content(Hash::of(b"other")).unwrap(), b"other");
    fixture.journal.prune(&keep, second(220)).unwrap();
    assert_eq!(fixture.journal.content(Hash::of(b"same")).unwrap(), b"same");
    assert!(fixture.journal.content(Hash::of(b"other")).is_err());
}

#[test]
fn the_default_limits_are_a_month_and_a_gibibyte() {
    assert_eq!(Keep::default(), Keep { age: Duration::from_secs(2_592_000), bytes: 1_073_741_824 });
}
