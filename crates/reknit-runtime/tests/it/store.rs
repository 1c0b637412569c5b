//! Both stores do what a store must do.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use reknit::agent::{AgentEvent, Body, Entry};
use reknit::json::Object;
use reknit_runtime::store::{Begin, Cursor, Error, Memory, Sqlite, Store, Tail, conformance};

#[tokio::test]
async fn memory_conforms() {
    conformance::run(|| Arc::new(Memory::new())).await;
}

#[tokio::test]
async fn sqlite_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let count = std::cell::Cell::new(0);
    conformance::run(|| {
        count.set(count.get() + 1);
        Arc::new(Sqlite::open(folder.path().join(format!("{}.db", count.get()))).unwrap())
    })
    .await;
}

fn text(seq: u64) -> Entry {
    let delta = format!("{seq} ").repeat(2_000);
    let body = Body::Agent(AgentEvent::TextDelta { delta });
    Entry { seq, at: seq, turn: None, body, extra: Object::new() }
}

/// How long the part of the database is that has the newest commits.
fn log_length(folder: &Path) -> usize {
    usize::try_from(fs::metadata(folder.join("a.db-wal")).unwrap().len()).unwrap()
}

/// A copy of the database with other bytes in that part.
fn copied(folder: &Path, log: &[u8]) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    fs::copy(folder.join("a.db"), copy.path().join("a.db")).unwrap();
    fs::write(copy.path().join("a.db-wal"), log).unwrap();
    copy
}

#[tokio::test]
async fn a_torn_database_costs_the_last_batch_and_its_readers_learn_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(folder.path().join("a.db")).unwrap();
    let lease = store.lease("s").await.unwrap();
    store.append("s", lease.epoch, 0, vec![text(1), text(2)]).await.unwrap();
    let before = log_length(folder.path());
    store.append("s", lease.epoch, 2, vec![text(3), text(4)]).await.unwrap();
    let whole = fs::read(folder.path().join("a.db-wal")).unwrap();
    assert!(before < whole.len());
    let torn: Vec<Vec<u8>> = (before..whole.len())
        .step_by(997)
        .flat_map(|at| {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x55;
            [whole[..at].to_vec(), flipped]
        })
        .collect();
    assert!(torn.len() > 20, "the last batch is cut at {} places", torn.len());
    for log in torn {
        let copy = copied(folder.path(), &log);
        let store = Arc::new(Sqlite::open(copy.path().join("a.db")).unwrap());
        let entries: Vec<_> =
            store.read("s", 0, 9).await.unwrap().into_iter().map(|stored| stored.entry).collect();
        assert_eq!(entries, [text(1), text(2)]);
        // Somebody has seen what is lost, and another entry gets its number.
        let lost = Cursor { epoch: lease.epoch, seq: 3 };
        let (_, begin) = Tail::new(store.clone(), "s", lost).await.unwrap();
        assert_eq!(begin, Begin::Over);
        let again = store.lease("s").await.unwrap();
        assert_eq!(again.last, 2);
        store.append("s", again.epoch, 2, vec![text(3)]).await.unwrap();
        let (_, begin) = Tail::new(store, "s", lost).await.unwrap();
        assert_eq!(begin, Begin::Over);
    }
    let copy = copied(folder.path(), &whole);
    let store = Sqlite::open(copy.path().join("a.db")).unwrap();
    assert_eq!(store.read("s", 0, 9).await.unwrap().len(), 4);
}

#[tokio::test]
async fn a_truncated_database_is_an_error_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    {
        let store = Sqlite::open(&path).unwrap();
        let lease = store.lease("s").await.unwrap();
        store.append("s", lease.epoch, 0, (1..50).map(text).collect()).await.unwrap();
    }
    // What was committed may still be in the log beside the database: two connections that close at the same moment
    // leave it there.
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(connection);
    let whole = fs::read(&path).unwrap();
    for part in [whole.len() / 2, whole.len() / 4 + 100, 5_000, 50] {
        let copy = tempfile::tempdir().unwrap();
        let path = copy.path().join("a.db");
        fs::write(&path, &whole[..part]).unwrap();
        let read = match Sqlite::open(&path) {
            Ok(store) => store.read("s", 0, 99).await.map(|entries| entries.len()),
            Err(error) => Err(error),
        };
        let Err(Error::Failed { why, .. }) = read else { panic!("{part} bytes: {read:?}") };
        assert!(why.contains("malformed") || why.contains("not a database"), "{part} bytes: {why}");
    }
}

/// Two programs, each with a session of its own, from the first one that makes the database on.
#[test]
fn several_programs_write_to_one_database() {
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for program in 0..4 {
                let path = folder.path().join("a.db");
                scope.spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                    runtime.block_on(async {
                        let store = Sqlite::open(path).unwrap();
                        let session = format!("s{program}");
                        let lease = store.lease(&session).await.unwrap();
                        for last in 0..50 {
                            store.append(&session, lease.epoch, last, vec![text(last + 1)]).await.unwrap();
                        }
                        assert_eq!(store.read(&session, 0, 99).await.unwrap().len(), 50);
                    });
                });
            }
        });
    }
}
