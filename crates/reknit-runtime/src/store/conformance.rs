//! What every [`Store`] must do, as a suite that an implementation of your own can run.
//!
//! ```
//! use std::sync::Arc;
//! use reknit_runtime::store::{Memory, conformance};
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! conformance::run(|| Arc::new(Memory::new())).await;
//! # });
//! # Ok::<(), std::io::Error>(())
//! ```

use std::sync::Arc;

use reknit::agent::{Body, Content, Entry};
use reknit::json::Object;

use super::{Begin, Cursor, Error, Store, Tail};

/// Runs the suite on stores that this function makes, each empty.
///
/// # Panics
///
/// If a store does not do what it must; the message says what.
pub async fn run(make: impl Fn() -> Arc<dyn Store>) {
    appended_entries_are_read_as_they_are(&*make()).await;
    all_entries_of_an_append_are_there_or_none(&*make()).await;
    a_new_lease_fences_the_older_writer(&*make()).await;
    an_append_must_name_the_end_of_the_log(&*make()).await;
    sessions_do_not_mix(&*make()).await;
    sessions_are_listed_newest_first(&*make()).await;
    a_deleted_session_is_gone(make()).await;
    a_tail_misses_nothing(make()).await;
    a_tail_starts_over_if_its_position_is_gone(make()).await;
}

async fn appended_entries_are_read_as_they_are(store: &dyn Store) {
    let lease = store.lease("s").await.expect("a lease");
    assert_eq!(lease.last, 0, "a new session has no entries");
    let entries: Vec<Entry> = (1..=5).map(entry).collect();
    let last = store.append("s", lease.epoch, 0, entries.clone()).await.expect("an append");
    assert_eq!(last, 5, "an append returns the number of its last entry");
    let read = store.read("s", 0, 100).await.expect("the log");
    assert_eq!(read.iter().map(|stored| stored.entry.clone()).collect::<Vec<_>>(), entries);
    assert!(read.iter().all(|stored| stored.epoch == lease.epoch), "entries have the epoch of their writer");
    let read = store.read("s", 2, 2).await.expect("a part of the log");
    let numbers: Vec<u64> = read.iter().map(|stored| stored.entry.seq).collect();
    assert_eq!(numbers, [3, 4], "reading starts after a number and stops at the limit");
    assert_eq!(store.lease("s").await.expect("a second lease").last, 5, "a lease says where the log ends");
}

async fn all_entries_of_an_append_are_there_or_none(store: &dyn Store) {
    let lease = store.lease("s").await.expect("a lease");
    let refused = store.append("s", lease.epoch, 7, (8..=9).map(entry).collect()).await;
    assert!(matches!(refused, Err(Error::Conflict { last: 0, expected: 7, .. })), "{refused:?}");
    assert!(store.read("s", 0, 100).await.expect("the log").is_empty(), "a refused append leaves nothing");
}

async fn a_new_lease_fences_the_older_writer(store: &dyn Store) {
    let old = store.lease("s").await.expect("a lease");
    store.append("s", old.epoch, 0, vec![entry(1)]).await.expect("an append");
    let new = store.lease("s").await.expect("a second lease");
    assert!(new.epoch > old.epoch, "epochs grow");
    let fenced = store.append("s", old.epoch, 1, vec![entry(2)]).await;
    assert!(matches!(fenced, Err(Error::Fenced { .. })), "{fenced:?}");
    store.append("s", new.epoch, 1, vec![entry(2)]).await.expect("the new writer may append");
}

async fn an_append_must_name_the_end_of_the_log(store: &dyn Store) {
    let lease = store.lease("s").await.expect("a lease");
    store.append("s", lease.epoch, 0, vec![entry(1)]).await.expect("an append");
    let again = store.append("s", lease.epoch, 0, vec![entry(1)]).await;
    assert!(matches!(again, Err(Error::Conflict { last: 1, expected: 0, .. })), "{again:?}");
}

async fn sessions_do_not_mix(store: &dyn Store) {
    let (one, other) =
        (store.lease("one").await.expect("a lease"), store.lease("other").await.expect("a lease"));
    store.append("one", one.epoch, 0, vec![entry(1)]).await.expect("an append");
    store.append("other", other.epoch, 0, vec![entry(1)]).await.expect("an append");
    assert_eq!(store.read("one", 0, 100).await.expect("the log").len(), 1);
    let missing = store.read("third", 0, 100).await;
    assert!(matches!(missing, Err(Error::NoSession { .. })), "{missing:?}");
}

async fn sessions_are_listed_newest_first(store: &dyn Store) {
    for (session, at) in [("a", 10), ("b", 30), ("c", 20)] {
        let lease = store.lease(session).await.expect("a lease");
        let entries = vec![Entry { at, ..entry(1) }];
        store.append(session, lease.epoch, 0, entries).await.expect("an append");
    }
    let list = store.sessions().await.expect("the list");
    let listed: Vec<_> =
        list.iter().map(|summary| (&*summary.id, summary.changed, summary.entries)).collect();
    assert_eq!(listed, [("b", 30, 1), ("c", 20, 1), ("a", 10, 1)]);
    assert_eq!(list[0].title, "entry 1", "the title is the beginning of the first user message");
}

async fn a_deleted_session_is_gone(store: Arc<dyn Store>) {
    let lease = store.lease("s").await.expect("a lease");
    store.append("s", lease.epoch, 0, vec![entry(1)]).await.expect("an append");
    let (mut tail, _) =
        Tail::new(store.clone(), "s", Cursor { epoch: lease.epoch, seq: 1 }).await.expect("a tail");
    store.delete("s").await.expect("a deletion");
    assert!(matches!(tail.next().await, Err(Error::NoSession { .. })), "its readers learn of it");
    assert!(store.sessions().await.expect("the list").is_empty());
    let append = store.append("s", lease.epoch, 1, vec![entry(2)]).await;
    assert!(append.is_err(), "its writer must not bring it back");
    assert!(store.sync("s").await.is_err(), "there is nothing to wait for");
    assert!(matches!(store.delete("s").await, Err(Error::NoSession { .. })));
    assert_eq!(store.lease("s").await.expect("a lease").last, 0, "a new one of that name is empty");
}

async fn a_tail_misses_nothing(store: Arc<dyn Store>) {
    const COUNT: u64 = 200;
    let lease = store.lease("s").await.expect("a lease");
    let (mut tail, begin) = Tail::new(store.clone(), "s", Cursor::default()).await.expect("a tail");
    assert_eq!(begin, Begin::There);
    let write = async {
        for seq in 1..=COUNT {
            store.append("s", lease.epoch, seq - 1, vec![entry(seq)]).await.expect("an append");
            if seq % 10 == 0 {
                store.sync("s").await.expect("a sync");
            }
        }
    };
    let read = async {
        let mut seen = Vec::new();
        while seen.len() < COUNT as usize {
            seen.extend(tail.next().await.expect("more").into_iter().map(|stored| stored.entry.seq));
        }
        seen
    };
    let ((), seen) = tokio::join!(write, read);
    assert_eq!(seen, (1..=COUNT).collect::<Vec<_>>(), "a tail has every entry once, in order");
}

async fn a_tail_starts_over_if_its_position_is_gone(store: Arc<dyn Store>) {
    let lease = store.lease("s").await.expect("a lease");
    store.append("s", lease.epoch, 0, vec![entry(1), entry(2)]).await.expect("an append");
    let at = |epoch, seq| Tail::new(store.clone(), "s", Cursor { epoch, seq });
    assert_eq!(at(lease.epoch, 2).await.expect("a tail").1, Begin::There);
    let (mut tail, begin) = at(lease.epoch + 1, 2).await.expect("a tail");
    assert_eq!(begin, Begin::Over, "another epoch wrote what was there");
    assert_eq!(tail.next().await.expect("the log").len(), 2, "it has everything again");
    assert_eq!(at(lease.epoch, 9).await.expect("a tail").1, Begin::Over, "there is no entry 9");
}

fn entry(seq: u64) -> Entry {
    let content = vec![Content::Text { text: format!("entry {seq}") }];
    let body = Body::UserMessage { content };
    Entry { seq, at: seq, turn: None, body, extra: Object::new() }
}
