//! Several writers at once, each with its own journal and root, like separate processes.

use std::sync::Barrier;
use std::thread;

use reknit_workspace::journal::Keep;
use reknit_workspace::{Batch, Journal, Root, Undo};

use crate::fixture::{Fixture, second, tree};

const WRITERS: usize = 4;
const ROUNDS: usize = 10;

#[test]
fn writers_do_not_interfere_with_each_other() {
    let fixture = Fixture::new(&[]);
    let barrier = Barrier::new(WRITERS);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (fixture, barrier) = (&fixture, &barrier);
            scope.spawn(move || {
                let root = Root::open(fixture.root.path()).unwrap();
                let journal = Journal::open(fixture.journal.folder()).unwrap();
                let name = format!("shared/{writer}");
                barrier.wait();
                let mut batch = Batch::new("create");
                batch.create(root.resolve(&name).unwrap(), [&b"0"[..]]);
                batch.commit(&root, &journal, second(0)).unwrap();
                for round in 1..=ROUNDS {
                    let path = root.resolve(&name).unwrap();
                    let file = root.read(&path).unwrap();
                    let content = round.to_string();
                    let mut batch = Batch::new("update");
                    batch.update(path, &file.stamp, [content.as_bytes()]);
                    let entry = batch.commit(&root, &journal, second(0)).unwrap().entry;
                    if round % 2 == 0 {
                        Undo::of(entry.id).commit(&root, &journal, second(0)).unwrap();
                    }
                    journal.prune(&root, &Keep::default(), second(0)).unwrap();
                }
            });
        }
    });
    let expected = [("shared/0", "9"), ("shared/1", "9"), ("shared/2", "9"), ("shared/3", "9")];
    assert_eq!(fixture.tree(), tree(&expected));
    let log = fixture.log();
    assert_eq!(log.entries.len(), WRITERS * (1 + ROUNDS + ROUNDS / 2));
    assert!(log.damaged.is_empty());
    for (entry, id) in log.entries.iter().rev().zip(1_u64..) {
        assert_eq!(entry.id.to_string(), id.to_string());
    }
}

/// All write the same file. Of those that have read the same content only one succeeds.
#[test]
fn only_one_of_several_writers_with_the_same_stamp_succeeds() {
    let fixture = Fixture::new(&[("a", "old")]);
    let stamp = fixture.read("a").stamp;
    let barrier = Barrier::new(WRITERS);
    let through: Vec<String> = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (fixture, barrier) = (&fixture, &barrier);
                scope.spawn(move || {
                    let content = format!("new {writer}");
                    let mut batch = Batch::new("update");
                    batch.update(fixture.path("a"), &stamp, [content.as_bytes()]);
                    barrier.wait();
                    let done = batch.commit(&fixture.root, &fixture.journal, second(0)).is_ok();
                    done.then_some(content)
                })
            })
            .collect();
        writers.into_iter().filter_map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(through.len(), 1);
    assert_eq!(fixture.tree(), tree(&[("a", &through[0])]));
    assert_eq!(fixture.log().entries.len(), 1);
}
