//! What the journal contains, for how long, and who can access it.

use std::fs;
use std::time::{Duration, SystemTime};

use reknit_workspace::journal::{Change, Error, Keep, Pruned, State};
use reknit_workspace::{Batch, EntryId, Hash, Journal, Root, Undo};

use crate::fixture::{Fixture, id, mode, second, tree};

fn update_at(fixture: &Fixture, content: &str, at: SystemTime) -> EntryId {
    let mut batch = Batch::new("update");
    batch.update(fixture.path("a"), &fixture.read("a").stamp, [content.as_bytes()]);
    batch.commit(&fixture.root, &fixture.journal, at).unwrap().entry.id
}

fn undo(fixture: &Fixture, id: EntryId) -> EntryId {
    Undo::of(id).commit(&fixture.root, &fixture.journal, second(3)).unwrap().entry.id
}

fn ids(fixture: &Fixture) -> Vec<u64> {
    fixture.log().entries.iter().map(|entry| entry.id.to_string().parse().unwrap()).collect()
}

fn newest(fixture: &Fixture) -> Option<EntryId> {
    fixture.journal.newest(&fixture.root).unwrap().map(|entry| entry.id)
}

#[test]
fn the_log_is_newest_first_and_says_what_is_undone() {
    let fixture = Fixture::new(&[("a", "0")]);
    let first = update_at(&fixture, "1", second(1));
    let other = update_at(&fixture, "2", second(2) + Duration::from_micros(1500));
    let third = undo(&fixture, other);
    let fourth = undo(&fixture, third);
    let fifth = undo(&fixture, other);

    assert_eq!(ids(&fixture), [5, 4, 3, 2, 1]);
    let state = |id| fixture.journal.entry(id).unwrap().state;
    assert_eq!(state(first), State::Done);
    assert_eq!(state(other), State::Undone { by: fifth });
    assert_eq!(state(third), State::Undone { by: fourth });
    assert_eq!(state(fourth), State::Done);
    let entry = &fixture.log().entries[3];
    assert_eq!(entry.id, other);
    assert_eq!(entry.at, second(2) + Duration::from_millis(1));
    assert_eq!(entry.root, fixture.root.path());
    assert_eq!((entry.label.as_str(), entry.undoes), ("update", None));
    let [change @ Change::Update { path, before, after }] = entry.changes.as_slice() else {
        panic!("{entry:?}")
    };
    assert_eq!(path.as_str(), "a");
    assert_eq!((before.hash, before.size, before.mode), (Hash::of(b"1"), 1, 0o644));
    assert_eq!((after.hash, after.size, after.mode), (Hash::of(b"2"), 1, 0o644));
    assert_eq!(fixture.journal.content(entry, change).unwrap().unwrap(), b"1");
    assert_eq!(fixture.journal.entry(other).unwrap(), *entry);
    assert_eq!(fixture.journal.log(&fixture.root, 2).unwrap().entries.len(), 2);
}

/// Whatever is undone and brought back in whatever order, the next undo is about the newest entry in effect.
#[test]
fn the_newest_entry_is_neither_an_undo_nor_undone() {
    let fixture = Fixture::new(&[("a", "0")]);
    assert_eq!(newest(&fixture), None);
    let first = update_at(&fixture, "1", second(0));
    let other = fixture.create("b", "b").id;
    let third = fixture.create("c", "c").id;
    assert_eq!(newest(&fixture), Some(third));
    let undone_other = undo(&fixture, other);
    assert_eq!(newest(&fixture), Some(third));
    undo(&fixture, third);
    assert_eq!(newest(&fixture), Some(first));
    // It comes back between two others.
    let last = fixture.create("d", "d").id;
    undo(&fixture, undone_other);
    assert_eq!(newest(&fixture), Some(last));
    undo(&fixture, last);
    assert_eq!(newest(&fixture), Some(other));
    undo(&fixture, other);
    assert_eq!(newest(&fixture), Some(first));
    undo(&fixture, first);
    assert_eq!(newest(&fixture), None);
    assert_eq!(fixture.tree(), tree(&[("a", "0")]));
}

/// The file formats are a promise: a later version must read what this one wrote.
#[test]
fn records_are_sealed_lines_of_json() {
    let fixture = Fixture::new(&[("a", "one")]);
    let mut batch = Batch::new("apply");
    batch.move_to(fixture.path("a"), &fixture.read("a").stamp, fixture.path("d/b"));
    fixture.commit(batch);
    let seal = |json: &str| format!("{json} {}\n", &Hash::of(json.as_bytes()).to_string()[..16]);
    let log = fs::read_to_string(fixture.root_folder().join("log")).unwrap();
    let lines: Vec<_> = log.split_inclusive('\n').collect();
    let [staged, begun, done] = lines[..] else { panic!("{log}") };
    assert_eq!(
        staged,
        seal(r#"{"event":"staged","id":1,"at_ms":1700000000000,"bytes":0,"total":0,"oldest":0}"#)
    );
    let size = fs::metadata(fixture.entry_file(id(1))).unwrap().len();
    let rest = format!(
        r#""id":1,"at_ms":1700000000000,"bytes":{size},"newest":[1,1700000000000],"total":{size},"oldest":{}}}"#,
        staged.len()
    );
    assert_eq!(begun, seal(&format!(r#"{{"event":"begun",{rest}"#)));
    let rest = rest.replace(r#""newest""#, r#""live":1,"newest""#);
    assert_eq!(done, seal(&format!(r#"{{"event":"done",{rest}"#)));
    assert_eq!(fs::read_to_string(fixture.journal.folder().join("counter")).unwrap(), seal("1"));

    let text = fs::read_to_string(fixture.entry_file(id(1))).unwrap();
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    let [plan, description, footer] = lines[..] else { panic!("{text}") };
    assert!(plan.contains(r#""paths":[["a","d/b"]],"made":["d"]}"#), "{plan}");
    let root = fixture.root.path().to_str().unwrap();
    let stamp = format!(r#"{{"hash":"{}","size":3,"mode":420}}"#, Hash::of(b"one"));
    let start = format!(
        r#"{{"version":2,"id":1,"at_ms":1700000000000,"root":"{root}","label":"apply","changes":[{{"action":"move","path":"a","to":"d/b","before":{stamp},"after":{stamp},"saved":{{"attributes":{{"#
    );
    assert!(description.starts_with(&start), "{description}");
    let range = format!(r#"{{"start":{},"length":{}}}"#, plan.len(), description.len());
    assert_eq!(footer, seal(&format!(r#"{{"description":{range}}}"#)));
}

#[test]
fn only_the_owner_can_access_it() {
    let fixture = Fixture::new(&[("a", "secret")]);
    update_at(&fixture, "other", second(0));
    let (folder, root) = (fixture.journal.folder(), fixture.root_folder());
    for path in [folder, &folder.join("roots"), &folder.join("inodes"), &root, &root.join("entries")] {
        assert_eq!(mode(path), 0o700, "{}", path.display());
    }
    for path in [folder.join("counter"), root.join("lock"), root.join("log"), fixture.entry_file(id(1))] {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn numbers_are_unique_over_all_roots_and_never_used_again() {
    let fixture = Fixture::new(&[("a", "0"), ("sub/b", "0")]);
    let sub = Root::open(fixture.at("sub")).unwrap();
    let create = |name: &str| {
        let mut batch = Batch::new("create");
        batch.create(sub.resolve(name).unwrap(), [&b"x"[..]]);
        batch.commit(&sub, &fixture.journal, second(0)).unwrap().entry.id
    };
    assert_eq!(update_at(&fixture, "1", second(0)), id(1));
    assert_eq!(create("c"), id(2));
    assert_eq!(update_at(&fixture, "2", second(0)), id(3));
    // The counter is lost or damaged: the entries are counted.
    fs::write(fixture.journal.folder().join("counter"), "18446744073709551615 0000000000000000\n").unwrap();
    assert_eq!(create("d"), id(4));
    fs::remove_file(fixture.journal.folder().join("counter")).unwrap();
    assert_eq!(create("e"), id(5));
    let all = fixture.journal.log_of_all(3).unwrap();
    assert_eq!(all.entries.iter().map(|entry| entry.id).collect::<Vec<_>>(), [id(5), id(4), id(3)]);
}

#[test]
fn old_entries_are_pruned() {
    let fixture = Fixture::new(&[("a", "0")]);
    for day in 0..5 {
        update_at(&fixture, &format!("{}", day + 1), second(day * 100));
    }
    let keep = Keep { age: Duration::from_secs(250), ..Keep::default() };
    let pruned = fixture.journal.prune(&fixture.root, &keep, second(401)).unwrap();
    assert_eq!(ids(&fixture), [5, 4, 3]);
    assert_eq!((pruned.entries, pruned.newest), (2, Some(id(2))));
    assert_eq!(fixture.entry_files(), 3);
    assert!(matches!(fixture.journal.entry(id(2)), Err(Error::NoEntry { .. })));
    // The remaining entries can be undone.
    for number in [5, 4, 3] {
        let undo = Undo::of(id(number));
        undo.commit(&fixture.root, &fixture.journal, second(402)).unwrap();
    }
    assert_eq!(fixture.read("a").bytes, b"2");
    assert_eq!(newest(&fixture), None);
    assert_eq!(fixture.journal.prune(&fixture.root, &keep, second(402)).unwrap(), Pruned::default());
}

#[test]
fn large_journals_are_pruned_oldest_first_but_not_the_last_entry() {
    let fixture = Fixture::new(&[("a", "0")]);
    for content in ["1", "2", "3", "4"] {
        update_at(&fixture, content, second(0));
    }
    let total: u64 = (1..=4).map(|number| fs::metadata(fixture.entry_file(id(number))).unwrap().len()).sum();
    let keep = |bytes| Keep { bytes, ..Keep::default() };
    let prune = |bytes| fixture.journal.prune(&fixture.root, &keep(bytes), second(0)).unwrap();
    assert_eq!(prune(total), Pruned::default());
    let would = fixture.journal.would_prune(&fixture.root, &keep(total), 1, second(0)).unwrap();
    assert_eq!((would.entries, would.newest), (1, Some(id(1))));
    assert_eq!(ids(&fixture), [4, 3, 2, 1], "nothing was pruned by asking");
    assert_eq!((prune(total - 1).entries, ids(&fixture)), (1, vec![4, 3, 2]));
    assert_eq!((prune(0).entries, ids(&fixture)), (2, vec![4]));
    // Numbers continue where they left off.
    assert_eq!(update_at(&fixture, "5", second(0)), id(5));
    undo(&fixture, id(5));
    undo(&fixture, id(4));
    assert_eq!(fixture.read("a").bytes, b"3");
}

#[test]
fn one_root_does_not_take_away_the_undo_of_another() {
    let fixture = Fixture::new(&[("a", "0"), ("sub/b", "0")]);
    update_at(&fixture, "1", second(0));
    let sub = Root::open(fixture.at("sub")).unwrap();
    for name in ["c", "d"] {
        let mut batch = Batch::new("create");
        batch.create(sub.resolve(name).unwrap(), [&b"x"[..]]);
        batch.commit(&sub, &fixture.journal, second(0)).unwrap();
    }
    let keep = Keep { bytes: 0, ..Keep::default() };
    assert_eq!(fixture.journal.prune(&sub, &keep, second(0)).unwrap().entries, 1);
    assert_eq!(ids(&fixture), [1]);
    // But one whose last entry is too old is forgotten when the other has old entries too.
    let keep = Keep { age: Duration::from_secs(50), ..Keep::default() };
    update_at(&fixture, "2", second(100));
    assert_eq!(fixture.journal.prune(&fixture.root, &keep, second(100)).unwrap().entries, 1);
    assert_eq!(fixture.journal.log_of_all(10).unwrap().entries.len(), 1);
}

#[test]
fn a_log_is_shortened_and_its_entries_stay() {
    let fixture = Fixture::new(&[("a", "0")]);
    let keep = Keep { age: Duration::from_secs(9), ..Keep::default() };
    let mut longest = 0;
    for round in 0..400 {
        update_at(&fixture, &round.to_string(), second(round));
        fixture.journal.prune(&fixture.root, &keep, second(round)).unwrap();
        longest = longest.max(fs::metadata(fixture.root_folder().join("log")).unwrap().len());
    }
    assert!(longest > 64 * 1024 && longest < 80 * 1024, "{longest}");
    assert_eq!(ids(&fixture), (391..=400).rev().collect::<Vec<_>>());
    for number in (391..=400).rev() {
        assert_eq!(newest(&fixture), Some(id(number)));
        undo(&fixture, id(number));
    }
    assert_eq!((newest(&fixture), fixture.read("a").bytes), (None, b"389".to_vec()));
}

#[test]
fn a_file_that_is_only_moved_is_not_copied() {
    let fixture = Fixture::new(&[]);
    fs::write(fixture.at("large"), (0..2_000_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>())
        .unwrap();
    let mut batch = Batch::new("move");
    batch.move_to(fixture.path("large"), &fixture.read("large").stamp, fixture.path("moved"));
    let entry = fixture.commit(batch);
    assert!(fs::metadata(fixture.entry_file(entry.id)).unwrap().len() < 2000);
    undo(&fixture, entry.id);
    assert!(fixture.at("large").exists() && !fixture.at("moved").exists());
}

#[test]
fn contents_are_compressed() {
    let fixture = Fixture::new(&[("a", &"the same line again\n".repeat(5000))]);
    let entry = update_at(&fixture, "short", second(0));
    assert!(fs::metadata(fixture.entry_file(entry)).unwrap().len() < 5000);
    undo(&fixture, entry);
    assert_eq!(fixture.read("a").bytes, "the same line again\n".repeat(5000).as_bytes());
}

#[test]
fn a_temporary_journal_is_removed() {
    let fixture = Fixture::new(&[("a", "one")]);
    let journal = Journal::temporary().unwrap();
    let folder = journal.folder().to_owned();
    let mut batch = Batch::new("update");
    batch.update(fixture.path("a"), &fixture.read("a").stamp, [&b"two"[..]]);
    batch.commit(&fixture.root, &journal, second(0)).unwrap();
    assert_eq!(mode(&folder), 0o700);
    drop(journal);
    assert!(!folder.exists());
    assert_eq!(fixture.read("a").bytes, b"two");
}

#[test]
fn the_default_limits_are_a_month_and_a_gibibyte() {
    assert_eq!(Keep::default(), Keep { age: Duration::from_secs(2_592_000), bytes: 1_073_741_824 });
}

#[test]
fn a_folder_whose_creation_was_interrupted_is_completed() {
    let fixture = Fixture::new(&[("a", "0")]);
    fixture.update("a", "1");
    let folder = fixture.root_folder();
    fs::remove_dir_all(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    assert!(fixture.log().entries.is_empty());
    let entry = fixture.update("a", "2");
    undo(&fixture, entry.id);
    assert_eq!(fixture.tree(), tree(&[("a", "1")]));
}
