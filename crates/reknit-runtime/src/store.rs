//! [`Store`]: where the logs of sessions are kept.
//!
//! A log has one writer at a time. Whoever [leases](Store::lease) a session gets an epoch, and every append names
//! it: once somebody else has leased the session, the older writer is [fenced](Error::Fenced) and must stop.
//!
//! A position in a log is a [`Cursor`]: an epoch and a number. The number alone is not enough, because entries that
//! were lost in a crash leave numbers that are given again.

use reknit::Hint;
use std::borrow::Cow;
use std::sync::Arc;

use reknit::agent::{Body, Content, Entry};
use tokio::sync::watch;

use crate::tool::Work;

pub mod conformance;
mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;

pub use memory::Memory;
#[cfg(feature = "sqlite")]
pub use sqlite::Sqlite;

/// Where the logs of sessions are kept.
pub trait Store: Send + Sync + 'static {
    /// Appends entries, numbered from `after + 1`, and returns the number of the last.
    ///
    /// All of them are appended or none. They can be read as soon as this returns, and after [`sync`](Store::sync)
    /// they survive a crash of the machine.
    fn append<'a>(
        &'a self,
        session: &'a str,
        epoch: u64,
        after: u64,
        entries: Vec<Entry>,
    ) -> Work<'a, Result<u64, Error>>;

    /// Waits until everything that was appended to the session so far survives a crash of the machine.
    fn sync<'a>(&'a self, session: &'a str) -> Work<'a, Result<(), Error>>;

    /// Up to `limit` entries with numbers greater than `after`, with the epoch of each.
    fn read<'a>(&'a self, session: &'a str, after: u64, limit: usize)
    -> Work<'a, Result<Vec<Stored>, Error>>;

    /// A signal that changes whenever something was appended to the session.
    fn watch<'a>(&'a self, session: &'a str) -> Work<'a, Result<watch::Receiver<u64>, Error>>;

    /// Takes over a session, or creates it, and returns the epoch for its appends. The newest lease wins at once.
    fn lease<'a>(&'a self, session: &'a str) -> Work<'a, Result<Lease, Error>>;

    /// All sessions, the newest first.
    fn sessions(&self) -> Work<'_, Result<Vec<Summary>, Error>>;

    /// Removes a session and its log. Its writer is fenced.
    fn delete<'a>(&'a self, session: &'a str) -> Work<'a, Result<(), Error>>;
}

/// An entry with the epoch in which it was written.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stored {
    /// The epoch.
    pub epoch: u64,
    /// The entry.
    pub entry: Entry,
}

impl Stored {
    /// An entry of this epoch.
    pub fn new(epoch: u64, entry: Entry) -> Self {
        Self { epoch, entry }
    }

    /// Where it is.
    pub fn cursor(&self) -> Cursor {
        Cursor { epoch: self.epoch, seq: self.entry.seq }
    }
}

/// A position in a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    /// The epoch of the entry.
    pub epoch: u64,
    /// Its number.
    pub seq: u64,
}

/// The right to append to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lease {
    /// What appends have to name.
    pub epoch: u64,
    /// The number of the last entry.
    pub last: u64,
}

impl Lease {
    /// A lease.
    pub fn new(epoch: u64, last: u64) -> Self {
        Self { epoch, last }
    }
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Its id.
    pub id: String,
    /// When its first entry was written, in milliseconds since the Unix epoch.
    pub created: u64,
    /// When its last one was.
    pub changed: u64,
    /// How many entries it has.
    pub entries: u64,
    /// The beginning of the first user message.
    pub title: String,
}

impl Summary {
    /// A session that has no entries.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), created: 0, changed: 0, entries: 0, title: String::new() }
    }
}

/// Why a store did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another program has taken over the session.
    #[error("session `{session}` was opened elsewhere")]
    Fenced {
        /// The session.
        session: String,
    },
    /// The log has other entries than the writer believes.
    #[error("the log of session `{session}` ends at entry {last}, not at {expected}")]
    Conflict {
        /// The session.
        session: String,
        /// The last entry that there is.
        last: u64,
        /// The one that the writer expected.
        expected: u64,
    },
    /// There is no such session.
    #[error("there is no session `{session}`")]
    NoSession {
        /// Its id.
        session: String,
    },
    /// An entry cannot be read.
    #[error("entry {seq} of session `{session}` is damaged: {why}")]
    Damaged {
        /// The session.
        session: String,
        /// The entry.
        seq: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The disk, or the database, failed.
    #[error("cannot {doing}: {why}")]
    Failed {
        /// What was being done.
        doing: &'static str,
        /// The reason.
        why: String,
    },
}

impl Hint for Error {
    fn hint(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Fenced { .. } => "continue it there, or resume it here once that has ended",
            Self::Conflict { .. } => "read the log again and resume from its end",
            Self::NoSession { .. } => "`reknit sessions` lists those that there are",
            Self::Damaged { .. } => "delete the session, or restore the database from a copy",
            Self::Failed { .. } => "check that the disk has room and that the database can be written",
        })
    }
}

/// A session's log from a position on, for as long as somebody asks for more.
pub struct Tail {
    store: Arc<dyn Store>,
    session: String,
    after: u64,
    changed: watch::Receiver<u64>,
}

/// Where a [`Tail`] begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// After the position that was asked for.
    There,
    /// At the first entry: what the reader has seen at that position was lost in a crash. It starts again from
    /// nothing.
    Over,
}

impl Tail {
    /// The entries after this position.
    pub async fn new(store: Arc<dyn Store>, session: &str, after: Cursor) -> Result<(Self, Begin), Error> {
        let changed = store.watch(session).await?;
        let seen = match after.seq.checked_sub(1) {
            Some(before) => store.read(session, before, 1).await?,
            None => Vec::new(),
        };
        let begin = match seen.first() {
            Some(stored) if stored.cursor() == after => Begin::There,
            _ if after.seq == 0 => Begin::There,
            _ => Begin::Over,
        };
        let after = if begin == Begin::There { after.seq } else { 0 };
        Ok((Self { store, session: session.to_owned(), after, changed }, begin))
    }

    /// The next entries, at least one. It waits until there are some.
    pub async fn next(&mut self) -> Result<Vec<Stored>, Error> {
        loop {
            // Before reading: what is appended in between is then not missed.
            self.changed.borrow_and_update();
            let entries = self.store.read(&self.session, self.after, BATCH).await?;
            if let Some(last) = entries.last() {
                self.after = last.entry.seq;
                return Ok(entries);
            }
            if self.changed.changed().await.is_err() {
                return Err(Error::NoSession { session: self.session.clone() });
            }
        }
    }
}

/// The beginning of the first user message, as a title.
fn title(entries: &[Entry]) -> Option<String> {
    let first = entries.iter().find_map(|entry| match &entry.body {
        Body::UserMessage { content } => content.iter().find_map(|part| match part {
            Content::Text { text } => Some(text.as_str()),
            _ => None,
        }),
        _ => None,
    })?;
    let line = first.lines().find(|line| !line.trim().is_empty())?.trim();
    Some(line.chars().take(TITLE).collect())
}

/// How many entries are read at once.
const BATCH: usize = 1024;

/// How many characters a title has at most.
const TITLE: usize = 80;
