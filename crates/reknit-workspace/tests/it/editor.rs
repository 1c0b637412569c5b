//! An editor that saves a file again and again while it is written: nothing that it saved is lost.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use reknit_workspace::write::Error;
use reknit_workspace::{Batch, Undo, root, undo};

use crate::fixture::{Fixture, second};

const ROUNDS: usize = 1000;

/// The editor writes a file next to it and renames that, as most do. It numbers what it saves, and remembers what it
/// found there before: if that is not its last save, then a batch made it from that, or the save was lost.
#[test]
fn what_an_editor_saves_during_a_write_is_not_lost() {
    let fixture = Fixture::in_memory(&[("a", "editor 0")]);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let editor = scope.spawn(|| {
            let (mut saved, mut found) = (0_usize, Vec::new());
            while !is_over.load(Ordering::Relaxed) {
                found.push((saved, fs::read_to_string(fixture.at("a")).unwrap()));
                saved += 1;
                fs::write(fixture.at(".a.swp"), format!("editor {saved}")).unwrap();
                fs::rename(fixture.at(".a.swp"), fixture.at("a")).unwrap();
                let next = Instant::now() + Duration::from_micros(500);
                while Instant::now() < next {
                    thread::yield_now();
                }
            }
            (saved, found)
        });
        let (mut written, mut refused) = (BTreeMap::new(), 0);
        let mut last_seen = 0;
        for round in 0..ROUNDS {
            let path = fixture.path("a");
            let file = fixture.root.read(&path).unwrap();
            let text = String::from_utf8(file.bytes.clone()).unwrap();
            let seen: usize =
                text.strip_prefix("editor ").unwrap_or_else(|| panic!("{text}")).parse().unwrap();
            assert!(
                seen >= last_seen,
                "round {round}: the editor had saved {last_seen}, and then there was {seen}"
            );
            last_seen = seen;
            let content = format!("batch {round}");
            let mut batch = Batch::new("update");
            batch.update(path.clone(), &file.stamp, [content.as_bytes()]);
            match batch.commit(&fixture.root, &fixture.journal, second(0)) {
                Ok(committed) => {
                    written.insert(content.clone(), seen);
                    // What was replaced is in the journal, and it is what was read.
                    let before = fixture.journal.content(&committed.entry, &committed.entry.changes[0]);
                    assert_eq!(before.unwrap().unwrap(), file.bytes);
                    match Undo::of(committed.entry.id).commit(&fixture.root, &fixture.journal, second(0)) {
                        Ok(_) | Err(undo::Error::Conflicts { .. }) => {}
                        Err(undo::Error::Write(Error::Changed { .. } | Error::RolledBack { .. })) => {}
                        Err(error) => panic!("round {round}: {error}"),
                    }
                }
                Err(Error::Changed { .. } | Error::Path(root::Error::NotFound { .. })) => refused += 1,
                Err(error) => panic!("round {round}: {error:?}"),
            }
        }
        is_over.store(true, Ordering::Relaxed);
        let (saved, found) = editor.join().unwrap();
        for (last, found) in found {
            let own = found.strip_prefix("editor ").map(|number| number.parse().unwrap());
            if let Some(seen) = own.or_else(|| written.get(&found).copied()) {
                assert_eq!(seen, last, "save {last} was replaced by `{found}`, made from save {seen}");
            }
        }
        // The last save is there, unless a batch came after it, and then it is in the journal.
        let text = String::from_utf8(fixture.read("a").bytes).unwrap();
        if text != format!("editor {saved}") {
            let newest = fixture.journal.newest(&fixture.root).unwrap().unwrap();
            let before = fixture.journal.content(&newest, &newest.changes[0]).unwrap().unwrap();
            assert_eq!(String::from_utf8(before).unwrap(), format!("editor {saved}"), "{text} is there");
        }
        assert_eq!(written.len() + refused, ROUNDS);
        let counts = format!("{} written, {refused} refused, {saved} saved", written.len());
        println!("{counts}");
        assert!(written.len() > ROUNDS / 10 && saved > ROUNDS / 10, "{counts}");
    });
    // Nothing is left over.
    fs::remove_file(fixture.at(".a.swp")).ok();
    assert_eq!(fixture.tree().len(), 1, "{:?}", fixture.tree());
}
