//! [`Memory`]: sessions that end with the program.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use reknit::agent::Entry;
use tokio::sync::watch;

use super::{Error, Lease, Store, Stored, Summary, title};
use crate::tool::Work;

/// Sessions that end with the program.
#[derive(Debug, Default)]
pub struct Memory {
    sessions: Mutex<BTreeMap<String, Log>>,
}

#[derive(Debug)]
struct Log {
    epoch: u64,
    entries: Vec<Stored>,
    changed: watch::Sender<u64>,
}

impl Memory {
    /// No sessions.
    pub fn new() -> Self {
        Self::default()
    }

    fn with<T>(&self, session: &str, act: impl FnOnce(&mut Log) -> Result<T, Error>) -> Result<T, Error> {
        // Nothing is half done in a log when a thread panics.
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        match sessions.get_mut(session) {
            Some(log) => act(log),
            None => Err(Error::NoSession { session: session.to_owned() }),
        }
    }
}

impl Store for Memory {
    fn append<'a>(
        &'a self,
        session: &'a str,
        epoch: u64,
        after: u64,
        entries: Vec<Entry>,
    ) -> Work<'a, Result<u64, Error>> {
        let appended = self.with(session, |log| {
            if log.epoch != epoch {
                return Err(Error::Fenced { session: session.to_owned() });
            }
            let last = log.entries.len() as u64;
            if last != after {
                return Err(Error::Conflict { session: session.to_owned(), last, expected: after });
            }
            log.entries.extend(entries.into_iter().map(|entry| Stored::new(epoch, entry)));
            let last = log.entries.len() as u64;
            log.changed.send_replace(last);
            Ok(last)
        });
        Box::pin(async { appended })
    }

    fn sync<'a>(&'a self, session: &'a str) -> Work<'a, Result<(), Error>> {
        // There is nothing that would survive.
        let found = self.with(session, |_| Ok(()));
        Box::pin(async { found })
    }

    fn read<'a>(
        &'a self,
        session: &'a str,
        after: u64,
        limit: usize,
    ) -> Work<'a, Result<Vec<Stored>, Error>> {
        let read = self.with(session, |log| {
            let after = usize::try_from(after).unwrap_or(usize::MAX);
            Ok(log.entries.iter().skip(after).take(limit).cloned().collect())
        });
        Box::pin(async { read })
    }

    fn watch<'a>(&'a self, session: &'a str) -> Work<'a, Result<watch::Receiver<u64>, Error>> {
        let watched = self.with(session, |log| Ok(log.changed.subscribe()));
        Box::pin(async { watched })
    }

    fn lease<'a>(&'a self, session: &'a str) -> Work<'a, Result<Lease, Error>> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let log = sessions.entry(session.to_owned()).or_insert_with(|| Log {
            epoch: 0,
            entries: Vec::new(),
            changed: watch::Sender::new(0),
        });
        log.epoch += 1;
        let lease = Lease::new(log.epoch, log.entries.len() as u64);
        Box::pin(async move { Ok(lease) })
    }

    fn sessions(&self) -> Work<'_, Result<Vec<Summary>, Error>> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list: Vec<Summary> = sessions.iter().map(|(id, log)| summary(id, &log.entries)).collect();
        list.sort_by(|one, other| other.changed.cmp(&one.changed).then_with(|| one.id.cmp(&other.id)));
        Box::pin(async { Ok(list) })
    }

    fn delete<'a>(&'a self, session: &'a str) -> Work<'a, Result<(), Error>> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let deleted = sessions.remove(session);
        Box::pin(
            async move { deleted.map(drop).ok_or_else(|| Error::NoSession { session: session.to_owned() }) },
        )
    }
}

fn summary(id: &str, entries: &[Stored]) -> Summary {
    let mut summary = Summary::new(id);
    summary.created = entries.first().map_or(0, |stored| stored.entry.at);
    summary.changed = entries.last().map_or(0, |stored| stored.entry.at);
    summary.entries = entries.len() as u64;
    let titled = entries.iter().find_map(|stored| title(std::slice::from_ref(&stored.entry)));
    summary.title = titled.unwrap_or_default();
    summary
}
