//! [`Log`]: the entries of a session, written in batches.

use std::sync::Arc;
use std::time::Duration;

use reknit::agent::{AgentEvent, Body, Entry};
use reknit::json::Object;
use tokio::time::Instant;

use crate::clock::Clock;
use crate::store::{Error, Store};

/// How far apart appends of deltas are at least. The first one after a pause does not wait, so that a slow model is
/// shown word by word; of a fast one, words are collected.
const BATCH_TIME: Duration = Duration::from_millis(20);

/// How many bytes of deltas are collected at most.
const BATCH_BYTES: usize = 64 * 1024;

/// The log of a session: what is written, and what waits to be.
pub(super) struct Log {
    session: String,
    epoch: u64,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    /// Everything that was ever written, for the next request.
    entries: Vec<Entry>,
    /// How many of them the store has.
    stored: usize,
    waiting: Waiting,
    /// When something was stored last.
    stored_at: Option<Instant>,
}

/// What was stored, on its way to the disk. Text goes on while somebody waits for it.
pub(super) struct Synced {
    store: Arc<dyn Store>,
    session: String,
}

impl Synced {
    pub(super) async fn wait(self) -> Result<(), Error> {
        self.store.sync(&self.session).await
    }
}

/// Whether entries wait to be stored.
enum Waiting {
    Nothing,
    Until { due: Instant, bytes: usize },
}

impl Log {
    pub(super) fn new(
        session: String,
        epoch: u64,
        entries: Vec<Entry>,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let stored = entries.len();
        let waiting = Waiting::Nothing;
        Self { session, epoch, store, clock, entries, stored, waiting, stored_at: None }
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// When what is waiting has to be stored.
    pub(super) fn due(&self) -> Option<Instant> {
        match self.waiting {
            Waiting::Nothing => None,
            Waiting::Until { due, .. } => Some(due),
        }
    }

    /// Writes something that may be lost in a crash: it is stored with what comes soon after it.
    pub(super) async fn write(&mut self, body: Body) -> Result<(), Error> {
        self.write_with(body, Object::new()).await
    }

    /// The same, with further members of the body.
    pub(super) async fn write_with(&mut self, body: Body, members: Object) -> Result<(), Error> {
        let added = size(&body);
        let open = self.stored..self.entries.len();
        let joined = match (&body, self.entries[open].last_mut().map(|entry| &mut entry.body)) {
            (Body::Agent(event), Some(Body::Agent(last))) if members.is_empty() => last.join(event),
            _ => false,
        };
        if !joined {
            self.push(body, extra(members));
        }
        let (due, bytes) = match self.waiting {
            Waiting::Nothing => {
                let now = Instant::now();
                (self.stored_at.map_or(now, |stored_at| now.max(stored_at + BATCH_TIME)), 0)
            }
            Waiting::Until { due, bytes } => (due, bytes),
        };
        self.waiting = Waiting::Until { due, bytes: bytes + added };
        // A slow store slows the provider down here, so that memory stays bounded.
        if bytes + added > BATCH_BYTES { self.flush().await } else { Ok(()) }
    }

    /// Writes something that must not be lost. It is in the store when this returns; what follows from it has to wait
    /// for [`synced`](Self::synced).
    pub(super) async fn decide(&mut self, body: Body) -> Result<(), Error> {
        self.decide_with(body, Object::new()).await
    }

    /// The same, with further members of the body.
    pub(super) async fn decide_with(&mut self, body: Body, members: Object) -> Result<(), Error> {
        self.push(body, extra(members));
        self.flush().await
    }

    /// Waits until everything that is in the store now is on the disk.
    pub(super) fn synced(&self) -> Synced {
        Synced { store: self.store.clone(), session: self.session.clone() }
    }

    fn push(&mut self, body: Body, extra: Object) {
        let seq = self.entries.len() as u64 + 1;
        self.entries.push(Entry { seq, at: self.clock.now(), turn: None, body, extra });
    }

    /// Stores what is waiting.
    pub(super) async fn flush(&mut self) -> Result<(), Error> {
        self.waiting = Waiting::Nothing;
        let entries = self.entries[self.stored..].to_vec();
        if entries.is_empty() {
            return Ok(());
        }
        self.store.append(&self.session, self.epoch, self.stored as u64, entries).await?;
        self.stored = self.entries.len();
        self.stored_at = Some(Instant::now());
        Ok(())
    }
}

/// Members of a body, where an entry keeps them.
fn extra(members: Object) -> Object {
    let mut extra = Object::new();
    if !members.is_empty() {
        extra.insert("body", members);
    }
    extra
}

/// About how many bytes a body takes.
fn size(body: &Body) -> usize {
    match body {
        Body::Agent(
            AgentEvent::TextDelta { delta }
            | AgentEvent::ReasoningDelta { delta }
            | AgentEvent::ToolInputDelta { delta, .. }
            | AgentEvent::EditPreview { delta, .. },
        ) => delta.len(),
        Body::Agent(AgentEvent::ShellOutput { data, .. }) => data.len(),
        _ => 64,
    }
}
