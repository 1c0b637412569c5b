//! A large file is changed without copying it in memory.

use std::fs;

use reknit::edit::{Format, How, parse};
use reknit_workspace::{Batch, Edits, Hash, Undo};

use crate::fixture::{Fixture, second};

#[test]
fn a_small_change_to_a_large_file_needs_little_memory() {
    const SIZE: usize = 100 << 20;
    let fixture = Fixture::new(&[]);
    fs::write(fixture.at("large"), vec![b'x'; SIZE]).unwrap();
    let file = fixture.read("large");
    assert!(file.bytes.capacity() < SIZE + (1 << 20));

    let (before, after) = file.bytes.split_at(SIZE / 2);
    let mut batch = Batch::new("update");
    batch.update(fixture.path("large"), &file.stamp, [before, b"here", after]);
    let mut entry = None;
    let committing = allocation_counter::measure(|| entry = Some(fixture.commit(batch)));
    assert!(committing.bytes_max < 1 << 20, "{} bytes at once", committing.bytes_max);
    assert_eq!(fs::metadata(fixture.at("large")).unwrap().len(), SIZE as u64 + 4);

    let undo = Undo::of(entry.unwrap().id);
    let undoing = allocation_counter::measure(|| {
        undo.commit(&fixture.root, &fixture.journal, second(1)).unwrap();
    });
    assert!(undoing.bytes_max < 1 << 20, "{} bytes at once", undoing.bytes_max);
    assert_eq!(Hash::of(&fs::read(fixture.at("large")).unwrap()), file.stamp.hash);
}

#[test]
fn a_file_that_is_only_moved_is_neither_kept_in_memory_nor_copied() {
    const SIZE: usize = 20 << 20;
    let fixture = Fixture::new(&[]);
    fs::write(fixture.at("large.txt"), vec![b'x'; SIZE]).unwrap();
    let answer = "*** Begin Patch\n*** Update File: large.txt\n*** Move to: d/moved.txt\n*** End Patch\n";
    let read = || Edits::read(&fixture.root, parse(Format::ApplyPatch, answer));

    let mut entry = None;
    let moving = allocation_counter::measure(|| {
        let edits = read();
        let draft = edits.plan(How::Context);
        assert_eq!(draft.saved_bytes(), 0);
        entry = Some(draft.commit(&fixture.journal, second(0)).unwrap().entry);
    });
    assert!(moving.bytes_max < 1 << 20, "{} bytes at once", moving.bytes_max);
    assert_eq!(fs::metadata(fixture.at("d/moved.txt")).unwrap().len(), SIZE as u64);
    let id = entry.unwrap().id;
    assert!(fs::metadata(fixture.entry_file(id)).unwrap().len() < 4096);
    Undo::of(id).commit(&fixture.root, &fixture.journal, second(1)).unwrap();

    // Whoever wants to see it gets it, as long as it is what it was.
    assert_eq!(read().content("large.txt").unwrap().len(), SIZE);
    let edits = read();
    fs::write(fixture.at("large.txt"), "other").unwrap();
    assert_eq!(edits.content("large.txt"), None);
    assert!(edits.stamp("large.txt").is_some());
}
