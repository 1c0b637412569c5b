//! A large file is changed without copying it in memory.

use std::fs;

use reknit_workspace::{Batch, Hash, Undo};

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
